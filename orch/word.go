package orch

import "time"

// A word is one line that is owed to an agent: it is typed at a ready, empty input line, exactly once, and
// told proved by a hook that saw it go in.

const (
	owed      = "owed"
	typing    = "typing"
	submitted = "submitted"
)

// taskLine is what is typed: fixed words and a path of plain characters.
func taskLine(path string) string {
	return "Your task is in this file: " + path + " - read it and do what it says."
}

// typeWords hands out the order to type every word whose agent may be typed to.
func (s *step) typeWords() {
	each(s, "word", func(w Word) bool {
		a, _ := get[Agent](s, "agent/"+w.Agent)
		if w.State != owed || !s.due(w.NotUntil) || !a.mayType(s.at) {
			return true
		}
		w.State = typing
		w.Tries++
		s.put(w)
		s.do(WordType{Agent: a.ID, Kind: a.Kind, Place: a.Place, Word: w.ID, Text: w.Text})
		return true
	})
}

// mayType says whether a line may be typed to an agent: its state says so, and so does its input line. A
// working agent's line looks exactly like a ready one.
func (a Agent) mayType(now time.Time) bool {
	if a.Gone != "" || a.Screen != inputLine || a.Turn || a.Works || a.Asks != "" || a.Compacting || a.Place.Pane == "" {
		return false
	}
	return a.Up || now.Sub(a.ReadyAt) >= a.grace()
}

func (s *step) due(t *time.Time) bool { return t == nil || !s.at.Before(*t) }

// wordTyped takes the result of typing.
func (s *step) wordTyped(w WordTyped) {
	word, ok := get[Word](s, "word/"+w.Word)
	if !ok {
		return // proved or withdrawn meanwhile
	}
	d, _ := get[Dispatch](s, "dispatch/"+word.Dispatch)
	d.Typed, d.Verified, d.Submitted = w.Typed, w.Verified, w.Submitted
	if w.Outcome == submitted {
		if d.Submitted == nil {
			d.Submitted = ptr(s.at)
		}
		switch { // not_delivered was true when it was said; from now on only a hook or time can tell
		case d.Delivery == NotDelivered && d.open():
			d.Delivery, d.Why = Pending, ""
		case d.Delivery == NotDelivered:
			d.Delivery = Unknown
		}
		word.State = submitted
		s.put(word)
		s.put(d)
		s.clock(d)
		return
	}
	worker, _ := get[Worker](s, "worker/"+d.Worker)
	a, _ := get[Agent](s, "agent/"+word.Agent)
	if a.Gone != "" || worker.Stopping != nil {
		s.del(word.Key())
		if d.Delivery == Unknown && d.Submitted == nil {
			d.Delivery = NotDelivered
		}
		s.put(d)
		return
	}
	word.State = owed
	word.NotUntil = ptr(s.at.Add(backoff(word.Tries)))
	s.put(word)
	a.Screen = w.Why // what stood there; the next look says whether it still does
	if w.Why == "busy" || w.Why == "enter_ignored" {
		a.Screen = inputLine
	}
	s.put(a)
	d.Why = w.Why
	s.put(d)
}

// backoff is how long a word rests after it could not be typed.
func backoff(tries int) time.Duration {
	return min(time.Duration(tries)*250*time.Millisecond, 2*time.Second)
}

// withdraw takes back what is owed to an agent. What is being typed may be in already: its result, or a hook,
// says so.
func (s *step) withdraw(agent string) {
	each(s, "word", func(w Word) bool {
		if w.Agent == agent && w.State == owed {
			s.del(w.Key())
		}
		return true
	})
}

// prove settles a word: a hook has seen it go in.
func (s *step) prove(w Word) {
	s.del(w.Key())
	d, ok := get[Dispatch](s, "dispatch/"+w.Dispatch)
	if !ok {
		return
	}
	if d.Submitted == nil {
		d.Submitted = ptr(s.at)
	}
	d.Turn = ptr(s.at)
	s.deliver(d)
}
