package orch

import (
	"fmt"
	"strings"
)

type (
	// Send is a message to a worker, to whoever has a run's seat, or to several workers. Answer: MailAnswer.
	Send struct {
		// To is a worker's id or name, dispatch:D for the worker whose newest it is, run:R for the seat, @all for all live
		// workers of the run, @idle for those that are idle, @KIND for those of a kind.
		To      string `json:"to"`
		Subject string `json:"subject,omitempty"` // one line
		Body    string `json:"body,omitempty"`
		CopyDir string `json:"copy_dir,omitempty"` // as in WorkerStart, found by the daemon
	}
	// Escalate tells whoever answers for a worker that it can't go on as it was meant to. Answer: SendAnswer.
	Escalate struct {
		Text    string `json:"text"`
		CopyDir string `json:"copy_dir,omitempty"` // as in Send
	}
)

func (Send) Type() string     { return "send" }
func (Escalate) Type() string { return "escalate" }

const (
	// BodyMost is how much of a text stands in the record of a message, in bytes. A longer one stands in its file alone.
	BodyMost = 64 << 10
	// textMost is the longest text of a message, in bytes.
	textMost = 1 << 20
	// SubjectMost is the longest subject, in bytes.
	SubjectMost = 200
	// sendMost is how long a text may be times the number of those to whom it goes.
	sendMost = 64 << 20
)

// MailAnswer lists the messages that were recorded, one for each to whom it goes; of their texts only the ids.
type MailAnswer struct {
	Messages []MessageInfo `json:"messages"`
	Run      string        `json:"run"` // whose workers were meant
}

// letter is what somebody writes.
type letter struct {
	subject, body string
	now           bool // typed at once or not at all
}

// text is a letter as it stands in a file.
func (l letter) text() string {
	switch {
	case l.subject == "":
		return l.body
	case l.body == "":
		return "Subject: " + l.subject
	}
	return "Subject: " + l.subject + "\n\n" + l.body
}

// long says that its text stands in its file alone.
func (l letter) long() bool { return len(l.body) > BodyMost }

// kept is what of it stands in the record.
func (l letter) kept() string {
	if l.long() {
		return ""
	}
	return l.body
}

func (l letter) check() *Error {
	bad := func(format string, args ...any) *Error { return refuse("usage", "st send --help", format, args...) }
	switch {
	case strings.TrimSpace(l.subject+l.body) == "":
		return bad("the message is empty")
	case len(l.body) > textMost:
		return bad("the text has %d bytes, at most %d are taken", len(l.body), textMost)
	case len(l.subject) > SubjectMost:
		return bad("the subject has %d bytes, at most %d are taken: put the rest into the text", len(l.subject), SubjectMost)
	case strings.ContainsAny(l.subject, "\n\r"):
		return bad("the subject has a line break in it")
	}
	return nil
}

// send takes a message to whomever it names.
func (s *step) sendMail(o Send) *Error {
	l := letter{subject: o.Subject, body: o.Body}
	if err := l.check(); err != nil {
		return err
	}
	if name, ok := strings.CutPrefix(o.To, "run:"); ok {
		return s.sendRun(name, l, o.CopyDir)
	}
	id := s.who(s.in.By)
	run, workers, err := s.addressed(o.To, id)
	if err != nil {
		return err
	}
	if len(workers)*len(l.body) > sendMost {
		return refuse("usage", "", "%d bytes for %d workers are too much at once: write them into a file in a folder that all of them may read, and send its path", len(l.body), len(workers))
	}
	var ids []string
	for _, w := range workers {
		if err := s.mayWrite(w, id); err != nil {
			return err
		}
		a, err := s.addressee(w)
		if err != nil {
			return err
		}
		ids = append(ids, s.post(w, a, id, l).ID)
	}
	s.answer = func() any { return MailAnswer{Messages: s.sent(ids), Run: run} }
	return nil
}

// sent are messages as an order answers with them: who has sent them knows their text.
func (s *step) sent(ids []string) []MessageInfo {
	list := []MessageInfo{}
	for _, id := range ids {
		m := messageInfo(s, id)
		m.Body = ""
		list = append(list, m)
	}
	return list
}

// addressed are the workers that a name means, and their run.
func (s *step) addressed(to string, id identity) (run string, list []Worker, err *Error) {
	if which, ok := strings.CutPrefix(to, "@"); ok {
		return s.group(which, id)
	}
	if name, ok := strings.CutPrefix(to, "dispatch:"); ok {
		w, err := s.byDispatch(name)
		return w.Run, []Worker{w}, err
	}
	w, err := workerNamed(s, s.in.By, to)
	if err != nil && err.Code == "worker_not_found" {
		err.Hint = "a message goes to a worker's id or name, dispatch:D, run:R, @all, @idle or @KIND"
	}
	return w.Run, []Worker{w}, err
}

// group are the live workers of the caller's run that a word means, but for the caller itself.
func (s *step) group(which string, id identity) (run string, list []Worker, err *Error) {
	r, err := currentRun(s, s.in.By)
	if err != nil {
		return "", nil, err
	}
	if err := s.maySend(r, id); err != nil {
		return "", nil, err
	}
	kinds := map[string]bool{}
	each(s, Of("worker", r.ID), func(w Worker) bool {
		a, _ := get[Agent](s, "agent/"+w.Agent)
		kinds[w.Kind] = true
		lives := a.there() && w.Stopping == nil && w.Released == nil && (id.agent == nil || id.agent.ID != a.ID)
		if st, _ := a.status(); lives && (which == "all" || which == w.Kind || which == "idle" && st == "idle") {
			list = append(list, w)
		}
		return true
	})
	if which != "all" && which != "idle" && !kinds[which] {
		return "", nil, refuse("worker_not_found", "st worker ls", "@%s: run %s has no worker of that kind; there are @all, @idle and the kinds of its workers", which, r.ID)
	}
	return r.ID, list, nil
}

// byDispatch is the worker whose newest dispatch that is.
func (s *step) byDispatch(id string) (Worker, *Error) {
	d, ok := get[Dispatch](s, "dispatch/"+id)
	if !ok {
		return Worker{}, refuse("dispatch_not_found", "st worker ls", "dispatch %q: no such dispatch", id)
	}
	w, _ := get[Worker](s, "worker/"+d.Worker)
	if w.Dispatch != d.ID {
		return w, refuse("refused", "st send "+w.ID+" --subject '…' --body '…'", "worker %s %q has gone on from dispatch %s to %s, so a message about %[3]s would reach it too late", w.ID, w.Name, d.ID, w.Dispatch)
	}
	return w, nil
}

// sendRun sends to whoever has a run's seat.
func (s *step) sendRun(name string, l letter, dir string) *Error {
	run, err := runNamed(s, name)
	if err != nil {
		return err
	}
	id := s.who(s.in.By)
	if err := s.maySend(run, id); err != nil {
		return err
	}
	if run.Ended != nil {
		return refuse("run_ended", "st orch ls", "run %s has ended, so nobody would read a message", run.ID)
	}
	m := s.deposit(Message{Run: run.ID, To: run.ID, From: id.from()}, l, dir, "sent")
	s.answer = func() any { return MailAnswer{Messages: s.sent([]string{m.ID}), Run: run.ID} }
	return nil
}

// escalate tells whoever answers for the caller.
func (s *step) escalate(o Escalate) *Error {
	w, err := s.itself("escalate")
	if id := s.who(s.in.By); err != nil && id.agent != nil && !id.child && holdsSeat(s, id.agent.ID) {
		return refuse("not_yours", "st gate ask --question '…'", "%s coordinates a run and has nobody above it but a person: ask one by a gate", id.name())
	}
	if err != nil {
		return err
	}
	l := letter{body: o.Text}
	if err := l.check(); err != nil {
		return err
	}
	run, _ := get[Run](s, "run/"+w.Run)
	if run.Ended != nil {
		return refuse("run_ended", "", "run %s has ended, so nobody would read it; say what there is to say in your report: st worker done", run.ID)
	}
	m := s.deposit(Message{Run: w.Run, Type: Escalation, To: boxOf(s, w), From: w.Agent, Worker: w.ID, Dispatch: w.Dispatch}, l, o.CopyDir, "escalated")
	s.answer = func() any { return SendAnswer{Message: s.sent([]string{m.ID})[0]} }
	return nil
}

// maySend refuses a caller that has no business with a run: it is neither a person's, nor its coordinator's or one of its
// workers'.
func (s *step) maySend(run Run, id identity) *Error {
	switch {
	case id.agent == nil:
		return nil
	case id.child:
		return refuse("not_yours", "", "an agent that was started inside %s may not send messages for it; only %[1]s itself may", id.name())
	case id.agent.ID == run.Coordinator:
		return nil
	}
	if err := fence(run, id); err != nil {
		return err
	}
	if w, ok := workerOf(s, id.agent.ID); ok && w.Run == run.ID {
		return nil
	}
	return refuse("not_yours", "st orch show "+run.ID, "%s is neither the coordinator nor a worker of run %s", id.name(), run.ID)
}

// mayWrite is maySend for one worker: who has started it may write to it too.
func (s *step) mayWrite(w Worker, id identity) *Error {
	if id.agent != nil && !id.child && id.agent.ID == w.Agent {
		return refuse("refused", "st escalate '…'", "worker %s can't send a message to itself", w.ID)
	}
	run, _ := get[Run](s, "run/"+w.Run)
	if id.agent != nil && !id.child && id.agent.ID == w.By && fence(run, id) == nil {
		return nil
	}
	return s.maySend(run, id)
}

// addressee is a worker's agent, which is there to read.
func (s *step) addressee(w Worker) (Agent, *Error) {
	a, _ := get[Agent](s, "agent/"+w.Agent)
	if err := s.related(w); err != nil {
		return a, err
	}
	if !a.there() || w.Stopping != nil {
		return a, refuse("agent_exited", "st worker read "+w.ID, "worker %q has ended or is being stopped, so nobody would read a message", w.Name)
	}
	return a, nil
}

// post puts a letter into a worker's box and into a file, and owes the line that names that.
func (s *step) post(w Worker, a Agent, id identity, l letter) Message {
	m := s.newMessage(Message{Run: w.Run, To: w.ID, From: id.from(), Subject: l.subject, Body: l.kept(), Long: l.long()})
	m.Path = filesOf(s, w) + "-" + m.ID + ".md"
	word := Word{ID: s.next("o"), Agent: a.ID, Message: m.ID, Text: messageLine(m.Path), Mark: m.Path, State: unwritten, Now: l.now, Patience: turnTimeout}
	s.put(m)
	s.put(word)
	s.do(FileWrite{Word: word.ID, Path: m.Path, Note: Note{Message: m.ID, Worker: w.ID, Run: w.Run, From: s.writer(id), Text: l.text()}})
	return m
}

// deposit puts a letter into the box of whoever answers, and into a file below dir, and owes the news of it: did is what
// its sender did.
func (s *step) deposit(m Message, l letter, dir, did string) Message {
	m.Subject, m.Body, m.Long = l.subject, l.kept(), l.long()
	m = s.newMessage(m)
	word := s.oweMail(m, did)
	if dir == "" {
		return m
	}
	m.Path = dir + "/" + m.Run + "/" + m.ID + ".md"
	s.put(m)
	if word.ID != "" {
		word.State = unwritten
		s.put(word)
	}
	s.do(FileWrite{Word: word.ID, Path: m.Path, Note: Note{Message: m.ID, Run: m.Run, From: s.writer(s.who(s.in.By)), Text: l.text()}})
	return m
}

// from is how a message names its sender.
func (id identity) from() string {
	if id.agent == nil {
		return ""
	}
	return id.agent.ID
}

// writer is the sender of a message in words.
func (s *step) writer(id identity) string {
	if id.agent != nil {
		if w, ok := workerOf(s, id.agent.ID); ok {
			return fmt.Sprintf("worker %s (agent %s)", w.ID, id.agent.ID)
		}
	}
	return sender(id)
}
