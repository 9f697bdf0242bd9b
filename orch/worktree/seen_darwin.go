package worktree

import (
	"io/fs"
	"syscall"
)

// stampOf is what an index notes of a file, as it is now; false where that can't be told.
func stampOf(info fs.FileInfo) (noted, bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return noted{}, false
	}
	return noted{ctime: moment{uint32(s.Ctimespec.Sec), uint32(s.Ctimespec.Nsec)}, mtime: moment{uint32(s.Mtimespec.Sec), uint32(s.Mtimespec.Nsec)}, ino: uint32(s.Ino), size: uint32(s.Size)}, true
}
