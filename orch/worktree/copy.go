package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"st/orch/failpoint"
)

// IncludeFile lists, in the manner of .gitignore, files that git ignores and that every worktree of st gets a copy of.
const IncludeFile = ".worktreeinclude"

// Copied is what came of a copy.
type Copied struct {
	Files   int
	Skipped []string // what was left out, and why
}

// Copy copies files that git does not track from one working tree into another: those that IncludeFile names, of which
// only the ignored ones, and those that fit one of the globs. Nothing outside of the two trees is read or written: a link
// is copied as a link, and only where it stays inside. What stands there already is left as it is.
func Copy(ctx context.Context, from, to string, globs []string) (c Copied, err error) {
	names, err := wanted(ctx, from, globs)
	if err != nil || len(names) == 0 {
		return c, err
	}
	src, err := os.OpenRoot(from)
	if err != nil {
		return c, err
	}
	defer src.Close()
	dst, err := os.OpenRoot(to)
	if err != nil {
		return c, err
	}
	defer dst.Close()
	for _, name := range names {
		if ctx.Err() != nil {
			return c, ctx.Err()
		}
		done, why, err := copyOne(src, dst, name)
		switch {
		case err != nil:
			return c, fmt.Errorf("%s: %w", name, err)
		case why != "":
			c.Skipped = append(c.Skipped, name+": "+why)
		case done:
			c.Files++
		}
	}
	return c, nil
}

// wanted lists the files that are to be copied.
func wanted(ctx context.Context, from string, globs []string) ([]string, error) {
	seen := map[string]bool{}
	var names []string
	add := func(more []string, also map[string]bool) {
		for _, n := range more {
			if !seen[n] && (also == nil || also[n]) {
				seen[n] = true
				names = append(names, n)
			}
		}
	}
	if info, err := os.Stat(filepath.Join(from, IncludeFile)); err == nil && info.Mode().IsRegular() {
		named, err := asks(from, "ls-files", "-z", "--others", "--ignored", "--exclude-from="+IncludeFile).words(ctx)
		if err != nil {
			return nil, err
		}
		ignored, err := asks(from, "ls-files", "-z", "--others", "--ignored", "--exclude-standard").words(ctx)
		if err != nil {
			return nil, err
		}
		add(named, set(ignored))
	}
	if len(globs) == 0 {
		return names, nil
	}
	args := []string{"ls-files", "-z", "--others", "--ignored"}
	for _, g := range globs {
		args = append(args, "--exclude="+g)
	}
	more, err := asks(from, args...).words(ctx)
	add(more, nil)
	return names, err
}

func set(list []string) map[string]bool {
	m := make(map[string]bool, len(list))
	for _, s := range list {
		m[s] = true
	}
	return m
}

// copyOne copies one file or link; why says what keeps it from being copied.
func copyOne(src, dst *os.Root, name string) (done bool, why string, err error) {
	if strings.HasSuffix(name, "/") {
		return false, "it is a repository of its own", nil
	}
	info, err := src.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, "", nil // gone since
	}
	if err != nil {
		return false, "it leads out of the repository", nil
	}
	if _, err := dst.Lstat(name); err == nil {
		return false, "", nil
	}
	if err := dst.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return false, "its folder leads out of the worktree, or is a file there", nil
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return copyLink(src, dst, name)
	case !info.Mode().IsRegular():
		return false, "it is no plain file", nil
	}
	return true, "", copyFile(src, dst, name, info.Mode().Perm())
}

func copyLink(src, dst *os.Root, name string) (done bool, why string, err error) {
	target, err := src.Readlink(name)
	if err != nil {
		return false, "", err
	}
	if filepath.IsAbs(target) || !filepath.IsLocal(filepath.Join(filepath.Dir(name), target)) {
		return false, "it leads out of the repository", nil
	}
	return true, "", dst.Symlink(target, name)
}

// copyFile copies a file by way of another name: half a file must not be taken for a whole one.
func copyFile(src, dst *os.Root, name string, mode fs.FileMode) error {
	in, err := src.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	part := name + ".st-part"
	out, err := dst.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode|0o200)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err == nil {
		failpoint.At("tree.copy.before")
		err = dst.Rename(part, name)
		failpoint.At("tree.copy.after")
	}
	if err != nil {
		return errors.Join(err, dst.Remove(part))
	}
	return nil
}
