//go:build linux || darwin

package daemon

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"st/orch/proc"
)

// signalGroup signals the process group that a process leads; where it leads none, only itself.
func signalGroup(p proc.Process, sig syscall.Signal) error {
	info, err := proc.Look(p.PID)
	if err != nil {
		return err
	}
	if info.Process != p {
		return fmt.Errorf("process %d: %w", p.PID, proc.ErrGone)
	}
	if info.Group != p.PID {
		return proc.Signal(p, sig)
	}
	err = unix.Kill(-p.PID, sig)
	if errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("process %d: %w", p.PID, proc.ErrGone)
	}
	return err
}

func getsid(pid int) (int, error) { return unix.Getsid(pid) }
