package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"st/orch/failpoint"
)

// Leftover says that a worktree is gone for git, its work is elsewhere, and some of its files could not be deleted.
type Leftover struct {
	Path string
	Err  error
}

func (l *Leftover) Error() string { return fmt.Sprintf("%s could not be deleted: %v", l.Path, l.Err) }

func (l *Leftover) Unwrap() error { return l.Err }

// Remove takes a worktree away, with the files that git ignores. Without force one with changes is refused. One that is
// not there any more is nothing to do. Its folder is whole until it is gone from its place, so that whoever comes after a
// crash finds all of it or nothing; *Leftover where only the rest of it stays.
func Remove(ctx context.Context, repo, path string, force bool, limit time.Duration) error {
	_, there, err := entry(ctx, repo, path)
	if err != nil {
		return err
	}
	if there && !force {
		if err := clean(ctx, path); err != nil {
			return err
		}
	}
	if there {
		err = takeAway(ctx, repo, path, force, limit)
	}
	if err != nil {
		return err
	}
	failpoint.At("tree.remove.after")
	return deleteAll(ctx, aside(path))
}

// aside is where the folder of a worktree lies while it is deleted.
func aside(path string) string { return path + ".st-removed" }

// takeAway makes that git knows nothing of a worktree any more, and that its folder is not in its place. git itself would
// delete one file after the other, and one that was cut off on the way leaves a folder that is no worktree any more.
func takeAway(ctx context.Context, repo, path string, force bool, limit time.Duration) error {
	err := os.Rename(path, aside(path))
	moved := err == nil
	if moved {
		failpoint.At("tree.aside.after")
	}
	args := []string{"worktree", "remove"}
	if force {
		args = append(args, "--force")
	}
	err = again(ctx, acts(repo, limit, append(args, "--", path)...))
	if err != nil && moved && ctx.Err() == nil {
		err = errors.Join(err, os.Rename(aside(path), path))
	}
	return err
}

// clean refuses a worktree in which something stands that is in no commit, in git's own words.
func clean(ctx context.Context, path string) error {
	if !There(path) {
		return nil
	}
	rows, err := asks(path, "status", "--porcelain=v1", "-z", "--untracked-files=normal").words(ctx)
	if err == nil && len(rows) > 0 {
		err = fmt.Errorf("%s contains modified or untracked files", path)
	}
	return err
}

// deleteAll deletes a folder, read-only ones in it as well: some tools keep their files so.
func deleteAll(ctx context.Context, dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if name := filepath.Join(dir, e.Name()); os.RemoveAll(name) != nil {
			writable(name)
			err = errors.Join(err, os.RemoveAll(name))
		}
	}
	if err = errors.Join(err, os.Remove(dir)); err != nil {
		return &Leftover{dir, err}
	}
	return nil
}

// writable lets the folders below one be emptied. What can't be changed says so when it is deleted.
func writable(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
}

// Bytes is how much the files below a folder hold, links not followed. What can't be read does not count.
func Bytes(ctx context.Context, dir string) (n int64) {
	// The error is that of ctx alone: then it is how much was counted by then.
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
		return nil
	})
	return n
}

// There tells whether a worktree's folder is there.
func There(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
