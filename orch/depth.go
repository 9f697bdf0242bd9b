package orch

import "slices"

// How deep work may be handed on: max_depth levels of workers below a run's coordinator, and max_chain in all, where a
// worker coordinates a run itself and so leads a team. Who stands above whom follows from the workers alone, and there is no
// circle in it.

// overseer is the agent right above a worker: the worker of the same run that has started it, else the coordinator; "" for a
// person.
func overseer(v View, w Worker) string {
	run, _ := get[Run](v, "run/"+w.Run)
	if by, ok := worksAs(v, w.By); ok && w.By != "" && w.By != w.Agent && by.Run == w.Run {
		return w.By
	}
	return run.Coordinator
}

// above is the agent right above an agent; ok says that there is somebody, who may be a person.
func above(v View, agent string) (by string, ok bool) {
	w, ok := worksAs(v, agent)
	if run, _ := get[Run](v, "run/"+w.Run); agent == "" || !ok || run.Ended != nil {
		return "", false
	}
	return overseer(v, w), true
}

// upward calls f with an agent and all above it, the nearest first, until f returns false.
func upward(v View, agent string, f func(agent string) bool) {
	for seen := map[string]bool{}; agent != "" && !seen[agent] && f(agent); {
		seen[agent] = true
		agent, _ = above(v, agent)
	}
}

// under says that an agent is another, or stands below it.
func under(v View, agent, top string) (yes bool) {
	upward(v, agent, func(a string) bool {
		yes = a == top
		return !yes
	})
	return yes
}

// level is how many stand above an agent; a person counts.
func level(v View, agent string) (n int) {
	upward(v, agent, func(a string) bool {
		if _, ok := above(v, a); ok {
			n++
		}
		return true
	})
	return n
}

// height is how many levels of workers that live hang below an agent, those counted that will start there by themselves.
func height(v View, agent string) (most int) {
	below := func(w Worker) bool {
		if w.Agent != agent && overseer(v, w) == agent {
			most = max(most, heightWith(v, w))
		}
		return true
	}
	each(v, startedBy(agent), below)
	for _, run := range seatsOf(v, agent) {
		each(v, Of("worker", run), func(w Worker) bool { return w.Released != nil || below(w) })
		most = max(most, willStart(v, run))
	}
	return most
}

// willStart is how many levels of workers will start in a run by themselves.
func willStart(v View, run string) int {
	if slices.ContainsFunc(waitingTasks(v, run), func(t Task) bool { return t.Start != nil }) {
		return 1
	}
	return 0
}

// heightWith is height with a worker itself.
func heightWith(v View, w Worker) int {
	n := height(v, w.Agent)
	if a, _ := get[Agent](v, "agent/"+w.Agent); n == 0 && !a.there() {
		return 0
	}
	return n + 1
}

// depth is how far below the run's coordinator a new worker of the caller will be; team is how many levels hang below it
// already.
func (s *step) depth(id identity, run Run, team int) (int, *Error) {
	limits, depth, by := limitsOf(s), 1, run.Coordinator
	if w, ok := worksAs(s, id.id()); ok && id.agent != nil && w.Run == run.ID {
		depth, by = w.Depth+1, id.agent.ID
	}
	if depth > limits.MaxDepth {
		return 0, tooDeep("worker %s is already %d levels below its run's coordinator, and %d is the most", below(s, id), depth-1, limits.MaxDepth)
	}
	if n := level(s, by) + 1 + team; n > limits.MaxChain {
		return 0, tooDeep("that would make %d levels of workers below one another, and %d is the most", n, limits.MaxChain)
	}
	return depth, nil
}

func below(v View, id identity) string {
	w, _ := worksAs(v, id.id())
	return w.ID
}

// tooDeep refuses what would hand work on too far.
func tooDeep(format string, args ...any) *Error {
	e := refuse("depth", "st escalate '…'", format+": do this part yourself, or report that it should be started from above", args...)
	e.Hint = "a person sets max_depth and max_chain in config.toml"
	return e
}

// tooDeep refuses to hand a task to a worker that stands deeper than is allowed by now.
func (s *step) tooDeep(w Worker) *Error {
	switch limits := limitsOf(s); {
	case w.Depth > limits.MaxDepth:
		return tooDeep("worker %s is %d levels below its run's coordinator, and %d is the most", w.ID, w.Depth, limits.MaxDepth)
	case level(s, w.Agent) > limits.MaxChain:
		return tooDeep("worker %s stands %d levels of workers deep, and %d is the most", w.ID, level(s, w.Agent), limits.MaxChain)
	}
	return nil
}

// alone says that a worker may hand nothing on.
func alone(v View, w Worker) bool {
	limits := limitsOf(v)
	return w.Depth >= limits.MaxDepth || level(v, w.Agent) >= limits.MaxChain
}

// mayBegin refuses a run of its own to a worker that may hand nothing on. Who leads a team goes on to.
func (s *step) mayBegin(id identity) *Error {
	w, ok := worksAs(s, id.id())
	if run, _ := get[Run](s, "run/"+w.Run); !ok || id.agent == nil || run.Ended != nil || !alone(s, w) || len(seatsOf(s, w.Agent)) > 0 {
		return nil
	}
	return tooDeep("worker %s is too deep to start workers, so it may not begin a run of its own", w.ID)
}
