package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"st/orch"
	"st/orch/failpoint"
	"st/orch/worktree"
)

// finishTree finds out how a worktree stands and gives the order about it to the loop.
func (d *daemon) finishTree(ctx context.Context, in orch.Input, body json.RawMessage) (any, error) {
	var o orch.WorkerFinish
	if err := json.Unmarshal(body, &o); err != nil {
		return nil, badOrder(err)
	}
	o.Facts = orch.TreeFacts{}
	in.What = o
	return d.launch(ctx, in, o, "", func() (orch.What, error) {
		t, found, err := d.treeOf(in.By, o.Worker)
		if err != nil || !found {
			return o, err
		}
		o.Facts = d.doer.treeFacts(ctx, t, o.Into)
		return o, nil
	})
}

// treeOf is the worktree of a worker; false for none, which is the loop's to say.
func (d *daemon) treeOf(by orch.Caller, worker string) (t orch.Worktree, found bool, err error) {
	refusal := (*orch.Error)(nil)
	d.loop.Read(func(v orch.View) {
		var w orch.WorkerInfo
		if refusal = orch.CheckAs(v, by); refusal == nil {
			w, refusal = orch.WorkerOf(v, by, orch.WorkerArgs{Worker: worker})
		}
		if refusal == nil {
			t, found = v.Entity(orch.Worktree{Worker: w.ID}.Key()).(orch.Worktree)
		}
	})
	if refusal != nil {
		return t, false, refusal
	}
	return t, found, nil
}

// freeTrees finds out how all worktrees stand and has those taken away that may go.
func (d *daemon) freeTrees(ctx context.Context, in orch.Input) (any, error) {
	in.What = orch.TreesFree{}
	return d.launch(ctx, in, orch.TreesFree{}, "", func() (orch.What, error) {
		facts, err := d.allTrees(ctx, in.By)
		return orch.TreesFree{Facts: facts}, err
	})
}

// trees tells what freeTrees would do.
func (d *daemon) trees(ctx context.Context, by orch.Caller) (any, error) {
	facts, err := d.allTrees(ctx, by)
	if err != nil {
		return nil, err
	}
	var a orch.WorktreesAnswer
	d.loop.Read(func(v orch.View) { a.Worktrees = orch.TreesKept(v, by, facts) })
	return a, nil
}

// besides is how many worktrees are looked at beside each other.
const besides = 4

// allTrees finds out how all worktrees stand, or those of the run that the caller names.
func (d *daemon) allTrees(ctx context.Context, by orch.Caller) ([]orch.TreeFacts, error) {
	var list []orch.Worktree
	refusal := (*orch.Error)(nil)
	d.loop.Read(func(v orch.View) {
		if refusal = orch.CheckAs(v, by); refusal == nil {
			list, refusal = orch.StandingTrees(v, by)
		}
	})
	if refusal != nil {
		return nil, refusal
	}
	facts := make([]orch.TreeFacts, len(list))
	var all sync.WaitGroup
	room := make(chan struct{}, besides)
	for i, t := range list {
		room <- struct{}{}
		all.Go(func() {
			facts[i] = d.doer.treeFacts(ctx, t, "")
			facts[i].Bytes = worktree.Bytes(ctx, t.Path)
			<-room
		})
	}
	all.Wait()
	return facts, ctx.Err()
}

// treeFinish brings a worktree home and takes it away, or does neither. A second try, after a crash, makes the same
// commits, and finds done what was.
func (d *doer) treeFinish(ctx context.Context, r Running, o orch.TreeFinish) orch.What {
	ctx = withHooks(ctx, o.Hooks)
	failpoint.At("tree.finish.before")
	done := orch.TreeFinished{Worker: o.Worker}
	there := worktree.There(o.Path)
	if there {
		if err := d.unchanged(ctx, o); err != nil {
			done.Error = notFinished(o, err)
			return done
		}
	}
	err := d.keepWork(ctx, o, there, &done)
	if err == nil {
		err = worktree.Remove(ctx, o.Main, o.Path, o.Force, d.gitTime())
	}
	failpoint.At("tree.files.after")
	if err == nil && o.Drop && o.Tip != "" {
		err = worktree.DropBranch(ctx, o.Main, o.Branch, o.Tip)
		failpoint.At("tree.branch.after")
	}
	if err != nil {
		done.Error = notFinished(o, err)
	}
	return done
}

// unchanged refuses where a worktree is not any more as it was when its end was decided.
func (d *doer) unchanged(ctx context.Context, o orch.TreeFinish) error {
	s, err := worktree.StatusOf(ctx, o.Path)
	if err != nil {
		return err
	}
	tip, err := worktree.Branch(ctx, o.Main, o.Branch)
	if err != nil {
		return err
	}
	if s.Head != o.Head || tip != o.Tip && tip != "" {
		return errors.New("somebody has committed there meanwhile")
	}
	if n := len(s.Changed) + len(s.Untracked); n > 0 && o.How != "discard" {
		return fmt.Errorf("somebody has changed %d files there meanwhile", n)
	}
	inside, err := d.inside(orch.Worktree{Worker: o.Worker, Path: o.Path})
	if err == nil && len(inside) > 0 {
		err = fmt.Errorf("processes run there: %s", strings.Join(inside, ", "))
	}
	return err
}

// keepWork sees to it that the work is somewhere else before it goes.
func (d *doer) keepWork(ctx context.Context, o orch.TreeFinish, there bool, done *orch.TreeFinished) (err error) {
	kept := o.Tip
	switch o.How {
	case "merge", "squash":
		at := worktree.Moment(o.At)
		if done.Commit, err = worktree.Join(ctx, o.Main, o.IntoTip, o.Tip, o.Message, o.How == "squash", at); err != nil {
			return err
		}
		failpoint.At("tree.join.after")
		if err := worktree.Advance(ctx, o.Main, o.Into, o.IntoTip, done.Commit, d.gitTime()); err != nil {
			return err
		}
		failpoint.At("tree.advance.after")
	case "discard":
		if there {
			var more []string
			if o.Tip != "" {
				more = append(more, o.Tip)
			}
			if kept, err = worktree.Save(ctx, o.Path, o.Message, worktree.Moment(o.At), more...); err != nil {
				return err
			}
		}
	}
	if o.Backup == "" {
		return nil
	}
	failpoint.At("tree.keep.before")
	done.Backup, err = worktree.Keep(ctx, o.Main, o.Backup, kept, there)
	failpoint.At("tree.keep.after")
	return err
}

// notFinished says why a worktree stands as it stood, and what to type.
func notFinished(o orch.TreeFinish, err error) *orch.Error {
	e := &orch.Error{Code: "not_finished", Message: fmt.Sprintf("the worktree of worker %s was not finished: %v", o.Worker, err),
		Hint: "it stands as before, at " + o.Path, Next: []string{"git -C " + shellWord(o.Path) + " status", "st worker finish " + o.Worker}}
	var conflict *worktree.Conflict
	var lock *worktree.Locked
	var rest *worktree.Leftover
	switch {
	case errors.As(err, &rest):
		e.Hint = "its work is safe, and git knows the worktree no more; only these files are left"
		e.Next[0] = "rm -rf " + shellWord(rest.Path)
	case errors.As(err, &conflict):
		e.Code = "conflict"
		e.Next[0] = "git -C " + shellWord(o.Path) + " merge " + shellWord(o.Into)
	case errors.As(err, &lock):
		e.Next[0] = "rm " + shellWord(lock.Path)
	}
	return e
}
