package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// indexed is a path in an index.
type indexed struct {
	tag  byte // see git ls-files -t; in lower case where git is to assume that the file is unchanged
	mode string
	name string
}

// module says that it is a repository of its own, of which the index holds a commit's id alone.
func (i indexed) module() bool { return i.mode == "160000" }

// blind says that git does not look at the file, although there is something to see.
func (i indexed) blind(dir string) bool {
	if i.tag == 'S' || i.tag == 's' { // left out of the working tree, unless somebody has put it there
		_, err := os.Lstat(filepath.Join(dir, i.name))
		return err == nil
	}
	return i.tag >= 'a' && i.tag <= 'z'
}

// indexOf reads the index of a working tree, or another one that env names.
func indexOf(ctx context.Context, dir string, env ...string) ([]indexed, error) {
	c := asks(dir, "ls-files", "-z", "--stage", "-v", "--", ":/")
	c.env = env
	rows, err := c.words(ctx)
	list := make([]indexed, 0, len(rows))
	for _, row := range rows {
		facts, name, _ := strings.Cut(row, "\t")
		if tag, mode, ok := strings.Cut(facts, " "); ok && tag != "" {
			mode, _, _ = strings.Cut(mode, " ")
			list = append(list, indexed{tag[0], mode, name})
		}
	}
	return list, err
}

// scratchIndex copies the index of a working tree into a folder and answers how git is told to use it. It keeps the time of
// the real one: what was written into a file in the same moment is known as changed by that alone. there is false where
// the working tree has no index yet.
func scratchIndex(ctx context.Context, dir, scratch string) (env []string, there bool, err error) {
	path := filepath.Join(scratch, "index")
	env = []string{"GIT_INDEX_FILE=" + path}
	own, err := asks(dir, "rev-parse", "--path-format=absolute", "--git-path", "index").line(ctx)
	if err != nil {
		return nil, false, err
	}
	info, err := os.Stat(own)
	if errors.Is(err, fs.ErrNotExist) {
		return env, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	raw, err := os.ReadFile(own)
	if err == nil {
		err = os.WriteFile(path, raw, 0o600)
	}
	if err == nil {
		err = os.Chtimes(path, info.ModTime(), info.ModTime())
	}
	return env, true, err
}

// flagged says that git was told not to look at the file, whether it is there or not.
func (i indexed) flagged() bool { return i.tag == 'S' || i.tag >= 'a' && i.tag <= 'z' }

// blind are the files of an index at which git does not look, although there is something to see.
func blind(dir string, list []indexed) (found []indexed) {
	for _, i := range list {
		if i.blind(dir) {
			found = append(found, i)
		}
	}
	return found
}

// see has git look at these files of an index of ours. Both flags want a call of their own.
func see(ctx context.Context, dir string, env []string, list []indexed) error {
	if len(list) == 0 {
		return nil
	}
	var names strings.Builder
	for _, i := range list {
		names.WriteString(i.name + "\x00")
	}
	for _, flag := range []string{"--no-assume-unchanged", "--no-skip-worktree"} {
		c := acts(dir, readTime, "update-index", flag, "-z", "--stdin")
		c.env, c.stdin = env, names.String()
		if _, err := c.do(ctx); err != nil {
			return err
		}
	}
	return nil
}

// seeing copies the index of a working tree into one in which git looks at these files, and answers how git is told to use
// that, until done is called.
func seeing(ctx context.Context, dir string, list []indexed) (env []string, done func(), err error) {
	if len(list) == 0 {
		return nil, func() {}, nil
	}
	scratch, err := os.MkdirTemp("", "st-index-")
	if err != nil {
		return nil, func() {}, err
	}
	done = func() { os.RemoveAll(scratch) }
	env, there, err := scratchIndex(ctx, dir, scratch)
	if err == nil && there {
		err = see(ctx, dir, env, list)
	}
	return env, done, err
}

// hidden are the files that differ from the index and at which git was told not to look.
func hidden(ctx context.Context, dir string, list []indexed) ([]string, error) {
	list = blind(dir, list)
	if len(list) == 0 {
		return nil, nil
	}
	env, done, err := seeing(ctx, dir, list)
	defer done()
	if err != nil {
		return nil, err
	}
	c := asks(dir, "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=all")
	c.env = env
	changed, err := c.words(ctx)
	var names []string
	was := set(changed)
	for _, i := range list {
		if was[i.name] {
			names = append(names, i.name)
		}
	}
	return names, err
}
