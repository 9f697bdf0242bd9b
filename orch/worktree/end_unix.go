//go:build unix

package worktree

import (
	"os/exec"
	"syscall"
)

// endTogether makes a command that is cut off end with what it has started: git's hooks are programs of their own.
func endTogether(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}
