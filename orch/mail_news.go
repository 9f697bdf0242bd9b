package orch

import (
	"cmp"
	"slices"
	"strings"
)

// Of a message in the box of a run, or of a worker that answers for others, its reader is told that it is there: the line
// has ids and fixed words, and what it says is read with a check.

// readerOf is the agent that reads a box; "" where that is a person, or the run has ended.
func readerOf(v View, box string) string {
	w, ok := get[Worker](v, "worker/"+box)
	run, _ := get[Run](v, "run/"+box)
	if ok {
		run, _ = get[Run](v, "run/"+w.Run)
	}
	switch {
	case run.Ended != nil:
		return ""
	case ok:
		return w.Agent
	}
	return run.Coordinator
}

// hearsOf is the agent that is told of news; "" where nobody is.
func hearsOf(v View, n News) string {
	if m, ok := get[Message](v, "message/"+n.Message); ok {
		return readerOf(v, m.To)
	}
	w, _ := get[Worker](v, "worker/"+n.Worker)
	return hears(v, w)
}

// oweMail owes the news of a message to the reader of its box; did is what its sender did. The word is zero where nobody
// has to be told: a person looks for himself, and who has written it knows.
func (s *step) oweMail(m Message, did string) Word {
	to := readerOf(s, m.To)
	if to == "" || to == m.From {
		return Word{}
	}
	id, what := s.next("o"), did+" "+m.ID
	n := &News{Run: m.Run, Dispatch: m.Dispatch, State: did + "@" + m.ID, Message: m.ID}
	switch w, ok := workerOf(s, m.From); {
	case m.From == Us:
		what = "st " + what
	case ok && m.From != "":
		n.Worker = w.ID
	default:
		what = "a person " + what
	}
	n.What = what
	word := Word{ID: id, Agent: to, Mark: "st-" + id, State: s.owedTo(to), Patience: turnTimeout, News: n}
	s.put(word)
	s.log("news", Event{Agent: to, Run: m.Run, Worker: n.Worker, Dispatch: n.Dispatch, Message: m.ID, Word: id, Text: what})
	return word
}

// known notes that the reader of a box has been told of a message. It stays open: the text is still to be read.
func (s *step) known(message string) {
	m, ok := get[Message](s, "message/"+message)
	if !ok || m.Delivered != nil {
		return
	}
	m.State, m.Delivered = Delivered, ptr(s.at)
	if !strings.HasPrefix(m.Why, NotWritten) {
		m.Why = ""
	}
	s.put(m)
	if m.toWorker() {
		s.logMessage("message-delivered", m, Event{})
	} else {
		s.logMessage("mail-told", m, Event{Text: m.Type + " for " + m.To})
	}
}

// bringers are the messages that bring what news of a worker's state tell: its report, or that state.
func (n News) bringers(v View) (list []Message) {
	if n.Message != "" {
		return nil
	}
	each(v, Of("message", cmp.Or(n.Dispatch, n.Worker)), func(m Message) bool {
		if m.brings(n) {
			list = append(list, m)
		}
		return true
	})
	return list
}

func (m Message) brings(n News) bool {
	if m.Type == ReportMail {
		return m.Dispatch == n.Dispatch && n.tellsReport()
	}
	return m.News != "" && m.News == n.State && m.Worker == n.Worker
}

// tellsReport says that news of a worker are those of its report.
func (n News) tellsReport() bool {
	return n.Message == "" && (n.What == newsStates[finished] || n.What == newsStates[failed])
}

// ofState are the news of a worker's state.
func ofState(w Worker) News {
	return News{Run: w.Run, Worker: w.ID, Dispatch: w.Dispatch, What: newsStates[w.State], State: w.mark()}
}

// broughtTold settles the messages that bring what news tell: their reader has been told otherwise.
func (s *step) broughtTold(n News) {
	for _, m := range n.bringers(s) {
		if m.open() {
			s.known(m.ID)
			m, _ = get[Message](s, m.Key())
			s.settleMessage(m, told)
		}
	}
}

// broughtTo says that a check has told a reader what news tell: then they need not.
func (n News) broughtTo(v View, reader string) bool {
	return slices.ContainsFunc(n.bringers(v), func(m Message) bool { return m.Delivered != nil && readerOf(v, m.To) == reader })
}

// needless says that what a word tells has been told by a check meanwhile.
func needless(v View, w Word) bool {
	m, ok := get[Message](v, "message/"+w.message())
	return ok && m.Delivered != nil || w.News != nil && w.News.broughtTo(v, w.Agent)
}

// spare takes back a word that a check or a wait has told while its line was tried; false where none has.
func (s *step) spare(w Word) bool {
	if !needless(s, w) {
		return false
	}
	s.del(w.Key())
	if w.News != nil {
		w.Way = "check"
		if slices.ContainsFunc(w.News.bringers(s), func(m Message) bool { return m.How == told }) {
			w.Way = "wait"
		}
		s.logNews("news-told", newsWord(w))
	}
	return true
}

// shown notes that a check of the caller has printed a message: no word tells of it any more.
func (s *step) shown(m Message) {
	s.known(m.ID)
	for _, w := range wordsOf(s, m.ID, Word.untouched) {
		s.del(w.Key())
		if w.News != nil {
			w.Way = "check"
			s.logNews("news-told", newsWord(w))
		}
	}
	switch {
	case m.Type == ReportMail, m.News != "":
		s.stateSeen(m)
	case m.Type == Question:
		s.questionKnown(News{Message: m.ID, Worker: m.Worker}, ear(s, s.in.By))
	}
}

// stateSeen takes back the news of what a check has told of a worker.
func (s *step) stateSeen(m Message) {
	who := ear(s, s.in.By)
	for _, w := range s.untold(m.Worker) {
		if w.Agent == who && m.brings(*w.News) {
			w.Way = "check"
			s.del(w.Key())
			s.logNews("news-told", newsWord(w))
		}
	}
	if w, _ := get[Worker](s, "worker/"+m.Worker); m.brings(ofState(w)) {
		s.put(Told{Who: who, Worker: w.ID, State: w.mark()})
	}
}

// stateMail puts into the box of whoever answers for a worker what has become of it, or what it waits for: who waits for
// mail must not wait for a worker of which nothing comes.
func (s *step) stateMail(w Worker, what, says, mark string) {
	if run, _ := get[Run](s, "run/"+w.Run); run.Ended != nil {
		return
	}
	s.newMessage(Message{Run: w.Run, Type: Escalation, From: Us, To: boxOf(s, w), Worker: w.ID, Dispatch: w.Dispatch,
		Subject: w.ID + " " + what, Body: says, News: mark})
}

// statePast settles such messages of a worker: it is in another state by now.
func (s *step) statePast(worker string, is func(News) bool) {
	each(s, Of("message", worker), func(m Message) bool {
		if m.open() && m.News != "" && m.Worker == worker && is(News{State: m.News}) {
			s.settleMessage(m, past)
		}
		return true
	})
}

// reportMail puts a report into the box of whoever answers for the worker.
func (s *step) reportMail(d Dispatch, r Report) {
	w, _ := get[Worker](s, "worker/"+d.Worker)
	if run, _ := get[Run](s, "run/"+w.Run); run.Ended != nil {
		return
	}
	s.newMessage(Message{Run: d.Run, Type: ReportMail, From: d.Agent, To: boxOf(s, w), Worker: w.ID, Dispatch: d.ID,
		Subject: r.Outcome, Body: beginning(r.Summary, BodyMost)})
}

// rebox gives the open messages that speak of a worker to whoever answers for it now.
func (s *step) rebox(w Worker) {
	to := boxOf(s, w)
	each(s, Of("message", w.ID), func(m Message) bool {
		if m.open() && m.To != to && m.To != w.ID {
			m.To = to
			s.put(m)
			for _, o := range wordsOf(s, m.ID, func(o Word) bool { return o.News != nil && o.untouched() && o.strays(s) }) {
				s.again(o)
			}
		}
		return true
	})
}

// reboxOf gives away what lies in the box of an agent that has ended and speaks of workers that it answered for.
func (s *step) reboxOf(agent string) {
	each(s, startedBy(agent), func(w Worker) bool {
		s.rebox(w)
		return true
	})
}

// mailByWait settles the message of what a wait of its reader has told of a worker.
func (s *step) mailByWait(t Told) {
	w, _ := get[Worker](s, "worker/"+t.Worker)
	if t.State != w.mark() {
		return
	}
	id := s.who(s.in.By)
	if !id.child && reads(s, id, boxOf(s, w)) {
		s.broughtTold(ofState(w))
	}
}

// endMail settles what lies in the boxes of a run that has ended.
func (s *step) endMail(run string) {
	each(s, Of("message", run), func(m Message) bool {
		if m.open() {
			s.settleMessage(m, runEnded)
		}
		return true
	})
}
