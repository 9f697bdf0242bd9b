package orch

import "slices"

// A start beyond max_workers waits in line: its worker, task and dispatch are there, and no window yet. The line is
// strict, across all runs: the first in it gets the next place. A settled worker takes no place, however long its
// window stays. Neither does one that waits for unsettled workers, its own or those that a wait of it names: they may
// wait for its place. So at the head of a full line there is always somebody who waits for nobody.

// QueuedStart is a start that waits in line for its window.
type QueuedStart struct {
	Open PaneOpen `json:"open"` // what is ordered in its turn; Spec is empty, its task has it
	// Lost says that the server of its session has ended. It keeps nobody waiting, and has its turn again once a session of
	// that name is at the same socket.
	Lost bool `json:"lost,omitempty"`
}

// SessionBack tells that the session of a start is there again, on another server.
type SessionBack struct {
	Dispatch string `json:"dispatch"`
	Target   Place  `json:"target"`
}

// Type is the name on the wire.
func (SessionBack) Type() string { return "session-back" }

// queued says that a dispatch waits in line for its window.
func (d Dispatch) queued() bool { return d.Queued != nil && d.Ordered == nil && d.open() }

// unordered says that the window of a dispatch is not ordered yet: it waits in line, or for its worktree.
func (s *step) unordered(d Dispatch) bool {
	t, _ := get[Worktree](s, Worktree{Worker: d.Worker}.Key())
	return d.queued() || t.Open != nil && t.Open.Dispatch == d.ID
}

// enqueue puts a start at the end of the line. Where there is room it comes out of it in the same step.
func (s *step) enqueue(o PaneOpen) { s.put(QueuedStart{Open: o}) }

// openWindows orders the windows of the first in line, as many as there is room for.
func (s *step) openWindows() {
	starts := inLine(s)
	if len(starts) == 0 {
		return
	}
	room := room(s, starts)
	for _, q := range starts {
		d, _ := get[Dispatch](s, "dispatch/"+q.Open.Dispatch)
		switch {
		case !d.open():
			s.del(q.Key())
			s.dropLaunch(q.Open)
		case q.Lost:
		case d.Ordered != nil: // so its run's own file says: it was ordered before the store was lost
			s.orderWindow(q, d)
		case room > 0:
			room--
			s.orderWindow(q, d)
		case d.Queued == nil:
			d.Queued = ptr(s.at)
			s.put(d)
		}
	}
}

// dropLaunch removes what was kept for a start that will not be.
func (s *step) dropLaunch(o PaneOpen) {
	if !o.Keep {
		s.do(LaunchDrop{Agent: o.Agent, EnvFile: o.EnvFile})
	}
}

// awaitSession puts a start back into the line whose server had ended by its turn: false where it has to fail, since its
// agent may have begun.
func (s *step) awaitSession(a Agent, d Dispatch, o PaneOpen) bool {
	w, _ := get[Worker](s, "worker/"+d.Worker)
	if !d.open() || d.Opened != nil || d.Started != nil || a.Runner.PID != 0 || a.Gone != "" || w.Stopping != nil {
		return false
	}
	if d.Queued == nil {
		d.Queued = ptr(s.at)
	}
	d.Ordered, o.Spec = nil, ""
	s.put(d)
	s.put(QueuedStart{Open: o, Lost: true})
	s.log("session-missing", Event{Worker: d.Worker, Agent: a.ID, Dispatch: d.ID, Text: o.Target.SessionName})
	return true
}

// holdStarts has the starts in line wait for their sessions whose server has ended: a worker that comes back by a restore alone
// may have the place for which they stand there, and nobody would hear that they wait for that too.
func (s *step) holdStarts(server string) {
	for _, q := range inLine(s) {
		d, _ := get[Dispatch](s, "dispatch/"+q.Open.Dispatch)
		if q.Lost || q.Open.Target.Server != server || !d.queued() {
			continue
		}
		q.Lost = true
		s.put(q)
		s.log("session-missing", Event{Worker: d.Worker, Agent: q.Open.Agent, Dispatch: d.ID, Text: q.Open.Target.SessionName})
	}
}

// sessionBack gives a start its turn again, in the session that is there.
func (s *step) sessionBack(o SessionBack) {
	q, ok := get[QueuedStart](s, "queued/"+o.Dispatch)
	if !ok || !q.Lost {
		return
	}
	a, _ := get[Agent](s, "agent/"+q.Open.Agent)
	dir := a.Place.Dir
	q.Lost, q.Open.Target, a.Place = false, o.Target, o.Target
	a.Place.Dir = dir
	s.put(a)
	s.put(q)
	s.log("session-returned", Event{Worker: q.Open.Worker, Agent: a.ID, Dispatch: o.Dispatch, Text: o.Target.SessionName})
}

// Sessionless are the starts whose session has ended with its server.
func Sessionless(v View) (list []QueuedStart) {
	for _, q := range inLine(v) {
		if q.Lost {
			list = append(list, q)
		}
	}
	return list
}

// missingSession is the name of the session for which a start waits, "" for none.
func missingSession(v View, d Dispatch) string {
	if q, ok := get[QueuedStart](v, "queued/"+d.ID); ok && q.Lost {
		return q.Open.Target.SessionName
	}
	return ""
}

// orderWindow hands out the order to open a window.
func (s *step) orderWindow(q QueuedStart, d Dispatch) {
	s.del(q.Key())
	if d.Queued != nil && d.Ordered == nil {
		d.Ordered = ptr(s.at)
		s.put(d)
	}
	t, _ := get[Task](s, "task/"+d.Task)
	q.Open.Spec = t.Spec
	if !s.makeTree(q.Open) {
		s.do(q.Open)
	}
}

// inLine are the starts in line, the first first.
func inLine(v View) (starts []QueuedStart) {
	each(v, "queued", func(q QueuedStart) bool {
		starts = append(starts, q)
		return true
	})
	return starts
}

// room is how many of the starts in line may get their window now.
func room(v View, starts []QueuedStart) int {
	most := limitsOf(v).MaxWorkers
	if most == 0 {
		return len(starts)
	}
	return most - placesTaken(v, starts)
}

// placesTaken counts the workers that keep others waiting.
func placesTaken(v View, starts []QueuedStart) (taken int) {
	waits := map[string]bool{} // agents without a window
	for _, q := range starts {
		waits[q.Open.Agent] = true
	}
	var unsettled []Worker
	yields := map[string]bool{} // agents that wait for workers
	count := func(a Agent) bool {
		w, ok := worksAs(v, a.ID)
		d, _ := get[Dispatch](v, "dispatch/"+w.Dispatch)
		if ok && (!settledState(w.State) || busy(v, d, a)) {
			unsettled = append(unsettled, w)
			r, _ := get[Run](v, "run/"+w.Run)
			yields[w.By], yields[r.Coordinator] = true, true
		}
		return true
	}
	each(v, LiveAgents, count)
	each(v, ResumableAgents, count) // they come back to their places
	each(v, "wait", func(o Waiter) bool {
		yields[o.Agent] = yields[o.Agent] || slices.ContainsFunc(unsettled, func(w Worker) bool {
			return w.Agent != o.Agent && o.covers(w.Run, w.ID)
		})
		return true
	})
	for _, w := range unsettled {
		if !waits[w.Agent] && !yields[w.Agent] {
			taken++
		}
	}
	return taken
}

// placeInLine is a dispatch's place in the line, 1 for the next; 0 where it does not wait.
func placeInLine(v View, d Dispatch) int {
	if !d.queued() {
		return 0
	}
	place := 0
	for _, q := range inLine(v) {
		if q.Lost {
			continue
		}
		if place++; q.Open.Dispatch == d.ID {
			return place
		}
	}
	return 0
}

// QueuedEnvFiles are the files with the environments that the starts in line will need, those of starts that wait for the end
// of another agent, those whose worktree is being made, and those that are kept for tasks for which workers start by themselves.
func QueuedEnvFiles(v View) (paths []string) {
	for _, q := range inLine(v) {
		paths = append(paths, q.Open.EnvFile)
	}
	each(v, LiveAgents, func(a Agent) bool {
		if a.Opens != nil {
			paths = append(paths, a.Opens.EnvFile)
		}
		return true
	})
	each(v, autoTasks, func(t Task) bool {
		paths = append(paths, t.Start.EnvFile)
		return true
	})
	each(v, openingTrees, func(t Worktree) bool {
		paths = append(paths, t.Open.EnvFile)
		return true
	})
	return paths
}
