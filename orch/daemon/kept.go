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

// dropRefs deletes such references. No agent does: what they keep may be what a person looks for.
func (d *daemon) dropRefs(ctx context.Context, in orch.Input, body json.RawMessage) (any, error) {
	var o orch.RefsDrop
	if err := json.Unmarshal(body, &o); err != nil {
		return nil, badOrder(err)
	}
	agent := false
	d.loop.Read(func(v orch.View) { agent = orch.IsAgent(v, in.By) })
	if agent {
		return nil, &orch.Error{Code: "refused_agent", Message: "an agent may not drop what was kept of finished work", Hint: "a person may do it:", Next: []string{"st gc --refs"}}
	}
	repo, err := findRepo(ctx, o.Repo)
	if err != nil {
		return nil, err
	}
	gone := orch.KeptRefs{Repo: repo.Main, Refs: []orch.KeptRef{}}
	for _, k := range o.Refs {
		if err := worktree.DropKept(ctx, repo.Main, k.Ref, k.Commit); err != nil {
			return nil, treeError(err)
		}
		gone.Refs = append(gone.Refs, k)
	}
	return gone, nil
}
