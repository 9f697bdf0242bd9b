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

// lineOf are the words that go in with a word, itself among them. They may belong to two agents by now: news go over to
// whoever takes up the conversation, and the rest doesn't.
func (s *step) lineOf(w Word) line {
	if w.Lead == "" {
		return line{w}
	}
	return wordsOf(s, w.Lead, func(Word) bool { return true })
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
	if w.regained(s) || w.answered(s) || relieved(s, w) {
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

// backoff is how long a word rests after it could not be typed.
func backoff(tries int) time.Duration {
	return min(time.Duration(tries)*250*time.Millisecond, 2*time.Second)
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

// A line is what goes in at once: words of one agent, in their order.
type line []Word

// lineMost is the longest line, in bytes: agents show a longer text as a paste that can't be read back.
const lineMost = 500

// lines are of each agent the words of its next line. While one is on its way, or what it names is not written yet,
// that is all of it. Words that will be told by a wait, or only later, are passed over; one that does not go in with the
// others is not overtaken by those behind it.
func lines(v View) []line {
	var order []string
	next, full := map[string]line{}, map[string]bool{}
	waits := Waits(v)
	for _, w := range wordsOn(v, waitingWords, func(Word) bool { return true }) {
		l, begun := next[w.Agent]
		switch {
		case w.State == later || w.untouched() && waitTells(v, waits, w):
		case !begun:
			order = append(order, w.Agent)
			next[w.Agent] = line{w}
		case w.onWay() && !l[0].onWay(): // of older words that have come from another agent
			next[w.Agent] = line{w}
		case full[w.Agent] && w.Lead == "":
		case l.takes(w):
			next[w.Agent] = append(l, w)
		default:
			full[w.Agent] = true
		}
	}
	all := make([]line, len(order))
	for i, agent := range order {
		all[i] = next[agent]
	}
	return all
}

// takes tells whether a word goes in with a line. One that may stand in the agent's input line since an
// earlier try stays as it is. The task line opens a worker's first turn and goes alone, and so does what can't wait.
func (l line) takes(w Word) bool {
	first := l[0]
	switch {
	case first.Lead != "":
		return w.Lead == first.Lead
	case first.State != owed || w.State != owed || w.Lead != "":
		return false
	case first.Dispatch != "" || first.Now || w.Dispatch != "" || w.Now:
		return false
	}
	return len(append(l, w).text()) <= lineMost
}

// mark is by what a line is known in an agent's log: that of its first word, or what stands for all of its news.
func (l line) mark() string { return l[0].Mark }

// nextLine is the next line of an agent, nil for none.
func nextLine(v View, agent string) line {
	for _, l := range lines(v) {
		if l[0].Agent == agent {
			return l
		}
	}
	return nil
}

// text is what is typed or told: the words that are sentences, then the news.
func (l line) text() string {
	var parts []string
	for _, w := range l {
		if w.News == nil {
			parts = append(parts, w.Text)
		}
	}
	if news := l.news(); news != "" {
		parts = append(parts, news)
	}
	return strings.Join(parts, " ")
}
