package orch

import "strings"

// A worker is released: its agent lives on and is none of the run's any more. What was for it as a worker is withdrawn, what
// it coordinates itself stays its own.

// WorkerRelease ends the relation of a worker to its run. Answer: WorkerAnswer.
type WorkerRelease struct {
	Worker string `json:"worker"`
}

// Type is the name on the wire.
func (WorkerRelease) Type() string { return "worker-release" }

// related refuses what is asked of a worker that was released.
func (s *step) related(w Worker) *Error {
	if w.Released == nil {
		return nil
	}
	return refuse("released", "st worker adopt "+w.Agent, "worker %s was released, and is none of run %s any more", w.ID, w.Run)
}

func (s *step) workerRelease(o WorkerRelease) *Error {
	w, id, err := s.ordersNamed(o.Worker)
	if err != nil {
		return err
	}
	a, _ := get[Agent](s, "agent/"+w.Agent)
	d, has := get[Dispatch](s, "dispatch/"+w.Dispatch)
	already := w.Released != nil
	switch {
	case already:
	case a.Gone == "" && w.Stopping != nil:
		return refuse("stopped", "st worker show "+w.ID, "worker %s is being stopped, so there is nothing left to release", w.ID)
	case s.quits(a):
		return refuse("not_ready", "st worker show "+w.ID, "worker %s is being started again: release it when that is done", w.ID)
	case a.Gone == "" && has && d.Opened == nil:
		return refuse("not_ready", "st worker stop "+w.ID+" --yes", "worker %s has no window yet: there is no agent that could live on", w.ID)
	default:
		s.release(w, id)
	}
	s.answer = func() any { return WorkerAnswer{Worker: workerInfo(s, w.ID), Already: already} }
	return nil
}

// release ends the relation of a worker.
func (s *step) release(w Worker, by identity) {
	d, _ := get[Dispatch](s, "dispatch/"+w.Dispatch)
	tell := s.begun(d)
	w.Released, w.ReleasedBy = ptr(s.at), by.id()
	s.put(w)
	s.log("worker-released", Event{Run: w.Run, Worker: w.ID, Agent: w.Agent, Dispatch: w.Dispatch, By: by.name()})
	s.withdrawFrom(w)
	s.takeBack(w.ID)
	s.clearBox(w)
	s.dropGates(w)
	s.handUp(w)
	switch {
	case d.ID == "" || !d.open():
	case d.Report != nil:
		s.finish(d)
	default:
		s.closeDispatch(d, released)
	}
	if tell {
		s.tellFreed(w, d)
	}
	s.tidy(w.Agent)
}

// Orders to the outside world, and their results.
type (
	// FilesMove moves the files that a worker was given to read out of the folder of its agent to those of its run. From is the
	// beginning of their names.
	FilesMove struct {
		Worker string `json:"worker"`
		From   string `json:"from"`
	}
	// FilesMoved is its result: To is the beginning of their names now, "" where they stay.
	FilesMoved struct {
		Worker string `json:"worker"`
		To     string `json:"to,omitempty"`
	}
)

// Types on the wire.
func (FilesMove) Type() string  { return "files-move" }
func (FilesMoved) Type() string { return "files-moved" }

// tidy takes out of an agent's folder what it was given to read as a worker that was released, as soon as nothing reads it:
// no turn of the agent runs, and no line that names such a file is on its way.
func (s *step) tidy(agent string) {
	if a, _ := get[Agent](s, "agent/"+agent); a.Turn || a.Background > 0 {
		return
	}
	var done []Worker
	each(s, FormerlyOf(agent), func(w Worker) bool {
		if w.Files != "" && !w.Tidy {
			done = append(done, w)
		}
		return true
	})
	for _, w := range done {
		if len(wordsOf(s, agent, func(o Word) bool { return o.onWay() && owedAs(s, o) == w.ID })) > 0 {
			continue
		}
		w.Tidy = true
		s.put(w)
		s.do(FilesMove{Worker: w.ID, From: w.Files})
	}
}

// filesMoved notes where the files of a worker are now.
func (s *step) filesMoved(o FilesMoved) {
	w, ok := get[Worker](s, "worker/"+o.Worker)
	if !ok || o.To == "" || w.Files == "" {
		return
	}
	from := w.Files
	w.Files = o.To
	s.put(w)
	now := func(path string) string {
		if rest, ok := strings.CutPrefix(path, from+"-"); ok {
			return o.To + "-" + rest
		}
		return path
	}
	var dispatches []Dispatch
	each(s, Of("dispatch", w.Run), func(d Dispatch) bool {
		if d.Worker == w.ID {
			dispatches = append(dispatches, d)
		}
		return true
	})
	for _, d := range dispatches {
		d.Copy = now(d.Copy)
		s.put(d)
	}
	var letters []Message
	each(s, Of("message", w.Run), func(m Message) bool {
		if m.To == w.ID {
			letters = append(letters, m)
		}
		return true
	})
	for _, m := range letters {
		m.Path = now(m.Path)
		s.put(m)
	}
}

// begun says that an agent may be at the task of a dispatch.
func (s *step) begun(d Dispatch) bool {
	w, _ := get[Word](s, "word/"+d.Word)
	a, _ := get[Agent](s, "agent/"+d.Agent)
	return a.Gone == "" && d.ID != "" && d.open() && d.Report == nil && (d.Submitted != nil || w.onWay())
}

// owedAs is the worker as which its agent is owed a word, "" for none.
func owedAs(v View, w Word) string {
	if d, ok := get[Dispatch](v, "dispatch/"+w.Dispatch); ok {
		return d.Worker
	}
	if d, ok := get[Dispatch](v, "dispatch/"+w.Reminds); ok {
		return d.Worker
	}
	if m, ok := get[Message](v, "message/"+w.Message); ok {
		return m.To
	}
	return ""
}

// relieved says that a word is for a worker that was released.
func relieved(v View, w Word) bool {
	worker, _ := get[Worker](v, "worker/"+owedAs(v, w))
	return worker.Released != nil
}

// withdrawFrom takes back what its agent was to be told as that worker. What is on its way tells itself what becomes of it.
func (s *step) withdrawFrom(w Worker) {
	for _, o := range wordsOf(s, w.Agent, func(o Word) bool { return !o.onWay() && o.State != unproved }) {
		if g, _ := get[Gate](s, "gate/"+o.Gate); owedAs(s, o) == w.ID || g.Run == w.Run {
			s.drop(o, released)
		}
	}
}

// clearBox settles what lies in the box of a worker that nobody reads any more.
func (s *step) clearBox(w Worker) {
	each(s, openIn(w.ID), func(m Message) bool {
		if m.Worker == "" || m.Worker == w.ID {
			s.settleMessage(m, released)
		}
		return true
	})
}

// dropGates cancels the open gates that a worker has asked: it goes on by no answer.
func (s *step) dropGates(w Worker) {
	each(s, Of("gate", w.Agent), func(g Gate) bool {
		if g.Run == w.Run && (g.Status == GateOpen || g.Status == GateTimedOut) {
			g.Status, g.Closed = GateCancelled, ptr(s.at)
			s.put(g)
			s.log("gate-cancelled", Event{Run: g.Run, Gate: g.ID, Task: g.Task, Text: "its worker was released"})
			s.moveTasks(g.Run)
		}
		return true
	})
}

// handUp gives the workers that a worker has started in its run to the run's coordinator: they stay the run's.
func (s *step) handUp(w Worker) {
	run, _ := get[Run](s, "run/"+w.Run)
	var up []Worker
	each(s, startedBy(w.Agent), func(k Worker) bool {
		if k.Run == w.Run && run.Coordinator != w.Agent {
			up = append(up, k)
		}
		return true
	})
	for _, k := range up {
		k.By, k.Depth = run.Coordinator, 1
		s.put(k)
		s.raise(k)
		s.rebox(k)
	}
	if len(up) > 0 {
		s.newsOver(run.ID, w.Agent)
	}
}

// raise counts anew how deep the workers stand that a worker has started.
func (s *step) raise(w Worker) {
	var below []Worker
	each(s, startedBy(w.Agent), func(k Worker) bool {
		if k.Run == w.Run && k.Depth > w.Depth+1 {
			below = append(below, k)
		}
		return true
	})
	for _, k := range below {
		k.Depth = w.Depth + 1
		s.put(k)
		s.raise(k)
	}
}

// tellFreed owes an agent that was at a task of the run the one word that it need not be any more.
func (s *step) tellFreed(w Worker, d Dispatch) {
	id := s.next("o")
	mark := "st-" + id
	s.put(Word{ID: id, Agent: w.Agent, Freed: w.ID, Mark: mark, State: owed, Patience: turnTimeout,
		Text: "st: you are released from run " + w.Run + ": it waits for no report on " + d.ID + " any more. [" + mark + "]"})
}

// dropFreed takes back what was to tell an agent that it was released: it is a worker again.
func (s *step) dropFreed(agent string) {
	for _, w := range wordsOf(s, agent, func(w Word) bool { return w.Freed != "" && w.untouched() }) {
		s.del(w.Key())
	}
}

// freed is a word that tells an agent that it was released.
type freed Word

func (freed) entered(*step, WordTyped)  {}
func (freed) withheld(*step, WordTyped) {}
func (freed) dropped(*step, string)     {}
func (f freed) overdue(s *step)         { f.log(s, "release-unknown") }
func (f freed) proved(s *step)          { f.log(s, "release-told") }

func (f freed) log(s *step, kind string) {
	w, _ := get[Worker](s, "worker/"+f.Freed)
	s.log(kind, Event{Agent: f.Agent, Run: w.Run, Worker: w.ID, Word: f.ID})
}
