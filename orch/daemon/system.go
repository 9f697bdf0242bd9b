//go:build linux || darwin

package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// owned refuses a file that is another user's.
func owned(info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("its owner can't be told")
	}
	if int(st.Uid) != os.Getuid() {
		return fmt.Errorf("it belongs to user %d and we are user %d", st.Uid, os.Getuid())
	}
	return nil
}

// writable says why a file or a folder can't be written by us; for a folder also why it can't be entered.
func writable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	how := uint32(unix.W_OK)
	if info.IsDir() {
		how |= unix.X_OK
	}
	if err := unix.Access(path, how); err != nil {
		return &fs.PathError{Op: "access", Path: path, Err: err}
	}
	return nil
}

// flock takes the lock of an open file; errBusy when another process has it and wait is false.
func flock(f *os.File, wait bool) error {
	how := unix.LOCK_EX
	if !wait {
		how |= unix.LOCK_NB
	}
	return flockAs(f, how)
}

// flockShared takes the lock of an open file beside others that only look; errBusy when somebody has it alone.
func flockShared(f *os.File) error { return flockAs(f, unix.LOCK_SH|unix.LOCK_NB) }

func flockAs(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		switch err {
		case unix.EINTR:
			continue
		case unix.EWOULDBLOCK:
			return errBusy
		}
		return err
	}
}

// ownSession is how a daemon leaves the terminal of whoever started it.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// endGroup ends a process that has a session of its own, with all that it has started there.
func endGroup(pid int) error { return unix.Kill(-pid, unix.SIGKILL) }

// killed tells that a process was ended by SIGKILL, which it can't have sent itself by a fault of its own.
func killed(p *os.ProcessState) bool {
	status, ok := p.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

var stopSignals = []os.Signal{unix.SIGTERM, unix.SIGINT}

// outOfFiles tells that the process or the system has no descriptor left.
func outOfFiles(err error) bool { return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) }
