package orch

import (
	"fmt"
	"slices"
)

// attempt is what the start of a worker is, beside how its order says it is to be done.
type attempt struct {
	by      string // agent id of who wants it, "" for a person
	depth   int
	name    string
	nonce   string
	request string
	retries string // the worker whose attempt it repeats
	auto    bool   // nobody has ordered it: its task has become ready
	keep    bool   // its environment is kept for the next attempt, or for the check of this one
}

// attempt begins an attempt of a task: agent, worker and dispatch are made, the window is ordered as soon as there is
// room.
func (s *step) attempt(t Task, o WorkerStart, m attempt) Dispatch {
	a := Agent{ID: s.next("a"), Kind: o.Kind, Name: m.name, Ours: true, Mute: o.Mute, Blind: o.Blind, ByMark: o.ByMark, Nonce: m.nonce, Place: o.Target, Since: s.at, LastSeen: s.at}
	a.Place.Dir = o.Dir
	if o.Named {
		a.Conversation = conversationOf(a.Nonce)
	}
	w := Worker{ID: s.next("w"), Run: t.Run, Name: m.name, Kind: o.Kind, Agent: a.ID, Dir: o.Dir, Model: o.Model, Args: o.Args, Scope: o.Scope, EnvNames: o.EnvNames,
		Command: o.Command, By: m.by, Created: s.at, Depth: m.depth, Request: m.request, Retries: m.retries}
	d := Dispatch{ID: s.next("d"), Run: t.Run, Task: t.ID, Worker: w.ID, Agent: a.ID, Created: s.at, ReadyTimeout: o.ReadyTimeout, TurnTimeout: o.TurnTimeout}
	if d.ReadyTimeout <= 0 {
		d.ReadyTimeout = readyTimeout
	}
	if d.TurnTimeout <= 0 {
		d.TurnTimeout = turnTimeout
	}
	if o.Tree != nil {
		tree := s.newTree(w, o.Dir, *o.Tree)
		w.Dir = tree.folder()
		a.Place.Dir = w.Dir
		s.put(tree)
	}
	d.Copy = o.CopyDir + "/" + t.Run + "/" + d.ID + ".md"
	word := d.taskWord(s.next("o"))
	d.Word, w.Dispatch = word.ID, d.ID
	w.State, w.StateSince = running, s.at
	for _, e := range []Entity{a, t.begun(d), w, d, word} {
		s.put(e)
	}
	s.clock(d)
	by := "" // the daemon itself
	if !m.auto {
		by = s.who(s.in.By).name()
	}
	s.log("worker-started", Event{Worker: w.ID, Agent: a.ID, Task: t.ID, Dispatch: d.ID, By: by, Text: m.name})
	s.enqueue(PaneOpen{Agent: a.ID, Worker: w.ID, Dispatch: d.ID, Kind: o.Kind, Target: o.Target, Name: m.name, Dir: w.Dir, Program: o.Program, Model: o.Model, Args: o.Args, Scope: o.Scope,
		EnvFile: o.EnvFile, Keep: m.keep, Nonce: a.Nonce, Copy: d.Copy, Run: t.Run, Task: t.ID, Command: o.Command, Conversation: a.Conversation, Status: standingOf(s, w)})
	s.memory = false
	return d
}

// begun is a task whose newest dispatch is that one.
func (t Task) begun(d Dispatch) Task {
	t.Status, t.Reason, t.Dispatch, t.Outcome, t.Summary = taskDispatched, "", d.ID, "", ""
	t.Attempts++
	t.Checked, t.CheckLog, t.CheckWhy = "", "", ""
	return t
}

// live says that a dispatch is under way: more may come of it by itself.
func live(v View, d Dispatch) bool {
	w, _ := get[Worker](v, "worker/"+d.Worker)
	a, _ := get[Agent](v, "agent/"+d.Agent)
	return d.open() && w.Dispatch == d.ID && !settledState(work(v, w, d, a))
}

// attemptOver notes on a task what came of its newest dispatch.
func (s *step) attemptOver(d Dispatch) {
	t, ok := get[Task](s, "task/"+d.Task)
	if !ok || t.Dispatch != d.ID || d.Report != nil && t.Status == taskCompleted { // settled by hand before its worker spoke
		return
	}
	r := d.Report
	if r != nil {
		t.Outcome, t.Summary = r.Outcome, r.Summary
		t = s.check(t, d)
	}
	switch {
	case r != nil && r.Outcome == "succeeded":
		t.Failures = 0
		s.taskOver(t, taskCompleted, "")
	case r != nil:
		s.attemptFailed(t, d, d.Worker+" reported that it failed")
	case d.Closed == "stopped":
		s.taskOver(t, taskCancelled, d.Worker+" was stopped before it reported")
	case d.Closed == released:
		s.taskOver(t, taskCancelled, d.Worker+" was released before it reported")
	case d.Closed == gone:
		s.attemptFailed(t, d, d.Worker+" is gone without a report")
	case d.Closed == unwritable:
		s.attemptFailed(t, d, "its file could not be written for "+d.Worker)
	}
}

// attemptFailed counts a failure. A task for which workers start by themselves gets the next, until too many in a row
// have failed: then somebody has to look.
func (s *step) attemptFailed(t Task, d Dispatch, reason string) {
	first := t.Status == taskDispatched // a late report may tell the same once more
	if first {
		t.Failures++
	}
	s.taskOver(t, taskFailed, reason)
	t, _ = get[Task](s, t.Key())
	switch run, _ := get[Run](s, "run/"+t.Run); {
	case !first || run.Ended != nil:
	case t.Failures == maxFailures:
		w, _ := get[Worker](s, "worker/"+d.Worker)
		s.escalateFailures(t, w)
	case t.Of != "": // an attempt is one
		s.put(s.dropStart(t))
	case t.Failures < maxFailures && t.Start != nil:
		t.Status, t.Reason = taskPending, ""
		s.put(t)
	}
}

// taskOver puts a task that is over. What was kept for its start goes where none will come.
func (s *step) taskOver(t Task, status, reason string) {
	changed := t.Status != status
	t.Status, t.Reason = status, reason
	if run, _ := get[Run](s, "run/"+t.Run); status != taskFailed || run.Ended != nil {
		t = s.dropStart(t)
	}
	s.put(t)
	if changed {
		s.log("task-"+status, Event{Run: t.Run, Task: t.ID, Text: reason})
		s.dropTries(t)
	}
}

// escalateFailures tells whoever answers for a worker that attempts of its task fail again and again.
func (s *step) escalateFailures(t Task, w Worker) {
	s.log("task-escalated", Event{Run: t.Run, Task: t.ID, Worker: w.ID})
	l := letter{subject: fmt.Sprintf("task %s has failed %d times in a row", t.ID, t.Failures),
		body: fmt.Sprintf("The last attempt was that of worker %s: %s. Nothing starts again by itself. What next: st worker read %[1]s, then st worker retry %[1]s, or st task update %s --status ready, or st task cancel %[3]s", w.ID, t.Reason, t.ID)}
	s.deposit(Message{Run: t.Run, Type: Escalation, To: boxOf(s, w), From: Us, Worker: w.ID, Dispatch: t.Dispatch}, l, "", "escalated")
}

// unwritable closes a dispatch whose task copy could not be written.
const unwritable = "unwritten"

// closeByHand closes the newest dispatch of a task of which nothing more comes by itself.
func (s *step) closeByHand(t Task, how string) {
	if d, ok := get[Dispatch](s, "dispatch/"+t.Dispatch); ok && d.open() {
		d = s.unremind(d)
		d.Closed = how
		s.put(d)
		s.clock(d)
	}
}

// openOf are the open dispatches of an agent, the newest last.
func openOf(v View, agent string) (list []Dispatch) {
	each(v, Of("dispatch", agent), func(d Dispatch) bool {
		if d.open() {
			list = append(list, d)
		}
		return true
	})
	slices.SortFunc(list, func(a, b Dispatch) int { return idNumber("d", a.ID) - idNumber("d", b.ID) })
	return list
}
