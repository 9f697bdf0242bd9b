package orch

import "slices"

// A run's seat goes to another by somebody's word: that one coordinates it from then on, and the old seat is fenced, so
// that two do not order at once. A person is never fenced.

// RunUse gives the seat of a run to the caller: its agent, or the person at its pane. Answer: UseAnswer.
type RunUse struct {
	Run string `json:"run"` // id or name
}

// UseAnswer says what a use has done.
type UseAnswer struct {
	Run     RunInfo `json:"run"`
	From    string  `json:"from"`    // agent id of the old seat, "" for a person
	Already bool    `json:"already"` // the caller had the seat, and it was its current run
}

// Type is the name on the wire.
func (RunUse) Type() string { return "run-use" }

// runUse takes a run over.
func (s *step) runUse(o RunUse) *Error {
	id := s.who(s.in.By)
	if id.child {
		return refuse("not_yours", "", "an agent that was started inside %s may not take a run for it; only %[1]s itself may", id.name())
	}
	run, err := runNamed(s, o.Run)
	if err != nil {
		return err
	}
	if run.Ended != nil {
		return refuse("run_ended", "st orch start --objective '…'", "run %s has ended, so nobody can coordinate it any more", run.ID)
	}
	to := ""
	if id.agent != nil {
		to = id.agent.ID
		if err := s.mayLead(to, run); err != nil {
			return err
		}
	}
	from := run.Coordinator
	already := from == to && s.isCurrent(run)
	if !already {
		s.takeRun(run, id, to)
	}
	s.answer = func() any { return UseAnswer{Run: runInfo(s, run.ID, s.in.By), From: from, Already: already} }
	return nil
}

// isCurrent says that a run is the one that the caller means where it names none.
func (s *step) isCurrent(run Run) bool {
	by := s.in.By
	by.Run = ""
	cur, err := currentRun(s, by)
	return err == nil && cur.ID == run.ID && (run.Coordinator != "" || run.Place.at(by.Place))
}

func (p Place) at(o Place) bool { return p.Server == o.Server && p.Pane == o.Pane }

// takeRun gives a run's seat to an agent, or to the person who asks, with all that the seat has.
func (s *step) takeRun(run Run, id identity, to string) {
	from := run.Coordinator
	old := Told{Who: from}
	if from == "" {
		old.Who = earAt(run.Place)
	}
	run.Coordinator, run.Place, run.Used = to, s.in.By.Place, s.at
	if from == to {
		s.put(run)
		return
	}
	run.Former = without(without(run.Former, to), from)
	if from != "" {
		run.Former = append(run.Former, from)
	}
	s.put(run)
	s.log("seat-taken", Event{Run: run.ID, By: id.name(), Text: "from " + seatName(from)})
	each(s, Of("worker", run.ID), func(w Worker) bool {
		if w.By == from {
			w.By = to
			s.put(w)
		}
		s.retell(old.Who, w)
		return true
	})
	s.newsOver(run.ID, from)
	s.dropLost(run.ID, to)
	if from != "" {
		s.tellLost(run, from, to)
	}
}

func seatName(agent string) string {
	if agent == "" {
		return "a person"
	}
	return agent
}

// retell lets whoever asks know of a worker what another had been told.
func (s *step) retell(from string, w Worker) {
	t, ok := get[Told](s, Told{Who: from, Worker: w.ID}.Key())
	who := ear(s, s.in.By)
	if !ok || who == from {
		return
	}
	s.del(t.Key())
	t.Who = who
	if have, ok := get[Told](s, t.Key()); !ok || have.State != w.mark() {
		s.put(t)
	}
}

// newsOver gives the news of a run that are owed to one agent to whoever hears of its workers now. What is on its way
// stays: it is in that agent's conversation, or comes back.
func (s *step) newsOver(run, from string) {
	for _, w := range wordsOf(s, run, func(w Word) bool { return w.News != nil && w.Agent == from && !w.onWay() && w.State != unproved }) {
		s.again(w)
	}
}

// tellLost owes the old seat the one word that it has lost its run.
func (s *step) tellLost(run Run, from, to string) {
	if a, _ := get[Agent](s, "agent/"+from); !a.there() {
		return
	}
	id := s.next("o")
	mark := "st-" + id
	s.put(Word{ID: id, Agent: from, Lost: run.ID, Mark: mark, State: s.owedTo(from), Patience: turnTimeout,
		Text: "st: " + seatName(to) + " has taken run " + run.ID + " over. What has become of it: st orch show " + run.ID + " [" + mark + "]"})
}

// dropLost takes back what was to tell an agent that it has lost a run.
func (s *step) dropLost(run, agent string) {
	for _, w := range wordsOf(s, run, func(w Word) bool { return w.Lost == run && w.Agent == agent && w.untouched() }) {
		s.del(w.Key())
	}
}

// regained says that a word was to tell its agent of a loss that is none any more, or of a run that has ended.
func (w Word) regained(v View) bool {
	r, _ := get[Run](v, "run/"+w.Lost)
	return w.Lost != "" && (r.Ended != nil || !slices.Contains(r.Former, w.Agent))
}

// lostSeat is a word that tells an agent that another has its run.
type lostSeat Word

func (lostSeat) entered(*step, WordTyped)  {}
func (lostSeat) withheld(*step, WordTyped) {}
func (lostSeat) dropped(*step, string)     {}
func (l lostSeat) overdue(s *step) {
	s.log("seat-loss-unknown", Event{Agent: l.Agent, Run: l.Lost, Word: l.ID})
}
func (l lostSeat) proved(s *step) {
	s.log("seat-loss-told", Event{Agent: l.Agent, Run: l.Lost, Word: l.ID})
}

// fence refuses a former seat: its order about the run might meet that of the one that has it now.
func fence(run Run, id identity) *Error {
	if id.agent == nil || !slices.Contains(run.Former, id.agent.ID) {
		return nil
	}
	e := refuse("fenced", "st orch use "+run.ID, "%s has run %s now, so %s may order nothing about it any more", seatName(run.Coordinator), run.ID, id.name())
	e.Hint = "take it back, if that is what your person wants, or begin a run of your own: st orch start --objective '…'"
	e.Data = map[string]any{"run": run.ID, "coordinator": run.Coordinator}
	return e
}
