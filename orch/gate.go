package orch

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// A gate is a question that only a person may answer: the answer counts with the evidence that the daemon has found of a
// person at the keyboard, and with nothing that the caller says.

// States of a gate.
const (
	GateOpen      = "open"
	GateAnswered  = "answered"
	GateCancelled = "cancelled"
	GateTimedOut  = "timed_out" // its deadline has passed; a person may still answer it
)

// Limits of a gate, in bytes and in number. It is read on one screen.
const (
	gateTextMost    = 8 << 10 // of the question, and of a choice in own words
	gateOptionMost  = 200
	gateOptionsMost = 30
)

// Orders of gates, and what the daemon finds out for them.
type (
	// GateAsk opens a gate in the caller's run. Answer: GateReply.
	GateAsk struct {
		Question string   `json:"question"`
		Options  []string `json:"options,omitempty"` // none = any choice
		Task     string   `json:"task,omitempty"`    // that it holds; it has not been dispatched
		// Timeout is how long until its deadline; 0 = none.
		Timeout time.Duration `json:"timeout,omitempty"`
	}
	// GateAnswer is a person's choice. Answer: GateReply.
	GateAnswer struct {
		Gate   string `json:"gate"`
		Choice string `json:"choice"`
		// Evidence is what the daemon has found of a person; nil where it has not, and Missing says what was not there.
		Evidence *Evidence `json:"evidence,omitempty"`
		Missing  string    `json:"missing,omitempty"`
		Early    bool      `json:"early,omitempty"` // a key that is pressed in the next second is enough
	}
	// GateCancel closes a gate without an answer. Answer: GateReply.
	GateCancel struct {
		Gate string `json:"gate"`
	}
	// GateTold says that the caller has printed how a gate stands.
	GateTold struct {
		Gate   string `json:"gate"`
		Status string `json:"status"`
	}
	// GateShown is the result of GateShow.
	GateShown struct {
		Gate    string `json:"gate"`
		Clients int    `json:"clients"`         // terminals on which it was shown
		Error   string `json:"error,omitempty"` // what went wrong, for the history
	}
	// GateShow tells the persons that are there of a new gate: on their terminals, and by the program that config.toml
	// names.
	GateShow struct {
		Gate string `json:"gate"`
	}
	// GateReply is a gate as an order has left it.
	GateReply struct {
		Gate    GateInfo `json:"gate"`
		Already bool     `json:"already"` // nothing was to do
	}
)

func (GateAsk) Type() string    { return "gate-ask" }
func (GateAnswer) Type() string { return "gate-answer" }
func (GateCancel) Type() string { return "gate-cancel" }
func (GateTold) Type() string   { return "gate-told" }
func (GateShown) Type() string  { return "gate-shown" }
func (GateShow) Type() string   { return "gate-show" }

// gateAsk opens a gate.
func (s *step) gateAsk(o GateAsk) *Error {
	run, id, err := s.mayAsk()
	if err == nil {
		err = o.check()
	}
	if err == nil && o.Task != "" {
		err = s.mayHold(run, o.Task)
	}
	if err != nil {
		return err
	}
	g := Gate{ID: s.next("g"), Run: run.ID, Question: o.Question, Options: o.Options, Task: o.Task, Status: GateOpen, Created: s.at}
	if id.agent != nil {
		g.By = id.agent.ID
	}
	if o.Timeout > 0 {
		g.Deadline = s.at.Add(o.Timeout)
	}
	s.put(g)
	s.log("gate-asked", Event{Run: g.Run, Gate: g.ID, Task: g.Task, By: id.name(), Text: head(g.Question)})
	s.do(GateShow{Gate: g.ID})
	if g.Task != "" {
		s.moveTasks(g.Run)
	}
	s.gateReply(g.ID, false)
	return nil
}

// mayAsk is the run in which the caller may open a gate: its own, as coordinator or worker; a person's any.
func (s *step) mayAsk() (Run, identity, *Error) {
	run, err := currentRun(s, s.in.By)
	id := s.who(s.in.By)
	switch {
	case err != nil:
		return run, id, err
	case id.child:
		return run, id, refuse("not_yours", "", "an agent that was started inside %s may not open gates for it; only %[1]s itself may", id.name())
	case run.Ended != nil:
		return run, id, refuse("run_ended", "st orch start --objective '…'", "run %s has ended", run.ID)
	case fence(run, id) != nil:
		return run, id, fence(run, id)
	case id.agent == nil || id.agent.ID == run.Coordinator:
		return run, id, nil
	}
	if w, ok := workerOf(s, id.agent.ID); !ok || w.Run != run.ID {
		return run, id, refuse("not_yours", "st orch show "+run.ID, "%s is neither coordinator nor worker of run %s", id.name(), run.ID)
	}
	return run, id, nil
}

// check refuses a question that nobody could read or answer.
func (o GateAsk) check() *Error {
	seen := map[string]bool{}
	switch {
	case strings.TrimSpace(o.Question) == "":
		return refuse("usage", "st gate ask --help", "the question is empty")
	case len(o.Question) > gateTextMost:
		e := refuse("usage", "st gate ask --help", "the question has %d bytes, and %d is the most", len(o.Question), gateTextMost)
		e.Hint = "put the long part into a file and name it in the question"
		return e
	case !utf8.ValidString(o.Question):
		return refuse("usage", "st gate ask --help", "the question is not valid UTF-8")
	case len(o.Options) > gateOptionsMost:
		return refuse("usage", "st gate ask --help", "there are %d options, and %d are the most", len(o.Options), gateOptionsMost)
	case o.Timeout < 0:
		return refuse("usage", "st gate ask --help", "the deadline is before now")
	}
	for _, option := range o.Options {
		switch {
		case strings.TrimSpace(option) == "":
			return refuse("usage", "st gate ask --help", "an option is empty")
		case len(option) > gateOptionMost:
			return refuse("usage", "st gate ask --help", "an option has %d bytes, and %d is the most", len(option), gateOptionMost)
		case strings.ContainsAny(option, "\r\n") || !utf8.ValidString(option):
			return refuse("usage", "st gate ask --help", "the option %q is not one line of text", option)
		case seen[option]:
			return refuse("usage", "st gate ask --help", "the option %q is there twice", option)
		}
		seen[option] = true
	}
	return nil
}

// holdable are the states of a task that a gate can hold.
var holdable = []string{"pending", "ready", "blocked"}

func (s *step) mayHold(run Run, task string) *Error {
	t, ok := get[Task](s, "task/"+task)
	switch {
	case !ok || t.Run != run.ID:
		return refuse("task_not_found", "st orch show "+run.ID, "task %q: no such task in %s", task, run.ID)
	case !slices.Contains(holdable, t.Status):
		e := refuse("task_begun", "st gate ask --wait --question '…'", "task %s is %s: a gate holds only a task that has not been dispatched", t.ID, t.Status)
		e.Hint = "ask without --task, and wait for the answer"
		return e
	}
	return nil
}

// gateAnswer takes a person's choice.
func (s *step) gateAnswer(o GateAnswer) *Error {
	g, err := gateNamed(s, o.Gate)
	if err != nil {
		return err
	}
	type_ := "st gate answer " + g.ID + " " + g.sample(o.Choice)
	if whoIs(s, s.in.By).agent != nil {
		return notPerson(g, "an agent asks", type_)
	}
	switch {
	case g.Status == GateAnswered && g.Choice == o.Choice:
		s.gateReply(g.ID, true)
		return nil
	case g.Status == GateAnswered:
		return refuse("gate_closed", "st gate show "+g.ID, "gate %s was answered with %q already, and has one answer", g.ID, head(g.Choice))
	case g.Status == GateCancelled:
		return refuse("gate_closed", "st gate show "+g.ID, "gate %s was cancelled: nobody waits for an answer", g.ID)
	}
	if err := g.fits(o.Choice); err != nil {
		return err
	}
	if o.Evidence == nil {
		e := notPerson(g, o.Missing, type_)
		if o.Early {
			e.Hint = "press a key there again in a second, then type:"
		}
		return e
	}
	g.Choice, g.Evidence, g.AnsweredBy = o.Choice, o.Evidence, o.Evidence.String()
	s.closeGate(g, GateAnswered, Event{By: "person", Text: head(g.Choice) + "; " + g.AnsweredBy})
	s.gateReply(g.ID, false)
	return nil
}

// String says which person it was, for people.
func (e Evidence) String() string {
	return "a key was pressed at " + e.Client + ", in pane " + e.Place.Pane + " of session " + e.Place.SessionName + ", at " + e.Key.UTC().Format(time.RFC3339)
}

// notPerson refuses an answer that nothing shows to be a person's. line is what a person types.
func notPerson(g Gate, missing, line string) *Error {
	e := refuse("person_needed", line, "gate %s is answered by a person only: %s", g.ID, missing)
	e.Hint = "a person types this at the keyboard, in the active pane of an attached terminal"
	return e
}

// sample is how a choice is written in a line to type.
func (g Gate) sample(choice string) string {
	if g.fits(choice) == nil {
		return quoteArg(choice)
	}
	if len(g.Options) > 0 {
		return quoteArg(g.Options[0])
	}
	return "CHOICE"
}

// quoteArg is a text as one word of a shell's line.
func quoteArg(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@%+", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// fits refuses a choice that answers nothing.
func (g Gate) fits(choice string) *Error {
	switch {
	case strings.TrimSpace(choice) == "":
		return refuse("usage", "st gate show "+g.ID, "gate %s: the choice is empty", g.ID)
	case len(choice) > gateTextMost:
		return refuse("usage", "st gate show "+g.ID, "gate %s: the choice has %d bytes, and %d is the most", g.ID, len(choice), gateTextMost)
	case len(g.Options) == 0 || slices.Contains(g.Options, choice):
		return nil
	}
	e := &Error{Code: "bad_choice", Message: "gate " + g.ID + ": " + quoteArg(head(choice)) + " is none of its options", Data: map[string]any{"options": g.Options}}
	for _, option := range g.Options {
		e.Next = append(e.Next, "st gate answer "+g.ID+" "+quoteArg(option))
	}
	return e
}

// gateCancel closes a gate that nobody needs any more.
func (s *step) gateCancel(o GateCancel) *Error {
	g, err := gateNamed(s, o.Gate)
	if err != nil {
		return err
	}
	id := s.who(s.in.By)
	run, _ := get[Run](s, "run/"+g.Run)
	if err := fence(run, id); err != nil {
		return err
	}
	if id.agent != nil && (id.child || id.agent.ID != g.By && id.agent.ID != run.Coordinator) {
		return refuse("not_yours", "st gate show "+g.ID, "gate %s is not %s's: whoever asked, the coordinator of %s or a person may cancel it", g.ID, id.name(), g.Run)
	}
	switch g.Status {
	case GateCancelled:
		s.gateReply(g.ID, true)
		return nil
	case GateAnswered:
		return refuse("gate_closed", "st gate show "+g.ID, "gate %s was answered with %q, there is nothing to cancel", g.ID, head(g.Choice))
	}
	s.closeGate(g, GateCancelled, Event{By: id.name()})
	s.gateReply(g.ID, false)
	return nil
}

func (s *step) gateReply(id string, already bool) {
	s.answer = func() any { return GateReply{Gate: gateInfo(s, id), Already: already} }
}

// closeGate puts how a gate has ended, and owes that to whoever asked, unless it did that itself.
func (s *step) closeGate(g Gate, status string, e Event) {
	g.Status, g.Closed = status, ptr(s.at)
	s.put(g)
	e.Run, e.Gate, e.Task = g.Run, g.ID, g.Task
	s.log(gateEvents[status], e)
	s.oweGate(g, e.By)
	if g.Task != "" {
		s.moveTasks(g.Run)
	}
}

// gateEvents are the ends of a gate as the history names them.
var gateEvents = map[string]string{GateAnswered: "gate-answered", GateCancelled: "gate-cancelled", GateTimedOut: "gate-timed-out"}

// gatesOver closes the gates whose deadline has passed.
func (s *step) gatesOver() {
	each(s, openGatesShelf, func(g Gate) bool {
		if !g.Deadline.IsZero() && !g.Deadline.After(s.at) {
			s.memory = false
			s.closeGate(g, GateTimedOut, Event{})
		}
		return true
	})
}

// gateDeadlines calls f with each deadline to come.
func gateDeadlines(v View, f func(at time.Time)) {
	each(v, openGatesShelf, func(g Gate) bool {
		if !g.Deadline.IsZero() {
			f(g.Deadline)
		}
		return true
	})
}

// endGates cancels what is open of a run that has ended: nobody goes on by the answer.
func (s *step) endGates(run string) {
	each(s, Of("gate", run), func(g Gate) bool {
		if g.Status == GateOpen || g.Status == GateTimedOut {
			g.Status, g.Closed = GateCancelled, ptr(s.at)
			s.put(g)
			s.log("gate-cancelled", Event{Run: run, Gate: g.ID, Task: g.Task, Text: "its run has ended"})
		}
		return true
	})
}

// gateShown notes who was told of a gate.
func (s *step) gateShown(o GateShown) {
	g, ok := get[Gate](s, "gate/"+o.Gate)
	if !ok {
		return
	}
	text := fmt.Sprintf("terminals: %d", o.Clients)
	if o.Error != "" {
		text += "; " + o.Error
	}
	s.log("gate-shown", Event{Run: g.Run, Gate: g.ID, Text: text})
}

const openGatesShelf = "gate open"

func holding(task string) string { return "gate holds " + task }

// Shelves finds a gate by its run, by whoever asks while it is open, by the task that it holds, and the open ones.
func (g Gate) Shelves() []string {
	all := []string{Of("gate", g.Run)}
	if g.Status == GateOpen {
		all = append(all, openGatesShelf)
		if g.By != "" {
			all = append(all, Of("gate", g.By))
		}
	}
	if g.Task != "" && (g.Status == GateOpen || g.Status == GateTimedOut) {
		all = append(all, holding(g.Task))
	}
	return all
}

// openGates are the gates that hold a task, the oldest first. One whose deadline has passed holds it still: nobody has
// said yes.
func openGates(v View, task string) (list []Gate) {
	each(v, holding(task), func(g Gate) bool {
		list = append(list, g)
		return true
	})
	return list
}

func gateNamed(v View, id string) (Gate, *Error) {
	g, ok := get[Gate](v, "gate/"+id)
	if !ok {
		return g, refuse("gate_not_found", "st gate ls --all", "gate %q: no such gate", id)
	}
	return g, nil
}
