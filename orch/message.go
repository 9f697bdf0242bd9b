package orch

import "strings"

// A message is a text for a worker. It is written into a file beside the task copy, which the agent may read
// without asking, and a word tells of it.

// States of a message.
const (
	Queued = "queued" // its line is owed
	Typed  = "typed"  // its line was submitted, and no hook has proved it yet
	// Delivered, Unknown and NotDelivered are those of a dispatch.
)

// NotWritten begins the why of a message whose file could not be written; the error stands behind it.
const NotWritten = "not_written: "

// Note is a text for an agent with what it should know of it.
type Note struct {
	Message string `json:"message"` // id
	Worker  string `json:"worker"`
	Run     string `json:"run"`
	From    string `json:"from"` // "a person", or an agent's id
	Text    string `json:"text"`
	// Of an answer: the id of the question, and what that asks.
	Asked    string `json:"asked,omitempty"`
	Question string `json:"question,omitempty"`
}

// messageLine is what is typed: fixed words and a path of plain characters.
func messageLine(path string) string {
	return "A message for you is in this file: " + path + " - read it and do what it says."
}

// workerSend records a message and owes its line to the worker's agent.
func (s *step) workerSend(o WorkerSend) *Error {
	w, err := workerNamed(s, s.in.By, o.Worker)
	if err != nil {
		return err
	}
	id := s.who(s.in.By)
	if err := s.mayWrite(w, id); err != nil {
		return err
	}
	a, err := s.addressee(w)
	if err != nil {
		return err
	}
	if err := s.mayInterject(w, a, o.Now); err != nil {
		return err
	}
	m := s.post(w, a, id, letter{body: o.Text, now: o.Now})
	s.answer = func() any { return SendAnswer{Message: s.sent([]string{m.ID})[0]} }
	return nil
}

// mayInterject refuses a message that is to go in at once where that would interrupt, or overtake an earlier word.
func (s *step) mayInterject(w Worker, a Agent, now bool) *Error {
	if !now {
		return nil
	}
	why := a.held(s.at)
	if nextLine(s, a.ID) != nil && why == "" {
		why = Queued
	}
	if why == "" {
		return nil
	}
	e := refuse("not_ready", "st worker show "+w.ID, "worker %q can't be typed to now: %s", w.Name, WhyHeld(why))
	e.Hint = "without --now the message waits until its turn has ended"
	e.Data = map[string]any{"why": why}
	return e
}

// WhyHeld says in words what keeps a line from being typed: the why of a message, of Agent.held or of typing.
func WhyHeld(why string) string {
	if fault, ok := strings.CutPrefix(why, NotWritten); ok {
		return "its file can't be written: " + fault
	}
	switch why {
	case draft:
		return "a draft stands in its input line"
	case "copy_mode":
		return "its pane is in copy mode"
	case "busy":
		return "somebody has just pressed a key there"
	case resumable:
		return "its terminals were closed, and it has not come back yet"
	case gone:
		return "its agent is gone"
	case "stopped":
		return "it was stopped"
	case released:
		return "it was released"
	case turnOver:
		return "its turn was over before the line went in"
	case hookGone:
		return "the hook that was to tell it gave up waiting for it"
	case working:
		return "its turn runs"
	case starting:
		return "it is still starting"
	case compacting:
		return "it compacts its conversation"
	case Queued:
		return "an earlier line has not gone in yet"
	}
	return "it waits (" + why + ")"
}

// filesOf is what the paths of the files begin with that a worker is to read. Of one that was opened for the run its launch lets
// it read what is named after its first task copy.
func filesOf(v View, w Worker) string {
	if w.Files != "" {
		return w.Files
	}
	return strings.TrimSuffix(firstCopy(v, w.Agent), ".md")
}

// firstCopy is the task copy that an agent was started with. Files named after it are what its launch lets it read.
func firstCopy(v View, agent string) (path string) {
	each(v, Of("dispatch", agent), func(d Dispatch) bool {
		path = d.Copy
		return path == ""
	})
	return path
}

func sender(id identity) string {
	if id.agent == nil {
		return "a person"
	}
	return "agent " + id.agent.ID
}

func (s *step) logMessage(kind string, m Message, e Event) {
	w, ok := get[Worker](s, "worker/"+m.To)
	if !ok { // to a run
		w, _ = get[Worker](s, "worker/"+m.Worker)
	}
	e.Message, e.Run, e.Worker, e.Agent = m.ID, m.Run, w.ID, w.Agent
	s.log(kind, e)
}

func (m Message) entered(s *step, t WordTyped) {
	m.Why, m.Submitted = "", t.Submitted
	if m.Delivered == nil {
		m.State = Typed
	}
	s.put(m)
	s.logMessage("message-typed", m, Event{})
}

func (m Message) withheld(s *step, t WordTyped) {
	if m.Delivered != nil {
		return // a check has told it
	}
	m.State, m.Why, m.Submitted = Queued, t.Why, nil
	s.put(m)
}

func (m Message) dropped(s *step, why string) {
	if m.Delivered != nil {
		return
	}
	m.State, m.Why = NotDelivered, why
	s.put(m)
	s.logMessage("message-not-delivered", m, Event{Text: why})
}

func (m Message) overdue(s *step) {
	if m.Delivered != nil {
		return
	}
	m.State = Unknown
	s.put(m)
	s.logMessage("message-unknown", m, Event{})
}

func (m Message) proved(s *step) {
	if m.Submitted == nil {
		m.Submitted = ptr(s.at)
		s.put(m)
	}
	s.known(m.ID)
	m, _ = get[Message](s, m.Key())
	s.settleMessage(m, told)
}

// MessageOf is one message by its id.
func MessageOf(v View, _ Caller, a MessageArgs) (MessageInfo, *Error) {
	if _, ok := get[Message](v, "message/"+a.Message); !ok {
		return MessageInfo{}, refuse("message_not_found", "st log", "message %q: no such message", a.Message)
	}
	return messageInfo(v, a.Message), nil
}

func messageInfo(v View, id string) MessageInfo {
	m, _ := get[Message](v, "message/"+id)
	var w Worker
	if m.From != "" {
		w, _ = workerOf(v, m.From)
	}
	return MessageInfo{FromWorker: w.ID, FromName: w.Name, Long: m.Long, ID: m.ID, Run: m.Run, Type: m.Type, From: m.From, To: m.To, Subject: m.Subject, Body: m.Body, Worker: m.Worker, Dispatch: m.Dispatch,
		Options: list(m.Options), Reply: m.Reply, ReplyTo: m.ReplyTo, Over: m.Over, Path: m.Path, State: m.State, Why: m.Why, Created: m.Created, Submitted: m.Submitted,
		Delivered: m.Delivered, Settled: m.Settled, How: m.How}
}
