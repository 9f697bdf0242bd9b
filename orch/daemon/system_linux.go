package daemon

import (
	"os"

	"golang.org/x/sys/unix"
)

// become makes descriptor fd the file f. Linux on arm64 has no dup2.
func become(f *os.File, fd int) error { return unix.Dup3(int(f.Fd()), fd, 0) }
