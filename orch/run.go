package orch

import (
	"slices"
	"strings"
	"time"
)

// runStart makes a run. Its coordinator is the agent that asks, or nobody where a person does.
func (s *step) runStart(o RunStart) *Error {
	id := s.who(s.in.By)
	if id.child {
		return refuse("not_yours", "", "an agent that was started inside %s may not start runs for it; only %[1]s itself may", id.name())
	}
	if err := s.mayBegin(id); err != nil {
		return err
	}
	if o.Name != "" {
		if err := checkName(o.Name); err != nil {
			return err
		}
		if r, ok := openRun(s, func(r Run) bool { return r.Name == o.Name }); ok {
			return refuse("name_taken", "st orch show "+r.ID, "run %s is called %q already", r.ID, o.Name)
		}
	}
	r := s.newRun(id, o.Name, o.Objective)
	s.answer = func() any { return RunAnswer{Run: runInfo(s, r.ID, s.in.By), Stopped: []string{}} }
	return nil
}

func (s *step) newRun(id identity, name, objective string) Run {
	r := Run{ID: s.next("r"), Name: name, Objective: objective, Place: s.in.By.Place, Created: s.at}
	if id.agent != nil {
		r.Coordinator = id.agent.ID
	}
	s.put(r)
	s.log("run-started", Event{Run: r.ID, By: id.name(), Text: objective})
	return r
}

// runForStart is the run that a new worker joins; where none exists one is made.
func (s *step) runForStart(id identity, o WorkerStart) (run Run, fresh bool, err *Error) {
	run, err = currentRun(s, s.in.By)
	if err == nil {
		return run, false, nil
	}
	if s.in.By.Run != "" || err.Data != nil { // named, or several to choose from
		return run, false, err
	}
	return s.newRun(id, "", title(o.Title, o.Spec)), true, nil
}

// currentRun is the run a caller means: the one it names, an agent's own, or for a person the run last
// started or used in this pane, else the only open one.
func currentRun(v View, by Caller) (Run, *Error) {
	if by.Run != "" {
		return runNamed(v, by.Run)
	}
	if id := whoIs(v, by); id.agent != nil {
		return agentsRun(v, *id.agent)
	}
	if r, ok := openRun(v, func(r Run) bool { return r.begunAt(by.Place) }); ok {
		return r, nil
	}
	return onlyRun(v)
}

// begunAt says that it is a person's, last begun or taken over in a pane.
func (r Run) begunAt(p Place) bool {
	return r.Coordinator == "" && p.Pane != "" && r.Place.Pane == p.Pane && r.Place.Server == p.Server
}

func runNamed(v View, name string) (Run, *Error) {
	if r, ok := get[Run](v, "run/"+name); ok {
		return r, nil
	}
	var found Run
	each(v, "run", func(r Run) bool {
		if r.Name == name && (found.ID == "" || found.Ended != nil || r.Ended == nil) {
			found = r
		}
		return true
	})
	if found.ID == "" {
		return found, refuse("run_not_found", "st orch ls --all", "run %q: no such run", name)
	}
	return found, nil
}

// agentsRun is the run an agent coordinates, the one it works for, or the one that another has taken from it: of that it
// may ask, and its orders are not mistaken for such as begin a run.
func agentsRun(v View, a Agent) (Run, *Error) {
	if r, ok := openRun(v, func(r Run) bool { return a.ID != "" && r.Coordinator == a.ID }); ok {
		return r, nil
	}
	if w, ok := workerOf(v, a.ID); ok && a.ID != "" {
		if r, ok := get[Run](v, "run/"+w.Run); ok {
			return r, nil
		}
	}
	if r, ok := openRun(v, func(r Run) bool { return a.ID != "" && slices.Contains(r.Former, a.ID) }); ok {
		return r, nil
	}
	return Run{}, refuse("no_run", "st orch start --objective '…'", "this agent has no run yet")
}

// openRun returns the open run for which f holds that was last started or used.
func openRun(v View, f func(Run) bool) (Run, bool) {
	var found Run
	each(v, openRuns, func(r Run) bool {
		if f(r) && !r.since().Before(found.since()) {
			found = r
		}
		return true
	})
	return found, found.ID != ""
}

// since is when a run was last started or used.
func (r Run) since() time.Time {
	if r.Used.After(r.Created) {
		return r.Used
	}
	return r.Created
}

func onlyRun(v View) (Run, *Error) {
	var open []string
	var found Run
	each(v, openRuns, func(r Run) bool {
		open = append(open, r.ID)
		found = r
		return true
	})
	switch len(open) {
	case 1:
		return found, nil
	case 0:
		return found, refuse("no_run", "st orch start --objective '…'", "there is no open run")
	}
	e := refuse("no_run", "st orch ls", "several runs are open (%s): say which with --run", strings.Join(open, ", "))
	e.Data = map[string]any{"runs": open}
	return Run{}, e
}

// endedHere refuses to end a run that nobody has named where a later one of the same caller has ended: whoever says it twice
// means that one, and not the run before it.
func (s *step) endedHere(run Run, id identity) *Error {
	if s.in.By.Run != "" {
		return nil
	}
	var last Run
	each(s, "run", func(r Run) bool {
		mine := r.begunAt(s.in.By.Place)
		if id.agent != nil {
			mine = r.Coordinator == id.agent.ID
		}
		if mine && !r.since().Before(last.since()) {
			last = r
		}
		return true
	})
	if last.Ended == nil {
		return nil
	}
	e := refuse("no_run", "st orch end "+run.ID, "run %s has ended already, and run %s is open: say which is to end", last.ID, run.ID)
	e.Next = append(e.Next, "st orch ls")
	return e
}

// runEnd ends a run.
func (s *step) runEnd(o RunEnd) *Error {
	run, err := currentRun(s, s.in.By)
	if err != nil {
		return err
	}
	id := s.who(s.in.By)
	if err := s.endedHere(run, id); err != nil {
		return err
	}
	if err := fence(run, id); err != nil {
		return err
	}
	if id.agent != nil && (id.child || id.agent.ID != run.Coordinator) {
		return refuse("not_yours", "st orch show "+run.ID, "%s is not the coordinator of run %s", id.name(), run.ID)
	}
	var busy, toStop, toRelease []Worker
	each(s, Of("worker", run.ID), func(w Worker) bool {
		info := workerInfo(s, w.ID)
		switch {
		case w.Released != nil:
		case info.Settled && w.Adopted && w.Stopping == nil: // it did not begin with the run and does not end with it
			toRelease = append(toRelease, w)
		case !info.Settled && info.State != queued:
			busy = append(busy, w)
			if info.State == resumable && o.Close {
				toStop = append(toStop, w)
			}
		case info.State == queued:
			busy, toStop = append(busy, w), append(toStop, w)
		case o.Close:
			toStop = append(toStop, w)
		}
		return true
	})
	already := run.Ended != nil
	if len(busy) > 0 && !o.Force && !already {
		return unsettled(run, busy)
	}
	stopped := []string{}
	for _, w := range toStop {
		if s.stop(w, id) {
			stopped = append(stopped, w.ID)
		}
	}
	for _, w := range toRelease {
		s.release(w, id)
	}
	if !already {
		run.Ended = ptr(s.at)
		s.put(run)
		s.forget(run.ID)
		s.cancelQuestions(run.ID)
		s.endGates(run.ID)
		s.endMail(run.ID)
		s.dropStarts(run.ID)
		s.log("run-ended", Event{Run: run.ID, By: id.name()})
	}
	s.answer = func() any {
		return RunAnswer{Run: runInfo(s, run.ID, s.in.By), Stopped: stopped, Already: already && len(stopped) == 0, Left: len(waitingTasks(s, run.ID))}
	}
	return nil
}

// dropStarts gives up that workers start by themselves for the tasks of a run.
func (s *step) dropStarts(run string) {
	each(s, Of("task", run), func(t Task) bool {
		if t.Start != nil {
			s.put(s.dropStart(t))
		}
		return true
	})
}

func unsettled(run Run, busy []Worker) *Error {
	var names []string
	for _, w := range busy {
		names = append(names, w.ID+" "+w.Name)
	}
	e := refuse("unsettled", "st worker wait --run "+run.ID, "run %s still has workers that are not settled: %s", run.ID, strings.Join(names, ", "))
	e.Hint = "wait for them, stop them, or end the run all the same with --force"
	return e
}
