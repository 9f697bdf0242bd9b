package orch

import (
	"slices"
	"time"
)

// seek asks the agent's own log whether a line has gone in: what it holds is in the conversation, also in that of a
// program that takes it up again. Where nobody can tell, lost says what becomes of the line.
func (s *step) seek(l line, lost func(Word)) {
	a, _ := get[Agent](s, "agent/"+l[0].Agent)
	mark := l.mark()
	if a.Transcript == "" || mark == "" {
		for _, w := range l {
			lost(w)
		}
		return
	}
	for _, w := range l {
		w.State = sought
		s.put(w)
	}
	s.do(LogSearch{Word: l[0].ID, Kind: a.Kind, Path: a.Transcript, Mark: mark, Ended: a.Gone != "" || l[0].Ended})
}

// logSearched takes what an agent's log says of a line. One that is not in it is owed once more.
func (s *step) logSearched(o LogSearched) {
	w, ok := get[Word](s, "word/"+o.Word)
	if !ok || w.State != sought {
		return // something else has proved it
	}
	if a, ok := get[Agent](s, "agent/"+w.Agent); ok && o.None != "" && w.Way != "" { // a turn has run, and left no trace
		a.Unlogged = o.None
		s.put(a)
	}
	for _, w := range s.lineOf(w) {
		switch {
		case o.Found:
			s.prove(w)
		case o.Error != "" || !w.repeats() && w.Way == "" && !w.Ended:
			s.giveUp(w)
		default:
			s.owedAgain(w)
		}
	}
}

// owedAgain owes a word once more that was given to an agent and did not get to it.
func (s *step) owedAgain(w Word) {
	a, _ := get[Agent](s, "agent/"+w.Agent)
	w.Again++
	switch {
	case w.Again >= againMost || a.Gone != "" && !s.outlives(w):
		s.giveUp(w)
		return
	case w.Way != "":
		s.tell(w, func(e errand) { e.withheld(s, WordTyped{Why: turnOver}) })
	}
	s.again(w)
}

// againMost is how often a word is owed anew. An agent that takes none of them in has no use for a fourth.
const againMost = 3

// proveMark settles the words whose line was seen in the agent's conversation.
func (s *step) proveMark(agent, mark string) {
	for _, w := range wordsOf(s, agent, func(w Word) bool { return w.known(mark) }) {
		for _, w := range s.lineOf(w) {
			s.prove(w)
		}
	}
}

// inTalk settles the lines that stand in an agent's log. Where the conversation was taken up by another since, what was
// owed went with it.
func (s *step) inTalk(a Agent, marks []string) {
	var ids []string
	if a.Conversation != "" {
		each(s, ofConversation(a.Kind, a.Conversation), func(o Agent) bool {
			ids = append(ids, o.ID)
			return true
		})
	}
	if !slices.Contains(ids, a.ID) {
		ids = append(ids, a.ID)
	}
	for _, id := range ids {
		for _, m := range marks {
			s.proveMark(id, m)
		}
	}
}

// promptIn takes the hook of a prompt that is a line of ours. An agent may end, or be stopped, before the prompt is in
// its conversation, and one that comes while a turn runs stands in line behind that. So of news, which are owed to whoever
// takes the conversation up, a later hook of the turn is the proof, or the agent's own log.
func (s *step) promptIn(a Agent, mark string) {
	for _, first := range wordsOf(s, a.ID, func(w Word) bool { return w.known(mark) }) {
		for _, w := range s.lineOf(first) {
			if !first.repeats() || first.Lead != first.ID || a.Transcript == "" {
				s.prove(w)
				continue
			}
			if a.Gone != "" {
				continue // told late: its log says what became of it
			}
			w.State, w.Way, w.Doubt = carried, "", a.Queued
			if w.Submitted == nil {
				w.Submitted = ptr(s.at)
			}
			s.put(w)
		}
	}
}

// known says that a mark is that of a word's line, or of one in which it was before it was owed anew: a prompt that was
// taken back stands in the input line, and may be entered again.
func (w Word) known(mark string) bool {
	return w.Mark == mark || w.Was != "" && "st-"+w.Was == mark
}

func (s *step) prove(w Word) {
	s.del(w.Key())
	s.tell(w, func(e errand) { e.proved(s) })
}

// deadline is when something will have to be done about a word though nothing happens; zero for never. first
// says that it is at the head of the agent's next line.
func (w Word) deadline(a Agent, first bool) (at time.Time) {
	switch {
	case w.State == later:
		return *w.NotUntil
	case w.inLine() && !a.Turn:
		at = *w.Submitted
		if a.TurnAt.After(at) {
			at = a.TurnAt
		}
		return at.Add(w.Patience)
	case w.State == submitted && w.Submitted != nil && a.ByMark:
		return w.Submitted.Add(watchTime) // its turn is seen by then, or nobody knows of one
	case w.State == submitted && w.Submitted != nil && a.Blind:
		return *w.Submitted // no proof can come
	case w.State == submitted && w.Submitted != nil:
		return w.Submitted.Add(w.Patience)
	case w.State == owed && w.GiveUp != nil:
		at = *w.GiveUp
	}
	if w.State != owed || !first || a.Screen != inputLine || a.Turn || a.Asks != "" || a.Gone != "" {
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
	for _, l := range lines(v) {
		first[l[0].ID] = true
	}
	each(v, waitingWords, func(w Word) bool {
		a, _ := get[Agent](v, "agent/"+w.Agent)
		if at := w.deadline(a, first[w.ID]); !at.IsZero() {
			f(w, at)
		}
		return true
	})
}

// overdue does what the time asks for: words that rested are owed, what nothing has proved is given up, and so is what
// could not go in for so long that it would come too late.
func (s *step) overdue() {
	wordDeadlines(s, func(w Word, at time.Time) {
		switch {
		case at.After(s.at):
		case w.State == later:
			w.State, w.NotUntil = owed, nil
			s.put(w)
		case w.onWay() && (w.Lead == w.ID || w.Lead == ""):
			s.late(s.lineOf(w))
		case w.onWay(): // goes with the first of its line
		case w.GiveUp != nil && !w.GiveUp.After(s.at):
			s.drop(w, "late")
		}
	})
}

// late is a line that nothing has proved in time. For news the agent's log is asked; that a task or a message is not known
// to be in is said at once, and a later hook, or the log, corrects it.
func (s *step) late(l line) {
	if slices.ContainsFunc(l, Word.repeats) {
		s.seek(l, s.giveUp)
		return
	}
	for _, w := range l {
		s.giveUp(w)
	}
}

// giveUp waits no longer for the proof of a word.
func (s *step) giveUp(w Word) {
	w.State = unproved
	s.put(w)
	s.tell(w, func(e errand) { e.overdue(s) })
}
