package orch

import "strings"

// The task line is the word that hands a dispatch to its agent; how it fares is how the start goes.

// taskLine is what is typed: fixed words and a path of plain characters.
func taskLine(path string) string {
	return "Your task is in this file: " + path + " - read it and do what it says."
}

func (d Dispatch) taskWord(id string) Word {
	return Word{ID: id, Agent: d.Agent, Dispatch: d.ID, Text: taskLine(d.Copy), Mark: d.Copy, State: owed, Patience: d.TurnTimeout}
}

func (d Dispatch) entered(s *step, t WordTyped) {
	d.Typed, d.Verified, d.Submitted = t.Typed, t.Verified, t.Submitted
	switch { // not_delivered was true when it was said; from now on only a hook or time can tell
	case d.Delivery == NotDelivered && d.open():
		d.Delivery, d.Why = Pending, ""
	case d.Delivery == NotDelivered:
		d.Delivery = Unknown
	}
	s.put(d)
	s.clock(d)
}

func (d Dispatch) withheld(s *step, t WordTyped) {
	d.Typed, d.Verified, d.Submitted = t.Typed, t.Verified, t.Submitted
	if d.open() {
		d.Why = t.Why
	}
	s.put(d)
}

func (d Dispatch) dropped(s *step, why string) {
	if strings.HasPrefix(why, NotWritten) && d.open() {
		s.closeDispatch(d, unwritable)
		d, _ = get[Dispatch](s, d.Key())
		d.Why = why
		s.put(d)
		return
	}
	if d.Delivery == Unknown && d.Submitted == nil { // Enter might have been pressed, and was not
		d.Delivery = NotDelivered
		s.put(d)
	}
}

func (d Dispatch) overdue(s *step) {
	if d.open() && d.Delivery == Pending {
		d.Delivery, d.Why = Unknown, "no_hook"
		s.log("unknown", Event{Worker: d.Worker, Agent: d.Agent, Dispatch: d.ID})
		s.put(d)
	}
}

func (d Dispatch) proved(s *step) {
	if d.Submitted == nil {
		d.Submitted = ptr(s.at)
	}
	d.Turn = ptr(s.at)
	s.deliver(d)
}
