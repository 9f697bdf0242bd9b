//go:build unix

package worktree

import (
	"os"
	"syscall"
)

// deviceOf is the file system in which a folder is. It fails where what is in the folder can't be reached.
func deviceOf(dir string) (uint64, error) {
	info, err := os.Lstat(dir + "/.")
	if err != nil {
		return 0, err
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Dev), nil // its type differs
	}
	return 0, nil
}
