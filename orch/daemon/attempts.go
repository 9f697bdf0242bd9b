package daemon

import (
	"context"
	"encoding/json"
	"path/filepath"

	"st/orch"
	"st/orch/worktree"
)

// attempts tells of the attempts at a task, side by side, with what git knows of each.
func (d *daemon) attempts(ctx context.Context, by orch.Caller, raw json.RawMessage) (any, error) {
	args, err := arguments[orch.TaskArgs](raw)
	if err != nil {
		return nil, err
	}
	var info orch.AttemptsInfo
	trees := map[string]orch.Worktree{}
	refusal := (*orch.Error)(nil)
	d.loop.Read(func(v orch.View) {
		if refusal = orch.CheckAs(v, by); refusal == nil {
			info, refusal = orch.Attempts(v, by, args)
		}
		for _, a := range info.Attempts {
			trees[a.Worker.ID], _ = v.Entity(orch.Worktree{Worker: a.Worker.ID}.Key()).(orch.Worktree)
		}
	})
	if refusal != nil {
		return nil, refusal
	}
	for i := range info.Attempts {
		a := &info.Attempts[i]
		if t := trees[a.Worker.ID]; t.Base != "" {
			if err := measure(ctx, t, a); err != nil {
				d.log.Printf("worktree of %s: %v", t.Worker, err)
			}
		}
	}
	return info, nil
}

// measure fills in what git knows of an attempt.
func measure(ctx context.Context, t orch.Worktree, a *orch.AttemptInfo) (err error) {
	if a.Files, a.Commits, err = workOf(ctx, t); err != nil {
		return err
	}
	if worktree.There(t.Path) && t.Ended == nil {
		a.Added, a.Removed, err = worktree.Lines(ctx, t.Path, t.Base)
		return err
	}
	a.Added, a.Removed, err = worktree.LinesBetween(ctx, t.Want.Main, t.Base, lastCommit(t))
	return err
}

// pickTask settles a task with the outcome of one of its attempts.
func (d *daemon) pickTask(ctx context.Context, in orch.Input, body json.RawMessage) (any, error) {
	var o orch.TaskPick
	if err := json.Unmarshal(body, &o); err != nil {
		return nil, badOrder(err)
	}
	o.Facts = nil
	in.What = o
	return d.launch(ctx, in, o, "", func() (orch.What, error) {
		if !o.Free {
			return o, nil
		}
		var trees []orch.Worktree
		d.loop.Read(func(v orch.View) { trees = orch.OtherTrees(v, in.By, o) })
		for _, t := range trees {
			o.Facts = append(o.Facts, d.doer.treeFacts(ctx, in.By, t, ""))
		}
		return o, ctx.Err()
	})
}

// checkRun runs the command that checks an attempt. One that an earlier daemon began is begun anew: a check changes
// nothing that counts.
func (d *doer) checkRun(ctx context.Context, r Running, o orch.CheckRun) orch.What {
	ended := orch.CheckEnded{Task: o.Task, Worker: o.Worker, Log: filepath.Join(copyDir(d.home), o.Run, o.Worker+"-check.log")}
	if r.Resumed && r.Stage != "" {
		endLeft(ctx, r.Stage)
	}
	c := treeCommand{line: o.Command, dir: o.Dir, from: o.From, log: ended.Log, limit: unlimited(d.config.Limits.Check), key: "check"}
	env, err := readEnv(o.EnvFile)
	if err == nil {
		err = c.run(ctx, r, env, func() error { return nil })
	}
	if err != nil {
		ended.Why = err.Error()
	}
	return ended
}
