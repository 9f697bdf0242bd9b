package orch

import (
	"slices"
	"strings"
)

// EventTypes are the types that a line of the history can have.
var EventTypes = []string{
	"run-started", "run-ended",
	"agent-seen", "agent-gone", "agent-resumed", "agent-restarted", "go-on-told", "go-on-unknown", "go-on-not-delivered",
	"worker-started", "worker-adopted", "worker-released", "window-opened", "worker-stopping", "worker-restarted", "worker-attached",
	"worktree-made", "worktree-failed", "worktree-kept", "worktree-gone", "setup-done", "setup-failed",
	"worker-queued", "session-missing", "session-returned", "worker-running", "worker-needs-input", "worker-finished", "worker-failed", "worker-no-report", "worker-no-task", "worker-gone", "worker-gone-resumable", "worker-unknown",
	"delivered", "not-delivered", "unknown", "turn-ended",
	"progress", "reported", "report-noted",
	"task-created", "task-pending", "task-ready", "task-blocked", "task-assigned", "task-updated", "task-escalated", "task-completed", "task-failed", "task-cancelled", "task-picked", "attempt-checked",
	"message-queued", "message-typed", "message-delivered", "message-unknown", "message-not-delivered", "message-settled", "mail-came", "mail-told",
	"keys-ordered", "keys-pressed",
	"gate-asked", "gate-shown", "gate-answered", "gate-cancelled", "gate-timed-out", "gate-told", "gate-told-unknown",
	"news", "news-told", "news-unknown", "words-carried", "reminded", "reminder-unknown", "reminder-not-delivered", "worker-silent",
	"seat-moved", "seat-taken", "seat-loss-told", "seat-loss-unknown", "release-told", "release-unknown",
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

// About finds what EventArgs name, and tells of an event whether it is wanted.
func About(v View, by Caller, a EventArgs) (func(Event) bool, *Error) {
	if a.Run != "" {
		by.Run = a.Run
	}
	if a.Worker != "" {
		w, err := workerNamed(v, by, a.Worker)
		if err != nil {
			return nil, err
		}
		a.Worker = w.ID
	}
	attempts := map[string]bool{} // of the task: an event may name its dispatch alone
	if a.Task != "" {
		t, ok := get[Task](v, "task/"+a.Task)
		if !ok {
			return nil, refuse("task_not_found", "st log", "task %q: no such task", a.Task)
		}
		each(v, Of("dispatch", t.Run), func(d Dispatch) bool {
			attempts[d.ID] = d.Task == t.ID
			return true
		})
	}
	return func(e Event) bool {
		return e.Wants(a.Types) && (a.Run == "" || e.Run == a.Run) && (a.Worker == "" || e.Worker == a.Worker) &&
			(a.Task == "" || e.Task == a.Task || attempts[e.Dispatch])
	}, nil
}

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
