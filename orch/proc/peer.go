//go:build linux || darwin

package proc

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// Peer returns the process and the user at the other end of a unix socket, as they were when it connected.
// The process may have ended since; whoever must be sure of it looks at it and then asks HungUp.
func Peer(conn *net.UnixConn) (pid, uid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var asked error
	err = raw.Control(func(fd uintptr) { pid, uid, asked = peer(int(fd)) })
	return pid, uid, errors.Join(err, asked)
}

// HungUp reports whether the other end is closed and has left nothing to read. While it is not, the peer's pid
// still means the process that connected (or one to which it gave the socket).
func HungUp(conn *net.UnixConn) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return true
	}
	closed := false
	err = raw.Control(func(fd uintptr) {
		var one [1]byte
		n, _, err := unix.Recvfrom(int(fd), one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		closed = n <= 0 && !errors.Is(err, unix.EAGAIN)
	})
	return closed || err != nil
}
