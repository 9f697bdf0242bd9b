package orch

import "time"

// WorktreeInfo is a worktree as it is shown.
type WorktreeInfo struct {
	Worker string `json:"worker"`
	Name   string `json:"name"` // of the worker
	Run    string `json:"run"`
	Repo   string `json:"repo"`
	Path   string `json:"path"`
	Branch string `json:"branch"`
	Base   string `json:"base"` // commit
	Into   string `json:"into"` // the branch at which it began, "" for a commit
	State  string `json:"state"`
	Why    string `json:"why"` // it could not be made, or could not be finished
	Error  *Error `json:"error"`
	How    string `json:"how"` // it came to its end: merge squash discard landed
	Tip    string `json:"tip"`
	Commit string `json:"commit"` // by which its work came home
	Backup string `json:"backup"` // the reference that keeps what else would be lost
	// Restore is how what was kept is got back, "" where nothing was.
	Restore string     `json:"restore"`
	Ended   *time.Time `json:"ended"`

	// Of gc.
	Keeps  string `json:"keeps"`  // why it is not taken away, "" where it is
	Landed string `json:"landed"` // how its work has: nothing merged squashed; "" for not
	Bytes  int64  `json:"bytes"`  // of all files below it
}

type (
	// WorktreeAnswer is the worktree that was meant.
	WorktreeAnswer struct {
		Worktree WorktreeInfo `json:"worktree"`
		Already  bool         `json:"already"`
	}
	// WorktreesAnswer are the worktrees that there are: those that go, and those that are kept.
	WorktreesAnswer struct {
		Worktrees []WorktreeInfo `json:"worktrees"`
	}
)

// Done says that a worktree is not on its way out.
func (i WorktreeInfo) Done() bool { return i.State != treeLeaving }

// WorktreeOf is the worktree of a worker.
func WorktreeOf(v View, by Caller, a WorkerArgs) (WorktreeInfo, *Error) {
	w, err := workerNamed(v, by, a.Worker)
	if err != nil {
		return WorktreeInfo{}, err
	}
	if _, ok := get[Worktree](v, Worktree{Worker: w.ID}.Key()); !ok {
		return WorktreeInfo{}, refuse("no_worktree", "st worker show "+w.ID, "worker %s has no worktree: it works in %s", w.ID, w.Dir)
	}
	return worktreeInfo(v, w.ID), nil
}

func worktreeInfo(v View, worker string) WorktreeInfo {
	t, _ := get[Worktree](v, Worktree{Worker: worker}.Key())
	w, _ := get[Worker](v, "worker/"+worker)
	i := WorktreeInfo{Worker: worker, Name: w.Name, Run: t.Run, Repo: t.Want.Main, Path: t.Path, Branch: t.Branch, Base: t.Base, Into: t.Want.Into, State: t.State, Why: t.Why,
		Error: t.Error, How: t.How, Landed: t.Landed, Tip: t.Tip, Commit: t.Commit, Backup: t.Backup, Ended: t.Ended}
	if t.Backup != "" {
		i.Restore = "git -C " + word(t.Want.Main) + " branch " + word(t.Branch+"-back") + " " + t.Backup
	}
	return i
}

// StandingTrees are the worktrees that are not gone: those of the run that the caller names, else all of them.
func StandingTrees(v View, by Caller) (list []Worktree, err *Error) {
	run := Run{}
	if by.Run != "" {
		if run, err = runNamed(v, by.Run); err != nil {
			return nil, err
		}
	}
	each(v, standingTrees, func(t Worktree) bool {
		if run.ID == "" || t.Run == run.ID {
			list = append(list, t)
		}
		return true
	})
	return list, nil
}

// AgentOf is the agent of a worker.
func AgentOf(v View, worker string) Agent {
	w, _ := get[Worker](v, "worker/"+worker)
	a, _ := get[Agent](v, "agent/"+w.Agent)
	return a
}
