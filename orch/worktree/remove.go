package worktree

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Remove takes a worktree away, with the files that git ignores. Without force git refuses one with changes. One that is
// not there any more is nothing to do.
func Remove(ctx context.Context, repo, path string, force bool, limit time.Duration) error {
	_, there, err := entry(ctx, repo, path)
	if err != nil || !there {
		return err
	}
	args := []string{"worktree", "remove"}
	if force {
		args = append(args, "--force")
	}
	return again(ctx, acts(repo, limit, append(args, "--", path)...))
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
