//go:build linux || darwin

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"st/orch/proc"
)

// TestCodexShared: two Codex windows, opened by hand and without hooks, that one process serves: what st is asked in either has the
// environment and the ancestry of the first. Which window asks is known, or the caller is refused and told what to
// do, and what it says then is remembered. A worker never lands in that process.
func TestCodexShared(t *testing.T) {
	b := newDesk(t)
	b.sharedHome()
	b.rules("orch start", "orch show", "worker start", "worker wait", "worker read")
	first := b.open("codex")
	b.turn(first, "one", "MOCK: say I begin.")
	b.await(20*time.Second, "the shared process runs", func() (bool, string) { return len(b.shared()) > 0, "" })
	second := b.open("codex")

	b.turn(second, "two", "MOCK: to-end st orch start --objective 'of the second'")
	if said := b.log("codex", "Please do two.md"); !strings.Contains(said, "code 7") || !strings.Contains(said, "say in which pane you sit, once: --as %N") {
		t.Errorf("the second window was not told what to do:\n%s", b.said(second))
	}
	b.turn(second, "three", "MOCK: to-end st orch start --objective 'of the second' --as "+second)
	b.turn(second, "four", "MOCK: to-end st orch show\nMOCK: to-end st worker start --agent codex --name below --task tasks/below.md\nMOCK: while 124 st worker wait --timeout 8s\nMOCK: to-end st worker read below")
	f := b.runFile("r1")
	if len(f.Reports) != 1 || f.Reports[0].Summary != "done below" {
		t.Fatalf("reports %+v\n%s", f.Reports, b.scene())
	}
	if a := b.agent(f.Coordinator); a.Pane != second || a.Role != "coordinator" {
		t.Errorf("the coordinator of the second window's run is %+v", a)
	}
	// Of the two only the first is left to whom this can belong.
	b.turn(first, "five", "MOCK: to-end st orch start --objective 'of the first'")
	if a := b.agent(b.runFile("r2").Coordinator); a.Pane != first {
		t.Errorf("the coordinator of the first window's run is %+v", a)
	}
	if w := b.worker("w1"); w.Pane == first || w.Pane == second || !b.alone(w.Pane) {
		t.Errorf("the worker sits in %s", w.Pane)
	}
}

// turn asks an agent to do what a file says, and waits for the end of that turn.
func (b *desk) turn(pane, name, script string) {
	b.t.Helper()
	b.write(name+".md", script+"\nMOCK: say That was "+name+".\n")
	b.ask(pane, "Please do "+name+".md now.")
	b.await(90*time.Second, "the turn of "+name+" has ended", func() (bool, string) {
		said := b.said(pane)
		return strings.Contains(said, "That was "+name+"."), said
	})
}

// sharedHome gives the desk a home of its own in which Codex starts its shared process.
func (b *desk) sharedHome() {
	b.t.Helper()
	home := filepath.Join(filepath.Dir(b.dir), "home")
	b.write("tasks/below.md", "MOCK: bash st worker done --summary 'done below'\nMOCK: say It is reported.\n")
	for name, change := range map[string][2]string{
		".codex/config.toml": {"daemon_auto_start = false", "daemon_auto_start = true"},
		"bin/codex":          {"HOME='" + b.home + "'", "HOME='" + home + "'"},
		".profile":           {},
	} {
		raw, err := os.ReadFile(filepath.Join(b.home, name))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o700)
		}
		text := string(raw)
		if change[0] != "" {
			text = strings.ReplaceAll(text, change[0], change[1])
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(home, name), []byte(text), 0o700)
		}
		if err != nil {
			b.t.Fatal(err)
		}
	}
	b.must(exec.Command("cp", filepath.Join(b.home, "bin", "st"), filepath.Join(home, "bin", "st")))
	b.home = home
	b.t.Cleanup(func() {
		for _, pid := range b.shared() { // they outlive the window that started them
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && err != syscall.ESRCH {
				b.t.Error(err)
			}
		}
	})
}

// shared are the processes of Codex that serve windows, of this desk's own home.
func (b *desk) shared() (pids []int) {
	b.t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		b.t.Fatal(err)
	}
	for _, d := range dirs {
		argv, _ := os.ReadFile(filepath.Join(d, "cmdline")) // it may have ended
		env, _ := os.ReadFile(filepath.Join(d, "environ"))
		if strings.Contains(string(argv), "\x00app-server\x00") && strings.Contains("\x00"+string(env), "\x00HOME="+b.home+"\x00") {
			pid, err := strconv.Atoi(filepath.Base(d))
			if err != nil {
				b.t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}

// alone tells that the agent in a pane was started to run its turns by itself.
func (b *desk) alone(pane string) bool {
	b.t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(b.tmux.Run("display-message", "-p", "-t", pane, "#{pane_pid}")))
	if err != nil {
		b.t.Fatal(err)
	}
	tree, err := proc.Tree(pid)
	if err != nil {
		b.t.Fatal(err)
	}
	return slices.ContainsFunc(tree, func(i proc.Info) bool { return slices.Contains(i.Argv, "--no-daemon") })
}

// rules are the person's consent that their Codex may run these verbs of st outside its sandbox, without any hook.
func (b *desk) rules(verbs ...string) {
	b.t.Helper()
	var text strings.Builder
	for _, v := range verbs {
		noun, verb, _ := strings.Cut(v, " ")
		fmt.Fprintf(&text, "prefix_rule(pattern=[\"st\", %q, %q], decision=\"allow\")\n", noun, verb)
	}
	path := filepath.Join(b.home, ".codex", "rules", "st.rules")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		b.t.Fatal(err)
	}
}
