package orch

// workerAttach gives a worker that may come back, and of which it can't be told which agent it is now, the one that
// somebody names.
func (s *step) workerAttach(o WorkerAttach) *Error {
	w, _, err := s.ordersNamed(o.Worker)
	if err != nil {
		return err
	}
	if err := s.related(w); err != nil {
		return err
	}
	old, _ := get[Agent](s, "agent/"+w.Agent)
	if a, known := s.foundAgent(o.Found); known && a.ID == old.ID && a.Gone == "" {
		s.answer = func() any { return WorkerAnswer{Worker: workerInfo(s, w.ID), Already: true} }
		return nil
	}
	if err := s.mayAttach(w, old, o.Found); err != nil {
		return err
	}
	next := s.found(o.Found, old.ID)
	s.succeed(old, next.ID)
	s.log("worker-attached", Event{Worker: w.ID, Agent: next.ID, Text: next.Place.Pane})
	s.answer = func() any { return WorkerAnswer{Worker: workerInfo(s, w.ID)} }
	return nil
}

// mayAttach refuses an agent that can't be the worker, and a worker that needs none.
func (s *step) mayAttach(w Worker, old Agent, f AgentFound) *Error {
	show, pane := "st worker show "+w.ID, f.Place.Pane
	switch {
	case old.Gone == "" && old.Place.Pane == "":
		return refuse("not_gone", show, "worker %s %q needs no other agent: the window of its own is still to be opened", w.ID, w.Name)
	case old.Gone == "":
		return refuse("not_gone", show, "worker %s %q is there already, in pane %s", w.ID, w.Name, old.Place.Pane)
	case w.Stopping != nil || !s.workBack(old):
		return refuse("agent_exited", "st worker retry "+w.ID, "worker %s %q has ended for good: its pane was closed, or somebody has stopped it", w.ID, w.Name)
	case f.Kind != w.Kind:
		return refuse("other_kind", show, "the agent in pane %s is a %s, and worker %s %q is a %s", pane, f.Kind, w.ID, w.Name, w.Kind)
	}
	a, known := s.foundAgent(f)
	if known && s.hasRole(a.ID) {
		return refuse("has_role", "st agents", "the agent in pane %s, %s, has something to do already: it is a worker or coordinates a run", pane, a.ID)
	}
	talk := f.Conversation
	if known && a.Conversation != "" {
		talk = a.Conversation
	}
	if talk != "" && old.Conversation != "" && talk != old.Conversation {
		return refuse("other_conversation", show, "the agent in pane %s is in another conversation than worker %s %q was: it knows nothing of that work", pane, w.ID, w.Name)
	}
	return nil
}
