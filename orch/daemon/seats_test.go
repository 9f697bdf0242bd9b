//go:build linux || darwin

package daemon

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"st/orch/proc"
)

// Of an agent and what it runs below itself only the topmost process takes a seat, and one without a seat takes none.
func TestTopmost(t *testing.T) {
	info := func(pid, parent int, exe string, argv ...string) proc.Info {
		return proc.Info{Process: proc.Process{PID: pid, Start: 1}, PPID: parent, Exe: exe, Argv: argv}
	}
	const agent = "/n/bin/codex"
	all := []proc.Info{
		info(10, 1, "/usr/bin/bash", "bash"), info(11, 10, agent, "codex"), info(12, 11, agent, "codex", "app-server"), info(13, 12, agent, "codex", "exec", "x"),
		info(20, 1, "/usr/bin/node", "node", "codex"), info(21, 20, agent, "codex", "--no-daemon"),
		info(30, 1, agent, "codex", "resume"), info(31, 30, agent, "codex"),
	}
	tops := topmost(all, "codex")
	if len(tops) != 2 || tops[0][0].PID != 11 || tops[0][1].PID != 10 || tops[1][0].PID != 30 {
		t.Errorf("%+v", tops)
	}
}

// A shared process serves agents of its own folder of settings only; where that can't be read, any may be one of them.
func TestFolderOf(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(dir, link))
	folder := func(kind string, env ...string) string {
		c := exec.Command("sleep", "100")
		c.Env = env
		must(t, c.Start())
		t.Cleanup(func() { _, _ = c.Process.Kill(), c.Wait() })
		for runtime.GOOS == "linux" && len(environOf(c.Process.Pid)) < 2 { // a program that has just begun shows none yet
			time.Sleep(time.Millisecond)
		}
		return folderOf(kind, c.Process.Pid)
	}
	if runtime.GOOS != "linux" {
		if got := folder("codex", "CODEX_HOME="+dir); got != "" {
			t.Errorf("the environment of another was read: %q", got)
		}
		return
	}
	for want, got := range map[string]string{
		dir:                          folder("codex", "HOME=/nowhere", "CODEX_HOME="+link),
		filepath.Join(dir, ".codex"): folder("codex", "HOME="+dir),
		"/tmp/st-nobody/.codex":      folder("codex", "HOME=/tmp/st-nobody"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := folder("codex", "CODEX_HOME=/tmp/st-nobody") + folder("codex", "LANG=C", "TERM=dumb") + folder("demo", "HOME="+dir) + folderOf("codex", -1); got != "" {
		t.Errorf("what can't be told is %q", got)
	}
}
