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

// ErrOwnRepository says that something in a working tree is a repository of its own, of which no commit can hold the
// files.
var ErrOwnRepository = errors.New("it is a git repository of its own")

// saver is who writes commits that save something: nobody's name is needed for it.
var saver = []string{"GIT_AUTHOR_NAME=st", "GIT_AUTHOR_EMAIL=st@localhost", "GIT_COMMITTER_NAME=st", "GIT_COMMITTER_EMAIL=st@localhost"}

// Save makes a commit of all that stands in a working tree: its commit, what is staged, what is changed and what git
// neither tracks nor ignores. more are commits that it is to hold as well. Neither the working tree nor its index is
// touched. Where nothing stands there beside its commit, and that holds more, it is that commit itself.
func Save(ctx context.Context, dir, message string, at Moment, more ...string) (commit string, err error) {
	head, err := Commit(ctx, dir, "HEAD")
	if err != nil {
		return "", err
	}
	s := save{dir: dir, message: message, at: at}
	if s.scratch, err = os.MkdirTemp("", "st-save-"); err != nil {
		return "", err
	}
	defer os.RemoveAll(s.scratch) // what stays lies among the temporary files
	parents := []string{head}
	files, err := s.files(ctx, head)
	if err != nil {
		return "", err
	}
	staged, err := s.staged(ctx, head, files)
	if err != nil {
		return "", err
	}
	if staged != "" {
		parents = append(parents, staged)
	}
	for _, m := range more {
		in, err := contains(ctx, dir, head, m)
		if err != nil {
			return "", err
		}
		if !in {
			parents = append(parents, m)
		}
	}
	tree, err := asks(dir, "rev-parse", "--verify", head+"^{tree}").line(ctx)
	if err != nil || tree == files && len(parents) == 1 {
		return head, err
	}
	return s.commit(ctx, files, parents...)
}

type save struct {
	dir, scratch, message string
	at                    Moment
}

// files makes a tree of the files as they stand, by an index of its own.
func (s save) files(ctx context.Context, head string) (string, error) {
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(s.scratch, "index")}
	if err := s.begin(ctx, head, index); err != nil {
		return "", err
	}
	c := acts(s.dir, 10*readTime, "add", "--all", "--", ":/")
	c.env = index
	if _, err := c.do(ctx); err != nil {
		return "", err
	}
	if err := s.whole(ctx, index); err != nil {
		return "", err
	}
	c = acts(s.dir, readTime, "write-tree")
	c.env = index
	return c.line(ctx)
}

// whole refuses repositories in the working tree that are no submodules: of those the index holds a commit's id alone.
func (s save) whole(ctx context.Context, index []string) error {
	modes := func(env []string) (map[string]bool, error) {
		c := asks(s.dir, "ls-files", "-z", "--stage", "--", ":/")
		c.env = env
		rows, err := c.words(ctx)
		links := map[string]bool{}
		for _, row := range rows {
			if mode, name, _ := strings.Cut(row, "\t"); strings.HasPrefix(mode, "160000") {
				links[name] = true
			}
		}
		return links, err
	}
	had, err := modes(nil)
	if err != nil {
		return err
	}
	has, err := modes(index)
	for name := range has {
		if !had[name] {
			return fmt.Errorf("%s: %w", name, ErrOwnRepository)
		}
	}
	return err
}

// begin fills the index: with a copy of the real one, which knows what has not changed, else with the commit.
func (s save) begin(ctx context.Context, head string, index []string) error {
	own, err := asks(s.dir, "rev-parse", "--path-format=absolute", "--git-path", "index").line(ctx)
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(own)
	if err == nil {
		return os.WriteFile(filepath.Join(s.scratch, "index"), raw, 0o600)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	c := acts(s.dir, readTime, "read-tree", head)
	c.env = index
	_, err = c.do(ctx)
	return err
}

// staged is a commit of what is staged, "" where that stands in the commit or in the files already. What is staged in
// the middle of a merge can't be told apart; it is in its two sides.
func (s save) staged(ctx context.Context, head, files string) (string, error) {
	unmerged, err := asks(s.dir, "ls-files", "-z", "--unmerged").words(ctx)
	if err != nil || len(unmerged) > 0 {
		return "", err
	}
	tree, err := acts(s.dir, readTime, "write-tree").line(ctx)
	if err != nil || tree == files {
		return "", err
	}
	was, err := asks(s.dir, "rev-parse", "--verify", head+"^{tree}").line(ctx)
	if err != nil || tree == was {
		return "", err
	}
	return s.commit(ctx, tree, head)
}

func (s save) commit(ctx context.Context, tree string, parents ...string) (string, error) {
	args := []string{"commit-tree"}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	c := acts(s.dir, readTime, append(args, "-F", "-", tree)...)
	c.stdin, c.env = strings.TrimSpace(s.message)+"\n", append(s.at.dates(), saver...)
	return c.line(ctx)
}
