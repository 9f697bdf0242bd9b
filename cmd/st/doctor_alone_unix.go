//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// alone puts a command into a session of its own, away from the person's terminal, and ends all of it at once.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
