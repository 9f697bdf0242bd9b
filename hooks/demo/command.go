//go:build unix

package demo

import (
	"context"
	"os/exec"
	"syscall"
	"time"
)

// command is a child in a session of its own: it has no terminal, and all of it ends with ctx. Where the
// agent itself is killed its children stay, as those of the real agents do.
func command(ctx context.Context, dir string, env []string, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	// A child that went into the background may hold the output open for good.
	cmd.WaitDelay = time.Second
	return cmd
}
