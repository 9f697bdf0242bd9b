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
	id, err := s.orders(w)
	if err != nil {
		return err
	}
	a, _ := get[Agent](s, "agent/"+w.Agent)
	if a.Gone != "" || w.Stopping != nil {
		return refuse("agent_exited", "st worker read "+w.ID, "worker %q has ended or is being stopped, so nobody would read a message", w.Name)
	}
	if err := s.mayInterject(w, a, o.Now); err != nil {
		return err
	}
	m := Message{ID: s.next("m"), Run: w.Run, To: w.ID, State: Queued, Created: s.at}
	if id.agent != nil {
		m.From = id.agent.ID
	}
	m.Path = strings.TrimSuffix(firstCopy(s, a.ID), ".md") + "-" + m.ID + ".md"
	word := Word{ID: s.next("o"), Agent: a.ID, Message: m.ID, Text: messageLine(m.Path), Mark: m.Path, State: unwritten, Now: o.Now, Patience: turnTimeout}
	s.put(m)
	s.put(word)
	s.logMessage("message-queued", m, Event{By: id.name()})
	s.do(FileWrite{Word: word.ID, Path: m.Path, Note: Note{Message: m.ID, Worker: w.ID, Run: w.Run, From: sender(id), Text: o.Text}})
	s.answer = func() any { return SendAnswer{Message: messageInfo(s, m.ID)} }
	return nil
}

// mayInterject refuses a message that is to go in at once where that would interrupt, or overtake an earlier word.
func (s *step) mayInterject(w Worker, a Agent, now bool) *Error {
	if !now {
		return nil
	}
	why := a.held(s.at)
	if _, behind := headOf(s, a.ID); behind && why == "" {
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
	case gone:
		return "its agent is gone"
	case "stopped":
		return "it was stopped"
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

// firstCopy is the task copy that an agent was started with. Files named after it are what its launch lets it read.
func firstCopy(v View, agent string) (path string) {
	each(v, "dispatch", func(d Dispatch) bool {
		if d.Agent == agent {
			path = d.Copy
		}
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
	w, _ := get[Worker](s, "worker/"+m.To)
	e.Message, e.Run, e.Worker, e.Agent = m.ID, m.Run, m.To, w.Agent
	s.log(kind, e)
}

func (m Message) entered(s *step, t WordTyped) {
	m.State, m.Why, m.Submitted = Typed, "", t.Submitted
	s.put(m)
	s.logMessage("message-typed", m, Event{})
}

func (m Message) withheld(s *step, t WordTyped) {
	m.Why = t.Why
	s.put(m)
}

func (m Message) dropped(s *step, why string) {
	m.State, m.Why = NotDelivered, why
	s.put(m)
	s.logMessage("message-not-delivered", m, Event{Text: why})
}

func (m Message) overdue(s *step) {
	m.State = Unknown
	s.put(m)
	s.logMessage("message-unknown", m, Event{})
}

func (m Message) proved(s *step) {
	m.State, m.Why, m.Delivered = Delivered, "", ptr(s.at)
	if m.Submitted == nil {
		m.Submitted = ptr(s.at)
	}
	s.put(m)
	s.logMessage("message-delivered", m, Event{})
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
	return MessageInfo(m)
}
