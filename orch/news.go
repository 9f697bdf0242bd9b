package orch

import (
	"slices"
	"strconv"
	"strings"
)

// News are what an agent is told of the workers that it answers for: the words of a coordinator. They speak of what has
// happened, so that they are true whenever they are read; what is over before it was told is taken back.

// newsStates are the states of a worker's work that are news, in the words of the line.
var newsStates = map[string]string{
	finished:   "finished",
	failed:     "failed",
	noReport:   "ended without a report",
	gone:       "died",
	needsInput: "asked for input",
	released:   "was released",
}

// silent marks the news of a worker of which nothing has been heard for long.
const silent = "silent"

// lateNews marks the news of a report on a dispatch that is not its worker's newest any more.
const lateNews = "late"

// byWait says that a wait tells such news: they are of a state that it sees.
func (n News) byWait() bool {
	return n.Message == "" && !n.ofSilence() && !strings.HasPrefix(n.State, lateNews+"@")
}

// ofSilence says that such news are over as soon as anything is heard of the worker.
func (n News) ofSilence() bool { return strings.HasPrefix(n.State, silent+"@") }

// wasStopped is the news of a worker that somebody else has stopped.
const wasStopped = "was stopped"

// mark is how a state of a worker is remembered as told: it comes once.
func (w Worker) mark() string { return w.State + "@" + strconv.FormatInt(w.StateSince.UnixNano(), 36) }

// answersFor is the agent that hears of a worker: who started it, while that one is there, may come back or has the seat, else the
// run's coordinator; "" for a person.
func answersFor(v View, w Worker) string {
	run, _ := get[Run](v, "run/"+w.Run)
	if by, ok := get[Agent](v, "agent/"+w.By); ok && by.there() {
		return w.By
	}
	return run.Coordinator
}

// hears is the agent that is told of a worker; "" where nobody is, since its run has ended or is a person's.
func hears(v View, w Worker) string {
	if run, _ := get[Run](v, "run/"+w.Run); run.Ended != nil {
		return ""
	}
	return answersFor(v, w)
}

// newsOf owes the news of a worker's new state to whoever answers for it, in place of older ones of the same dispatch that
// nobody has been told. What came of an earlier dispatch stays news.
func (s *step) newsOf(w Worker, d Dispatch, a Agent) {
	s.statePast(w.ID, func(n News) bool { return true })
	for _, old := range s.untold(w.ID) {
		if old.News.Message == "" && old.News.Dispatch == w.Dispatch {
			s.del(old.Key())
		}
	}
	what, ok := newsStates[w.State]
	p, _ := awaits(s, w.ID, a)
	switch {
	case !ok:
		return
	case ofState(w).broughtTo(s, hears(s, w)):
		return // a check has told of the report
	case w.State == needsInput && a.Status != waiting && p.kind == question:
		if to := hears(s, w); to != "" {
			s.knownState(w, to)
		}
		return // the question is news itself
	case w.State == needsInput && a.Status == waiting:
		what += " (" + a.WaitingFor + ")"
	case w.State == needsInput:
		what += " (" + p.kind + ")"
	case w.State == gone && d.Closed == "stopped":
		if w.StoppedBy == answersFor(s, w) {
			return // it has done that itself
		}
		what = wasStopped
	case w.State == released && w.ReleasedBy == answersFor(s, w):
		return // it has done that itself
	}
	if !ofState(w).tellsReport() { // that has a message of its own
		s.stateMail(w, what, a.waitsWhat(), w.mark())
	}
	s.owe(w, what+outsideSaid(d), w.mark())
}

// outsideSaid is what the news of a report add where files were changed outside its worker's scope.
func outsideSaid(d Dispatch) string {
	if d.Report == nil || len(d.Report.Outside) == 0 {
		return ""
	}
	return " with changes outside its scope"
}

// untold are the news of a worker of which no line has been tried.
func (s *step) untold(worker string) (list []Word) {
	each(s, Of("word", worker), func(w Word) bool {
		if w.untouched() {
			list = append(list, w)
		}
		return true
	})
	return list
}

// owe owes one piece of news of a worker's newest dispatch.
func (s *step) owe(w Worker, what, mark string) { s.oweOf(w, w.Dispatch, what, mark) }

// oweOf owes one piece of news of a dispatch.
func (s *step) oweOf(w Worker, dispatch, what, mark string) {
	to := hears(s, w)
	if to == "" {
		return
	}
	id := s.next("o")
	s.put(Word{ID: id, Agent: to, Mark: "st-" + id, State: s.owedTo(to), Patience: turnTimeout,
		News: &News{Run: w.Run, Worker: w.ID, Dispatch: dispatch, What: what, State: mark, Last: s.allSettled(w.Run)}})
	s.log("news", Event{Agent: to, Run: w.Run, Worker: w.ID, Dispatch: dispatch, Word: id, Text: what})
}

// allSettled says that nothing of a run is under way.
func (s *step) allSettled(run string) bool {
	all := true
	each(s, Of("worker", run), func(w Worker) bool {
		all = settledState(w.State)
		return all
	})
	return all
}

// stillSo are news as they may be told now: a worker may have been started since they were owed, and then not all have
// settled with them.
func (s *step) stillSo(n *News) *News {
	if n == nil || !n.Last || s.allSettled(n.Run) {
		return n
	}
	now := *n
	now.Last = false
	return &now
}

// newsWord is a word that tells of a worker.
type newsWord Word

func (newsWord) entered(*step, WordTyped)  {}
func (newsWord) withheld(*step, WordTyped) {}
func (newsWord) dropped(*step, string)     {}

func (n newsWord) overdue(s *step) { s.logNews("news-unknown", n) }

func (n newsWord) proved(s *step) {
	if n.News.Message != "" {
		s.known(n.News.Message)
	}
	s.broughtTold(*n.News)
	if w, _ := get[Worker](s, "worker/"+n.News.Worker); w.mark() == n.News.State { // a wait may have told a newer one
		s.put(Told{Who: n.Agent, Worker: w.ID, State: n.News.State})
	}
	if n.News.asks() {
		s.questionKnown(*n.News, n.Agent)
	}
	s.logNews("news-told", n)
}

func (s *step) logNews(kind string, n newsWord) {
	way := n.Way
	if way == "" {
		way = "typed"
	}
	s.log(kind, Event{Agent: n.Agent, Run: n.News.Run, Worker: n.News.Worker, Dispatch: n.News.Dispatch, Message: n.News.Message, Word: n.ID, Text: n.News.What + " (" + way + ")"})
}

// toldByWait settles the news that a wait has told.
func (s *step) toldByWait(t Told) {
	for _, w := range s.untold(t.Worker) {
		shown := w.News.asks() && strings.HasPrefix(t.State, needsInput+"@") // with the worker
		if w.Agent == t.Who && (shown || w.News.State == t.State) {
			w.Way = "wait"
			s.del(w.Key())
			s.logNews("news-told", newsWord(w))
			if shown {
				s.questionKnown(*w.News, t.Who)
			}
		}
	}
}

// news is what a line says of workers: those with the same news together, then how to read more.
func (l line) news() string {
	var whats, ids, more []string
	workers := map[string][]string{}
	last, mark := "", ""
	for _, w := range l {
		if w.News == nil {
			continue
		}
		if workers[w.News.What] == nil {
			whats = append(whats, w.News.What)
		}
		if !slices.Contains(workers[w.News.What], w.News.Worker) { // of two of its dispatches
			workers[w.News.What] = append(workers[w.News.What], w.News.Worker)
		}
		if w.News.Message == "" {
			ids = append(ids, w.News.Worker)
		} else if len(more) == 0 {
			more = append(more, "st check")
		}
		if mark == "" {
			mark = w.Mark
		}
		last = ""
		if w.News.Last {
			last = " With that all workers of " + w.News.Run + " have settled."
		}
	}
	if len(whats) == 0 {
		return ""
	}
	if len(ids) > 0 {
		more = append(more, "st worker read "+ids[0])
	}
	for i, what := range whats {
		whats[i] = strings.TrimSpace(strings.Join(workers[what], ", ") + " " + what)
	}
	return "st: " + strings.Join(whats, "; ") + "." + last + " Read more: " + strings.Join(more, ", ") + " [" + mark + "]"
}

// readdress gives the news that are owed to an agent that has ended to whoever answers for the workers now; of is that
// agent, or the worker of which they tell.
func (s *step) readdress(of string) {
	for _, w := range wordsOf(s, of, func(w Word) bool { return s.outlives(w) && !w.onWay() && w.State != unproved }) {
		if a, _ := get[Agent](s, "agent/"+w.Agent); a.Gone != "" {
			s.again(w)
		}
	}
}

// forget takes back the news of a run that has ended.
func (s *step) forget(run string) {
	each(s, Of("word", run), func(w Word) bool {
		if !w.onWay() {
			s.del(w.Key())
		}
		return true
	})
}
