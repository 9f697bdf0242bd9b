//go:build linux || darwin

package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"st/hooks"
)

// TestInstall puts our hooks into the settings of both agents, starts them by hand, and wants them seen: no dialog
// about hooks, a turn that the daemon hears of, and a worker that Codex starts out of its sandbox by our rules.
func TestInstall(t *testing.T) {
	b := newDesk(t)
	b.st("hooks", "install", "--trust-codex", "--allow")
	b.st("up")         // a hook that finds no ST_HOME is silent, and an agent may have said all by the time somebody looks
	t.Cleanup(func() { // both agents have written into their settings meanwhile, Claude in another order
		b.st("hooks", "uninstall")
		for _, name := range []string{".claude/settings.json", ".codex/config.toml", ".codex/hooks.json", ".codex/rules/st.rules"} {
			text := b.read(filepath.Join(b.home, name))
			for _, ours := range []string{"hooks.state.", " hook c", "worker"} {
				if bytes.Contains(text, []byte(ours)) {
					t.Errorf("%s after uninstalling\n%s", name, text)
				}
			}
		}
		if text := b.read(filepath.Join(b.home, ".claude", "settings.json")); !bytes.Contains(text, []byte(`"theme": "dark"`)) {
			t.Errorf("Claude's settings after uninstalling\n%s", text)
		}
	})
	for _, kind := range hooks.Installable() {
		pane := b.open(kind) // fails where a dialog stands in place of the input line
		b.ask(pane, "MOCK: say hello")
		turn := regexp.MustCompile(`(?m)^\S+ +` + kind + ` .* idle `)
		b.await(20*time.Second, "the daemon hears of "+kind, func() (bool, string) {
			// An Enter right behind a text is a line break for Gemini; a person presses it again.
			if views, err := b.tmux.Tmux().Look(t.Context(), pane); err == nil && kind == "gemini" && b.look(kind, views[pane]).Draft != "" {
				b.tmux.Run("send-keys", "-t", pane, "Enter")
			}
			said := b.st("agents")
			return turn.MatchString(said), said + b.said(pane)
		})
		if kind == "codex" {
			b.startsWorker(pane)
		}
	}
}

// startsWorker has an agent start a worker. Its shell is a login shell, which may not find st by its name.
func (b *desk) startsWorker(pane string) {
	b.t.Helper()
	st := filepath.Join(b.home, "bin", "st")
	b.write("go.md", "MOCK: bash "+st+" orch start --objective install\nMOCK: bash "+st+" worker start --agent demo --name hi --prompt 'say hello'\n")
	b.ask(pane, "do go.md")
	b.await(60*time.Second, "the worker has ended", func() (bool, string) {
		said := b.st("worker", "ls", "--all", "--run", "r1")
		return strings.Contains(said, "finished"), said
	})
}

// read is a file's text, nil where there is none.
func (b *desk) read(path string) []byte {
	b.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		b.t.Fatal(err)
	}
	return text
}
