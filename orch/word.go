package orch

import "time"

// A word is one line that is owed to an agent: it is typed at a ready, empty input line, exactly once, and
// told proved by a hook that saw it go in. An agent's words go in one after the other, in the order in which
// they were put.

// States of a word. One that is proved or withdrawn is deleted.
const (
	unwritten = "unwritten" // the file that it names is not there yet
	owed      = "owed"
	typing    = "typing"
	submitted = "submitted"
	unproved  = "unproved" // submitted, and no hook has proved it in time; it keeps nothing else waiting
)

// errand is what a word is for: it is told how the word fares.
type errand interface {
	entered(s *step, t WordTyped)  // the line was submitted
	withheld(s *step, t WordTyped) // nothing was submitted; it will be tried again
	dropped(s *step, why string)   // it will not be tried again, and nothing was submitted
	overdue(s *step)               // no hook has proved it in time
	proved(s *step)                // a hook has seen it go in, perhaps before its typing has told
}

// errandOf is what a word is for; nil where that is no more.
func (s *step) errandOf(w Word) errand {
	if d, ok := get[Dispatch](s, "dispatch/"+w.Dispatch); ok {
		return d
	}
	if m, ok := get[Message](s, "message/"+w.Message); ok {
		return m
	}
	return nil
}

func (s *step) tell(w Word, f func(errand)) {
	if e := s.errandOf(w); e != nil {
		f(e)
	}
}

// heads are the words whose turn it is: of each agent the first that is neither in nor given up.
func heads(v View) (list []Word) {
	seen := map[string]bool{}
	each(v, "word", func(w Word) bool {
		if w.State != unproved && !seen[w.Agent] {
			seen[w.Agent] = true
			list = append(list, w)
		}
		return true
	})
	return list
}

// headOf is the word of an agent whose turn it is.
func headOf(v View, agent string) (Word, bool) {
	for _, w := range heads(v) {
		if w.Agent == agent {
			return w, true
		}
	}
	return Word{}, false
}

// typeWords hands out the order to type every word whose turn it is and whose agent may be typed to.
func (s *step) typeWords() {
	for _, w := range heads(s) {
		a, _ := get[Agent](s, "agent/"+w.Agent)
		switch {
		case w.State != owed || !s.due(w.NotUntil):
		case w.Now && a.held(s.at) != "":
			s.drop(w, a.held(s.at))
		case w.Now || a.mayType(s.at): // for one that can't wait the screen is looked at by the typing itself
			w.State = typing
			w.Tries++
			s.put(w)
			s.do(WordType{Agent: a.ID, Kind: a.Kind, Place: a.Place, Word: w.ID, Text: w.Text, Now: w.Now})
		}
	}
}

// mayType says whether a line may be typed to an agent: its state says so, and so does its input line. A
// working agent's line looks exactly like a ready one.
func (a Agent) mayType(now time.Time) bool {
	return a.held(now) == "" && a.Screen == inputLine && !a.Works
}

// held names what keeps a line from being typed to an agent whatever its screen shows; "" for nothing.
func (a Agent) held(now time.Time) string {
	switch {
	case a.Gone != "":
		return gone
	case a.Asks != "":
		return a.Asks
	case a.Turn:
		return working
	case a.Compacting:
		return compacting
	case a.Place.Pane == "" || !a.Up && now.Sub(a.ReadyAt) < a.grace():
		return starting
	}
	return ""
}

func (s *step) due(t *time.Time) bool { return t == nil || !s.at.Before(*t) }

// fileWritten takes the result of writing the file that a word names.
func (s *step) fileWritten(f FileWritten) {
	w, ok := get[Word](s, "word/"+f.Word)
	switch {
	case !ok || w.State != unwritten:
	case f.Error != "":
		s.drop(w, NotWritten+f.Error)
	default:
		w.State = owed
		s.put(w)
	}
}

// wordTyped takes the result of typing.
func (s *step) wordTyped(t WordTyped) {
	w, ok := get[Word](s, "word/"+t.Word)
	if !ok {
		return // proved or withdrawn meanwhile
	}
	if t.Outcome == submitted {
		if t.Submitted == nil {
			t.Submitted = ptr(s.at)
		}
		w.State, w.Submitted = submitted, t.Submitted
		s.put(w)
		s.tell(w, func(e errand) { e.entered(s, t) })
		return
	}
	a, _ := get[Agent](s, "agent/"+w.Agent)
	worker, _ := workerOf(s, w.Agent)
	if a.Gone == "" {
		a.Screen = t.Why // what stood there; the next look says whether it still does
		if t.Why == "busy" || t.Why == "enter_ignored" {
			a.Screen = inputLine
		}
		s.put(a)
	}
	s.tell(w, func(e errand) { e.withheld(s, t) })
	if a.Gone != "" || worker.Stopping != nil || w.Now {
		s.drop(w, t.Why)
		return
	}
	w.State = owed
	w.NotUntil = ptr(s.at.Add(backoff(w.Tries)))
	s.put(w)
}

// backoff is how long a word rests after it could not be typed.
func backoff(tries int) time.Duration {
	return min(time.Duration(tries)*250*time.Millisecond, 2*time.Second)
}

// drop takes back a word of which nothing has been submitted.
func (s *step) drop(w Word, why string) {
	s.del(w.Key())
	s.tell(w, func(e errand) { e.dropped(s, why) })
}

// withdraw takes back what is owed to an agent. What is being typed may be in already: its result, or a hook,
// says so.
func (s *step) withdraw(agent, why string) {
	each(s, "word", func(w Word) bool {
		if w.Agent == agent && (w.State == owed || w.State == unwritten) {
			s.drop(w, why)
		}
		return true
	})
}

// proveMark settles the words whose line a hook has seen go in.
func (s *step) proveMark(agent, mark string) {
	each(s, "word", func(w Word) bool {
		if w.Agent == agent && w.Mark == mark {
			s.del(w.Key())
			s.tell(w, func(e errand) { e.proved(s) })
		}
		return true
	})
}

// deadline is when something will have to be done about a word though nothing happens; zero for never. first
// says that it is the word's turn.
func (w Word) deadline(a Agent, first bool) (at time.Time) {
	switch {
	case w.State == submitted && w.Submitted != nil:
		return w.Submitted.Add(w.Patience)
	case w.State != owed || !first || a.Screen != inputLine || a.Turn || a.Asks != "" || a.Gone != "":
		return at
	}
	at = sooner(at, a.ReadyAt.Add(a.grace()), !a.Up)
	if w.NotUntil != nil {
		at = sooner(at, *w.NotUntil, true)
	}
	return at
}

// wordDeadlines calls f with each word that has a deadline.
func wordDeadlines(v View, f func(Word, time.Time)) {
	first := map[string]bool{}
	for _, w := range heads(v) {
		first[w.ID] = true
	}
	each(v, "word", func(w Word) bool {
		a, _ := get[Agent](v, "agent/"+w.Agent)
		if at := w.deadline(a, first[w.ID]); !at.IsZero() {
			f(w, at)
		}
		return true
	})
}

// unproven gives up waiting for the proof of words that are overdue.
func (s *step) unproven() {
	wordDeadlines(s, func(w Word, at time.Time) {
		if w.State == submitted && !at.After(s.at) {
			w.State = unproved
			s.put(w)
			s.tell(w, func(e errand) { e.overdue(s) })
		}
	})
}
