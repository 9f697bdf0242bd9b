package orch

// What became of a gate is told to the agent that asked: by the wait that it holds, else by a word.

// oweGate owes an agent how its gate has ended; by is who did that. What it was not told of the gate before is over.
func (s *step) oweGate(g Gate, by string) {
	if g.By == "" {
		return // a person looks at it
	}
	for _, old := range s.untoldGate(g) {
		s.del(old.Key())
	}
	a, _ := get[Agent](s, "agent/"+g.By)
	if !a.there() && !holdsSeat(s, a.ID) || by == g.By {
		return
	}
	id := s.next("o")
	s.put(Word{ID: id, Agent: g.By, Gate: g.ID, Mark: "st-" + id, State: s.owedTo(g.By), Patience: turnTimeout,
		Text: "st: gate " + g.ID + " " + gateEnds[g.Status] + ". Read it: st gate show " + g.ID + " [st-" + id + "]"})
}

// gateEnds are the ends of a gate in the words of the line.
var gateEnds = map[string]string{GateAnswered: "was answered", GateCancelled: "was cancelled", GateTimedOut: "timed out"}

// untoldGate are the words of a gate of which no line has been tried.
func (s *step) untoldGate(g Gate) []Word {
	return wordsOf(s, g.By, func(w Word) bool { return w.Gate == g.ID && w.untouched() })
}

// gateTold settles the word of a gate whose end a wait has told.
func (s *step) gateTold(o GateTold) *Error {
	g, err := gateNamed(s, o.Gate)
	if err != nil {
		return err
	}
	s.memory = true
	id := s.who(s.in.By)
	if id.agent == nil || id.child || id.agent.ID != g.By || g.Status != o.Status || len(s.in.By.Chain) == 0 {
		return nil
	}
	if w, ok := get[Waiter](s, waitKey(s.in.By.Chain[0].Process)); ok && !w.heard(s) {
		return nil // nobody has read what was printed
	}
	for _, w := range s.untoldGate(g) {
		w.Way = "wait"
		s.del(w.Key())
		gateWord(w).log(s, "gate-told")
		s.memory = false
	}
	return nil
}

// gateWord is a word that tells of a gate.
type gateWord Word

func (gateWord) entered(*step, WordTyped)  {}
func (gateWord) withheld(*step, WordTyped) {}
func (gateWord) dropped(*step, string)     {}
func (g gateWord) overdue(s *step)         { g.log(s, "gate-told-unknown") }
func (g gateWord) proved(s *step)          { g.log(s, "gate-told") }

func (g gateWord) log(s *step, kind string) {
	gate, _ := get[Gate](s, "gate/"+g.Gate)
	way := g.Way
	if way == "" {
		way = "typed"
	}
	s.log(kind, Event{Agent: g.Agent, Run: gate.Run, Gate: g.Gate, Word: g.ID, Text: way})
}

// asksPerson is the open gate for which an agent stands still: it waits for that one, or its turn has ended with a gate of
// its own open. The oldest of several.
func asksPerson(v View, a Agent) (Gate, bool) {
	var found Gate
	if a.Gone != "" || a.ID == "" || len(OpenGates(v)) == 0 {
		return found, false
	}
	for _, w := range Waits(v) {
		if g, ok := get[Gate](v, "gate/"+w.For); ok && w.Agent == a.ID && w.heard(v) && g.Status == GateOpen {
			return g, true
		}
	}
	if a.HadTurn && !a.Turn && a.Background == 0 {
		found, _ = ownGate(v, a.ID)
	}
	return found, found.ID != ""
}

// ownGate is the oldest open gate that an agent has asked.
func ownGate(v View, agent string) (found Gate, ok bool) {
	each(v, Of("gate", agent), func(g Gate) bool {
		found = g
		return false
	})
	return found, found.ID != ""
}

// gateWait is what an agent waits for that stands still before a gate.
const gateWait = "gate"

// moveGates gives the gates that an agent has asked, and what it is owed of them, to one that has its conversation.
func (s *step) moveGates(from, to Agent) {
	each(s, Of("gate", from.ID), func(g Gate) bool {
		g.By = to.ID
		s.put(g)
		return true
	})
	for _, w := range wordsOf(s, from.ID, func(w Word) bool { return w.Gate != "" }) {
		if g, ok := get[Gate](s, "gate/"+w.Gate); ok && g.By == from.ID {
			g.By = to.ID
			s.put(g)
		}
		w.Agent = to.ID
		if w.onWay() || w.State == unproved {
			s.put(w) // it is in the conversation, or that tells that it is not
		} else {
			s.again(w)
		}
	}
}
