package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Want is a worktree that is to be made.
type Want struct {
	Repo   string // any folder of the repository
	Path   string // absolute
	Branch string
	Base   string // commit
	New    bool   // the branch is made; else it is there
}

// Taken says that something stands where a worktree or its branch was to be made.
type Taken struct{ What string }

func (t *Taken) Error() string { return t.What }

// ErrHook says that a worktree is made, and a hook of the repository, which ran after that, has failed. The error that
// wraps it has the hook's words.
var ErrHook = errors.New("the worktree is made, and the repository's hook post-checkout failed")

// Free says why a worktree can't be made, before anything is done: *Taken where its folder or its branch is in use.
func (w Want) Free(ctx context.Context) error {
	if _, err := os.Lstat(w.Path); err == nil {
		return &Taken{fmt.Sprintf("%s is there already", w.Path)}
	}
	list, err := List(ctx, w.Repo)
	if err != nil {
		return err
	}
	for _, e := range list {
		if e.Branch == w.Branch {
			return &Taken{fmt.Sprintf("branch %s is checked out in %s", w.Branch, e.Path)}
		}
		if Same(e.Path, w.Path) {
			return &Taken{fmt.Sprintf("git has a worktree at %s, whose folder is gone", w.Path)}
		}
	}
	tip, err := Branch(ctx, w.Repo, w.Branch)
	if err != nil || !w.New {
		return err
	}
	if tip != "" {
		return &Taken{fmt.Sprintf("branch %s is there already, at %.12s", w.Branch, tip)}
	}
	other, err := InTheWayOf(ctx, w.Repo, w.Branch)
	if err == nil && other != "" {
		err = &Taken{fmt.Sprintf("branch %s is there, and git takes no branch %s beside it", other, w.Branch)}
	}
	return err
}

// Add makes a worktree; Free has said that it can be. Where it fails nothing of it stands, but with ErrHook. What an
// earlier Add has left that was cut off is taken, if it is whole, or made anew.
func (w Want) Add(ctx context.Context, limit time.Duration) error {
	whole, err := w.left(ctx)
	if whole || err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(w.Path), 0o777); err != nil {
		return err
	}
	err = again(ctx, acts(w.Repo, limit, w.args()...))
	if err == nil {
		return nil
	}
	// Where git can't say what is there, that is no hook's doing, and undo tells what it finds.
	if e, there, _ := entry(ctx, w.Repo, w.Path); there && !e.Locked && e.Branch == w.Branch && code(err) > 0 {
		return fmt.Errorf("%w: %w", ErrHook, err)
	}
	return errors.Join(err, w.undo(context.WithoutCancel(ctx)))
}

func (w Want) args() []string {
	if w.New {
		return []string{"worktree", "add", "--quiet", "--no-track", "-b", w.Branch, "--", w.Path, w.Base}
	}
	return []string{"worktree", "add", "--quiet", "--", w.Path, w.Branch}
}

// left looks for what an Add that was cut off has left: its git may even run on for a while. What git has finished is never
// made anew, however it looks: somebody may work there. whole says that it is what is wanted.
func (w Want) left(ctx context.Context) (whole bool, err error) {
	e, there, err := entry(ctx, w.Repo, w.Path)
	for until := time.Now().Add(lockTime); err == nil && there && e.making() && time.Now().Before(until); {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(lockTick):
			e, there, err = entry(ctx, w.Repo, w.Path)
		}
	}
	switch {
	case err != nil:
		return false, err
	case there && e.stands() && e.Branch == w.Branch:
		return true, nil
	case there && e.stands():
		return false, &Taken{fmt.Sprintf("%s is there already, with another branch than %s", w.Path, w.Branch)}
	}
	tip, err := Branch(ctx, w.Repo, w.Branch)
	if err == nil && (there || w.New && tip != "") {
		err = w.undo(ctx)
	}
	return false, err
}

// making says that git has not finished a worktree, or never will: it keeps its lock until all files are written.
func (e Entry) making() bool { return e.Locked && e.Why == initializing }

// stands says that git has finished a worktree, and its folder is there.
func (e Entry) stands() bool { return !e.making() && There(e.Path) }

// Stands tells whether a worktree stands in a folder, whatever became of its branch and its files.
func Stands(ctx context.Context, repo, path string) (bool, error) {
	e, there, err := entry(ctx, repo, path)
	return there && e.stands(), err
}

// undo takes away what an Add has left that was cut off, or has failed: nobody has worked there yet.
func (w Want) undo(ctx context.Context) error {
	e, there, err := entry(ctx, w.Repo, w.Path)
	if there && e.making() { // git's own lock, of a git that has ended
		err = again(ctx, acts(w.Repo, readTime, "worktree", "unlock", "--", w.Path))
	}
	if there && err == nil {
		err = Remove(ctx, w.Repo, w.Path, true, readTime)
	}
	if err == nil && w.New {
		err = DropBranch(ctx, w.Repo, w.Branch, w.Base)
	}
	return err
}
