package orch

import (
	"slices"
	"strings"
	"time"
)

// An agent is a process, and what hangs on it belongs to its conversation. When its server ends it is gone, but resumable:
// its work stays open, what is owed to it stays owed, and whatever program takes up the conversation again has all of it.

// Reasons for which an agent is gone after which it may come back.
const (
	serverGone = "server_gone"
	exited     = "exited"
)

// there says that an agent lives, or may come back with its conversation: what it answers for is not given to another.
func (a Agent) there() bool { return a.Gone == "" || a.Resumable }

// comesBack says that an agent has its work back when its conversation goes on. Who has closed its pane, or stopped it,
// has ended that.
func (a Agent) comesBack() bool { return a.Gone == serverGone || a.Gone == exited }

// cut notes of an agent that has ended whether it can come back, and whether its turn was cut off. In a conversation
// without a turn there is nothing that could be taken up.
func (s *step) cut(a Agent) Agent {
	if s.quits(a) && !s.stopping(a) {
		a.Gone, a.Resumable, a.CutOff = exited, true, a.inWork(s.at)
		return a
	}
	if a.Gone != serverGone || a.Conversation == "" {
		return a
	}
	w, _ := workerOf(s, a.ID)
	d, _ := get[Dispatch](s, "dispatch/"+w.Dispatch)
	if w.Stopping != nil || !a.HadTurn && d.Submitted == nil {
		return a
	}
	a.Resumable, a.CutOff = true, a.inWork(s.at)
	return a
}

// inWork says that an agent's end has cut off what it did. An interrupt of a moment ago is the end's own: Codex interrupts its
// turn when its terminal closes, and its hook is there first.
func (a Agent) inWork(end time.Time) bool {
	return a.Turn || a.Background > 0 || end.Before(a.WatchTo)
}

// suspend keeps what a resumable agent had: its dispatches stay open and what is owed to it is kept. What was on its way is
// looked for in its log, which holds all that has gone in.
func (s *step) suspend(a Agent) {
	for _, d := range openOf(s, a.ID) {
		if d.Report != nil {
			s.finish(d)
		} else {
			s.put(s.undecided(s.unremind(d))) // it is reminded anew
		}
	}
	for _, w := range wordsOf(s, a.ID, func(w Word) bool { return w.State == typing }) {
		w.Ended = true // whoever types it tells whether Enter went in
		s.put(w)
	}
	for _, w := range wordsOf(s, a.ID, func(w Word) bool { return w.Lead == w.ID && (w.State == carried || w.State == submitted) }) {
		s.seekEnded(s.lineOf(w))
	}
	s.readdress(a.ID)
	s.handOver(a)
}

// undecided answers whoever waits for a start that nothing has proved yet: what comes of it is told when its agent is back.
func (s *step) undecided(d Dispatch) Dispatch {
	if d.Delivery != Pending {
		return d
	}
	d.Delivery, d.Why = NotDelivered, serverGone
	if d.Submitted != nil {
		d.Delivery = Unknown
	}
	s.log(strings.ReplaceAll(d.Delivery, "_", "-"), Event{Worker: d.Worker, Agent: d.Agent, Dispatch: d.ID, Text: d.Why})
	return d
}

// seekEnded looks for a line in the log of an agent that has ended: where it is not, it is not in.
func (s *step) seekEnded(l line) {
	for i, w := range l {
		w.Ended = true
		s.put(w)
		l[i] = w
	}
	s.seek(l, func(w Word) {
		if w.repeats() || w.Way != "" {
			s.owedAgain(w)
		} else {
			s.giveUp(w) // Enter went in, and nobody can tell more
		}
	})
}

// letGo ends that a resumable agent may come back.
func (s *step) letGo(a Agent, why string) {
	a.Resumable, a.CutOff, a.Gone = false, false, why
	s.put(a)
	s.dropResumes(a)
	s.part(a)
}

// takeUp gives an agent what those had that have ended and had its conversation.
func (s *step) takeUp(a Agent) {
	var olds []Agent
	each(s, ofConversation(a.Kind, a.Conversation), func(o Agent) bool {
		if o.ID != a.ID && o.Gone != "" && o.Next == "" && o.sameTalk(a) && (o.Resumable || holdsSeat(s, o.ID) || s.workBack(o)) {
			olds = append(olds, o)
		}
		return true
	})
	for _, o := range olds {
		if s.fits(o, a.ID) {
			s.succeed(o, a.ID)
		}
	}
}

// awaited says that somebody who may come back had the conversation of an agent.
func (s *step) awaited(a Agent) (yes bool) {
	each(s, ofConversation(a.Kind, a.Conversation), func(o Agent) bool {
		yes = o.Resumable && o.ID != a.ID
		return !yes
	})
	return yes
}

// workBack says that an agent that has ended is a worker that has its work back with its conversation.
func (s *step) workBack(a Agent) bool {
	w, ok := worksAs(s, a.ID)
	return ok && a.comesBack() && w.Stopping == nil
}

// handOver gives what an agent had that has ended to one that runs its conversation already.
func (s *step) handOver(a Agent) {
	next, ok := agentWhere(s, ofConversation(a.Kind, a.Conversation), func(o Agent) bool {
		return o.ID != a.ID && o.Gone == "" && !o.resuming() && o.sameTalk(a)
	})
	if ok && (a.Resumable || holdsSeat(s, a.ID) || s.workBack(a)) && s.fits(a, next.ID) {
		s.succeed(a, next.ID)
	}
}

// fits says that an agent can have what another had: it does not come to stand above itself by that, nor deeper than is
// allowed. One that answers for workers itself takes up nobody's work.
func (s *step) fits(old Agent, to string) bool {
	if _, has := worksAs(s, to); s.workBack(old) && !has && holdsSeat(s, to) {
		return false
	}
	for _, run := range seatsOf(s, old.ID) {
		if r, _ := get[Run](s, "run/"+run); s.mayLead(to, r) != nil {
			return false
		}
	}
	free := true
	each(s, startedBy(old.ID), func(w Worker) bool {
		free = !under(s, to, w.Agent)
		return free
	})
	return free
}

// resuming says that an agent was started by us with a conversation, and that nothing has shown yet that its program runs
// it: it may end at once, since it can't.
func (a Agent) resuming() bool {
	return a.Gone == "" && a.Ours && !a.Up && !a.Hooked && a.Conversation != ""
}

// succeed is the only place where all that an agent had goes over to another: the seats of runs, the workers that it
// answers for, its own work, its gates and questions, and what is owed to it.
func (s *step) succeed(old Agent, next string) {
	to, _ := get[Agent](s, "agent/"+next)
	works := s.workBack(old)
	_, has := worksAs(s, to.ID)
	if works && !has { // first: the mail of workers that it answers for lies in its box as a worker
		s.moveWork(old, to)
	}
	if !works || !has || holdsSeat(s, old.ID) {
		s.moveSeat(old, to)
	}
	if works && has {
		return // somebody has gone over to the conversation of another worker: that one's work is not its own
	}
	if works || old.Resumable {
		s.moveWords(old, to)
	}
	if to.Name == "" {
		to.Name = old.Name
	}
	to.HadTurn, to.Maybe = to.HadTurn || old.HadTurn, ""
	s.put(to)
	cutOff := old.CutOff
	old.Next, old.Resumable, old.CutOff = to.ID, false, false
	s.put(old)
	s.readdress(old.ID) // of workers that were released meanwhile, too
	s.log("agent-resumed", Event{Agent: to.ID, Text: "from " + old.ID})
	if works {
		s.workOn(to, cutOff)
	}
	if cutOff {
		s.goOn(to)
	}
	s.memory = false
}

// moveWork gives an agent's work to another.
func (s *step) moveWork(old, to Agent) {
	w, _ := worksAs(s, old.ID)
	w.Agent = to.ID
	s.put(w)
	each(s, Of("dispatch", old.ID), func(d Dispatch) bool {
		d.Agent = to.ID
		s.put(d)
		return true
	})
}

// moveWords gives what is owed to an agent to another. What is on its way is in the conversation, or that tells that it
// is not.
func (s *step) moveWords(old, to Agent) {
	for _, w := range wordsOf(s, old.ID, func(Word) bool { return true }) {
		w.Agent = to.ID
		if w.onWay() || w.State == unproved {
			s.put(w)
		} else {
			s.again(w)
		}
	}
}

// workOn takes up the dispatch of a worker that has come back: one that was closed since its agent had ended is open again
// where no other attempt has begun, and what ended its turn without a report is reminded.
func (s *step) workOn(to Agent, cutOff bool) {
	d, ok := s.dispatchOf(to.ID)
	if !ok {
		return
	}
	d = s.reopen(d)
	if d.TurnEnded != nil && !cutOff && s.wantsReminder(d, to, AgentEvent{Type: TurnEnded}) {
		s.remind(d, later)
	}
}

// reopen opens a dispatch again that was closed since its agent had ended.
func (s *step) reopen(d Dispatch) Dispatch {
	if !s.mayReopen(d) {
		return d
	}
	t, _ := get[Task](s, "task/"+d.Task)
	d.Closed = ""
	t.Status, t.Reason, t.Failures = taskDispatched, "", max(t.Failures-1, 0)
	s.put(d)
	s.put(t)
	s.clock(d)
	return d
}

// mayReopen says that a dispatch was closed since its agent had ended, and that nothing has come in its place.
func (s *step) mayReopen(d Dispatch) bool {
	t, _ := get[Task](s, "task/"+d.Task)
	run, _ := get[Run](s, "run/"+d.Run)
	return d.Submitted != nil && d.Closed == gone && d.Report == nil && t.Dispatch == d.ID && t.Status == taskFailed && run.Ended == nil
}

// goOn owes an agent whose turn was cut off the one word that tells it to go on, where there is something to go on with.
func (s *step) goOn(a Agent) {
	what, id := "", ""
	if d, ok := s.dispatchOf(a.ID); ok && d.open() && d.Report == nil {
		what, id = "dispatch", d.ID
	} else if r, ok := openRun(s, func(r Run) bool { return r.Coordinator == a.ID }); ok {
		what, id = "run", r.ID
	} else {
		return
	}
	for _, w := range wordsOf(s, a.ID, func(w Word) bool { return w.GoOn == id && w.untouched() }) {
		s.del(w.Key())
	}
	word := s.next("o")
	s.put(Word{ID: word, Agent: a.ID, GoOn: id, Mark: "st-" + word, State: s.owedTo(a.ID), Patience: turnTimeout,
		Text: "st: your turn was cut off when the terminals were closed, and your conversation has been resumed. Go on with " + what + " " + id + ". [st-" + word + "]"})
}

// goesOnWord is a word that tells an agent to go on.
type goesOnWord Word

func (goesOnWord) entered(*step, WordTyped)    {}
func (goesOnWord) withheld(*step, WordTyped)   {}
func (g goesOnWord) dropped(s *step, _ string) { g.log(s, "go-on-not-delivered") }
func (g goesOnWord) overdue(s *step)           { g.log(s, "go-on-unknown") }
func (g goesOnWord) proved(s *step)            { g.log(s, "go-on-told") }

func (g goesOnWord) log(s *step, kind string) {
	s.log(kind, Event{Agent: g.Agent, Word: g.ID, Text: g.GoOn})
}

// worksAs returns the worker that an agent is itself.
func worksAs(v View, agent string) (found Worker, ok bool) {
	each(v, Of("worker", agent), func(w Worker) bool {
		found = w
		return true
	})
	return found, found.ID != "" && agent != ""
}

// successorsMost bounds a chain of successors; each came at an end of its server.
const successorsMost = 10_000

// Resumables are the agents that may come back, the oldest first.
func Resumables(v View) (list []Agent) {
	each(v, ResumableAgents, func(a Agent) bool {
		list = append(list, a)
		return true
	})
	return list
}

// Awaited are the resumable agents that somebody waits for: those with a seat, or with work in an open run.
func Awaited(v View) (list []Agent) {
	for _, a := range Resumables(v) {
		w, ok := worksAs(v, a.ID)
		run, _ := get[Run](v, "run/"+w.Run)
		if ok && run.Ended == nil || holdsSeat(v, a.ID) {
			list = append(list, a)
		}
	}
	return list
}

// maybe are the agents that an agent may be.
func (a Agent) maybe() []string { return strings.Fields(a.Maybe) }

// mayBe are the agents of which it can't be told whether they are a resumable one.
func mayBe(v View, lost string) (list []Agent) {
	each(v, doubtful, func(a Agent) bool {
		if a.Gone == "" && slices.Contains(a.maybe(), lost) {
			list = append(list, a)
		}
		return true
	})
	return list
}

// panesOf are the panes of agents.
func panesOf(agents []Agent) []string {
	panes := []string{}
	for _, a := range agents {
		panes = append(panes, a.Place.Pane)
	}
	return panes
}

// rolesOf are the workers that those of agents are that may come back; one that is none stands for itself.
func rolesOf(v View, agents []string) []string {
	roles := []string{}
	for _, id := range agents {
		if a, _ := get[Agent](v, "agent/"+id); !a.Resumable {
			continue
		}
		if w, ok := worksAs(v, id); ok {
			id = w.ID
		}
		roles = append(roles, id)
	}
	return roles
}
