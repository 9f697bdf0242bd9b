package orch

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// A word is one line that is owed to an agent. It reaches the agent exactly once, by the first way that fits: told by
// a wait that the agent holds (for news), carried by the answer of its hook when a turn ends or begins, or typed at a
// ready, empty input line. What is owed at that moment goes in as one line. It is told proved by what shows that the
// agent has it: of a typed line the prompt's hook, a later hook of the turn, or the agent's own log; of one that a hook was
// given to tell that log alone.

// States of a word. One that is proved or withdrawn is deleted.
const (
	unwritten = "unwritten" // the file that it names is not there yet
	later     = "later"     // not before NotUntil
	owed      = "owed"
	typing    = "typing"
	submitted = "submitted" // Enter went in
	carried   = "carried"   // a hook was given it to tell, or the hook of its prompt has come
	sought    = "sought"    // nothing has proved it, and the agent's own log is searched for it
	kept      = "kept"      // news for an agent that has ended, until another takes up its conversation
	unproved  = "unproved"  // nothing has proved it, in time or at all; it keeps nothing else waiting
)

// Ways by which a line goes in beside the typing.
const (
	atTurnEnd = "turn_end" // the turn goes on with it
	atPrompt  = "prompt"   // beside somebody's prompt
)

// errand is what a word is for: it is told how the word fares.
type errand interface {
	entered(s *step, t WordTyped)  // the line was submitted, or given to a hook
	withheld(s *step, t WordTyped) // nothing was submitted; it will be tried again
	dropped(s *step, why string)   // it will not be tried again, and nothing was submitted
	overdue(s *step)               // nothing has proved it in time, and it is given up
	proved(s *step)                // the agent has it, which may be seen before its typing has told
}

// errandOf is what a word is for; nil where that is no more.
func (s *step) errandOf(w Word) errand {
	if w.News != nil {
		return newsWord(w)
	}
	if w.Gate != "" {
		return gateWord(w)
	}
	if w.Lost != "" {
		return lostSeat(w)
	}
	if w.GoOn != "" {
		return goesOnWord(w)
	}
	if w.Freed != "" {
		return freed(w)
	}
	if d, ok := get[Dispatch](s, "dispatch/"+w.Reminds); ok {
		return reminder(d)
	}
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

// wordsOf lists the words of an agent for which f holds, or of a line, or those with news of a worker.
func wordsOf(v View, id string, f func(Word) bool) []Word { return wordsOn(v, Of("word", id), f) }

// wordsOn lists the words on a shelf for which f holds, in the order in which they came: a step tells last of those that
// it has put there itself.
func wordsOn(v View, shelf string, f func(Word) bool) (list []Word) {
	each(v, shelf, func(w Word) bool {
		if f(w) {
			list = append(list, w)
		}
		return true
	})
	slices.SortFunc(list, func(a, b Word) int { return cmp.Or(len(a.ID)-len(b.ID), strings.Compare(a.ID, b.ID)) })
	return list
}

// onWay says that it is not known yet what becomes of a word's line.
func (w Word) onWay() bool {
	return w.State == typing || w.State == submitted || w.State == carried || w.State == sought
}

// message is the id of the message that a word hands over or tells of, "" for none.
func (w Word) message() string {
	if w.News != nil {
		return w.News.Message
	}
	return w.Message
}

// inLine says that it was typed while a turn ran and stands in line behind that, as far as anybody knows.
func (w Word) inLine() bool { return w.State == carried && w.Way == "" && w.Doubt }

// untouched says that nothing of a word can be with its agent: it can be taken back.
func (w Word) untouched() bool {
	return w.Lead == "" && (w.State == owed || w.State == unwritten || w.State == later || w.State == kept)
}

func (s *step) due(t *time.Time) bool { return t == nil || !s.at.Before(*t) }

// fileWritten takes the result of writing the file that a word names.
func (s *step) fileWritten(f FileWritten) {
	w, ok := get[Word](s, "word/"+f.Word)
	if m, is := get[Message](s, "message/"+f.Message); is && f.Error != "" && (!ok || w.News != nil) { // its text is to be read with a check
		m.Why = NotWritten + f.Error
		s.put(m)
	}
	switch {
	case !ok || w.State != unwritten:
	case f.Error != "" && w.News == nil:
		s.drop(w, NotWritten+f.Error)
	default:
		w.State = s.owedTo(w.Agent)
		s.put(w)
	}
}

// again owes a word once more of which nothing has gone in, with whatever else is owed by then. News are owed to whoever
// answers for the worker by then, if anybody does.
func (s *step) again(w Word) {
	if s.spare(w) {
		return
	}
	if w.News != nil {
		if w.Agent = hearsOf(s, *w.News); w.Agent == "" {
			s.del(w.Key())
			return
		}
	}
	switch {
	case relieved(s, w):
		s.tell(w, func(e errand) { e.withheld(s, WordTyped{Why: released}) })
		s.drop(w, released)
		return
	case w.regained(s) || w.answered(s):
		s.del(w.Key())
		return
	}
	if w.Lead != "" {
		w.Was = w.Lead
	}
	if w.State != unwritten { // its file decides when it is owed
		w.State = s.owedTo(w.Agent)
	}
	w.Lead, w.Stands, w.Way, w.Tries, w.Submitted, w.NotUntil, w.Doubt, w.Ended = "", false, "", 0, nil, nil, false, false
	s.put(w)
}

// owedTo is the state of a word that is owed to an agent.
func (s *step) owedTo(agent string) string {
	if a, _ := get[Agent](s, "agent/"+agent); a.Gone != "" {
		return kept
	}
	return owed
}

// drop takes back a word of which nothing has been submitted.
func (s *step) drop(w Word, why string) {
	s.del(w.Key())
	s.tell(w, func(e errand) { e.dropped(s, why) })
}

// repeats says that a word is owed anew where its agent's log does not hold it: who is not told of it may wait for ever.
func (w Word) repeats() bool { return w.News != nil || w.Gate != "" }

// outlives says that a word is owed to the conversation and not to the process: whoever takes that up is told.
func (s *step) outlives(w Word) bool {
	a, _ := get[Agent](s, "agent/"+w.Agent)
	return a.Resumable || w.News != nil || w.Gate != "" && holdsSeat(s, w.Agent)
}

// withdraw takes back what is owed to an agent. What is being typed may be in already: its result, or a hook,
// says so. News are owed to the seat and not to the process.
func (s *step) withdraw(agent, why string) {
	for _, w := range wordsOf(s, agent, func(w Word) bool { return !s.outlives(w) && !w.onWay() && w.State != unproved }) {
		s.drop(w, why)
	}
}
