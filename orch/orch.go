// Package orch is what is true and what should happen.
//
// Step takes a view of the state and one input, a thing that happened or an order that somebody gave,
// and answers with changes (whole entities, put by key) and effects (orders to the outside world). The
// package is pure: it does no I/O, keeps no clock, starts no goroutine and takes no lock. Time, ids and
// randomness come in with the input or from counters in the state; deadlines are state. Because of that
// every behaviour can be told as a story in testdata and replayed.
//
// What is left to others: making the state durable (orch/journal), running the effects and finding out
// the facts (orch/daemon), what a terminal multiplexer or an agent program is (tmux, hooks).
package orch

import (
	"encoding/json"
	"fmt"
	"time"
)

// View is a readable state. Entities are values; nothing that is read through it may be mutated.
type View interface {
	// Entity returns the entity of that key, or nil.
	Entity(key string) Entity
	// Each calls f for every entity on one shelf in the order in which they were first put, until f returns
	// false. Each stands on that of its noun ("run", "worker", ...) and on those that it names, see Shelves.
	Each(shelf string, f func(Entity) bool)
}

// Entity is one record. Its key is the noun, a slash and the id: "worker/w2".
type Entity interface{ Key() string }

// Input is one thing that happened, with what the daemon knows about it.
type Input struct {
	At time.Time // when it happened; never zero
	// Request is the id under which an order can be repeated without happening twice; "" for facts.
	Request string
	// Completes says that Request was taken before and this tells what came of it: the answer that is kept is replaced
	// by this one's; where there is none the request is forgotten, like one that was refused.
	Completes bool
	// By is who gave the order or sent the event; zero for facts the daemon found itself.
	By Caller
	// Nonce is 128 bits of fresh randomness in hex, for a secret that this input may have to create.
	Nonce string
	// Effect is the id of the effect of which this input is the result; 0 for everything else.
	Effect uint64
	What   What
}

// What is the happening itself. Its type is what stands on the wire and in stories: "worker-start".
type What interface{ Type() string }

// Changes is what one input does to the state.
type Changes struct {
	Puts   []Entity // whole entities; of two with one key the later counts
	Dels   []string // keys
	Events []Event  // lines for the history
	// Answer goes back to whoever gave the order; nil where nobody waits.
	Answer any
	// Err is a refusal. Then Puts, Dels and effects are empty.
	Err *Error
	// Memory says that nothing here has to survive a crash (tool activity): it is not written to disk.
	Memory bool
}

// Effect is an order to the outside world. It is owed from the commit of the input that caused it until
// the commit of the input that carries its result.
type Effect struct {
	// ID is given by the journal at commit; 0 before.
	ID uint64
	Do Order
}

// Order is what an effect does. Its type is what stands in the journal: "pane-open".
type Order interface{ Type() string }

// Event is one line of the history: what happened, to whom, caused by whom.
type Event struct {
	Seq      uint64    `json:"seq"` // given by the journal, starts at 1
	At       time.Time `json:"at"`
	Type     string    `json:"type"` // "worker-started", "turn-ended", ...
	Run      string    `json:"run,omitempty"`
	Worker   string    `json:"worker,omitempty"`
	Agent    string    `json:"agent,omitempty"`
	Task     string    `json:"task,omitempty"`
	Dispatch string    `json:"dispatch,omitempty"`
	Message  string    `json:"message,omitempty"`
	Gate     string    `json:"gate,omitempty"`
	Word     string    `json:"word,omitempty"`
	By       string    `json:"by,omitempty"`    // who brought it about: agent id, "person", or Us for what the daemon has found
	Cause    string    `json:"cause,omitempty"` // name of the input
	Text     string    `json:"text,omitempty"`
}

// Error is a refusal that a caller can act on.
type Error struct {
	Code    string   `json:"code"`    // "worker_not_found": stable, the exit code hangs on it
	Message string   `json:"message"` // what, to whom, why
	Hint    string   `json:"hint"`
	Next    []string `json:"next"` // lines to type
	Data    any      `json:"data,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// MarshalJSON keeps the promise that lists are [] and never null.
func (e *Error) MarshalJSON() ([]byte, error) {
	type plain Error
	p := plain(*e)
	if p.Next == nil {
		p.Next = []string{}
	}
	return json.Marshal(p)
}

func refuse(code, next, format string, args ...any) *Error {
	e := &Error{Code: code, Message: fmt.Sprintf(format, args...)}
	if next != "" {
		e.Next = []string{next}
	}
	return e
}
