package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Conflict says where two commits don't go together. Nothing was changed.
type Conflict struct{ Paths []string }

func (c *Conflict) Error() string { return "conflicts in " + strings.Join(c.Paths, ", ") }

// Join makes a commit of a branch's work on top of another branch's commit: one with both as parents, or, squashed, one
// that has the change alone. It moves nothing. *Conflict where they don't go together.
func Join(ctx context.Context, repo, into, tip, message string, squash bool, at Moment) (commit string, err error) {
	t, err := TryMerge(ctx, repo, into, tip)
	if err == nil && len(t.Conflicts) > 0 {
		err = &Conflict{t.Conflicts}
	}
	if err == nil {
		t, err = mergeTree(repo, into, tip).tried(ctx) // now it is to stay
	}
	if err != nil {
		return "", err
	}
	args := []string{"commit-tree", "-p", into}
	if !squash {
		args = append(args, "-p", tip)
	}
	c := acts(repo, readTime, append(args, "-F", "-", t.Tree)...)
	c.stdin, c.env = message, at.dates()
	return c.line(ctx)
}

// Moment is when a commit is said to be made. The same at the same moment is the same commit.
type Moment time.Time

func (m Moment) dates() []string {
	date := time.Time(m).UTC().Format(time.RFC3339)
	return []string{"GIT_AUTHOR_DATE=" + date, "GIT_COMMITTER_DATE=" + date}
}

// ErrMoved says that a branch is not any more where it was.
var ErrMoved = errors.New("the branch has moved meanwhile")

// InUse says what keeps a branch from being moved in the working tree in which it is checked out.
type InUse struct {
	Path    string
	Branch  string // it can't go because it is checked out there
	Changed []string
	Doing   string
}

func (u *InUse) Error() string {
	if u.Branch != "" {
		return fmt.Sprintf("branch %s is checked out, or being moved, in %s", u.Branch, u.Path)
	}
	if u.Doing != "" {
		return fmt.Sprintf("a %s is under way in %s", u.Doing, u.Path)
	}
	return fmt.Sprintf("%s has changes that are not committed: %s", u.Path, strings.Join(u.Changed, ", "))
}

// Advance moves a branch from one commit to another that follows it. Where it is checked out the files go along, and only
// where none of them is changed: *InUse. ErrMoved where the branch is somewhere else by now.
func Advance(ctx context.Context, repo, branch, from, to string, limit time.Duration) error {
	at, err := CheckedOut(ctx, repo, branch)
	if err == nil && at != "" {
		err = settled(ctx, at) // an earlier try may be at it still: its git goes on without us
	}
	if err != nil {
		return err
	}
	is, err := Branch(ctx, repo, branch)
	if err != nil {
		return err
	}
	if is != "" {
		if done, err := contains(ctx, repo, is, to); err != nil || done {
			return err // an earlier try has done it
		}
	}
	if is != from {
		return fmt.Errorf("%s: %w", branch, ErrMoved)
	}
	if at == "" {
		return setRef(ctx, repo, "refs/heads/"+branch, to, from, "merged")
	}
	if u, err := Busy(ctx, at); err != nil || u != nil {
		if is, _ := Branch(ctx, repo, branch); is == to { // that try has just come to its end
			return nil
		}
		return errors.Join(err, asError(u))
	}
	return again(ctx, acts(at, limit, "merge", "--ff-only", "--no-overwrite-ignore", "--no-stat", "--no-autostash", to))
}

func asError(u *InUse) error {
	if u == nil {
		return nil
	}
	return u
}

// InTheWay lists those of some paths that a merge would add to a working tree and at which something stands already, be it
// ignored or not.
func InTheWay(dir string, added []string) (list []string) {
	for _, name := range added {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil || errors.Is(err, syscall.ENOTDIR) {
			list = append(list, name)
		}
	}
	return list
}

// Busy says what keeps the files of a working tree from being moved to another commit, nil for nothing. What git does
// not track is no hindrance: git itself refuses to write over it.
func Busy(ctx context.Context, dir string) (*InUse, error) {
	out, err := asks(dir, "status", "--porcelain=v1", "-z", "--untracked-files=no", "--ignore-submodules=dirty", "--no-renames").words(ctx)
	if err != nil {
		return nil, err
	}
	u := InUse{Path: dir}
	for _, row := range out {
		if len(row) > 3 {
			u.Changed = append(u.Changed, row[3:])
		}
	}
	if u.Doing, err = doing(ctx, dir); err != nil {
		return nil, err
	}
	if u.Doing == "" && len(u.Changed) == 0 {
		return nil, nil
	}
	return &u, nil
}
