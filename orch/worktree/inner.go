package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// modules tells whether submodules are checked out, and which of them hold work that is nowhere else: their repositories
// go with the worktree. What was added as a file by mistake and is a repository is none the less one.
func modules(ctx context.Context, dir string, list []indexed) (any bool, unsafe []string, err error) {
	for _, i := range list {
		if !i.module() {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, i.name, ".git")); err != nil {
			continue
		}
		any = true
		why, err := onlyHere(ctx, filepath.Join(dir, i.name))
		if err != nil {
			return any, unsafe, err
		}
		if why != "" {
			unsafe = append(unsafe, i.name+": "+why)
		}
	}
	return any, unsafe, nil
}

// below finds the repositories below what git ignores in a working tree, and those of them whose work is nowhere else.
// git itself does not look there, and takes them away with the rest.
func below(ctx context.Context, dir string, ignored []string) (own []string, err error) {
	for _, name := range ignored {
		if !strings.HasSuffix(name, "/") {
			continue
		}
		err := filepath.WalkDir(filepath.Join(dir, name), func(path string, d fs.DirEntry, err error) error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if errors.Is(err, fs.ErrNotExist) {
				return nil // gone since
			}
			if err != nil || d.Name() != ".git" {
				return err
			}
			why, err := alone(ctx, path, d.IsDir())
			if err != nil {
				return err
			}
			if rel, err := filepath.Rel(dir, filepath.Dir(path)); err == nil && why != "" {
				own = append(own, rel+"/: "+why)
			}
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		})
		if err != nil {
			return own, err
		}
	}
	return own, nil
}

// alone says what of the repository is nowhere else to which a folder or file .git leads, "" for nothing.
func alone(ctx context.Context, git string, dir bool) (string, error) {
	if dir {
		if _, err := os.Lstat(filepath.Join(git, "HEAD")); errors.Is(err, fs.ErrNotExist) {
			return "", nil // only called so
		}
	} else if raw, err := os.ReadFile(git); err != nil || !strings.HasPrefix(string(raw), "gitdir:") {
		return "", err
	} else if strings.Contains(filepath.ToSlash(string(raw)), "/worktrees/") {
		return "it is a worktree", nil
	}
	why, err := onlyHere(ctx, filepath.Dir(git))
	if err != nil {
		err = fmt.Errorf("%s: %w", filepath.Dir(git), err)
	}
	return why, err
}

// onlyHere says what of a repository's work is nowhere else, "" for nothing.
func onlyHere(ctx context.Context, dir string) (string, error) {
	out, err := asks(dir, "status", "--porcelain=v1", "-z", "--untracked-files=all").words(ctx)
	if err != nil {
		return "", err
	}
	if len(out) > 0 {
		return "it has changes that are not committed", nil
	}
	revs := []string{"rev-list", "-n", "1", "--branches", "--glob=refs/stas[h]"} // without a sign of a glob it would be a folder
	if _, head, err := Head(ctx, dir); err != nil {
		return "", err
	} else if head != "" {
		revs = append(revs, "HEAD")
	}
	commits, err := asks(dir, append(revs, "--not", "--remotes")...).line(ctx)
	if err != nil || commits == "" {
		return "", err
	}
	return "it has commits or stashes that are not pushed", nil
}
