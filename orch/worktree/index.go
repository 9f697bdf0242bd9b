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

// indexed is a path in an index.
type indexed struct {
	tag      byte // see git ls-files -t; in lower case where git is to assume that the file is unchanged
	mode, id string
	stage    byte // '0', or in the middle of a merge '1' to '3'
	name     string
	noted    noted
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
	c := asks(dir, "ls-files", "-z", "--stage", "-v", "--debug", "--", ":/")
	c.env = env
	out, err := c.do(ctx)
	if err != nil {
		return nil, err
	}
	return readIndex(out)
}

// readIndex reads what git says of an index: an entry is its facts, a tab, its name, NUL, and then what is noted of it.
func readIndex(out string) (list []indexed, err error) {
	for out != "" {
		row, rest, ended := strings.Cut(out, "\x00")
		head, name, named := strings.Cut(row, "\t")
		words := strings.Fields(head)
		if !ended || !named || len(words) != 4 || len(words[0]) != 1 || len(words[3]) != 1 {
			return nil, fmt.Errorf("git ls-files: %q is no entry of an index", row)
		}
		i := indexed{tag: words[0][0], mode: words[1], id: words[2], stage: words[3][0], name: name}
		end := 0
		for range facts {
			if next := strings.IndexByte(rest[end:], '\n'); next >= 0 {
				end += next + 1
			}
		}
		i.noted = notedBy(rest[:end])
		list, out = append(list, i), rest[end:]
	}
	return list, nil
}

// scratchIndex copies the index of a working tree into a folder and answers how git is told to use it. It keeps the time of
// the real one: what was written into a file in the same moment is known as changed by that alone. there is false where
// the working tree has no index yet.
func scratchIndex(ctx context.Context, dir, scratch string) (env []string, there bool, err error) {
	path := filepath.Join(scratch, "index")
	env = []string{"GIT_INDEX_FILE=" + path}
	own, err := gitDir(ctx, dir)
	if err != nil {
		return nil, false, err
	}
	own = filepath.Join(own, "index")
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

// enter puts files into an index of ours, as they are in another one. Those that are in it already are looked at by git from
// then on: it is told of them anew, without what it was told or has noted.
func enter(ctx context.Context, dir string, env []string, list []indexed) error {
	if len(list) == 0 {
		return nil
	}
	var rows strings.Builder
	for _, i := range list {
		rows.WriteString(i.mode + " " + i.id + " 0\t" + i.name + "\x00")
	}
	c := acts(dir, readTime, "update-index", "-z", "--index-info")
	c.env, c.stdin = env, rows.String()
	_, err := c.do(ctx)
	return err
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
		err = enter(ctx, dir, env, list)
	}
	return env, done, err
}
