package orch

import "slices"

// holdSeat: who has lost a run's seat orders nothing about it, is never its coordinator beside, and is owed nothing that
// another is to hear. It is called before a step's changes are applied.
func (w *walk) holdSeat(in Input, c Changes) {
	id := whoIs(w, in.By)
	if id.agent == nil || id.child || c.Err != nil {
		return
	}
	run := Run{}
	switch o := in.What.(type) {
	case WorkerStart, RunEnd:
		run, _ = currentRun(w, in.By)
	case WorkerStop:
		run = w.runOf(o.Worker)
	case WorkerSend:
		run = w.runOf(o.Worker)
	case WorkerKey:
		run = w.runOf(o.Worker)
	}
	if slices.Contains(run.Former, id.agent.ID) {
		w.Errorf("%s has lost the seat of %s and its %T is taken", id.agent.ID, run.ID, in.What)
	}
}

func (w *walk) runOf(worker string) Run {
	o, _ := get[Worker](w, "worker/"+worker)
	r, _ := get[Run](w, "run/"+o.Run)
	return r
}

// holdFormer is what must hold of seats after each step.
func (w *walk) holdFormer(in Input) {
	former := map[string][]string{}
	each(w, openRuns, func(r Run) bool {
		former[r.ID] = r.Former
		if slices.Contains(r.Former, r.Coordinator) {
			w.Errorf("%s has the seat of %s and has lost it, after %T", r.Coordinator, r.ID, in.What)
		}
		each(w, Of("worker", r.ID), func(o Worker) bool {
			if slices.Contains(r.Former, o.By) {
				w.Errorf("%s is still that of the former seat %s, after %T", o.ID, o.By, in.What)
			}
			return true
		})
		return true
	})
	each(w, waitingWords, func(o Word) bool {
		switch {
		case o.News != nil && o.untouched() && slices.Contains(former[o.News.Run], o.Agent):
			w.Errorf("the news %s are owed to %s, which has lost the seat, after %T", o.ID, o.Agent, in.What)
		case o.Lost != "" && o.untouched() && !slices.Contains(former[o.Lost], o.Agent):
			w.Errorf("%s is to be told that it has lost %s, which is not so, after %T", o.Agent, o.Lost, in.What)
		}
		return true
	})
}
