//go:build linux || darwin

package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"st/orch/proc"
)

func init() {
	soakKinds = append(soakKinds, soakKind{
		name: "codex",
		launcher: func(script, model string) string {
			at := strings.LastIndex(script, `"$@"`)
			return script[:at] + `-c 'model_providers.mock.base_url="http://` + model + `/v1"' ` + script[at:]
		},
		runs: func(p proc.Info) bool {
			return filepath.Base(p.Exe) == "codex" && len(p.Argv) > 0 && filepath.Base(p.Argv[0]) == "codex"
		},
		own:   codexOwn,
		drive: codexDrive,
	})
}

// codexOwn reads the title that Codex gives its window: a turning glyph while it works, a call for its person.
func codexOwn(s *soak) (states, time.Time) {
	cmd := exec.Command("tmux", "-u", "-S", s.tmux.Socket(), "display-message", "-p", "-t", s.pane, "#{pane_title}")
	out, err := cmd.Output()
	at := time.Now()
	title := strings.TrimSpace(string(out))
	if err != nil || title == "" {
		return 0, time.Time{}
	}
	first, _ := utf8.DecodeRuneInString(title)
	switch {
	case strings.Contains(title, "Action Required"):
		return asking, at
	case first >= '⠀' && first <= '⣿': // the braille patterns
		return working | compacting, at
	}
	return idle | ready | starting, at
}

// codexDrive calls the tools by their paths: the shell of Codex is a login shell and has a PATH of its own.
func codexDrive(s *soak) {
	tool, child := filepath.Join(s.home, "bin", "soaktool"), filepath.Join(s.home, "bin", childProgram)
	s.start("MOCK: bash "+tool+" now 1", "MOCK: say begun")

	s.now("tools")
	s.say("MOCK: bash "+tool+" now 0", "MOCK: bash "+tool+" now 0.3", "MOCK: bash "+tool+" now 5", "MOCK: say a")
	s.ends()
	s.now("a tool that outlives its turn")
	s.say("MOCK: bash "+tool+" now 20", "MOCK: say b")
	s.ends()
	hold(8 * time.Second)

	s.now("permission yes")
	s.say("MOCK: ask-permission "+tool+" now 2", "MOCK: say c")
	s.is(permission)
	hold(3 * time.Second)
	s.press("y")
	s.ends()
	s.now("permission no")
	s.say("MOCK: ask-permission "+tool+" now 2", "MOCK: say d")
	s.is(permission)
	hold(2 * time.Second)
	s.press("Escape")
	s.ends()

	s.now("Esc before the first word")
	s.say("MOCK: sleep 20", "MOCK: say never")
	hold(time.Second)
	s.press("Escape")
	s.ends()
	s.now("Esc in a tool")
	s.say("MOCK: bash "+tool+" now 9", "MOCK: say k")
	s.tool()
	hold(time.Second)
	s.press("Escape")
	s.ends()
	s.now("Esc while it speaks")
	s.say("MOCK: bash "+tool+" now 0", "MOCK: say speech "+strings.Repeat("and so it goes on ", 800))
	s.shows("and so it goes on")
	hold(time.Second)
	s.press("Escape")
	s.ends()
	s.now("a prompt that joins the turn")
	s.say("MOCK: bash "+tool+" now 3", "MOCK: say l")
	s.tool()
	s.line("MOCK: bash " + tool + " now 2 ;; MOCK: say m")
	s.ends()
	s.now("a prompt that joins the turn, and Esc")
	s.say("MOCK: bash "+tool+" now 9", "MOCK: say n")
	s.tool()
	s.line("MOCK: sleep 3 ;; MOCK: say o")
	hold(500 * time.Millisecond)
	s.press("Escape")
	hold(2 * time.Second)
	s.ends()

	for _, status := range []string{"400", "429 2", "529 2"} {
		s.now("error " + status)
		s.say("MOCK: error "+status, fmt.Sprintf("MOCK: say after %s in %d", status, s.workers))
		hold(time.Second)
		s.ends()
	}
	s.now("hang and Esc")
	s.say("MOCK: bash "+tool+" now 0", "MOCK: hang")
	hold(4 * time.Second)
	s.press("Escape")
	s.ends()

	s.now("/compact")
	s.line("/compact")
	hold(time.Second)
	s.ends()
	s.now("after /compact")
	s.say("MOCK: bash "+tool+" now 1", "MOCK: say p")
	s.ends()
	s.now("a child Codex")
	s.say("MOCK: ask-permission "+child+" exec 'MOCK: bash "+tool+" now 2'", "MOCK: bash "+tool+" now 1", "MOCK: say q")
	s.is(permission)
	s.press("y")
	s.ends()
	s.now("/quit")
	s.line("/quit")
	s.dead()
	s.end()

	s.start("MOCK: bash "+tool+" now 1", "MOCK: say begun again")
	s.now("kill -9")
	s.say("MOCK: bash "+tool+" now 9", "MOCK: say r")
	s.tool()
	hold(time.Second)
	s.kill()
	s.dead()
	s.end()
}
