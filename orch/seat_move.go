package orch

import "slices"

// The seat of a run, and what goes with it, follows the conversation: a program that was ended and started again with
// it, in the same pane or another, is the coordinator as before (see succeed).

// holdsSeat says that an agent answers for workers of an open run, or has lost the seat of one.
func holdsSeat(v View, agent string) (yes bool) {
	each(v, openRuns, func(r Run) bool {
		yes = r.Coordinator == agent || slices.Contains(r.Former, agent)
		return !yes
	})
	if yes {
		return true
	}
	each(v, startedBy(agent), func(w Worker) bool {
		r, _ := get[Run](v, "run/"+w.Run)
		yes = r.ID != "" && r.Ended == nil
		return !yes
	})
	return yes
}

func (a Agent) sameTalk(o Agent) bool {
	return a.Conversation != "" && a.Conversation == o.Conversation && a.Kind == o.Kind
}

// known says that the state has an agent's conversation already.
func (a Agent) known(v View) bool {
	o, ok := get[Agent](v, a.Key())
	return ok && o.Conversation == a.Conversation
}

func (s *step) moveSeat(from, to Agent) {
	each(s, openRuns, func(r Run) bool {
		if r.Coordinator == from.ID && s.mayLead(to.ID, r) == nil { // else it works for that run, and the seat stays where it was
			r.Coordinator, r.Former = to.ID, without(r.Former, to.ID)
			s.put(r)
			s.dropLost(r.ID, to.ID)
			s.log("seat-moved", Event{Run: r.ID, Agent: to.ID, Text: "from " + from.ID})
		}
		if slices.Contains(r.Former, from.ID) && r.Coordinator != to.ID && !slices.Contains(r.Former, to.ID) {
			r.Former = append(slices.Clone(r.Former), to.ID) // the fence is around the conversation too
			s.put(r)
			s.disown(r, to.ID)
		}
		return true
	})
	each(s, startedBy(from.ID), func(w Worker) bool {
		r, _ := get[Run](s, "run/"+w.Run)
		if r.Coordinator == from.ID || under(s, to.ID, w.Agent) {
			return true // nobody answers for one that stands above
		}
		w.By = to.ID
		if slices.Contains(r.Former, to.ID) {
			w.By = r.Coordinator // it may not order anything about them
		}
		s.put(w)
		s.rebox(w)
		s.readdress(w.ID)
		return true
	})
	for _, w := range wordsOf(s, from.ID, func(w Word) bool { return w.News != nil && (w.onWay() || w.State == unproved) }) {
		w.Agent = to.ID // they are in the conversation, or it tells that they are not
		s.put(w)
	}
	s.moveGates(from, to)
	s.readdress(from.ID)
	each(s, Of("told", from.ID), func(t Told) bool {
		s.del(t.Key())
		t.Who = to.ID
		s.put(t)
		return true
	})
}

// disown takes from an agent what it has in a run about which it may order nothing any more.
func (s *step) disown(r Run, agent string) {
	each(s, startedBy(agent), func(w Worker) bool {
		if w.Run == r.ID {
			w.By = r.Coordinator
			s.put(w)
			s.rebox(w)
		}
		return true
	})
	s.newsOver(r.ID, agent)
}

func without(list []string, one string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == one })
}
