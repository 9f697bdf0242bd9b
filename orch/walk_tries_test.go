package orch

import (
	"fmt"
	"slices"
	"strings"
)

// tries makes of a new task one that is tried several times.
func (w *walk) tries(o TaskCreate) TaskCreate {
	c, _ := get[Counters](w, "counters/")
	o.Start = nil
	for i := range 1 + w.Intn(3) {
		w.workers++
		o.Tries = append(o.Tries, WorkerStart{Kind: "demo", CopyDir: "/c", EnvFile: fmt.Sprint("/e/", c.Task, "-", c.Word, "-", i), Target: Place{Server: "s"},
			Tree: &TreeWant{Main: "/repo", Common: "/repo/.git", Name: "main", Into: "main", Place: "/repo-worktrees"}, May: May{Check: true}})
	}
	if w.Intn(2) == 0 {
		o.Check = "make test"
	}
	return o
}

// retry begins the task of a worker anew, in a worktree where that had one.
func (w *walk) retry(worker string) What {
	w.workers++
	o := WorkerRetry{Worker: worker, Start: WorkerStart{CopyDir: "/c", EnvFile: fmt.Sprint("/e/again-", w.workers), Target: Place{Server: "s"}, May: May{Check: w.Intn(4) > 0}}}
	if t, ok := get[Worktree](w, Worktree{Worker: worker}.Key()); ok {
		o.Start.Tree = &t.Want
	}
	return o
}

// pick picks an attempt, mostly one that could be taken, or tells of a check.
func (w *walk) pick(task, worker string) What {
	if check, ok := w.one(w.trees.checks); ok && w.Intn(2) == 0 {
		task, worker, _ := strings.Cut(check, " ")
		return CheckEnded{Task: task, Worker: worker, Log: "/log", Why: []string{"", "no"}[w.Intn(2)]}
	} else if ok {
		w.trees.checks[check] = true
	}
	o := TaskPick{Task: task, Worker: worker, Free: w.Intn(2) == 0}
	each(w, "task", func(t Task) bool {
		if d, ok := get[Dispatch](w, "dispatch/"+t.Dispatch); ok && t.Of != "" && d.Report != nil && w.Intn(3) == 0 {
			o.Task, o.Worker = t.Of, d.Worker
		}
		return true
	})
	if o.Free {
		for _, t := range OtherTrees(w, Caller{}, o) {
			o.Facts = append(o.Facts, w.facts(t.Worker))
		}
	}
	return o
}

// holdTries: a task with attempts is dispatched to nobody itself; where one was picked it has that one's outcome, and what
// nobody has begun is not begun any more; an attempt is of a task that knows it, and starts by itself once.
func (w *walk) holdTries(in Input, t Task) {
	run, _ := get[Run](w, "run/"+t.Run)
	if len(t.Tries) > 0 && t.Status == taskDispatched {
		w.Errorf("%s has attempts, and is dispatched itself after %T", t.ID, in.What)
	}
	for _, id := range t.Tries {
		if a, _ := get[Task](w, "task/"+id); a.Of != t.ID || t.over() && a.waits() && a.Start != nil && run.Ended == nil {
			w.Errorf("%s is %s, and its attempt %s of %q is %s after %T", t.ID, t.Status, id, a.Of, a.Status, in.What)
		}
	}
	if o, ok := in.What.(TaskPick); ok && o.Task == t.ID && t.Picked == o.Worker {
		p, _ := get[Worker](w, "worker/"+t.Picked)
		d, _ := get[Dispatch](w, "dispatch/"+p.Dispatch)
		if a, _ := get[Task](w, "task/"+d.Task); a.Of != t.ID {
			w.Errorf("%s was picked for %s after its attempt at %q", p.ID, t.ID, a.Of)
		}
	}
	if of, ok := get[Task](w, "task/"+t.Of); t.Of != "" && (!ok || !slices.Contains(of.Tries, t.ID)) {
		w.Errorf("%s is an attempt at %q, which does not know it, after %T", t.ID, t.Of, in.What)
	}
}
