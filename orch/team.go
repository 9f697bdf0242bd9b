package orch

import (
	"slices"
	"strings"
)

// A worker that coordinates a run itself leads a team: the run and its workers stay its own, and to whoever has it as a
// worker it reports once for all of them.

// teamLead is the role of an agent that is a worker and a coordinator.
const teamLead = "team_lead"

// seatsOf are the open runs that an agent coordinates.
func seatsOf(v View, agent string) (runs []string) {
	each(v, openRuns, func(r Run) bool {
		if agent != "" && r.Coordinator == agent {
			runs = append(runs, r.ID)
		}
		return true
	})
	return runs
}

// teamOf are the open runs that an agent coordinates, and how many workers they have.
func teamOf(v View, agent string) (runs []string, workers int) {
	runs = list(seatsOf(v, agent))
	for _, run := range runs {
		each(v, Of("worker", run), func(w Worker) bool {
			if w.Released == nil {
				workers++
			}
			return true
		})
	}
	return runs, workers
}

// leadOf is the worker that the coordinator of a run is in another run, "" for none.
func leadOf(v View, r Run) string {
	w, ok := worksAs(v, r.Coordinator)
	if run, _ := get[Run](v, "run/"+w.Run); r.Coordinator == "" || !ok || run.Ended != nil || r.Ended != nil {
		return ""
	}
	return w.ID
}

// unsettledTeam are the workers of an agent's own runs of which more is to come.
func unsettledTeam(v View, agent string) (list []Worker) {
	for _, run := range seatsOf(v, agent) {
		each(v, Of("worker", run), func(w Worker) bool {
			if !settledState(w.State) {
				list = append(list, w)
			}
			return true
		})
	}
	return list
}

// forTeam refuses a lead's report as long as its own workers are not settled: it reports once for all of them. One that
// came by a file nobody can refuse any more, and so it is taken.
func (s *step) forTeam(w Worker, o WorkerDone) *Error {
	team := unsettledTeam(s, w.Agent)
	if o.LeaveWorkers || s.in.By.Path != "socket" || len(team) == 0 {
		return nil
	}
	var names []string
	for _, t := range team {
		names = append(names, t.ID+" "+t.Name)
	}
	e := refuse("unsettled", "st worker ls --run "+team[0].Run, "you report for your whole team, and of it these have not settled: %s", strings.Join(names, ", "))
	e.Hint = "end your turn: you are told when they have settled, and report then; or say that they go on without you: --leave-workers"
	return e
}

// mayLead refuses the seat of a run to an agent that stands below one of its workers, or so deep that the run would reach too
// far down.
func (s *step) mayLead(agent string, run Run) *Error {
	var in *Worker
	upward(s, agent, func(a string) bool {
		if w, ok := worksAs(s, a); ok && w.Run == run.ID {
			in = &w
		}
		return in == nil
	})
	switch {
	case in != nil && in.Agent == agent:
		return refuse("not_yours", "st orch show "+run.ID, "worker %s works for run %s and can't coordinate it too", in.ID, run.ID)
	case in != nil:
		return refuse("not_yours", "st orch show "+run.ID, "%s works below worker %s of run %s and can't coordinate that", agent, in.ID, run.ID)
	}
	if n, most := level(s, agent)+reach(s, run), limitsOf(s).MaxChain; level(s, agent) > 0 && n > most {
		return tooDeep("with that %d levels of workers would stand below one another, and %d is the most", n, most)
	}
	return nil
}

// reach is how many levels of workers a run has, with the teams below it and those that will start there by themselves.
func reach(v View, run Run) (most int) {
	most = willStart(v, run.ID)
	each(v, Of("worker", run.ID), func(w Worker) bool {
		if n := heightWith(v, w); w.Released == nil && n > 0 {
			most = max(most, w.Depth-1+n)
		}
		return true
	})
	return most
}

// orphaned says that nobody is there who answers for a worker: the agent that would is gone.
func orphaned(v View, w Worker) bool {
	run, _ := get[Run](v, "run/"+w.Run)
	own, _ := get[Agent](v, "agent/"+w.Agent)
	by, ok := get[Agent](v, "agent/"+answersFor(v, w))
	return ok && lost(by) && !lost(own) && run.Ended == nil && w.Released == nil
}

// lost says that an agent has ended for good.
func lost(a Agent) bool { return !a.there() }

// standingOf is what a worker should know of its place beside its task.
func standingOf(v View, w Worker) Status {
	st := Status{Adopted: w.Adopted}
	if seats := seatsOf(v, w.Agent); len(seats) > 0 {
		st.Team = seats[len(seats)-1]
	} else {
		st.Alone = alone(v, w)
	}
	return st
}

// attended says that an agent is looked after although nobody waits to tell it something: it was opened for a run, or works for
// one.
func (a Agent) attended(v View) bool {
	if a.Ours {
		return true
	}
	w, ok := worksAs(v, a.ID)
	d, _ := get[Dispatch](v, "dispatch/"+w.Dispatch)
	return ok && a.Hooked && d.ID != "" && d.open()
}

// Tree lists the open runs with their workers and teams, or the one that the caller names; without All the finished workers
// are only counted. One that has failed, is gone or did not report is not done with: somebody has to look.
func Tree(v View, by Caller, a ListArgs) ([]TreeInfo, *Error) {
	runs, err := treeRuns(v, by, a)
	led := map[string]bool{}
	trees := []TreeInfo{}
	for _, r := range runs {
		led[r.ID] = by.Run == "" && slices.ContainsFunc(runs, func(o RunInfo) bool {
			return slices.ContainsFunc(o.Workers, func(w WorkerInfo) bool { return w.ID == r.Lead })
		})
	}
	for _, r := range runs {
		if !led[r.ID] {
			trees = append(trees, treeOf(v, by, a, r, map[string]bool{}))
		}
	}
	return trees, err
}

// treeOf is a run with its workers, and below them their teams.
func treeOf(v View, by Caller, a ListArgs, r RunInfo, seen map[string]bool) TreeInfo {
	t := TreeInfo{Run: r, Workers: []WorkerInfo{}, Teams: []TreeInfo{}}
	seen[r.ID] = true
	if c, ok := get[Agent](v, "agent/"+r.Coordinator); ok {
		t.Coordinator = ptr(agentInfo(v, c))
	}
	for _, w := range r.Workers {
		if !a.All && w.State == finished && len(w.TeamRuns) == 0 {
			t.Completed++
			continue
		}
		t.Workers = append(t.Workers, w)
		for _, run := range w.TeamRuns {
			if !seen[run] {
				t.Teams = append(t.Teams, treeOf(v, by, a, runInfo(v, run, by), seen))
			}
		}
	}
	t.Run.Workers = t.Workers
	if !a.All {
		t.Run.Tasks = slices.DeleteFunc(t.Run.Tasks, func(t TaskInfo) bool { return t.Status == taskCompleted })
	}
	if a.Brief {
		t.brief()
	}
	return t
}
