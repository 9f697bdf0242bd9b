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

// flock takes the lock of an open file; errBusy when another process has it and wait is false.
func flock(f *os.File, wait bool) error {
	how := unix.LOCK_EX
	if !wait {
		how |= unix.LOCK_NB
	}
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

var stopSignals = []os.Signal{unix.SIGTERM, unix.SIGINT}

// outOfFiles tells that the process or the system has no descriptor left.
func outOfFiles(err error) bool { return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) }
