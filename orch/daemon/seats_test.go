//go:build linux || darwin

package daemon

import (
	"testing"

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
