package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"st/hooks"
	"st/orch"
	"st/orch/failpoint"
	"st/orch/worktree"
)

// setupEnv is the file with the environment of what makes a worktree ready, in the folder of its agent's launch.
const setupEnv = "setup.json"

// treeMaking is the stage before git is called, with the commit at which the worktree begins: from then on what stands
// at its place is ours.
const treeMaking = "making "

// treeMake makes a worktree and copies files into it. After a crash what stands there already is taken, or made anew.
func (d *doer) treeMake(ctx context.Context, r Running, o orch.TreeMake) orch.What {
	ctx = withHooks(ctx, o.Hooks)
	if o.Look {
		stands, err := worktree.Stands(ctx, o.Main, o.Path)
		if err != nil {
			return orch.TreeMade{Worker: o.Worker, Error: notMade(o, err)}
		}
		if stands { // no other worktree was given that folder, and its agent may be at work there
			return orch.TreeMade{Worker: o.Worker, Base: d.beganAt(ctx, o)}
		}
	}
	if o.EnvFile != "" {
		if err := d.keepSetupEnv(o); err != nil {
			return orch.TreeMade{Worker: o.Worker, Error: notMade(o, err)}
		}
	}
	base, err := d.treeBase(ctx, r, o)
	if err != nil {
		return orch.TreeMade{Worker: o.Worker, Error: notMade(o, err)}
	}
	failpoint.At("tree.add.before")
	err = wantOf(o, base).Add(ctx, d.gitTime())
	failpoint.At("tree.add.after")
	if err != nil {
		return orch.TreeMade{Worker: o.Worker, Base: base, Error: notMade(o, err), Stands: errors.Is(err, worktree.ErrHook)}
	}
	made := orch.TreeMade{Worker: o.Worker, Base: base}
	if o.From != "" {
		copied, err := worktree.Copy(ctx, o.From, o.Path, o.Copy)
		if made.Skipped = copied.Skipped; err != nil {
			made.Error, made.Stands = notMade(o, fmt.Errorf("a file could not be copied: %w", err)), true
		}
	}
	return made
}

// withHooks has git run the repository's hooks, or none of them.
func withHooks(ctx context.Context, wanted bool) context.Context {
	if wanted {
		return worktree.WithHooks(ctx)
	}
	return ctx
}

func (d *doer) gitTime() time.Duration { return unlimited(d.config.Limits.Git) }

// unlimited is a limit of which "0s" means that there is none.
func unlimited(d duration) time.Duration {
	if d == 0 {
		return 365 * 24 * time.Hour
	}
	return time.Duration(d)
}

func wantOf(o orch.TreeMake, base string) worktree.Want {
	return worktree.Want{Repo: o.Main, Path: o.Path, Branch: o.Branch, Base: base, New: o.New}
}

// treeBase is the commit at which a worktree begins. It is told before anything stands, so that after a crash what
// stands is known to be ours.
func (d *doer) treeBase(ctx context.Context, r Running, o orch.TreeMake) (string, error) {
	if base, ok := strings.CutPrefix(r.Stage, treeMaking); ok && r.Resumed {
		return base, nil
	}
	base, err := beginsAt(ctx, o)
	if err != nil {
		return "", err
	}
	if !o.Look {
		if err := wantOf(o, base).Free(ctx); err != nil {
			return "", err
		}
	}
	return base, r.Tell(ctx, treeMaking+base)
}

// beganAt is where a worktree has begun that stands already: what it has in common with what it was to begin at.
func (d *doer) beganAt(ctx context.Context, o orch.TreeMake) string {
	tip, err := worktree.Commit(ctx, o.Path, "HEAD")
	base := ""
	if err == nil {
		base, err = worktree.Fork(ctx, o.Main, o.Name, tip)
	}
	if err != nil {
		d.log.Printf("worktree %s: where it has begun: %v", o.Path, err)
		base, _ = beginsAt(ctx, o) // as good as it can be told
	}
	return base
}

func beginsAt(ctx context.Context, o orch.TreeMake) (string, error) {
	commit, err := worktree.Start(ctx, o.Main, o.Name)
	if err != nil || o.New {
		return commit, err
	}
	return worktree.Fork(ctx, o.Main, commit, o.Branch)
}

// keepSetupEnv keeps the environment for the setup: the window's own is gone once that is opened.
func (d *doer) keepSetupEnv(o orch.TreeMake) error {
	raw, err := os.ReadFile(o.EnvFile)
	if err != nil {
		return fmt.Errorf("the agent's environment: %w", err)
	}
	dir := scratch(d.home, o.Agent)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return hooks.WriteOwn(filepath.Join(dir, setupEnv), raw)
}

// notMade says why a worktree does not stand, or what is the matter with the one that does, and what to type.
func notMade(o orch.TreeMake, err error) *orch.Error {
	e := &orch.Error{Code: "worktree_failed", Message: fmt.Sprintf("worktree %s for worker %s: %v", o.Path, o.Worker, err), Next: []string{"st worker retry " + o.Worker}}
	var taken *worktree.Taken
	var lock *worktree.Locked
	var late *worktree.Failure
	switch {
	case errors.Is(err, worktree.ErrNoGit):
		e = treeError(err).(*orch.Error)
	case errors.As(err, &taken):
		e.Hint = "nothing was made; it is no worktree of this worker, so it was left alone: move it away, or choose another --name or --branch"
	case errors.As(err, &lock):
		e.Hint, e.Next = "nothing was made", append([]string{"rm " + shellWord(lock.Path)}, e.Next...)
	case errors.Is(err, worktree.ErrHook):
		e.Hint = "the worktree and its branch stand; mend the hook, then try again, or throw it away"
		e.Next = append(e.Next, "st worker finish "+o.Worker+" --discard --yes")
	case errors.As(err, &late) && late.Late > 0:
		e.Hint = "nothing stands; [limits] git in config.toml says how long it may take: is it a hook of the repository, such as post-checkout?"
	case errors.Is(err, worktree.ErrNoCommit):
		e.Hint = "what it should begin at is gone"
	}
	return e
}
