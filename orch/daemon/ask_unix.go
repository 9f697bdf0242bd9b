//go:build linux || darwin

package daemon

import (
	"bufio"
	"context"
	"errors"
	"io"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ask sends one request and reads its one answer into out like call; what takes longer than until fails with
// context.DeadlineExceeded. It is for the processes that an agent waits for. A blocking socket and no timer spare them
// the poller, its thread and the pages of package net.
func (c *Client) ask(until time.Time, req Request, out any) error {
	req.V, req.From = protocol, c.from
	line, err := encodeLine(req)
	if err != nil {
		return err
	}
	s, err := dialPlain(until, SocketPath(c.home))
	if err != nil {
		return err
	}
	defer unix.Close(s.fd)
	if err := s.send(line); err != nil {
		return err
	}
	a, err := readAnswer(bufio.NewReaderSize(s, 512))
	if err != nil {
		return err
	}
	return a.read(out)
}

// plain is a blocking socket. What takes longer than until fails with context.DeadlineExceeded.
type plain struct {
	fd    int
	until time.Time
}

func dialPlain(until time.Time, path string) (*plain, error) {
	syscall.ForkLock.RLock()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, err
	}
	s := &plain{fd: fd, until: until}
	// A stopped daemon whose queue is full keeps even connect waiting.
	err = s.again(unix.SO_SNDTIMEO, func() error { return unix.Connect(fd, &unix.SockaddrUnix{Name: path}) })
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return s, nil
}

func (s *plain) send(line []byte) error {
	for len(line) > 0 {
		err := s.again(unix.SO_SNDTIMEO, func() error {
			n, err := unix.Write(s.fd, line)
			line = line[max(n, 0):]
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Read is for a bufio.Reader. The limit is poll's: Linux keeps those of sockets on a coarse clock, and 250 ms became 280.
func (s *plain) Read(p []byte) (int, error) {
	for {
		left := time.Until(s.until)
		if left <= 0 {
			return 0, context.DeadlineExceeded
		}
		ready := []unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLIN}}
		n, err := unix.Poll(ready, int((left + time.Millisecond - 1).Milliseconds()))
		if err == nil && n > 0 {
			n, err = unix.Read(s.fd, p)
			if err == nil && n == 0 {
				err = io.EOF
			}
			if err == nil {
				return n, nil
			}
		}
		if err != nil && !errors.Is(err, unix.EINTR) {
			return 0, err
		}
	}
}

// again does one system call within what is left of the time. A signal, of the runtime's own for one, breaks off
// a call that has a time limit, whatever its handler wants.
func (s *plain) again(limit int, do func() error) error {
	for {
		left := time.Until(s.until)
		if left < time.Microsecond { // a limit of nothing would be none
			return context.DeadlineExceeded
		}
		tv := unix.NsecToTimeval(left.Nanoseconds())
		if err := unix.SetsockoptTimeval(s.fd, unix.SOL_SOCKET, limit, &tv); err != nil {
			return err
		}
		switch err := do(); {
		case errors.Is(err, unix.EAGAIN):
			return context.DeadlineExceeded
		case !errors.Is(err, unix.EINTR):
			return err
		}
	}
}
