//go:build linux || darwin

// Package proctest does to processes what a test does to them.
package proctest

import (
	"fmt"
	"syscall"
	"time"

	"st/orch/proc"
)

// patience is how long a process may take to stand still.
const patience = 10 * time.Second

// Stop sends SIGSTOP to a process and returns when it stands still: until it has been scheduled once more it answers
// as if nothing had been sent.
func Stop(pid int) error {
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return fmt.Errorf("process %d can't be stopped: %w", pid, err)
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		switch p, err := proc.Look(pid); {
		case err != nil:
			return err
		case p.Zombie:
			return fmt.Errorf("process %d: %w", pid, proc.ErrGone)
		case p.Stopped:
			return nil
		}
	}
	return fmt.Errorf("process %d still runs %v after SIGSTOP", pid, patience)
}
