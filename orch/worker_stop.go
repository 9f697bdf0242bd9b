package orch

// workerStop orders an agent's end.
func (s *step) workerStop(o WorkerStop) *Error {
	w, id, err := s.ordersNamed(o.Worker)
	if err == nil {
		err = s.mayStop(w, id)
	}
	if err != nil {
		return err
	}
	already := !s.stop(w, id)
	s.answer = func() any { return WorkerAnswer{Worker: workerInfo(s, w.ID), Already: already} }
	return nil
}

// mayStop refuses to end what is not the run's to end: an agent that was released, and for another agent one that it has
// not started but found.
func (s *step) mayStop(w Worker, id identity) *Error {
	if err := s.related(w); err != nil {
		return err
	}
	if id.agent != nil && s.ranBefore(w) {
		e := refuse("refused_agent", "st worker release "+w.ID, "worker %s ran before it was adopted, so no agent may end it: release it", w.ID)
		e.Hint = "a person may stop it"
		return e
	}
	return nil
}

// ordersNamed is a worker by id or name, and the caller, who may order something of it.
func (s *step) ordersNamed(name string) (Worker, identity, *Error) {
	w, err := workerNamed(s, s.in.By, name)
	if err != nil {
		return w, identity{}, err
	}
	id, err := s.orders(w)
	return w, id, err
}

// ranBefore says that a worker's agent was there before st had anything to do with it, also where its conversation goes on
// in one that st has started since.
func (s *step) ranBefore(w Worker) bool {
	a, ok := get[Agent](s, "agent/"+w.Agent)
	for ok && a.Ours && a.Resumes != "" {
		a, ok = get[Agent](s, "agent/"+a.Resumes)
	}
	return ok && w.Adopted && !a.Ours
}

// orders is the caller, who may order something of a worker: a person, its run's coordinator, or who started it.
func (s *step) orders(w Worker) (identity, *Error) {
	id := s.who(s.in.By)
	run, _ := get[Run](s, "run/"+w.Run)
	if err := fence(run, id); err != nil {
		return id, err
	}
	if id.agent != nil && (id.child || id.agent.ID != run.Coordinator && id.agent.ID != w.By) {
		return id, refuse("not_yours", "st worker ls", "worker %s belongs to run %s, and %s is not its coordinator", w.ID, w.Run, id.name())
	}
	return id, nil
}

// stop orders the end of a worker's agent; false where there is nothing to end.
func (s *step) stop(w Worker, id identity) bool {
	a, _ := get[Agent](s, "agent/"+w.Agent)
	if !a.hasPane() && !a.Resumable || w.Stopping != nil {
		return false
	}
	w.Stopping = ptr(s.at)
	if id.agent != nil {
		w.StoppedBy = id.agent.ID
	}
	s.put(w)
	if a.Resumable { // there is nothing to end but a process that may have outlived its terminal
		s.log("worker-stopping", Event{Worker: w.ID, Agent: a.ID, By: id.name()})
		s.stopAgent(a)
		s.letGo(a, "stopped")
		return true
	}
	s.withdraw(a.ID, "stopped")
	s.takeBack(w.ID)
	s.log("worker-stopping", Event{Worker: w.ID, Agent: a.ID, By: id.name()})
	s.stopSetup(w.ID)
	switch d, _ := get[Dispatch](s, "dispatch/"+w.Dispatch); {
	case d.queued():
		s.end(a, "stopped")
	case s.quits(a): // it is being ended already
	case d.Opened != nil || d.ID == "":
		s.stopAgent(a)
	}
	return true
}

// hasPane says that there may still be a pane of the agent: one that ended with an error leaves its last
// words standing.
func (a Agent) hasPane() bool { return a.Gone == "" || a.Gone == "exited" }

func (s *step) stopAgent(a Agent) { s.do(a.stop()) }

// stop is the order for an agent's end. Of one that was found only its own program is ended: what its pane runs is a
// person's shell.
func (a Agent) stop() AgentStop {
	o := AgentStop{Agent: a.ID, Kind: a.Kind, Place: a.Place, Proc: a.Proc}
	if a.Ours {
		o.Runner = a.Runner
	}
	return o
}

func (s *step) agentStopped(o AgentStopped) {
	a, ok := get[Agent](s, "agent/"+o.Agent)
	if !ok {
		return
	}
	if a.Opens != nil {
		return // without a window there is nothing to end
	}
	if w, ok := worksAs(s, a.ID); ok { // who has its work now may sit there
		w.LeftOver = o.LeftOver
		s.put(w)
		defer s.agentLeft(w.ID)
	}
	if s.quitFor(a, o) {
		return
	}
	if o.Kept { // for a window that does not come any more
		s.stopAgent(a)
	}
	if a.Gone == exited { // its pane had stayed open with its last words
		if !a.Resumable {
			a.Gone = "stopped"
			s.put(a)
		}
		return
	}
	s.end(a, "stopped")
}
