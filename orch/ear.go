package orch

import (
	"slices"
	"time"
)

// A Waiter is a wait of an agent that is open: what it will tell is not told beside it.
type Waiter struct {
	Process
	Agent string `json:"agent"`
	Run   string `json:"run"`
	// Workers are the ids of those it waits for; none = all of the run.
	Workers []string `json:"workers,omitempty"`
	// For is what else it waits for, and then no worker: Mailbox, or the id of a question or a gate.
	For string `json:"for,omitempty"`
	// Types are those of the messages that end a wait for mail; none = any.
	Types []string  `json:"types,omitempty"`
	Began time.Time `json:"began"`
	// Deaf says that the agent does not hear what the wait prints once the turn has ended in which it began.
	Deaf bool `json:"deaf,omitempty"`
}

// Mailbox is what a `check --wait` waits for.
const Mailbox = "mail"

func (w Waiter) Key() string { return waitKey(w.Process) }

// waitBegan notes an agent's wait. Anybody else's hold nothing back.
func (s *step) waitBegan(o WaitBegan) *Error {
	s.memory = true
	id := s.who(s.in.By)
	if id.agent == nil || id.child || len(s.in.By.Chain) == 0 {
		return nil
	}
	if q, ok := get[Message](s, "message/"+o.For); ok {
		if err := mayResume(s, s.in.By, q); err != nil {
			return err
		}
		s.waitsFor(id.agent.ID, q, o.Deaf)
		return nil
	}
	if o.For == Mailbox {
		return s.waitsForMail(*id.agent, o)
	}
	var workers []Worker
	if o.For == "" {
		var err *Error
		if workers, err = waitFor(s, s.in.By, o.Args); err != nil {
			return err
		}
	}
	w := Waiter{Agent: id.agent.ID, For: o.For, Deaf: o.Deaf[id.agent.Kind]}
	for _, worker := range workers {
		w.Run = worker.Run
		if len(o.Args.Workers) > 0 {
			w.Workers = append(w.Workers, worker.ID)
		}
	}
	s.waits(w)
	return nil
}

// waitOver notes that the process of a wait has ended.
func (s *step) waitOver(o WaitOver) {
	s.memory = true
	if w, ok := get[Waiter](s, waitKey(o.Process)); ok {
		s.del(w.Key())
		s.memory = false
	}
}

// heard says that the agent hears what the wait prints.
func (w Waiter) heard(v View) bool {
	a, _ := get[Agent](v, "agent/"+w.Agent)
	return a.Gone == "" && (!w.Deaf || a.Turn && !a.TurnAt.After(w.Began))
}

// covers says that it waits for a worker.
func (w Waiter) covers(run, worker string) bool {
	return w.For == "" && (len(w.Workers) == 0 && w.Run == run || slices.Contains(w.Workers, worker))
}

// waitsForMail notes that the caller waits for mail.
func (s *step) waitsForMail(a Agent, o WaitBegan) *Error {
	if _, err := boxes(s, s.in.By); err != nil {
		return err
	}
	s.waits(Waiter{Agent: a.ID, For: Mailbox, Types: o.Types, Deaf: o.Deaf[a.Kind]})
	return nil
}

// waits notes that the calling process waits.
func (s *step) waits(w Waiter) {
	w.Process, w.Began = s.in.By.Chain[0].Process, s.at
	if old, ok := get[Waiter](s, w.Key()); ok {
		w.Began = old.Began // the same process asks again, a daemon later
	}
	s.put(w)
	s.memory = false
}

// tells says that a word is what the wait waits for.
func (w Waiter) tells(v View, word Word) bool {
	switch {
	case w.For == Mailbox:
		return w.tellsMail(v, word)
	case word.Gate != "":
		return w.For == word.Gate
	case word.News == nil:
		m, _ := get[Message](v, "message/"+word.Message)
		return m.ReplyTo != "" && w.For == m.ReplyTo
	case word.News.asks():
		worker, _ := get[Worker](v, "worker/"+word.News.Worker)
		told, _ := get[Told](v, Told{Who: w.Agent, Worker: worker.ID}.Key())
		return w.covers(word.News.Run, worker.ID) && told.State != worker.mark()
	}
	worker, _ := get[Worker](v, "worker/"+word.News.Worker)
	return word.News.byWait() && worker.Dispatch == word.News.Dispatch && w.covers(word.News.Run, word.News.Worker)
}

// tellsMail says that a message of which a word tells ends the wait.
func (w Waiter) tellsMail(v View, word Word) bool {
	if word.News != nil && word.News.Message == "" {
		return slices.ContainsFunc(word.News.bringers(v), func(m Message) bool { return m.open() && m.wanted(w.Types) })
	}
	m, ok := get[Message](v, "message/"+word.message())
	return ok && m.open() && m.wanted(w.Types)
}

// waitTells says that a word will be told by one of the open waits, which its agent holds.
func waitTells(v View, waits []Waiter, word Word) bool {
	return slices.ContainsFunc(waits, func(w Waiter) bool { return w.Agent == word.Agent && w.tells(v, word) && w.heard(v) })
}

// Waits lists the waits that are known to be open.
func Waits(v View) (list []Waiter) {
	each(v, "wait", func(w Waiter) bool {
		list = append(list, w)
		return true
	})
	return list
}
