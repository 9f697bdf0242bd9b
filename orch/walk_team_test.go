package orch

import "fmt"

// team is what concerns adopted workers and those who lead teams.
func (w *walk) team() What {
	c, _ := get[Counters](w, "counters/")
	w.run = fmt.Sprint("r", w.Intn(c.Run+1))
	switch w.Intn(8) {
	case 0:
		w.run = ""
		return RunStart{Objective: "x"}
	case 1, 2:
		w.run = ""
		return WorkerRelease{Worker: fmt.Sprint("w", w.Intn(c.Worker+1))}
	}
	var live []Agent
	each(w, LiveAgents, func(a Agent) bool {
		if _, works := workerOf(w, a.ID); a.Hooked && (!works || w.Intn(8) == 0) {
			live = append(live, a)
		}
		return true
	})
	if len(live) == 0 {
		return Tick{}
	}
	a := live[w.Intn(len(live))]
	w.workers++
	o := WorkerAdopt{Target: a.ID, Found: []PaneAgent{{Process: a.Proc, Kind: a.Kind, Place: Place{Server: "s", Pane: "%" + a.ID[1:]}}}, CopyDir: "/c", Command: "st"}
	if w.Intn(3) == 0 {
		each(w, Of("task", w.run), func(t Task) bool {
			if t.Status == taskReady {
				o.Task = t.ID
			}
			return true
		})
	}
	return o
}

// holdLead: who leads a team reports once its own workers have settled, unless it says that they may go on. It is called
// before a step's changes are applied.
func (w *walk) holdLead(in Input, c Changes) {
	o, ok := in.What.(WorkerDone)
	if a, is := c.Answer.(DoneAnswer); !ok || o.LeaveWorkers || !is || a.Taken != "report" {
		return
	}
	lead, _ := workerOf(w, whoIs(w, in.By).id()) // one that has come back since has the team
	if in.By.Path == "socket" && len(unsettledTeam(w, lead.Agent)) > 0 {
		w.Errorf("%s reports for its team while that has not settled", lead.ID)
	}
}

// holdTeams: nobody stands above themselves, or deeper than is allowed; an agent is one worker, and not of the run that it
// coordinates; what was released is nobody's any more.
func (w *walk) holdTeams(in Input) {
	works := map[string]string{}
	each(w, "worker", func(k Worker) bool {
		run, _ := get[Run](w, "run/"+k.Run)
		if k.Released != nil {
			w.holdReleased(in, k)
			return true
		}
		if other := works[k.Agent]; other != "" {
			w.Errorf("%s is %s and %s, after %T", k.Agent, other, k.ID, in.What)
		}
		works[k.Agent] = k.ID
		if run.Coordinator == k.Agent && run.Ended == nil {
			w.Errorf("%s is worker %s of %s and coordinates it, after %T", k.Agent, k.ID, run.ID, in.What)
		}
		if run.Ended == nil {
			w.holdDepth(in, k)
		}
		return true
	})
}

func (w *walk) holdDepth(in Input, k Worker) {
	limits, steps := limitsOf(w), 0
	for by, ok := k.Agent, true; ok && by != "" && steps < 1000; steps++ {
		by, ok = above(w, by)
	}
	if steps == 1000 {
		w.Errorf("%s stands above itself, after %T", k.Agent, in.What)
	}
	if a, _ := get[Agent](w, "agent/"+k.Agent); a.Gone == "" && (k.Depth > limits.MaxDepth || level(w, k.Agent) > limits.MaxChain) {
		w.Errorf("%s stands %d deep in its run and %d in all, after %T", k.ID, k.Depth, level(w, k.Agent), in.What)
	}
}

func (w *walk) holdReleased(in Input, k Worker) {
	d, _ := get[Dispatch](w, "dispatch/"+k.Dispatch)
	if k.State != released && k.State != finished && k.State != failed || d.ID != "" && d.open() {
		w.Errorf("%s was released and is %s, its dispatch open: %v, after %T", k.ID, k.State, d.open(), in.What)
	}
	if len(questionsOf(w, k.ID)) > 0 {
		w.Errorf("%s was released and has a question that nobody needs answered, after %T", k.ID, in.What)
	}
	for _, o := range wordsOf(w, k.Agent, Word.untouched) {
		if owedAs(w, o) == k.ID {
			w.Errorf("%s is owed %s as worker %s, which it is no more, after %T: %+v", k.Agent, o.ID, k.ID, in.What, o)
		}
	}
}
