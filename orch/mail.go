package orch

import "strings"

// Mail: messages lie in boxes until they are settled. A box is a worker's ("w2") or a run's ("r1"), which is read by
// whoever has the seat.

// boxOf is the box of whoever answers for a worker: that of a worker, where it is one, else that of the run.
func boxOf(v View, w Worker) string {
	run, _ := get[Run](v, "run/"+w.Run)
	if to := answersFor(v, w); to != "" && to != run.Coordinator {
		if by, ok := workerOf(v, to); ok {
			return by.ID
		}
	}
	return w.Run
}

// boxes are those that a caller reads: an agent's are that of the worker that it is and those of the open runs whose seat
// it has, a person's is that of the current run, where that is a person's.
func boxes(v View, by Caller) ([]string, *Error) {
	id := whoIs(v, by)
	switch {
	case id.child:
		return nil, refuse("not_yours", "", "an agent that was started inside %s may not read its mail; only %[1]s itself may", id.name())
	case id.agent == nil:
		return personsBox(v, by)
	}
	var list []string
	if w, ok := workerOf(v, id.agent.ID); ok && id.agent.ID != "" {
		list = append(list, w.ID)
	}
	each(v, openRuns, func(r Run) bool {
		if r.Coordinator != "" && r.Coordinator == id.agent.ID {
			list = append(list, r.ID)
		}
		return true
	})
	if len(list) == 0 {
		return nil, refuse("no_box", "st orch ls", "%s has no mail: it is no worker and has the seat of no open run", id.name())
	}
	return list, nil
}

func personsBox(v View, by Caller) ([]string, *Error) {
	r, err := currentRun(v, by)
	if err != nil {
		return nil, err
	}
	if r.Coordinator != "" {
		e := refuse("not_yours", "st check --peek --run "+r.ID, "the mail of run %s is that of its coordinator, %s", r.ID, r.Coordinator)
		e.Hint = "with --peek it can be looked at"
		return nil, e
	}
	return []string{r.ID}, nil
}

// How a message was settled.
const (
	acked    = "acked"
	replied  = "replied"
	told     = "told"
	past     = "past" // what it tells of its worker is so no more
	runEnded = "run_ended"
)

// newMessage records a message that has come into a box.
func (s *step) newMessage(m Message) Message {
	m.ID, m.Created, m.State = s.next("m"), s.at, Queued
	if m.Type == "" {
		m.Type = Mail
	}
	s.put(m)
	by := m.From
	switch by {
	case "":
		by = identity{}.name()
	case Us:
		by = ""
	}
	if m.toWorker() {
		s.logMessage("message-queued", m, Event{By: by, Text: m.Type})
	} else {
		s.logMessage("mail-came", m, Event{By: by, Text: m.Type + " for " + m.To})
	}
	return m
}

// settleMessage says that a message is not open any more, and how that came. One that is
// settled stays as it is.
func (s *step) settleMessage(m Message, how string) {
	if now, ok := get[Message](s, m.Key()); ok && now.Settled != nil {
		return
	}
	m.Settled, m.How = ptr(s.at), how
	s.put(m)
	s.logMessage("message-settled", m, Event{Text: how})
}

// toWorker says that a message is for a worker itself, which a line hands it to; others lie in a box until they are read.
func (m Message) toWorker() bool {
	return (m.Type == "" || m.Type == Mail || m.Type == Answer) && strings.HasPrefix(m.To, "w")
}

// open says that a message waits for somebody. One without a type is from before there were boxes.
func (m Message) open() bool { return m.Settled == nil && m.Type != "" }

// openIn is the shelf of the open messages of a box.
func openIn(box string) string { return "message open " + box }
