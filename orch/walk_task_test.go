package orch

import (
	"fmt"
	"strings"
)

// task is an order about tasks.
func (w *walk) task() What {
	c, _ := get[Counters](w, "counters/")
	id := func() string { return fmt.Sprint("t", w.Intn(c.Task+1)) }
	worker := fmt.Sprint("w", w.Intn(c.Worker+1))
	switch w.Intn(8) {
	case 0, 1:
		o := TaskCreate{Spec: "x"}
		for range w.Intn(3) {
			o.Deps = append(o.Deps, id())
		}
		if w.Intn(2) == 0 {
			w.workers++
			o.Start = &WorkerStart{Kind: "demo", CopyDir: "/c", EnvFile: fmt.Sprint("/e/", c.Task, "-", c.Word), Target: Place{Server: "s"}, Scope: w.scope(), Tree: w.treeWant(), May: May{Setup: true}}
		}
		if w.Intn(4) == 0 {
			return w.tries(o)
		}
		return o
	case 2:
		return TaskUpdate{Task: id(), Status: byHand[w.Intn(len(byHand))]}
	case 3:
		if w.Intn(2) == 0 {
			return w.pick(id(), worker)
		}
		return TaskCancel{Task: id()}
	case 4:
		o := TaskAssign{Task: id(), Worker: worker}
		each(w, "worker", func(k Worker) bool { // one that could go well is rare by chance
			if a, _ := get[Agent](w, "agent/"+k.Agent); a.Gone == "" && workerInfo(w, k.ID).Settled {
				each(w, Of("task", k.Run), func(t Task) bool {
					if t.Status == taskReady && w.Intn(2) == 0 {
						o = TaskAssign{Task: t.ID, Worker: k.ID}
					}
					return true
				})
			}
			return true
		})
		return o
	case 5:
		return w.retry(worker)
	case 6:
		if w.Intn(20) == 0 {
			return RunEnd{Force: true}
		}
	}
	w.workers++
	return WorkerStart{Kind: "demo", Task: id(), CopyDir: "/c", Target: Place{Server: "s"}, Scope: w.scope()}
}

// holdTasks: what waits stands as its deps say, blocked names one that is; a live dispatch is the newest of a task that is
// dispatched; a task that starts by itself does so, and not too often.
func (w *walk) holdTasks(in Input) {
	each(w, "task", func(t Task) bool {
		run, _ := get[Run](w, "run/"+t.Run)
		if status, reason := standing(w, t); t.waits() && run.Ended == nil && (status != t.Status || reason != t.Reason) {
			w.Errorf("%s is %s (%s) and would be %s (%s) after %T", t.ID, t.Status, t.Reason, status, reason, in.What)
		}
		if t.Status == taskReady && t.Start != nil && run.Ended == nil {
			w.Errorf("%s is ready and does not start by itself after %T", t.ID, in.What)
		}
		if t.Status == taskBlocked && run.Ended == nil {
			dep, _, _ := strings.Cut(t.Reason, " ")
			if d, _ := get[Task](w, "task/"+dep); d.Status != taskFailed && d.Status != taskCancelled && d.Status != taskBlocked {
				w.Errorf("%s is blocked since %q, and that one is %s after %T", t.ID, t.Reason, d.Status, in.What)
			}
		}
		w.holdTries(in, t)
		d, ok := get[Dispatch](w, "dispatch/"+t.Dispatch)
		switch {
		case t.Dispatch != "" && (!ok || d.Task != t.ID):
			w.Errorf("%s has the dispatch %q of %q after %T", t.ID, t.Dispatch, d.Task, in.What)
		case t.Status == taskDispatched && !d.open():
			w.Errorf("%s is dispatched and %s has ended after %T", t.ID, t.Dispatch, in.What)
		}
		for _, dep := range t.Deps {
			if d, _ := get[Task](w, "task/"+dep); d.Run != t.Run || idNumber("t", dep) >= idNumber("t", t.ID) {
				w.Errorf("%s depends on %s of %q", t.ID, dep, d.Run)
			}
		}
		return true
	})
	each(w, "dispatch", func(d Dispatch) bool {
		if t, _ := get[Task](w, "task/"+d.Task); live(w, d) && (t.Dispatch != d.ID || t.Status != taskDispatched) {
			w.Errorf("%s is live and its task is %s, its newest dispatch %s, after %T", d.ID, t.Status, t.Dispatch, in.What)
		}
		return true
	})
}
