package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Status is what stands in a working tree beside its commit.
type Status struct {
	Branch    string // short name, "" where none is checked out
	Head      string // commit
	Changed   []string
	Hidden    []string // changed files at which git was told not to look
	Untracked []string // files that git neither tracks nor ignores; a repository of its own ends with a slash
	Ignored   []string // the topmost files and folders that git ignores
	Doing     string   // rebase, merge, cherry-pick, revert, bisect: begun and not ended; "" for none
	Mounts    []string // folders in which something else is mounted
	Own       []string // repositories below what is ignored whose work is nowhere else, and why
	Unsafe    []string // submodules whose work is nowhere else, and why
	Modules   bool     // some submodule is checked out
}

// StatusOf finds out how a working tree stands.
func StatusOf(ctx context.Context, dir string) (s Status, err error) {
	if s.Branch, s.Head, err = Head(ctx, dir); err != nil {
		return s, err
	}
	list, unseen, err := overlooked(ctx, dir)
	if err != nil {
		return s, err
	}
	told := make(chan error, 1)
	go func() { told <- s.rows(ctx, dir, unseen) }()
	s.Ignored, err = ignored(ctx, dir)
	if err = errors.Join(<-told, err); err != nil {
		return s, err
	}
	if s.Doing, err = doing(ctx, dir); err != nil {
		return s, err
	}
	known := slices.DeleteFunc(slices.Clone(s.Untracked), func(name string) bool { return !strings.HasSuffix(name, "/") })
	for i, name := range known { // repositories, which are told of as they are
		known[i] = strings.TrimSuffix(name, "/")
	}
	for _, i := range list {
		if i.module() {
			known = append(known, i.name)
		}
	}
	f, err := look(ctx, dir, s.Ignored, known)
	if s.Mounts, s.Own = f.mounts, f.own; err != nil {
		return s, err
	}
	if s.Modules, s.Unsafe, err = modules(ctx, dir, list); err == nil && len(s.Unsafe) == 0 {
		s.Unsafe, err = stored(ctx, dir)
	}
	return s, err
}

// rows has git say what differs, by an index in which it looks at every file.
func (s *Status) rows(ctx context.Context, dir string, unseen []indexed) error {
	env, done, err := seeing(ctx, dir, unseen)
	defer done()
	if err != nil {
		return err
	}
	c := asks(dir, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignore-submodules=dirty", "--no-renames")
	c.env = env
	rows, err := c.words(ctx)
	blind := map[string]bool{}
	for _, i := range unseen {
		if i.blind(dir) {
			blind[i.name] = true
		}
	}
	for _, row := range rows {
		s.add(row, blind)
	}
	return err
}

// add takes a row of git's: what is staged, what is in the file, a blank, and its name.
func (s *Status) add(row string, blind map[string]bool) {
	if len(row) < 4 {
		return
	}
	staged, file, name := row[0], row[1], row[3:]
	if staged == '?' {
		s.Untracked = append(s.Untracked, name)
		return
	}
	if blind[name] && file != ' ' {
		s.Hidden = append(s.Hidden, name)
	}
	if !blind[name] || staged != ' ' {
		s.Changed = append(s.Changed, name)
	}
}

// ignored are the topmost things in a working tree that git ignores.
func ignored(ctx context.Context, dir string) ([]string, error) {
	return asks(dir, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory").words(ctx)
}

// operations are begun where their file is in the git folder of a working tree.
var operations = []struct{ file, name string }{
	{"rebase-merge", "rebase"}, {"rebase-apply", "rebase"}, {"MERGE_HEAD", "merge"}, {"CHERRY_PICK_HEAD", "cherry-pick"},
	{"REVERT_HEAD", "revert"}, {"sequencer", "cherry-pick"}, {"BISECT_LOG", "bisect"},
}

func doing(ctx context.Context, dir string) (string, error) {
	own, err := gitDir(ctx, dir)
	if err != nil {
		return "", err
	}
	for _, o := range operations {
		if _, err := os.Lstat(filepath.Join(own, o.file)); err == nil {
			return o.name, nil
		}
	}
	return "", nil
}

// Changed lists what differs in a working tree from a commit: what was committed since, what is not, and what is not
// tracked, each path once and relative to the working tree's top.
func Changed(ctx context.Context, dir, since string) ([]string, error) {
	ctx, err := Plainly(ctx, dir)
	if err != nil {
		return nil, err
	}
	top, err := asks(dir, "rev-parse", "--show-toplevel").do(ctx)
	if err != nil {
		return nil, err
	}
	dir = strings.TrimSuffix(top, "\n")
	tracked, err := asks(dir, "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--end-of-options", since, "--").words(ctx)
	if err != nil {
		return nil, err
	}
	others, err := asks(dir, "ls-files", "-z", "--others", "--exclude-standard").words(ctx)
	return append(tracked, others...), err
}

// ChangedBetween lists the paths that differ between two commits.
func ChangedBetween(ctx context.Context, repo, a, b string) ([]string, error) {
	return asks(repo, "diff-tree", "-r", "--name-only", "-z", "--no-renames", a, b).words(ctx)
}

// Lines counts the lines that were added and removed in a working tree since a commit, in whatever git tracks.
func Lines(ctx context.Context, dir, since string) (added, removed int, err error) {
	if ctx, err = Plainly(ctx, dir); err != nil {
		return 0, 0, err
	}
	return count(asks(dir, "diff", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", since, "--").words(ctx))
}

// LinesBetween counts the lines that differ between two commits.
func LinesBetween(ctx context.Context, repo, a, b string) (added, removed int, err error) {
	return count(asks(repo, "diff-tree", "-r", "--numstat", "-z", "--no-renames", a, b).words(ctx))
}

// count adds up the rows of a numstat, in which binary files have no numbers.
func count(rows []string, err error) (added, removed int, _ error) {
	for _, row := range rows {
		var a, r int
		if n, _ := fmt.Sscanf(row, "%d\t%d", &a, &r); n == 2 {
			added, removed = added+a, removed+r
		}
	}
	return added, removed, err
}
