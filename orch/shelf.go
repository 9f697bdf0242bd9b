package orch

import (
	"slices"
	"strconv"
	"strings"
)

// What is asked for many times a second must not cost more the longer everybody has worked: an entity stands on
// shelves, and a question goes over the one shelf that has its answers.

// Shelved is an entity that is looked for by something else than its key.
type Shelved interface {
	// Shelves names the shelves on which it stands beside that of its noun, as it is now. A name is fixed words and
	// ids, and begins with the noun.
	Shelves() []string
}

// Shelves are all shelves on which an entity stands, that of its noun first.
func Shelves(e Entity) []string {
	noun, _, _ := strings.Cut(e.Key(), "/")
	all := []string{noun}
	if s, ok := e.(Shelved); ok {
		all = append(all, s.Shelves()...)
	}
	return all
}

// OnShelf tells whether an entity stands on a shelf.
func OnShelf(e Entity, shelf string) bool {
	noun, _, _ := strings.Cut(e.Key(), "/")
	return strings.HasPrefix(shelf, noun) && (len(shelf) == len(noun) || slices.Contains(Shelves(e), shelf))
}

// LiveAgents is the shelf of agents whose process is not known to have ended.
const LiveAgents = "agent live"

// ResumableAgents is the shelf of agents that ended with their server and may come back with their conversation.
const ResumableAgents = "agent resumable"

// doubtful is the shelf of agents that may be one of those, where it can't be told which.
const doubtful = "agent doubtful"

const (
	openRuns     = "run open"
	autoTasks    = "task auto"
	waitingWords = "word waiting" // those that an agent will be told, and those whose proof may still come in time
)

// Of is the shelf of a noun's entities that belong to one other entity: "worker of r3".
func Of(noun, id string) string { return noun + " of " + id }

// AtProcess is the shelf of the agents that a process is, or whose pane it runs.
func AtProcess(p Process) string {
	return "agent at " + strconv.Itoa(p.PID) + " " + strconv.FormatUint(p.Start, 36)
}

// FormerlyOf is the shelf of the workers that an agent was and from which it was released.
func FormerlyOf(agent string) string { return "worker formerly of " + agent }

func waitingIn(run string) string               { return "task waiting in " + run }
func startedBy(agent string) string             { return "worker by " + agent }
func ofNonce(nonce string) string               { return "agent of nonce " + nonce }
func ofConversation(kind, thread string) string { return "agent of " + kind + " " + thread }

// Shelves finds an agent by its processes, its secret and its conversation.
func (a Agent) Shelves() []string {
	var all []string
	if a.Gone == "" {
		all = append(all, LiveAgents)
	}
	if a.Resumable {
		all = append(all, ResumableAgents)
	}
	if a.Maybe != "" {
		all = append(all, doubtful)
	}
	if a.Proc.PID != 0 {
		all = append(all, AtProcess(a.Proc))
	}
	if a.Runner.PID != 0 && a.Runner != a.Proc {
		all = append(all, AtProcess(a.Runner))
	}
	if a.Nonce != "" {
		all = append(all, ofNonce(a.Nonce))
	}
	if a.Conversation != "" {
		all = append(all, ofConversation(a.Kind, a.Conversation))
	}
	return all
}

// Shelves finds the open runs.
func (r Run) Shelves() []string {
	if r.Ended != nil {
		return nil
	}
	return []string{openRuns}
}

// Shelves finds a worker by its run, and by its agent and the one that has started it as long as it was not released.
func (w Worker) Shelves() []string {
	if w.Released != nil {
		return []string{Of("worker", w.Run), FormerlyOf(w.Agent)}
	}
	all := []string{Of("worker", w.Run), Of("worker", w.Agent)}
	if w.By != "" {
		all = append(all, startedBy(w.By))
	}
	return all
}

// Shelves finds a dispatch by its run and by its agent.
func (d Dispatch) Shelves() []string { return []string{Of("dispatch", d.Run), Of("dispatch", d.Agent)} }

// Shelves finds a task by its run, those whose status follows from others, and those for which an environment is kept.
func (t Task) Shelves() []string {
	all := []string{Of("task", t.Run)}
	if t.waits() {
		all = append(all, waitingIn(t.Run))
	}
	if t.Start != nil {
		all = append(all, autoTasks)
	}
	return all
}

// Shelves finds a message by its run and by the dispatch of which it speaks, as long as it is open by its box and by the
// worker of which it speaks, and an unanswered question by its asker.
func (m Message) Shelves() []string {
	all := []string{Of("message", m.Run)}
	if m.Dispatch != "" {
		all = append(all, Of("message", m.Dispatch))
	}
	if m.open() {
		all = append(all, openIn(m.To))
	}
	if m.unanswered() {
		all = append(all, unansweredOf(m.Worker))
	}
	if m.open() && m.Worker != "" {
		all = append(all, Of("message", m.Worker))
	}
	return all
}

// Shelves finds a delivery by its boxes.
func (d MailDelivery) Shelves() []string {
	var all []string
	for _, b := range d.Boxes {
		all = append(all, Of("delivery", b))
	}
	return all
}

// Shelves finds a word by its agent, by the first word of its line, by its message and by what it has news of, and those for which there
// is still something to do.
func (w Word) Shelves() []string {
	all := []string{Of("word", w.Agent)}
	if w.Lead != "" {
		all = append(all, Of("word", w.Lead))
	}
	if w.News != nil {
		all = append(all, Of("word", w.News.Run))
	}
	if w.News != nil && w.News.Worker != "" {
		all = append(all, Of("word", w.News.Worker))
	}
	if m := w.message(); m != "" {
		all = append(all, Of("word", m))
	}
	if w.Lost != "" {
		all = append(all, Of("word", w.Lost))
	}
	if w.State != unproved && w.State != kept {
		all = append(all, waitingWords)
	}
	return all
}

// Shelves finds what a waiting caller has been told.
func (t Told) Shelves() []string { return []string{Of("told", t.Who)} }
