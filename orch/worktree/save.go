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
// neither tracks nor ignores, and what an operation that is under way holds. more are commits that it is to hold as well.
// Neither the working tree nor its index is touched. Where nothing stands there beside its commit, and that holds more, it
// is that commit itself.
func Save(ctx context.Context, dir, message string, at Moment, more ...string) (commit string, err error) {
	_, head, err := Head(ctx, dir)
	if err != nil {
		return "", err
	}
	s := save{dir: dir, message: message, at: at}
	if s.scratch, err = os.MkdirTemp("", "st-save-"); err != nil {
		return "", err
	}
	defer os.RemoveAll(s.scratch) // what stays lies among the temporary files
	parents, err := s.parents(ctx, head, more)
	if err != nil {
		return "", err
	}
	files, err := s.files(ctx, head)
	if err != nil {
		return "", err
	}
	was := "" // before the first commit
	if head != "" {
		if was, err = asks(dir, "rev-parse", "--verify", head+"^{tree}").line(ctx); err != nil {
			return "", err
		}
	}
	staged, err := s.staged(ctx, head, was, files)
	if err != nil {
		return "", err
	}
	if staged != "" {
		parents = append(parents, staged)
	}
	if was == files && len(parents) == 1 {
		return head, nil
	}
	return s.commit(ctx, files, parents...)
}

// parents are the commits that a saving one holds, none twice.
func (s save) parents(ctx context.Context, head string, more []string) (parents []string, err error) {
	if head != "" {
		parents = []string{head}
	}
	held, err := inHand(ctx, s.dir)
	if err != nil {
		return nil, err
	}
	for _, m := range append(more, held...) {
		in := m == ""
		for _, p := range parents {
			if in {
				break
			}
			if in, err = contains(ctx, s.dir, p, m); err != nil {
				return nil, err
			}
		}
		if !in {
			parents = append(parents, m)
		}
	}
	return parents, nil
}

// inHand are the commits that an operation which is under way in a working tree holds, and maybe nothing else: what it
// brings in, where it began, and changes that it has put aside.
func inHand(ctx context.Context, dir string) (commits []string, err error) {
	own, err := asks(dir, "rev-parse", "--path-format=absolute", "--git-dir").line(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"MERGE_HEAD", "MERGE_AUTOSTASH", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge/orig-head", "rebase-merge/stopped-sha",
		"rebase-merge/autostash", "rebase-apply/orig-head", "rebase-apply/autostash"} {
		raw, err := os.ReadFile(filepath.Join(own, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, id := range strings.Fields(string(raw)) {
			commit, err := Commit(ctx, dir, id)
			if err != nil && !errors.Is(err, ErrNoCommit) {
				return nil, err
			}
			commits = append(commits, commit)
		}
	}
	return commits, nil
}

type save struct {
	dir, scratch, message string
	at                    Moment
}

// files makes a tree of the files as they stand, by an index of its own.
func (s save) files(ctx context.Context, head string) (string, error) {
	index, had, err := s.begin(ctx, head)
	if err != nil {
		return "", err
	}
	c := acts(s.dir, 10*readTime, "add", "--all", "--", ":/")
	c.env = index
	if _, err := c.do(ctx); err != nil {
		return "", err
	}
	if err := s.whole(ctx, had, index); err != nil {
		return "", err
	}
	c = acts(s.dir, readTime, "write-tree")
	c.env = index
	return c.line(ctx)
}

// whole refuses repositories in the working tree that are no submodules: of those the index holds a commit's id alone.
func (s save) whole(ctx context.Context, had []indexed, index []string) error {
	known := map[string]bool{}
	for _, i := range had {
		known[i.name] = i.module()
	}
	has, err := indexOf(ctx, s.dir, index...)
	for _, i := range has {
		if i.module() && !known[i.name] {
			return fmt.Errorf("%s: %w", i.name, ErrOwnRepository)
		}
	}
	return err
}

// begin fills the index: with a copy of the real one, which knows what has not changed, else with the commit. In it git
// looks at every file.
func (s save) begin(ctx context.Context, head string) (index []string, had []indexed, err error) {
	index, there, err := scratchIndex(ctx, s.dir, s.scratch)
	if err != nil {
		return nil, nil, err
	}
	if there {
		if had, err = indexOf(ctx, s.dir); err == nil {
			err = see(ctx, s.dir, index, blind(s.dir, had))
		}
		return index, had, err
	}
	of := head
	if of == "" {
		of = "--empty"
	}
	c := acts(s.dir, readTime, "read-tree", of)
	c.env = index
	_, err = c.do(ctx)
	return index, nil, err
}

// staged is a commit of what is staged, "" where that stands in the commit or in the files already. What is staged in
// the middle of a merge can't be told apart; it is in its two sides.
func (s save) staged(ctx context.Context, head, was, files string) (string, error) {
	unmerged, err := asks(s.dir, "ls-files", "-z", "--unmerged").words(ctx)
	if err != nil || len(unmerged) > 0 {
		return "", err
	}
	tree, err := acts(s.dir, readTime, "write-tree").line(ctx)
	if err != nil || tree == files || tree == was {
		return "", err
	}
	if head == "" {
		return s.commit(ctx, tree)
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
