package daemon

import (
	"cmp"
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
		o.Facts = d.doer.treeFacts(ctx, in.By, t, o.Into)
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
			bytes := make(chan int64, 1)
			go func() { bytes <- worktree.Bytes(ctx, t.Path) }()
			facts[i] = d.doer.treeFacts(ctx, by, t, "")
			facts[i].Bytes = <-bytes
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
	err := d.unchanged(ctx, r, o)
	if err == nil {
		err = d.keepWork(ctx, r, o, there, &done)
	}
	if err == nil && there {
		err = d.keepLoose(ctx, o, &done)
	}
	if err == nil {
		err = worktree.Remove(ctx, o.Main, o.Path, o.Force, d.gitTime())
	}
	failpoint.At("tree.files.after")
	if err == nil && o.Drop && o.Tip != "" {
		err = worktree.DropBranch(ctx, o.Main, o.Branch, o.Tip)
		failpoint.At("tree.branch.after")
	}
	if err != nil {
		done.Error = notFinished(ctx, o, done, err)
	}
	return done
}

// meanwhile says that a worktree is not any more as it was when its end was decided: that is to be decided anew.
type meanwhile struct{ what string }

func (m meanwhile) Error() string { return m.what }

// unchanged refuses where a worktree is not any more as it was when its end was decided.
func (d *doer) unchanged(ctx context.Context, r Running, o orch.TreeFinish) error {
	f := orch.TreeFacts{}
	if err := standing(ctx, orch.Worktree{Worker: o.Worker, Want: orch.TreeWant{Main: o.Main, Common: o.Common}, Path: o.Path, Branch: o.Branch, New: o.Drop}, &f); err != nil {
		return err
	}
	switch {
	case f.Locked:
		return meanwhile{"somebody has locked it meanwhile"}
	case f.At != "":
		return meanwhile{fmt.Sprintf("branch %s is checked out in %s meanwhile", o.Branch, f.At)}
	case f.Tip != o.Tip && f.Tip != "":
		return meanwhile{"somebody has committed there meanwhile"}
	case f.Rest, f.Missing && !r.Resumed: // an earlier try may have been cut off when the folder was gone already
		return meanwhile{"its folder is not there any more"}
	case f.Gone:
		return nil
	case f.Head != o.Head:
		return meanwhile{"somebody has committed there meanwhile"}
	case len(f.Mounts) > 0:
		return meanwhile{"something is mounted in it: " + strings.Join(f.Mounts, ", ")}
	case len(f.Without(o.Forget)) > 0:
		return meanwhile{"a repository in it holds work that is nowhere else: " + strings.Join(f.Without(o.Forget), ", ")}
	}
	if o.How != "discard" {
		if f.Doing != "" {
			return meanwhile{"a " + f.Doing + " was begun there meanwhile"}
		}
		if n := len(f.Changed) + len(f.Hidden) + len(f.Untracked); n > 0 {
			return meanwhile{fmt.Sprintf("somebody has changed %d files there meanwhile", n)}
		}
	}
	if o.How == "landed" {
		if err := stillLanded(ctx, o); err != nil {
			return err
		}
	}
	inside, err := d.inside(orch.Worktree{Worker: o.Worker, Path: o.Path})
	if err == nil && len(inside) > 0 {
		err = meanwhile{"processes run there: " + strings.Join(inside, ", ")}
	}
	return err
}

// stillLanded refuses where the branch in which the work was found has moved since, and has it no more.
func stillLanded(ctx context.Context, o orch.TreeFinish) error {
	var tips []string
	for _, tip := range []string{o.Head, o.Tip} {
		own, err := worktree.Own(ctx, o.Main, o.Base, tip)
		if err != nil {
			return err
		}
		if own {
			tips = append(tips, tip)
		}
	}
	if o.Into == "" || o.IntoTip == "" || len(tips) == 0 {
		return nil
	}
	f := orch.TreeFacts{Into: o.Into}
	var err error
	if f.IntoTip, err = worktree.Branch(ctx, o.Main, o.Into); err != nil || f.IntoTip == o.IntoTip {
		return err
	}
	how := ""
	if f.IntoTip != "" {
		how, err = landedIn(ctx, orch.Worktree{Want: orch.TreeWant{Main: o.Main}, Branch: o.Branch, Base: o.Base}, &f, tips)
	}
	if err == nil && how == "" {
		err = meanwhile{fmt.Sprintf("branch %s has moved meanwhile, and has its work no more", o.Into)}
	}
	return err
}

// keepWork sees to it that the work is somewhere else before it goes.
func (d *doer) keepWork(ctx context.Context, r Running, o orch.TreeFinish, there bool, done *orch.TreeFinished) (err error) {
	switch o.How {
	case "merge", "squash":
		at := worktree.Moment(o.At)
		if done.Commit, err = worktree.Join(ctx, o.Main, o.IntoTip, o.Tip, o.Message, o.How == "squash", at); err != nil {
			return err
		}
		failpoint.At("tree.join.after")
		if err := worktree.Advance(ctx, o.Main, o.Into, o.IntoTip, done.Commit, d.gitTime()); err != nil {
			done.Commit = ""
			return err
		}
		failpoint.At("tree.advance.after")
		if err := d.unchanged(ctx, r, o); err != nil { // that may have taken minutes
			return err
		}
	case "discard":
		kept := cmp.Or(o.Tip, o.Head)
		if there {
			if kept, err = save(ctx, o); err != nil {
				return err
			}
		}
		if err := keep(ctx, o, kept, there, done); err != nil || !there {
			return err
		}
		if err := d.unchanged(ctx, r, o); err != nil { // that may have taken minutes
			return err
		}
		again, err := save(ctx, o)
		if err != nil || again == kept { // the same is the same commit
			return err
		}
		return errors.Join(keep(ctx, o, again, true, done), meanwhile{"somebody has changed files there meanwhile"})
	}
	return d.secure(ctx, o, done)
}

// save makes a commit of all that stands in a worktree.
func save(ctx context.Context, o orch.TreeFinish) (string, error) {
	return worktree.Save(ctx, o.Path, o.Message, worktree.Moment(o.At), o.Tip)
}

// keep gives a commit a reference of ours, and says which.
func keep(ctx context.Context, o orch.TreeFinish, commit string, fresh bool, done *orch.TreeFinished) error {
	if commit == "" {
		return nil
	}
	failpoint.At("tree.keep.before")
	ref, err := worktree.Keep(ctx, o.Main, o.Backup, commit, fresh)
	failpoint.At("tree.keep.after")
	if err == nil {
		done.Backup = cmp.Or(done.Backup, ref)
	}
	return err
}

// secure gives a reference to what no other one leads to, or only those that go themselves. What was done here has one
// of ours in any case: where it came home to, it can be undone.
func (d *doer) secure(ctx context.Context, o orch.TreeFinish, done *orch.TreeFinished) error {
	for _, commit := range []string{o.Tip, o.Head} {
		if commit == "" {
			continue
		}
		own, err := worktree.Own(ctx, o.Main, o.Base, commit)
		if err != nil {
			return err
		}
		var ref string
		if own {
			ref, err = worktree.Elsewhere(ctx, o.Main, commit, nil, "refs/st")
		} else {
			ref, err = worktree.Elsewhere(ctx, o.Main, commit, d.going(o.Common))
		}
		switch {
		case err == nil && ref == "":
			err = keep(ctx, o, commit, true, done)
		case strings.HasPrefix(ref, "refs/st/"):
			done.Backup = cmp.Or(done.Backup, ref)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keepLoose gives a reference to what goes with the worktree itself beside its commit, its files and its branch.
func (d *doer) keepLoose(ctx context.Context, o orch.TreeFinish, done *orch.TreeFinished) error {
	if place, err := worktree.PlaceOf(ctx, o.Main, o.Path); err != nil || !place.Linked {
		return err
	}
	l, err := worktree.LooseIn(ctx, o.Path, d.going(o.Common), "Left\n\n"+o.Message, worktree.Moment(o.At))
	if err != nil {
		return err
	}
	var refs []worktree.Ref // first what is a commit: where nothing else was kept the first is told of, as what brings it back
	if l.Log != "" {
		refs = append(refs, worktree.Ref{Name: o.Backup + ".left", Object: l.Log})
	}
	for _, r := range l.Refs {
		refs = append(refs, worktree.Ref{Name: o.Backup + ".own/" + strings.TrimPrefix(r.Name, "refs/"), Object: r.Object})
	}
	for _, r := range refs {
		name, err := worktree.Keep(ctx, o.Main, r.Name, r.Object, true)
		if err != nil {
			return err
		}
		done.Backup = cmp.Or(done.Backup, name)
	}
	return nil
}

// notFinished says why a worktree was not finished, how far that came, and what to type.
func notFinished(ctx context.Context, o orch.TreeFinish, done orch.TreeFinished, err error) *orch.Error {
	again := o.Again(done)
	e := &orch.Error{Code: "not_finished", Message: fmt.Sprintf("the worktree of worker %s was not finished: %v", o.Worker, err), Next: []string{"git -C " + shellWord(o.Path) + " status", again}}
	var conflict *worktree.Conflict
	var lock *worktree.Locked
	var rest *worktree.Leftover
	var inUse *worktree.InUse
	var other meanwhile
	switch {
	case errors.As(err, &rest):
		e.Hint = "its work is safe, and git knows the worktree no more; only these files are left"
		e.Next[0] = "rm -rf " + shellWord(rest.Path)
	case errors.As(err, &conflict):
		e.Code = "conflict"
		e.Next[0] = "git -C " + shellWord(o.Path) + " merge " + shellWord(o.Into)
	case errors.As(err, &lock):
		e.Next[0] = "rm " + shellWord(lock.Path)
	case done.Commit == "" && (errors.As(err, &other) || errors.As(err, &inUse) || errors.Is(err, worktree.ErrMoved)):
		e.Code = "refused" // and nothing was done
	}
	place, failed := worktree.PlaceOf(ctx, o.Main, o.Path)
	switch {
	case e.Hint != "":
	case failed != nil:
		e.Hint = "how it stands now can't be told: " + failed.Error()
	case place.Linked:
		e.Hint = "it stands as before, at " + o.Path
	case place.Folder:
		e.Hint = "git has it no more, and could not delete all of it; what is left is in " + o.Path
		e.Next = []string{"mv " + shellWord(o.Path) + " " + shellWord(o.Path+"-rest"), again}
	default:
		e.Hint = "its folder is gone"
		e.Next = []string{again}
	}
	if done.Commit != "" {
		e.Hint += fmt.Sprintf("; branch %s is in %s already by commit %.12s", o.Branch, o.Into, done.Commit)
	}
	if done.Backup != "" {
		e.Hint += "; it is kept as " + done.Backup
	}
	return e
}
