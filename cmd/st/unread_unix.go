//go:build unix

package main

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// awaitUnread returns when nobody can read what is written to a pipe or a terminal any more. A plain file is always
// read by somebody.
func awaitUnread(f *os.File) {
	for {
		fds := []unix.PollFd{{Fd: int32(f.Fd())}} // errors and hang-ups are told unasked
		_, err := unix.Poll(fds, -1)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
