package daemon

import (
	"context"
	"errors"
	"slices"
	"strings"

	"st/orch"
	"st/orch/proc"
	"st/orch/worktree"
)

// treeFacts finds out how a worktree stands, and how its work does with the branch to which it comes home. For an agent it
// does not go on where git would run what the repository names: such an agent is refused.
func (d *doer) treeFacts(ctx context.Context, by orch.Caller, t orch.Worktree, into string) orch.TreeFacts {
	f := orch.TreeFacts{Worker: t.Worker, Into: t.Want.Into}
	if into != "" {
		f.Into = into
	}
	var err error
	if f.Runs, err = programs(ctx, t); err == nil && len(f.Runs) > 0 {
		agent := false
		d.state(func(v orch.View) { agent = orch.IsAgent(v, by) })
		if agent {
			return f
		}
	}
	if err == nil {
		err = standing(ctx, t, &f)
	}
	if err == nil {
		err = d.landing(ctx, t, &f)
	}
	if err == nil && !f.Gone && !f.Rest {
		f.Processes, err = d.inside(t)
	}
	if err != nil {
		f.Broken = err.Error()
	}
	return f
}

// programs are the settings of a repository, and of a worktree's own, that have git run a program.
func programs(ctx context.Context, t orch.Worktree) ([]string, error) {
	names, err := worktree.Programs(ctx, t.Want.Main)
	if err != nil || !worktree.There(t.Path) {
		return names, err
	}
	own, err := worktree.Programs(ctx, t.Path)
	if f := (*worktree.Failure)(nil); errors.As(err, &f) && f.Late == 0 {
		return names, nil // it is no worktree any more, and is not looked into
	}
	for _, name := range own {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, err
}

// standing finds what is in a worktree's folder.
func standing(ctx context.Context, t orch.Worktree, f *orch.TreeFacts) (err error) {
	if f.Tip, err = worktree.Branch(ctx, t.Want.Main, t.Branch); err != nil {
		return err
	}
	place, err := worktree.PlaceOf(ctx, t.Want.Main, t.Path)
	if err != nil {
		return err
	}
	f.Gone, f.Rest, f.Locked = !place.Folder, place.Folder && !place.Linked, place.Locked
	f.Missing = place.Known && !place.Linked
	if f.At, err = branchElsewhere(ctx, t); err != nil {
		return err
	}
	if !place.Linked {
		if f.Head = f.Tip; place.Head != "" {
			f.Head = place.Head
		}
		if f.Head == "" {
			f.Landed = worktree.Nothing // somebody has taken both away
		}
		return nil
	}
	s, err := worktree.StatusOf(ctx, t.Path)
	f.Branch, f.Head, f.Changed, f.Ignored, f.Doing = s.Branch, s.Head, s.Changed, s.Ignored, s.Doing
	f.Hidden, f.Mounts, f.Own, f.Unsafe, f.Modules = s.Hidden, s.Mounts, s.Own, s.Unsafe, s.Modules
	for _, name := range s.Untracked {
		if strings.HasSuffix(name, "/") {
			f.Own = append(f.Own, name)
		} else {
			f.Untracked = append(f.Untracked, name)
		}
	}
	return err
}

// branchElsewhere is another working tree that has the branch of a worktree, "" for none. One that was there before, and
// stays, may be anywhere.
func branchElsewhere(ctx context.Context, t orch.Worktree) (string, error) {
	if !t.New && worktree.There(t.Path) {
		return "", nil
	}
	paths, err := worktree.Holders(ctx, t.Want.Main, t.Branch)
	for _, path := range paths {
		if !worktree.Same(path, t.Path) {
			return path, err
		}
	}
	return "", err
}

// landing finds where the work of a worktree is: what is checked out, and what its own branch has. That branch is no home:
// it goes.
func (d *doer) landing(ctx context.Context, t orch.Worktree, f *orch.TreeFacts) (err error) {
	var tips []string
	for _, tip := range []string{f.Head, f.Tip} {
		if tip != "" && !slices.Contains(tips, tip) {
			tips = append(tips, tip)
		}
	}
	if len(tips) == 0 || t.Base == "" || f.Into == t.Branch {
		return nil
	}
	if f.Commits, err = worktree.Between(ctx, t.Want.Main, t.Base, tips...); err != nil {
		return err
	}
	if f.Into == "" {
		return d.landedAnywhere(ctx, t, f, tips)
	}
	if f.IntoTip, err = worktree.Branch(ctx, t.Want.Main, f.Into); err != nil || f.IntoTip == "" {
		return err
	}
	if f.Landed, err = landedIn(ctx, t, f, tips); err != nil || f.Landed != "" {
		return err
	}
	return joining(ctx, t, f)
}

// landedIn tells whether the work is in the branch to which it comes home, or in the one which that follows.
func landedIn(ctx context.Context, t orch.Worktree, f *orch.TreeFacts, tips []string) (string, error) {
	places := []string{f.IntoTip}
	upstream, err := worktree.Upstream(ctx, t.Want.Main, f.Into)
	if err == nil && upstream != "" && upstream != "refs/heads/"+t.Branch { // its own branch goes with it
		if far, err := worktree.Commit(ctx, t.Want.Main, upstream); err == nil {
			places = append(places, far)
		}
	}
	for _, place := range places {
		how := ""
		for _, tip := range tips {
			if how, err = worktree.Landed(ctx, t.Want.Main, t.Base, tip, place); err != nil || how == "" {
				break
			}
		}
		if err != nil || how != "" {
			return how, err
		}
	}
	return "", nil
}

// landedAnywhere tells the same of work that has no branch to come home to: some other branch or tag has it, and is none
// that goes with a worktree itself.
func (d *doer) landedAnywhere(ctx context.Context, t orch.Worktree, f *orch.TreeFacts, tips []string) error {
	going := d.going(t.Want.Common)
	for _, tip := range tips {
		ref, err := worktree.Elsewhere(ctx, t.Want.Main, tip, going, "refs/heads", "refs/tags")
		if err != nil || ref == "" {
			return err
		}
	}
	f.Landed = worktree.Merged
	if len(f.Commits) == 0 {
		f.Landed = worktree.Nothing
	}
	return nil
}

// going are the branches of a repository that go with the worktrees for which they were made.
func (d *doer) going(common string) map[string]bool {
	branches := map[string]bool{}
	d.state(func(v orch.View) {
		list, _ := orch.StandingTrees(v, orch.Caller{}) // no run is named, so none can be missing
		for _, t := range list {
			if t.New && t.Want.Common == common {
				branches[t.Branch] = true
			}
		}
	})
	return branches
}

// joining finds what is in the way of a merge.
func joining(ctx context.Context, t orch.Worktree, f *orch.TreeFacts) error {
	if f.Tip == "" {
		return nil
	}
	tried, err := worktree.TryMerge(ctx, t.Want.Main, f.IntoTip, f.Tip)
	if err != nil {
		return err
	}
	f.Conflicts = tried.Conflicts
	if f.IntoAt, err = worktree.CheckedOut(ctx, t.Want.Main, f.Into); err != nil || f.IntoAt == "" {
		return err
	}
	busy, err := worktree.Busy(ctx, f.IntoAt)
	if busy != nil {
		f.IntoChanged, f.IntoDoing = busy.Changed, busy.Doing
	}
	f.IntoInWay = worktree.InTheWay(f.IntoAt, tried.Added)
	return err
}

// inside names the processes that run in a worktree, other than those of its own agent, which is ended first.
func (d *doer) inside(t orch.Worktree) ([]string, error) {
	all, err := proc.Inside(t.Path)
	if err != nil { // also where the system does not tell: that proves nothing
		return nil, err
	}
	own := d.ownProcesses(t.Worker)
	return named(slices.DeleteFunc(all, func(p proc.Info) bool { return own[p.Process] })), nil
}

// ownProcesses are those of a worker's agent.
func (d *doer) ownProcesses(worker string) map[proc.Process]bool {
	var a orch.Agent
	var w orch.Worker
	d.state(func(v orch.View) {
		a = orch.AgentOf(v, worker)
		w, _ = v.Entity("worker/" + worker).(orch.Worker)
	})
	own := map[proc.Process]bool{}
	if a.Gone != "" || w.Released != nil { // that of a released worker goes on
		return own
	}
	own[proc.Process(a.Runner)], own[proc.Process(a.Proc)] = true, true
	for _, p := range d.family(orch.AgentStop{Agent: a.ID, Proc: a.Proc, Runner: a.Runner}) {
		own[p.Process] = true
	}
	return own
}

// workFromGit fills in what a worker has done in its worktree, as git tells it. What git can't tell is left out, and noted.
func (d *daemon) workFromGit(ctx context.Context, info *orch.ReadInfo) {
	var t orch.Worktree
	d.loop.Read(func(v orch.View) { t, _ = v.Entity(orch.Worktree{Worker: info.Worker.ID}.Key()).(orch.Worktree) })
	if t.Worker == "" || t.Base == "" {
		return
	}
	info.Branch, info.Base = t.Branch, t.Base
	files, commits, err := workOf(ctx, t)
	if err != nil {
		d.log.Printf("worktree of %s: %v", t.Worker, err)
		return
	}
	info.Files, info.Commits = append([]string{}, files...), append([]string{}, commits...)
}

// workOf are the files that were changed since a worktree began, in no commit too, and the commits.
func workOf(ctx context.Context, t orch.Worktree) (files, commits []string, err error) {
	tip := t.Tip
	if worktree.There(t.Path) && t.Ended == nil {
		if files, err = worktree.Changed(ctx, t.Path, t.Base); err != nil {
			return nil, nil, err
		}
		_, tip, err = worktree.Head(ctx, t.Path)
	} else {
		files, err = worktree.ChangedBetween(ctx, t.Want.Main, t.Base, lastCommit(t))
	}
	if err != nil {
		return nil, nil, err
	}
	commits, err = worktree.Between(ctx, t.Want.Main, t.Base, tip)
	return files, commits, err
}

// lastCommit holds all that was in a worktree which is gone.
func lastCommit(t orch.Worktree) string {
	if t.Backup != "" {
		return t.Backup
	}
	return t.Tip
}
