//go:build !linux && !darwin

package daemon

import (
	"syscall"

	"st/orch/proc"
)

func signalGroup(p proc.Process, sig syscall.Signal) error { return proc.Signal(p, sig) }

func getsid(int) (int, error) { return 0, proc.ErrUnsupported }
