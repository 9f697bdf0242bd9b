//go:build unix

package hooks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// likeOwner gives a new file the owner and group of the one it replaces; nil info is none.
func likeOwner(f *os.File, info fs.FileInfo) error {
	if info == nil {
		return nil
	}
	old, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	now, ok := mine.Sys().(*syscall.Stat_t)
	if !ok || now.Uid == old.Uid && now.Gid == old.Gid {
		return nil
	}
	if err := f.Chown(int(old.Uid), int(old.Gid)); err != nil {
		return fmt.Errorf("%s belongs to user %d, group %d, and would not after a change: %w", info.Name(), old.Uid, old.Gid, err)
	}
	return f.Chmod(info.Mode().Perm()) // chown may have taken bits away
}

// syncDir brings a replaced name to the disk.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
