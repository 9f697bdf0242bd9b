package orch

import "slices"

import "time"

// typeWords hands out the order to type every line whose turn it is and whose agent may be typed to.
func (s *step) typeWords() {
	for _, l := range lines(s) {
		w := l[0]
		a, _ := get[Agent](s, "agent/"+w.Agent)
		switch {
		case w.State != owed || !s.due(w.NotUntil) || s.stopping(a):
		case w.Now && a.held(s.at) != "":
			s.drop(w, a.held(s.at))
		case w.Now || a.mayType(s.at): // for one that can't wait the screen is looked at by the typing itself
			sent := s.send(l, typing, "")
			s.do(WordType{Agent: a.ID, Kind: a.Kind, Place: a.Place, Word: w.ID, Text: sent.text(), Now: w.Now})
		}
	}
}

// Types says that a word is being typed, as far as is known: its line is not in yet.
func Types(v View, word string) bool {
	w, ok := get[Word](v, "word/"+word)
	return ok && w.State == typing
}

func (s *step) stopping(a Agent) bool {
	w, ok := workerOf(s, a.ID)
	return ok && w.Stopping != nil
}

// send puts the words of a line on their way, and returns them as they are then.
func (s *step) send(l line, state, way string) (sent line) {
	for _, o := range s.lineOf(Word{Lead: l[0].ID}) {
		if o.State == unproved && !slices.ContainsFunc(l, func(w Word) bool { return w.ID == o.ID }) {
			o.Lead = "" // it went with that line before, and was given up since
			s.put(o)
		}
	}
	for _, w := range l {
		if w.Lead == "" { // a line that was tried before stays as it is: it may stand in the input line
			w.News = s.stillSo(w.News)
		}
		w.State, w.Lead, w.Way = state, l[0].ID, way
		w.Tries++
		s.put(w)
		sent = append(sent, w)
	}
	return sent
}

// mayType says whether a line may be typed to an agent: its state says so, and so does its input line. A
// working agent's line looks exactly like a ready one.
func (a Agent) mayType(now time.Time) bool {
	return a.held(now) == "" && a.Screen == inputLine && !a.Works
}

// held names what keeps a line from being typed to an agent whatever its screen shows; "" for nothing.
func (a Agent) held(now time.Time) string {
	switch {
	case a.Resumable:
		return resumable
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
	case !a.Ours && !a.Hooked:
		return unknown // nothing tells whether its turn runs, and nothing would prove that a line went in
	}
	return ""
}

// wordTyped takes the result of typing a line, which is known by its first word.
func (s *step) wordTyped(t WordTyped) {
	w, ok := get[Word](s, "word/"+t.Word)
	if !ok || w.State == carried || w.State == sought {
		return // its hook, or the agent's log, has told more meanwhile; or it is withdrawn
	}
	if t.Outcome == submitted {
		if t.Submitted == nil {
			t.Submitted = ptr(s.at)
		}
		s.entered(s.lineOf(w), submitted, t)
		if w.Ended {
			s.seekEnded(s.lineOf(w))
		}
		return
	}
	a, _ := get[Agent](s, "agent/"+w.Agent)
	if a.Gone == "" && t.Why != gone {
		a.Screen = t.Why // what stood there; the next look says whether it still does
		switch t.Why {
		case "busy", "enter_ignored":
			a.Screen = inputLine
		case working:
			a.Screen, a.Works = inputLine, true
		}
		s.put(a)
	}
	for _, w := range s.lineOf(w) {
		s.withheld(a, w, t)
	}
}

func (s *step) withheld(a Agent, w Word, t WordTyped) {
	worker, _ := workerOf(s, w.Agent)
	s.tell(w, func(e errand) { e.withheld(s, t) })
	switch {
	case !t.Stands && s.spare(w):
	case s.outlives(w) && (a.Gone != "" || worker.Stopping != nil) || w.News != nil && !t.Stands && w.strays(s):
		s.again(w)
	case a.Gone != "" || worker.Stopping != nil || w.Now || w.regained(s) || relieved(s, w) || !t.Stands && w.answered(s):
		s.drop(w, t.Why)
	default:
		w.State, w.Stands = owed, t.Stands
		if !t.Stands {
			w.Lead = "" // as if it had never been tried
		}
		w.NotUntil = ptr(s.at.Add(backoff(w.Tries)))
		s.put(w)
	}
}

// strays says that it is news which another agent is to hear by now.
func (w Word) strays(v View) bool {
	return hearsOf(v, *w.News) != w.Agent
}

// entered notes that a line has gone in, as far as anybody can see who gave it.
func (s *step) entered(l line, state string, t WordTyped) {
	for _, w := range l {
		w.State, w.Submitted = state, t.Submitted
		s.put(w)
		s.tell(w, func(e errand) { e.entered(s, t) })
	}
	if a, _ := get[Agent](s, "agent/"+l[0].Agent); a.ByMark && state == submitted {
		a.WatchTo = s.at.Add(watchTime) // for what the screen tells of a turn
		s.put(a)
	}
}

// backoff is how long a word rests after it could not be typed.
func backoff(tries int) time.Duration {
	return min(time.Duration(tries)*250*time.Millisecond, 2*time.Second)
}
