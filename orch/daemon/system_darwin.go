package daemon

import (
	"os"

	"golang.org/x/sys/unix"
)

// become makes descriptor fd the file f.
func become(f *os.File, fd int) error { return unix.Dup2(int(f.Fd()), fd) }
