package orch

import (
	"slices"
	"strings"
)

// EventTypes are the types that a line of the history can have.
var EventTypes = []string{
	"run-started", "run-ended",
	"agent-seen", "agent-gone",
	"worker-started", "window-opened", "worker-stopping",
	"worker-running", "worker-needs-input", "worker-finished", "worker-failed", "worker-no-report", "worker-gone", "worker-unknown",
	"delivered", "not-delivered", "unknown", "turn-ended",
	"progress", "reported", "report-noted", "task-completed", "task-failed", "task-cancelled",
	"message-queued", "message-typed", "message-delivered", "message-unknown", "message-not-delivered",
	"keys-ordered", "keys-pressed",
}

// CheckTypes refuses a type that no event has.
func CheckTypes(types []string) *Error {
	for _, t := range types {
		if !slices.Contains(EventTypes, t) {
			return refuse("usage", "", "no event has the type %q; there are %s", t, strings.Join(EventTypes, ", "))
		}
	}
	return nil
}

// Wants tells whether an event is of one of the types, of any where none is named.
func (e Event) Wants(types []string) bool { return len(types) == 0 || slices.Contains(types, e.Type) }

// Named lists the names of the runs, workers and agents that events speak of, by id.
func Named(v View, events []Event) map[string]string {
	names := map[string]string{}
	add := func(id, name string) {
		if id != "" && name != "" {
			names[id] = name
		}
	}
	for _, e := range events {
		r, _ := get[Run](v, "run/"+e.Run)
		w, _ := get[Worker](v, "worker/"+e.Worker)
		a, _ := get[Agent](v, "agent/"+e.Agent)
		by, _ := get[Agent](v, "agent/"+e.By)
		add(e.Run, r.Name)
		add(e.Worker, w.Name)
		add(e.Agent, a.Name)
		add(e.By, by.Name)
	}
	return names
}
