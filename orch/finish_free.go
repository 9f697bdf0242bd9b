package orch

import (
	"fmt"
	"strings"
)

// keeps says why a worktree is not taken away by itself, "" where it may be: its worker has ended, and all of its work
// has provably landed.
func keeps(v View, t Worktree, f TreeFacts) string {
	w, _ := get[Worker](v, "worker/"+t.Worker)
	a, _ := get[Agent](v, "agent/"+w.Agent)
	err := hindrance(w, t, f, WorkerFinish{})
	if err == nil {
		err = unsaved(w, t, f, WorkerFinish{})
	}
	switch {
	case t.State == treeLeaving:
		return "it is being finished"
	case t.State == treeAwaited || t.State == treeMaking:
		return "its worker is being started"
	case !workerInfo(v, w.ID).Settled:
		return "its worker still works: st worker wait " + w.ID
	case a.Gone == "" && w.Released != nil: // no verb of ours ends it
		return "its agent was released, and goes on there: st agents"
	case a.Gone == "":
		return "its agent still sits there: st worker finish " + w.ID
	case a.Resumable, restarts(v, a):
		return "its agent may come back there: st worker finish " + w.ID
	case err != nil:
		first, _, _ := strings.Cut(err.Message, "\n")
		return strings.TrimSuffix(first, ":") + "; what to do says: st worker finish " + w.ID
	case f.Landed == "":
		return notLandedYet(f) + ": st worker finish " + w.ID
	}
	return ""
}

func notLandedYet(f TreeFacts) string {
	what := fmt.Sprintf("%d commits are", len(f.Commits))
	if len(f.Commits) == 1 {
		what = "1 commit is"
	}
	if f.Into == "" {
		return what + " in no other branch"
	}
	return what + " not in " + f.Into
}

// treesFree orders the end of all worktrees that may go.
func (s *step) treesFree(o TreesFree) *Error {
	id := s.who(s.in.By)
	if id.child {
		return refuse("not_yours", "", "an agent that was started inside %s may not free worktrees for it", id.name())
	}
	list := []WorktreeInfo{}
	for _, f := range o.Facts {
		t, ok := get[Worktree](s, Worktree{Worker: f.Worker}.Key())
		w, _ := get[Worker](s, "worker/"+f.Worker)
		if _, err := s.orders(w); !ok || err != nil || !t.stands() {
			continue
		}
		i := s.freeInfo(w, t, f)
		switch {
		case t.leavesBy(finishLanded):
			i.Keeps = ""
		case i.Keeps == "":
			s.finishTree(w, t, f, finishLanded, nil)
		}
		list = append(list, i)
	}
	s.answer = func() any { return WorktreesAnswer{Worktrees: list} }
	return nil
}

// TreesKept tells what TreesFree would do.
func TreesKept(v View, by Caller, facts []TreeFacts) []WorktreeInfo {
	s := &step{View: v, in: Input{By: by}, puts: map[string]Entity{}}
	list := []WorktreeInfo{}
	for _, f := range facts {
		t, ok := get[Worktree](v, Worktree{Worker: f.Worker}.Key())
		w, _ := get[Worker](v, "worker/"+f.Worker)
		if _, err := s.orders(w); ok && err == nil && t.stands() {
			list = append(list, s.freeInfo(w, t, f))
		}
	}
	return list
}

func (s *step) freeInfo(w Worker, t Worktree, f TreeFacts) WorktreeInfo {
	i := worktreeInfo(s, t.Worker)
	i.Keeps, i.Bytes, i.Landed = keeps(s, t, f), f.Bytes, f.Landed
	if err := s.mayRun(w, f); err != nil { // then nothing else was found out
		i.Keeps = err.Message
	}
	return i
}
