package orch

// What is owed to an agent when its turn ends or begins is told by the answer of the very hook that tells of it: no key
// is pressed. Only the agent's own log says whether it took that: the process of the hook may be killed between our answer
// and its print, or behind that, and of what a killed hook has printed one program makes something and the other nothing.
// The turn goes on all the same, by the prompt itself or by somebody else's hook, and so do its hooks.

// goesOn gives an agent whose turn is just ending what is owed to it, with which the turn goes on; false where there is
// nothing, or where nobody would hear the answer. A turn that goes on by such an answer ends without another.
func (s *step) goesOn(a Agent, e AgentEvent) bool {
	if e.Type != TurnEnded || e.Continued || e.Subagent != "" || a.Gone != "" || s.in.By.Path != "socket" {
		return false
	}
	if a.hear(e); !a.logged() {
		return false
	}
	s.proveCarried(a.ID)
	ended := a
	ended.turn(false, s.at) // what it does not hear after that is told it now
	s.put(ended)
	l := nextLine(s, a.ID)
	s.put(a)
	if d, ok := s.dispatchOf(a.ID); ok && l == nil && s.wantsReminder(d, a, e) {
		s.remind(d, owed) // what goes on with another line may still report at the end of that
		l = nextLine(s, a.ID)
	}
	if !l.ready() {
		return false
	}
	s.lives(&a)
	a.Hooked, a.Open = true, 0
	a.Asks, a.AsksWhat, a.Queued, a.Quiet = "", "", false, true
	a.turn(true, s.at)
	a.unsee()
	s.put(a)
	if d, ok := s.dispatchOf(a.ID); ok && d.Submitted != nil && e.Answer != "" {
		d.says(e.Answer)
		s.put(d)
	}
	s.carry(a, l, atTurnEnd)
	return true
}

// beside gives an agent whose turn begins with somebody's prompt what is owed to it. One that nobody has typed carries
// nothing: whether what a hook says beside it reaches the agent, nobody has seen.
func (s *step) beside(a Agent) {
	if l := nextLine(s, a.ID); l.ready() && a.logged() && s.in.By.Path == "socket" && (a.Ours || l[0].Dispatch == "") { // a task is not for a turn that is a person's
		s.carry(a, l, atPrompt)
	}
}

// logged says that an agent has a log of its own, as far as is known: without one nothing would prove what a hook was given
// to tell, and the line is typed.
func (a Agent) logged() bool { return a.Transcript != "" && a.Transcript != a.Unlogged }

// ready says that a line can go in by a hook's answer.
func (l line) ready() bool { return len(l) > 0 && l[0].State == owed && l[0].Lead == "" && !l[0].Now }

func (s *step) carry(a Agent, l line, way string) {
	sent := s.send(l, carried, way)
	text := sent.text()
	s.entered(sent, carried, WordTyped{Submitted: ptr(s.at)})
	s.log("words-carried", Event{Agent: a.ID, Text: way})
	s.answer = func() any { return HookAnswer{Line: text} }
}

// hookUnheard owes a line once more that a hook was given and never got. A turn that was to go on with it has ended.
// Where a prompt has come since, the agent's own log says what became of the line.
func (s *step) hookUnheard(o HookUnheard) {
	id := s.who(s.in.By)
	if id.agent == nil || id.child {
		return
	}
	way := atPrompt
	if o.Event.Type == TurnEnded {
		way = atTurnEnd
	}
	l := wordsOf(s, id.agent.ID, func(w Word) bool { return w.State == carried && w.Way == way && !w.Doubt })
	for _, w := range l {
		s.tell(w, func(e errand) { e.withheld(s, WordTyped{Why: hookGone}) })
		s.again(w)
	}
	if len(l) > 0 && way == atTurnEnd {
		s.event(*id.agent, o.Event, true)
	}
}

// hookGone is why a line did not go in that a hook was given and never got.
const hookGone = "hook_gone"

// proveCarried settles the typed lines whose prompt has come: the turn has gone on since. An event that is told late, by a
// file, may be from before that.
func (s *step) proveCarried(agent string) {
	for _, w := range wordsOf(s, agent, func(w Word) bool {
		return w.State == carried && w.Way == "" && !w.Doubt && s.at.After(*w.Submitted)
	}) {
		s.prove(w)
	}
}

// doubtCarried notes that a prompt came before anything has shown that the turn went on: the next hook may belong to
// the prompt's turn. From then on only the agent's own log proves a typed line, and tells of one that no hook has got.
func (s *step) doubtCarried(agent string) {
	for _, w := range wordsOf(s, agent, func(w Word) bool { return w.State == carried }) {
		w.Doubt = true
		s.put(w)
	}
}

// notCarried asks what became of the lines that a hook was given to tell: the turn is over, and nothing has proved them.
func (s *step) notCarried(agent string) {
	s.lost(agent, func(w Word) bool { return w.State == carried })
}

// lost asks what became of the lines for whose first word f holds.
func (s *step) lost(agent string, f func(Word) bool) {
	for _, w := range wordsOf(s, agent, func(w Word) bool { return w.Lead == w.ID && f(w) }) {
		s.seek(s.lineOf(w), s.owedAgain)
	}
}

// turnOver is why a line did not go in that a hook was given to tell.
const turnOver = "turn_over"

// leftUnproved asks at an agent's end what became of the lines that went in and that nothing has proved. Of a typed
// task or message only a later hook, or time, can still tell.
func (s *step) leftUnproved(agent string) {
	s.lost(agent, func(w Word) bool { return w.State == carried || w.State == submitted && w.repeats() })
}

// heard settles what an event says of the words that a hook was given to tell; ran that a turn ran before it.
func (s *step) heard(a Agent, e AgentEvent, hook, ran bool) {
	if e.Subagent != "" {
		return
	}
	switch e.Type {
	case ToolStarted, ToolEnded, PermissionAsked, QuestionAsked, TurnEnded, TurnFailed:
		if hook {
			s.proveCarried(a.ID)
		}
	case PromptIn:
		if hook && ran {
			s.doubtCarried(a.ID)
		}
	}
	if ran && !a.Turn { // what has been proved by now is no more; what stands in line may have a turn of its own yet
		ends := e.Type == TurnEnded || e.Type == TurnFailed
		s.lost(a.ID, func(w Word) bool { return w.State == carried && (!ends || !w.inLine()) })
	}
}
