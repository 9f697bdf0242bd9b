package orch

import "slices"

// A worker that can't decide something asks whoever answers for it. The question lies in a box and is news; its answer
// reaches the worker by the ask that waits for it, else by a word. A question is unanswered until it is replied to, or
// until nobody needs the answer any more: that somebody has acknowledged it answers nothing.

type (
	// Ask records a worker's question. The same text again, while it is unanswered or its answer has not been told, is
	// the same question. Answer: AskAnswer.
	Ask struct {
		Question string   `json:"question"`
		Options  []string `json:"options,omitempty"` // what may be answered; none = anything
		// Later says that nobody waits: the answer comes as a word when the asker's turn has ended.
		Later bool `json:"later,omitempty"`
		// Deaf is as in WaitBegan, found by the daemon.
		Deaf map[string]bool `json:"deaf,omitempty"`
	}
	// Reply answers a question. Answer: ReplyAnswer.
	Reply struct {
		Message string `json:"message"` // the question's id
		Text    string `json:"text"`
	}
	// AskTold says that a waiting ask has printed the answer to this question.
	AskTold struct {
		Message string `json:"message"` // the question's id
	}
)

func (Ask) Type() string     { return "ask" }
func (Reply) Type() string   { return "reply" }
func (AskTold) Type() string { return "ask-told" }

// Why a question gets no answer any more, see Message.Over.
const (
	takenBack = "taken_back" // its asker has reported, was stopped or is gone
)

// unanswered says that a question still waits for its reply.
func (m Message) unanswered() bool { return m.Type == Question && m.Reply == "" && m.Over == "" }

// unansweredOf is the shelf of a worker's unanswered questions.
func unansweredOf(worker string) string { return "message asked by " + worker }

// questionsOf lists a worker's unanswered questions, the oldest first.
func questionsOf(v View, worker string) (list []Message) {
	each(v, unansweredOf(worker), func(m Message) bool {
		list = append(list, m)
		return true
	})
	return list
}

// ask records a question, or finds it again.
func (s *step) ask(o Ask) *Error {
	w, err := s.asker()
	if err != nil {
		return err
	}
	m, again := s.asksAgain(w, o.Question)
	switch {
	case again && len(o.Options) > 0 && !slices.Equal(o.Options, m.Options):
		return refuse("asked_already", "st ask --resume "+m.ID, "question %s asks this with other options, and has no answer yet", m.ID)
	case !again:
		m = s.newMessage(Message{Run: w.Run, Type: Question, From: w.Agent, To: boxOf(s, w), Body: o.Question, Worker: w.ID, Dispatch: w.Dispatch, Options: o.Options})
		s.oweQuestion(w, m)
	}
	if !o.Later && s.in.By.Path == "socket" {
		s.waitsFor(w.Agent, m, o.Deaf)
	}
	s.answer = func() any { return AskAnswer{Message: messageInfo(s, m.ID), Again: again} }
	return nil
}

// asker is the worker that the caller is, where it may ask.
func (s *step) asker() (Worker, *Error) {
	w, err := s.itself("ask")
	if err != nil {
		if id := s.who(s.in.By); id.agent != nil && !id.child && holdsSeat(s, id.agent.ID) {
			return w, refuse("not_yours", "st gate ask --question '…'", "%s coordinates a run and is no worker: what it can't decide is a person's to answer", id.name())
		}
		return w, err
	}
	run, _ := get[Run](s, "run/"+w.Run)
	a, _ := get[Agent](s, "agent/"+w.Agent)
	switch {
	case run.Ended != nil:
		return w, refuse("run_ended", "", "run %s has ended, so nobody would answer worker %s: go on as you see fit, or report what is missing", run.ID, w.ID)
	case w.Stopping != nil || !a.there():
		return w, refuse("stopped", "", "worker %s has ended or is being stopped, so nobody would answer it", w.ID)
	}
	return w, nil
}

// asksAgain finds a worker's question of that text which still matters: it is unanswered, or its answer is on the way.
func (s *step) asksAgain(w Worker, text string) (found Message, ok bool) {
	for _, m := range questionsOf(s, w.ID) {
		if m.Body == text {
			return m, true
		}
	}
	each(s, openIn(w.ID), func(a Message) bool {
		q, is := get[Message](s, "message/"+a.ReplyTo)
		if is && a.Type == Answer && q.Body == text && q.Worker == w.ID {
			found, ok = q, true
		}
		return !ok
	})
	return found, ok
}

// waitsFor notes that the calling process waits for the answer to a question.
func (s *step) waitsFor(agent string, m Message, deaf map[string]bool) {
	if len(s.in.By.Chain) == 0 {
		return
	}
	a, _ := get[Agent](s, "agent/"+agent)
	s.waits(Waiter{Agent: agent, Run: m.Run, For: m.ID, Deaf: deaf[a.Kind]})
}

// reply answers a question.
func (s *step) reply(o Reply) *Error {
	q, ok := get[Message](s, "message/"+o.Message)
	switch {
	case !ok:
		return refuse("message_not_found", "st check --peek", "message %q: no such message", o.Message)
	case q.Type != Question:
		return refuse("no_question", "st check --peek", "message %s is no question, so it can't be replied to", q.ID)
	}
	id, err := s.replier(q)
	if err != nil {
		return err
	}
	if old, ok := get[Message](s, "message/"+q.Reply); ok {
		if old.Body != o.Text {
			e := refuse("answered", "st worker send "+q.Worker+" '…'", "question %s was answered before, by %s with another text", q.ID, old.ID)
			e.Data = map[string]any{"message": messageInfo(s, old.ID)}
			return e
		}
		s.answer = func() any { return s.replyAnswer(q.ID, true) }
		return nil
	}
	if q.Over != "" {
		return overError(q)
	}
	w, _ := get[Worker](s, "worker/"+q.Worker)
	m := Message{Run: q.Run, Type: Answer, To: w.ID, Body: o.Text, Worker: w.ID, Dispatch: q.Dispatch, ReplyTo: q.ID}
	if id.agent != nil {
		m.From = id.agent.ID
	}
	m = s.newMessage(m)
	q.Reply = m.ID
	s.put(q)
	s.settleMessage(q, replied)
	s.unaskNews(q)
	s.bringAnswer(w, q, m, sender(id))
	s.answer = func() any { return s.replyAnswer(q.ID, false) }
	return nil
}

// replier is the caller, who may answer a question: a person, whoever has its box, and whoever answers for its asker now.
func (s *step) replier(q Message) (identity, *Error) {
	id := s.who(s.in.By)
	if id.agent == nil {
		return id, nil
	}
	if id.child {
		return id, refuse("not_yours", "", "an agent that was started inside %s may not reply for it; only %[1]s itself may", id.name())
	}
	w, _ := get[Worker](s, "worker/"+q.Worker)
	box, _ := get[Worker](s, "worker/"+q.To)
	run, _ := get[Run](s, "run/"+q.To)
	if id.agent.ID == box.Agent || id.agent.ID == run.Coordinator || id.agent.ID == answersFor(s, w) {
		return id, nil
	}
	asked, _ := get[Run](s, "run/"+q.Run)
	if err := fence(asked, id); err != nil {
		return id, err
	}
	return id, refuse("not_yours", "", "question %s was asked of %s, not of %s", q.ID, q.To, id.name())
}

// overError says why a question gets no answer any more.
func overError(q Message) *Error {
	if q.Over == runEnded {
		return refuse("question_over", "", "question %s is cancelled: run %s has ended", q.ID, q.Run)
	}
	return refuse("question_over", "st worker show "+q.Worker, "question %s is taken back: worker %s has reported or ended since, and needs no answer", q.ID, q.Worker)
}

// takeBack gives up the unanswered questions of a worker: nobody needs an answer.
func (s *step) takeBack(worker string) {
	for _, q := range questionsOf(s, worker) {
		s.giveUpQuestion(q, takenBack)
	}
}

// cancelQuestions gives up the unanswered questions of a run that has ended.
func (s *step) cancelQuestions(run string) {
	each(s, Of("worker", run), func(w Worker) bool {
		for _, q := range questionsOf(s, w.ID) {
			s.giveUpQuestion(q, runEnded)
		}
		return true
	})
}

func (s *step) giveUpQuestion(q Message, why string) {
	q.Over = why
	s.put(q)
	s.settleMessage(q, why)
	s.unaskNews(q)
}
