package orch

import "fmt"

// treeWork is what git and the setups of a walk are at.
type treeWork struct {
	making, setting, leaving map[string]bool   // by worker
	checks                   map[string]bool   // by task
	made                     map[string]int    // how often a worktree was ordered
	ordered                  map[string]string // how its end was wanted, once somebody has
}

func newTreeWork() treeWork {
	return treeWork{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]int{}, map[string]string{}}
}

// treeWant is a worktree for a start, or none.
func (w *walk) treeWant() *TreeWant {
	if w.Intn(3) > 0 {
		return nil
	}
	t := &TreeWant{Main: "/repo", Common: "/repo/.git", Name: "main", Into: "main", Place: "/repo-worktrees", There: w.Intn(9) == 0}
	if t.There {
		t.Branch = "mine"
	}
	if w.Intn(2) == 0 {
		t.Setup, t.Async = "make", w.Intn(2) == 0
	}
	return t
}

// tree is what concerns worktrees: results of what is under way, and orders.
func (w *walk) tree() What {
	if id, ok := w.one(w.trees.making); ok {
		if w.Intn(4) == 0 {
			return TreeMade{Worker: id, Error: &Error{Code: "worktree_failed", Message: "no"}, Stands: w.Intn(2) == 0}
		}
		return TreeMade{Worker: id, Base: "c0"}
	}
	if w.Intn(2) == 0 {
		if id, ok := w.one(w.trees.setting); ok {
			return SetupEnded{Worker: id, Log: "/log", Why: []string{"", "", "no"}[w.Intn(3)]}
		}
	}
	if id, ok := w.one(w.trees.leaving); ok {
		o := TreeFinished{Worker: id}
		if w.Intn(3) == 0 {
			o.Error = &Error{Code: "not_finished", Message: "no"}
		}
		return o
	}
	if w.Intn(3) == 0 {
		o := TreesFree{}
		each(w, standingTrees, func(t Worktree) bool {
			o.Facts = append(o.Facts, w.facts(t.Worker))
			return true
		})
		return o
	}
	c, _ := get[Counters](w, "counters/")
	id := fmt.Sprint("w", w.Intn(c.Worker+1))
	each(w, standingTrees, func(t Worktree) bool { // one that has a worktree is rare by chance
		if w.Intn(3) == 0 {
			id = t.Worker
		}
		return true
	})
	return WorkerFinish{Worker: id, How: []string{"", finishMerge, finishSquash, finishDiscard, "burn"}[w.Intn(5)], Facts: w.facts(id)}
}

func (w *walk) facts(worker string) TreeFacts {
	f := TreeFacts{Worker: worker, Head: "c1", Tip: "c1", Into: "main", IntoTip: "c0", Commits: []string{"c1 work"}}
	if t, ok := get[Worktree](w, Worktree{Worker: worker}.Key()); ok {
		f.Branch = t.Branch
	}
	switch w.Intn(8) {
	case 0:
		f.Untracked = []string{"x"}
	case 1:
		f.Processes = []string{"1 x"}
	case 2:
		f.Conflicts = []string{"x"}
	case 3, 4, 5:
		f.Landed = "merged"
	}
	return f
}

// treeEffect holds what may be ordered of worktrees.
func (w *walk) treeEffect(in Input, do Order) {
	switch o := do.(type) {
	case TreeMake:
		if w.trees.made[o.Worker]++; w.trees.made[o.Worker] > 1 {
			w.Errorf("the worktree of %s is made twice (after %T)", o.Worker, in.What)
		}
		w.trees.making[o.Worker] = true
		w.opens(o.Worker)
	case CheckRun:
		if w.dropped[o.EnvFile] {
			w.Errorf("%s is checked with an environment that was given up (after %T)", o.Task, in.What)
		}
		w.trees.checks[o.Task+" "+o.Worker] = true
	case SetupRun:
		w.trees.setting[o.Worker] = true
	case SetupStop:
		if !w.trees.setting[o.Worker] {
			w.Errorf("the setup of %s is stopped and does not run (after %T)", o.Worker, in.What)
		}
	case TreeFinish:
		if w.trees.ordered[o.Worker] == "" {
			w.Errorf("the worktree of %s goes, and nobody has said so (after %T)", o.Worker, in.What)
		}
		w.trees.leaving[o.Worker] = true
	}
}

// hasTree tells whether a worker waits for its worktree before its window.
func (w *walk) hasTree(worker string) bool { return w.trees.made[worker] > 0 }

// orderTrees notes whose worktrees somebody has wanted to go.
func (w *walk) orderTrees(in Input, c Changes) {
	if c.Err != nil {
		return
	}
	switch o := in.What.(type) {
	case WorkerFinish:
		w.trees.ordered[o.Worker] = "finish"
	case TreesFree:
		for _, f := range o.Facts {
			w.trees.ordered[f.Worker] = "free"
		}
	case TaskPick:
		for _, f := range o.Facts {
			w.trees.ordered[f.Worker] = "pick"
		}
	}
}

// holdTrees: a worktree goes by an order alone, which names it, and only once its agent has ended; a window is opened in
// one that stands and is ready; no two have one folder or one branch.
func (w *walk) holdTrees(in Input, effects []Effect) {
	for _, e := range effects {
		switch o := e.Do.(type) {
		case TreeFinish:
			a, _ := get[Agent](w, "agent/"+o.Agent)
			of, _ := get[Worker](w, "worker/"+o.Worker)
			if a.Gone == "" || a.hasPane() && of.Released == nil { // the pane of one that was released is not ours to close
				w.Errorf("the worktree of %s goes under its agent (after %T)", o.Worker, in.What)
			}
		case PaneOpen:
			t, ok := get[Worktree](w, Worktree{Worker: o.Worker}.Key())
			if ok && (t.State != treeReady || t.Setup != "" && t.Setup != setupDone && !t.Want.Async) {
				w.Errorf("the window of %s is ordered in a worktree that is %s, its setup %s (after %T)", o.Worker, t.State, t.Setup, in.What)
			}
		}
	}
	names := map[string]string{}
	each(w, standingTrees, func(t Worktree) bool {
		for _, name := range []string{fold(t.Path), "branch " + fold(t.Branch)} {
			if names[name] != "" {
				w.Errorf("%s and %s both have %s (after %T)", names[name], t.Worker, name, in.What)
			}
			names[name] = t.Worker
		}
		a := AgentOf(w, t.Worker)
		if t.Open != nil && a.Gone != "" && !w.trees.making[t.Worker] && !w.trees.setting[t.Worker] {
			w.Errorf("%s is gone, nothing is under way, and its window is still to be opened (after %T)", t.Worker, in.What)
		}
		return true
	})
}
