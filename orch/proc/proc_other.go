//go:build !linux && !darwin

package proc

import (
	"net"
	"os"
	"time"
)

// Boot returns ErrUnsupported.
func Boot() (string, error) { return "", ErrUnsupported }

func status(int) (Info, error) { return Info{}, ErrUnsupported }

// Began returns ErrUnsupported.
func Began(Process) (time.Time, error) { return time.Time{}, ErrUnsupported }

func command(int) (string, []string) { return "", nil }

func table() ([]Info, error) { return nil, ErrUnsupported }

// Peer returns ErrUnsupported: this system does not tell who is at the other end of a socket.
func Peer(*net.UnixConn) (pid, uid int, err error) { return 0, 0, ErrUnsupported }

// HungUp reports true: this system does not tell.
func HungUp(*net.UnixConn) bool { return true }

// Watcher can't be had on this system.
type Watcher struct{}

// NewWatcher returns ErrUnsupported.
func NewWatcher() (*Watcher, error) { return nil, ErrUnsupported }

// Watch returns ErrUnsupported.
func (*Watcher) Watch(Process, func()) error { return ErrUnsupported }

// Forget does nothing.
func (*Watcher) Forget(Process) {}

// Close does nothing.
func (*Watcher) Close() error { return nil }

// Signal returns ErrUnsupported.
func Signal(Process, os.Signal) error { return ErrUnsupported }
