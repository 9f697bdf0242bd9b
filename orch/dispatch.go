package orch

import (
	"slices"
	"time"
)

// dispatchOf returns the newest dispatch of the worker that an agent is.
func (s *step) dispatchOf(agent string) (Dispatch, bool) {
	w, ok := workerOf(s, agent)
	if !ok {
		return Dispatch{}, false
	}
	return get[Dispatch](s, "dispatch/"+w.Dispatch)
}

// open says that a dispatch can still come to something.
func (d Dispatch) open() bool { return d.Finished == nil && d.Closed == "" }

// turnOf says what an agent's event means for its dispatch.
func (s *step) turnOf(a Agent, e AgentEvent) {
	if e.Subagent != "" {
		return
	}
	switch e.Type {
	case PromptIn:
		for _, m := range e.Marks {
			s.promptIn(a, m)
		}
		s.worksOn(a)
	case TurnEnded, TurnFailed, Interrupted:
		if !a.Turn { // a queued prompt goes on after an interrupt
			s.turnEnded(a, e)
		}
	}
}

// worksOn takes back that the turn of an agent's dispatch has ended.
func (s *step) worksOn(a Agent) {
	if d, ok := s.dispatchOf(a.ID); ok && d.open() && d.Report == nil && d.TurnEnded != nil && a.Gone == "" {
		d.TurnEnded = nil
		s.put(s.unremind(d))
	}
}

func (s *step) turnEnded(a Agent, e AgentEvent) {
	s.tidy(a.ID)
	d, ok := s.dispatchOf(a.ID)
	if !ok || d.Submitted == nil {
		return // a turn before ours
	}
	d.says(e.Answer)
	s.log("turn-ended", Event{Agent: a.ID, Worker: d.Worker, Dispatch: d.ID, Text: e.Type})
	d.TurnEnded = ptr(s.at)
	s.put(d)
	switch {
	case d.Report != nil:
		s.finish(d)
	case s.wantsReminder(d, a, e):
		s.remind(d, later)
	}
}

// says keeps what the agent said at the end of a turn.
func (d *Dispatch) says(answer string) {
	if answer != "" {
		d.Answer, d.Later = answer, d.Finished != nil
	}
}

// deliver notes that the agent has the task: a hook or a report proves it.
func (s *step) deliver(d Dispatch) {
	if d.Delivery != Delivered {
		d.Delivery, d.Why = Delivered, ""
		s.log("delivered", Event{Worker: d.Worker, Agent: d.Agent, Dispatch: d.ID})
	}
	s.put(d)
	s.clock(d)
}

// finish settles a dispatch by its report.
func (s *step) finish(d Dispatch) {
	if !d.open() {
		return
	}
	d.Finished = ptr(s.at)
	s.put(d)
	s.clock(d)
	s.attemptOver(d)
	if w, _ := get[Worker](s, "worker/"+d.Worker); w.Dispatch != d.ID { // its state tells of a newer one
		for _, old := range s.untold(w.ID) {
			if old.News.Dispatch == d.ID {
				s.del(old.Key())
			}
		}
		state := map[string]string{"succeeded": finished, "failed": failed}[d.Report.Outcome]
		s.oweOf(w, d.ID, state+" "+d.Task+outsideSaid(d), lateNews+"@"+d.ID)
	}
}

// closeDispatch settles a dispatch that will have no report.
func (s *step) closeDispatch(d Dispatch, how string) {
	if !d.open() {
		return
	}
	d.Closed = how
	word, _ := get[Word](s, "word/"+d.Word)
	switch {
	case d.Delivery == Pending && d.Submitted == nil && word.State != typing:
		d.Delivery, d.Why = NotDelivered, how
	case d.Delivery == Pending || d.Delivery == NotDelivered && word.State == typing:
		d.Delivery, d.Why = Unknown, how // Enter may have been pressed
	}
	s.put(d)
	s.clock(d)
	s.attemptOver(d)
}

// deadline is when something about a dispatch will have to be said though nothing happens; zero for never.
func (d Dispatch) deadline(w Word) time.Time {
	switch {
	case !d.open():
		return time.Time{}
	case d.Report != nil:
		return d.Report.At.Add(reportGrace)
	case d.Delivery != Pending || d.Submitted != nil || d.Opened == nil || w.State == typing:
		return time.Time{} // the result of an effect, or the proof of its line, comes first
	}
	return d.Opened.Add(d.ReadyTimeout)
}

func sooner(a, b time.Time, counts bool) time.Time {
	if counts && (a.IsZero() || b.Before(a)) {
		return b
	}
	return a
}

// clock keeps a dispatch among those that have a deadline as long as it may have one.
func (s *step) clock(d Dispatch) {
	c := Clock{Dispatch: d.ID}
	_, word := get[Word](s, "word/"+d.Word)
	wanted := d.open() && (d.Delivery == Pending || d.Report != nil || word)
	if _, on := get[Clock](s, c.Key()); wanted && !on {
		s.put(c)
	} else if !wanted && on {
		s.del(c.Key())
	}
}

// deadlines says what has to be said by now.
func (s *step) deadlines() {
	s.overdue()
	s.fallSilent()
	s.gatesOver()
	each(s, "clock", func(c Clock) bool {
		d, w, a := clocked(s, c)
		at := d.deadline(w)
		switch {
		case at.IsZero() || at.After(s.at):
		case d.Report != nil:
			s.finish(d)
		default:
			d.Delivery, d.Why = NotDelivered, whyNot(d, a)
			s.log("not-delivered", Event{Worker: d.Worker, Agent: d.Agent, Dispatch: d.ID, Text: d.Why})
			s.put(d)
		}
		return true
	})
}

func clocked(v View, c Clock) (Dispatch, Word, Agent) {
	d, _ := get[Dispatch](v, "dispatch/"+c.Dispatch)
	w, _ := get[Word](v, "word/"+d.Word)
	a, _ := get[Agent](v, "agent/"+d.Agent)
	return d, w, a
}

// whyNot names what keeps the task line from being typed.
func whyNot(d Dispatch, a Agent) string {
	switch {
	case a.Asks != "":
		return a.Asks
	case a.Turn:
		return working
	case a.Screen != "" && a.Screen != inputLine:
		return a.Screen
	case d.Why != "":
		return d.Why
	case a.Screen == inputLine:
		return "busy"
	}
	return starting
}

// workerDone takes a worker's report.
func (s *step) workerDone(o WorkerDone) *Error {
	w, err := s.reporter(o.Dispatch)
	if err != nil {
		return err
	}
	d, err := s.reported(w, o.Dispatch)
	if err != nil {
		return err
	}
	r := Report{At: s.at, Outcome: o.Outcome, Summary: o.Summary, Files: list(o.Files), Text: o.Text, Outside: o.Outside, Unchecked: o.Unchecked}
	ans := DoneAnswer{Worker: w.ID, Name: w.Name, Dispatch: d.ID, Outcome: r.Outcome, Taken: "report"}
	switch {
	case d.Report != nil && d.Report.same(r):
		ans.Taken = "again"
	case d.Report != nil:
		ans.Taken, ans.Why = "note", "the dispatch has its report already"
	case w.Released != nil:
		ans.Taken, ans.Why = "note", "the worker was released"
	case d.Closed == "stopped" || w.Stopping != nil:
		ans.Taken, ans.Why = "note", "the worker was stopped"
	case s.newestOf(d.Task) != d.ID:
		ans.Taken, ans.Why = "note", "a newer attempt has taken its place"
	default:
		if err := s.forTeam(w, o); err != nil {
			return err
		}
		s.takeReport(d, r)
	}
	if ans.Taken == "note" && !slices.ContainsFunc(d.Notes, r.same) {
		r.Why = ans.Why
		d.Notes = append(slices.Clone(d.Notes), r)
		s.put(d)
		s.log("report-noted", Event{Worker: w.ID, Dispatch: d.ID, Text: r.Why})
	}
	s.answer = func() any { return ans }
	return nil
}

// takeReport puts a report where it belongs. It proves that the agent had the task. Of a turn that nothing tells the end of
// nobody waits for that.
func (s *step) takeReport(d Dispatch, r Report) {
	d.Report = &r
	d.Closed = "" // it was told before its agent went
	d = s.unremind(d)
	for _, w := range wordsOf(s, d.Agent, func(w Word) bool { return w.GoOn == d.ID && w.untouched() }) {
		s.del(w.Key())
	}
	s.takeBack(d.Worker)
	s.log("reported", Event{Worker: d.Worker, Agent: d.Agent, Dispatch: d.ID, Text: r.Outcome})
	s.reportMail(d, r)
	if word, ok := get[Word](s, "word/"+d.Word); ok {
		s.del(word.Key())
	}
	s.deliver(d)
	a, _ := get[Agent](s, "agent/"+d.Agent)
	w, _ := get[Worker](s, "worker/"+d.Worker)
	t, _ := get[Task](s, "task/"+d.Task)
	if d, _ = get[Dispatch](s, d.Key()); a.Gone != "" || a.Blind && !a.Turn || d.TurnEnded != nil && !a.Turn || w.Dispatch != d.ID || t.Status != taskDispatched {
		s.finish(d)
	}
}

// newestOf is the newest dispatch of a task.
func (s *step) newestOf(task string) string {
	t, _ := get[Task](s, "task/"+task)
	return t.Dispatch
}

// reporter is the worker that the caller is, for a report on a dispatch, or that it was when it was given that one.
func (s *step) reporter(dispatch string) (Worker, *Error) {
	w, err := s.itself("report")
	d, _ := get[Dispatch](s, "dispatch/"+dispatch)
	was, _ := get[Worker](s, "worker/"+d.Worker)
	if id, own := s.alone("report"); own == nil && was.Released != nil && id.agent != nil && id.agent.ID == was.Agent {
		return was, nil
	}
	return w, err
}

// alone is the caller, which is no child of an agent and nobody who speaks for one.
func (s *step) alone(does string) (identity, *Error) {
	id := s.who(s.in.By)
	if s.in.By.As != "" && s.in.By.Shared == "" && len(agents(s.in.By.Chain)) == 0 && s.in.By.Nonce == "" {
		return id, refuse("not_yours", "st worker ls", "a person may not %s for %s: only the agent that was given a task may", does, id.name())
	}
	if id.child {
		return id, refuse("not_yours", "", "an agent that was started inside %s may not %s for it; only %[1]s itself may", id.name(), does)
	}
	return id, nil
}

// itself is the worker that the caller is, for the verbs that only a worker may say; does is what it wants.
func (s *step) itself(does string) (Worker, *Error) {
	id, err := s.alone(does)
	if err != nil {
		return Worker{}, err
	}
	if id.agent != nil {
		if w, ok := workerOf(s, id.agent.ID); ok {
			s.heardOf(*id.agent)
			return w, nil
		}
	}
	who := id.name()
	switch by := s.in.By; {
	case id.agent == nil && (by.Thread != "" || by.Nonce != ""): // out of a sandbox
		who = "the agent that asks"
	case id.agent == nil:
		who = "a person"
	}
	return Worker{}, refuse("not_yours", "st worker ls", "%s is no worker: only the agent that was given a task may %s", who, map[bool]string{true: "report on it", false: does}[does == "report"])
}

// reported is the dispatch that a report is about: one of the worker's own.
func (s *step) reported(w Worker, id string) (Dispatch, *Error) {
	if id == "" {
		id = w.Dispatch
	}
	d, ok := get[Dispatch](s, "dispatch/"+id)
	if !ok {
		return d, refuse("dispatch_not_found", "st worker show "+w.ID, "dispatch %q: no such dispatch", id)
	}
	if d.Worker != w.ID {
		return d, refuse("not_yours", "st worker show "+w.ID, "dispatch %s was given to worker %s, not to %s", d.ID, d.Worker, w.ID)
	}
	return d, nil
}

func (r Report) same(o Report) bool {
	return r.Outcome == o.Outcome && r.Summary == o.Summary && r.Text == o.Text && slices.Equal(r.Files, o.Files)
}

// list keeps the promise that lists are [] and never null.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}
