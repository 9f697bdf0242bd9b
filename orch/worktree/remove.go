package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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
	for n := range asides {
		switch a := asideOf(path, n); {
		case a.ours():
			err = errors.Join(err, a.delete(ctx))
		case a.begun():
			err = errors.Join(err, a.drop())
		}
	}
	return err
}

// aside is a folder of ours beside a worktree, in which that lies while it is deleted. A mark in it tells it from what
// somebody else has given that name, also after a crash.
type aside struct{ dir, of string }

// asides is how many names are tried: one that is taken is left alone.
const asides = 100

func asideOf(path string, n int) aside {
	a := aside{path + ".st-removed", path}
	if n > 0 {
		a.dir += fmt.Sprint("-", n+1)
	}
	return a
}

func (a aside) tree() string { return filepath.Join(a.dir, "tree") }
func (a aside) mark() string { return filepath.Join(a.dir, "removed-by-st") }

// ours tells whether we have made the folder. A link is none of ours, wherever it leads.
func (a aside) ours() bool {
	dir, err := os.Lstat(a.dir)
	if err != nil || !dir.IsDir() {
		return false
	}
	mark, err := os.Lstat(a.mark())
	if err != nil || !mark.Mode().IsRegular() {
		return false
	}
	raw, err := os.ReadFile(a.mark())
	return err == nil && string(raw) == a.of
}

// begun tells whether a folder of that name is one of ours that was cut off before it had its whole mark: nothing else is in
// it. Of somebody else's nothing can be lost so either.
func (a aside) begun() bool {
	dir, err := os.Lstat(a.dir)
	if err != nil || !dir.IsDir() {
		return false
	}
	entries, err := os.ReadDir(a.dir)
	if err != nil || len(entries) > 1 {
		return false
	}
	if len(entries) == 0 {
		return true
	}
	raw, err := os.ReadFile(a.mark())
	return err == nil && entries[0].Type().IsRegular() && strings.HasPrefix(a.of, string(raw))
}

// take moves a worktree into the first folder that is free, and answers which.
func take(path string) (a aside, err error) {
	for n := range asides {
		a = asideOf(path, n)
		if err = os.Mkdir(a.dir, 0o777); errors.Is(err, fs.ErrExist) {
			if !a.begun() {
				continue
			}
			err = nil
		}
		if err == nil {
			failpoint.At("tree.aside.before")
		}
		if err == nil {
			err = os.WriteFile(a.mark(), []byte(path), 0o666)
		}
		if err == nil {
			err = os.Rename(path, a.tree())
		}
		if err != nil {
			return a, errors.Join(err, a.drop())
		}
		return a, nil
	}
	return a, err
}

// back moves the worktree to its place again.
func (a aside) back() error {
	if err := os.Rename(a.tree(), a.of); err != nil {
		return err
	}
	return a.drop()
}

// drop deletes the folder, whose mark goes last: what else lies in it is not ours, and keeps it.
func (a aside) drop() error {
	for _, path := range []string{a.mark(), a.dir} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// delete deletes the worktree, and the folder.
func (a aside) delete(ctx context.Context) error {
	err := deleteAll(ctx, a.tree())
	if err == nil {
		err = a.drop()
	}
	if err != nil && ctx.Err() == nil {
		return &Leftover{a.dir, err}
	}
	return err
}

// takeAway makes that git knows nothing of a worktree any more, and that its folder is not in its place. git itself would
// delete one file after the other, and one that was cut off on the way leaves a folder that is no worktree any more.
func takeAway(ctx context.Context, repo, path string, force bool, limit time.Duration) error {
	a, err := take(path)
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
		err = errors.Join(err, a.back())
	}
	return err
}

// clean refuses a worktree in which something stands that is in no commit, in git's own words.
func clean(ctx context.Context, path string) error {
	if !There(path) {
		return nil
	}
	rows, err := asks(path, "status", "--porcelain=v1", "-z", "--untracked-files=normal", "--ignore-submodules=dirty").words(ctx)
	if err == nil && len(rows) > 0 {
		err = fmt.Errorf("%s contains modified or untracked files", path)
	}
	return err
}

// deleteAll deletes a folder, read-only ones in it as well: some tools keep their files so. Of a link it deletes the link.
func deleteAll(ctx context.Context, dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !info.IsDir() {
		return os.Remove(dir)
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if name := filepath.Join(dir, e.Name()); os.RemoveAll(name) != nil {
			writable(name)
			err = errors.Join(err, os.RemoveAll(name))
		}
	}
	return errors.Join(err, os.Remove(dir))
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
