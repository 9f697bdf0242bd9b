package daemon

import (
	"context"
	"encoding/json"

	"st/orch"
	"st/orch/worktree"
)

// keptRefs lists the references of a repository by which something was kept.
func (d *daemon) keptRefs(ctx context.Context, raw json.RawMessage) (any, error) {
	args, err := arguments[orch.KeptArgs](raw)
	if err != nil {
		return nil, err
	}
	repo, err := findRepo(ctx, args.Repo)
	if err != nil {
		return nil, err
	}
	list, err := worktree.KeptRefs(ctx, repo.Main)
	if err != nil {
		return nil, treeError(err)
	}
	kept := orch.KeptRefs{Repo: repo.Main, Refs: []orch.KeptRef{}}
	for _, k := range list {
		kept.Refs = append(kept.Refs, orch.KeptRef{Ref: k.Name, Commit: k.Object, Made: k.Made, Subject: k.Subject, Commits: k.Commits})
	}
	return kept, nil
}

// dropRefs deletes such references.
func (d *daemon) dropRefs(ctx context.Context, in orch.Input, body json.RawMessage) (any, error) {
	var o orch.RefsDrop
	if err := json.Unmarshal(body, &o); err != nil {
		return nil, badOrder(err)
	}
	var refusal *orch.Error
	d.loop.Read(func(v orch.View) { refusal = orch.MayDropRefs(v, in.By) })
	if refusal != nil {
		return nil, refusal
	}
	repo, err := findRepo(ctx, o.Repo)
	if err != nil {
		return nil, err
	}
	var list []worktree.KeptRef
	for _, k := range o.Refs {
		list = append(list, worktree.KeptRef{Name: k.Ref, Object: k.Commit})
	}
	if err := worktree.DropKept(ctx, repo.Main, list); err != nil {
		return nil, treeError(err)
	}
	return orch.KeptRefs{Repo: repo.Main, Refs: append([]orch.KeptRef{}, o.Refs...)}, nil
}
