package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

// found is what stands in a working tree and that git does not tell of.
type found struct {
	mounts []string // folders in which another file system begins
	own    []string // repositories whose work is nowhere else, and why
}

// stored finds the repositories of submodules that are not checked out any more, and whose work is nowhere else: git keeps
// them in the git folder of the worktree, which goes with it.
func stored(ctx context.Context, dir string) (unsafe []string, err error) {
	own, err := asks(dir, "rev-parse", "--path-format=absolute", "--git-dir").line(ctx)
	if err != nil {
		return nil, err
	}
	top := filepath.Join(own, "modules")
	err = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.IsDir() || !isRepository(path) {
			return err
		}
		why, err := unpushed(ctx, path, "GIT_DIR="+path, "GIT_WORK_TREE="+path) // the one that it names may be gone
		if rel, failed := filepath.Rel(top, path); failed == nil && why != "" {
			unsafe = append(unsafe, rel+", which is not checked out (git submodule update --init): "+why)
		}
		return err
	})
	return unsafe, err
}

// look walks over a whole working tree, by no link. git does not look below what it ignores, and takes all away. A folder
// that can't be read is an error: nobody knows what is in it.
// known are repositories that are looked at elsewhere.
func look(ctx context.Context, dir string, ignored, known []string) (f found, err error) {
	if f.mounts, err = mounted(dir); err != nil {
		return f, err
	}
	device, err := deviceOf(dir)
	if err != nil {
		return f, err
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, fs.ErrNotExist) && path != dir {
			return nil // gone since
		}
		rel, _ := filepath.Rel(dir, path)
		if err != nil || rel == "." {
			return err
		}
		if d.IsDir() {
			is, err := deviceOf(path)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			if err == nil && is != device && !slices.Contains(f.mounts, rel) {
				f.mounts = append(f.mounts, rel)
			}
			if slices.Contains(f.mounts, rel) {
				return fs.SkipDir
			}
		}
		if d.Name() == ".git" && slices.Contains(known, filepath.ToSlash(filepath.Dir(rel))) || rel == ".git" {
			return nil
		}
		return f.repository(ctx, dir, rel, d, ignored)
	})
	return f, err
}

// repository notes a repository whose work is nowhere else: one that an entry named .git leads to, or one without files.
// Such a folder that is none, and has something in it, is no work only where git ignores it.
func (f *found) repository(ctx context.Context, dir, rel string, d fs.DirEntry, ignored []string) error {
	path := filepath.Join(dir, rel)
	name, why, err := rel, "", error(nil)
	switch {
	case d.Name() == ".git":
		name = filepath.Dir(rel)
		why, err = alone(ctx, path, d.IsDir())
		if err == nil && why == "" && d.IsDir() && !within(rel, ignored) && !isRepository(path) && holdsFiles(path) {
			why = "its .git holds files, and git looks at none of them"
		}
	case d.IsDir() && isRepository(path):
		why, err = unpushed(ctx, path, "GIT_DIR="+path)
	default:
		return nil
	}
	if err != nil {
		return err
	}
	if why != "" {
		f.own = append(f.own, name+"/: "+why)
	}
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// isRepository tells whether a folder is a git folder, as git itself tells.
func isRepository(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

func holdsFiles(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err != nil || len(entries) > 0
}

// within tells whether a path is below one of some folders, whose names end with a slash.
func within(rel string, folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool {
		return strings.HasSuffix(f, "/") && strings.HasPrefix(filepath.ToSlash(rel), f)
	})
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
	return unpushed(ctx, dir)
}

// unpushed says what of a repository's commits is nowhere else. env may name its git folder.
func unpushed(ctx context.Context, dir string, env ...string) (string, error) {
	revs := []string{"rev-list", "-n", "1", "--branches", "--glob=refs/stas[h]"} // without a sign of a glob it would be a folder
	head := asks(dir, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	head.env = env
	if is, err := head.yes(ctx); err != nil {
		return "", err
	} else if is {
		revs = append(revs, "HEAD")
	}
	list := asks(dir, append(revs, "--not", "--remotes")...)
	list.env = env
	commits, err := list.line(ctx)
	if err != nil || commits == "" {
		return "", err
	}
	return "it has commits or stashes that are not pushed", nil
}
