package orch

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// States of a worker's work.
const (
	queued     = "queued" // it waits in line for its window
	running    = "running"
	needsInput = "needs_input"
	finished   = "finished"
	failed     = "failed"
	noReport   = "no_report"
	taskless   = "no_task"  // it was adopted and has been given none
	released   = "released" // it was released before it had reported
)

// work says how a worker's work stands, from facts alone.
func work(v View, w Worker, d Dispatch, a Agent) string {
	switch {
	case d.Finished != nil && d.Report.Outcome == "failed":
		return failed
	case d.Finished != nil:
		return finished
	case w.Released != nil:
		return released
	case d.Closed == "stopped" || d.Closed == gone || a.Gone != "" && !a.Resumable:
		return gone
	case d.ID == "":
		return taskless
	case d.Closed != "":
		return noReport
	case d.queued():
		return queued
	case a.Resumable && !(d.Report == nil && d.TurnEnded != nil && !a.CutOff && d.Reminder == remindDone && !expects(v, a.ID)):
		return resumable // else it had been reminded in vain, and nothing more was awaited of it
	case a.Status == waiting && !w.stops(a.Since) || asking(v, d.Worker, a):
		return needsInput
	case d.Report == nil && d.TurnEnded != nil && !w.stops(*d.TurnEnded) && !a.Turn && a.Background == 0 && !expects(v, a.ID):
		return noReport
	case d.Delivery == Unknown && !a.Turn:
		return unknown
	}
	return running
}

// stops says that what happened at a time comes of the worker's being stopped: whether it is seen before the agent's end or
// that end is faster says nothing of its work.
func (w Worker) stops(at time.Time) bool { return w.Stopping != nil && !at.Before(*w.Stopping) }

// settledState says that nothing more comes of a worker by itself.
func settledState(state string) bool {
	return state == finished || state == failed || state == noReport || state == gone || state == taskless || state == released
}

// states brings the computed states of the workers up to date that this step has touched, and those that hang on them;
// true where one has changed.
func (s *step) states() (changed bool) {
	for more := true; more; changed = changed || more {
		more = false
		for _, id := range s.touched() {
			more = s.state(id) || more
		}
	}
	return changed
}

// touched are the workers whose state may be another by what this step has put.
func (s *step) touched() []string {
	ids := map[string]bool{}
	agent := func(id string) {
		if w, ok := workerOf(s, id); ok && id != "" {
			ids[w.ID] = true
		}
	}
	for _, k := range s.order {
		e := s.puts[k]
		if e == nil {
			e = s.View.Entity(k) // deleted
		}
		switch e := e.(type) {
		case Agent:
			agent(e.ID)
		case Dispatch:
			ids[e.Worker] = true
		case Worker:
			ids[e.ID] = true
			agent(e.By) // it has something to wait for, or no more
			r, _ := get[Run](s, "run/"+e.Run)
			agent(r.Coordinator)
		case Run:
			agent(e.Coordinator)
			if old, ok := s.View.Entity(k).(Run); ok {
				agent(old.Coordinator)
			}
		case Word:
			agent(e.Agent)
		case Waiter:
			agent(e.Agent)
			if old, ok := s.View.Entity(k).(Waiter); ok {
				agent(old.Agent)
			}
		case Message:
			if e.Type == Question {
				ids[e.Worker] = true
			}
		case Gate:
			agent(e.By)
			for _, w := range Waits(s) {
				if w.For == e.ID {
					agent(w.Agent)
				}
			}
		}
	}
	return slices.Sorted(keys(ids))
}

// state brings one worker's state up to date.
func (s *step) state(id string) (changed bool) {
	w, ok := get[Worker](s, "worker/"+id)
	d, _ := get[Dispatch](s, "dispatch/"+w.Dispatch)
	a, _ := get[Agent](s, "agent/"+w.Agent)
	st := work(s, w, d, a)
	if !ok || st == w.State {
		return false
	}
	w.State, w.StateSince = st, s.at
	s.put(w)
	s.memory = false
	what := a.WaitingFor
	if p, ok := awaits(s, w.ID, a); ok && st == needsInput && what == "" {
		what = p.kind
	}
	if st != released { // which has been said
		s.log("worker-"+strings.ReplaceAll(st, "_", "-"), Event{Worker: w.ID, Agent: w.Agent, Dispatch: w.Dispatch, Text: what})
	}
	s.newsOf(w, d, a)
	return true
}

func keys(m map[string]bool) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// expects says that something is to come that makes an agent go on: a line that is owed to it, or its own workers.
func expects(v View, agent string) bool {
	return leads(v, agent) || len(wordsOf(v, agent, func(w Word) bool { return w.State != unproved })) > 0
}

// workerStart opens a worker for a task that is ready, or for a new one; where there is no run one is made.
func (s *step) workerStart(o WorkerStart) *Error {
	id := s.who(s.in.By)
	if err := s.mayStart(id, o); err != nil {
		return err
	}
	scope, err := s.scopeOf(id, o)
	if err != nil {
		return err
	}
	o.Scope = scope
	if o.Task != "" {
		return s.startTask(id, o)
	}
	run, fresh, err := s.runForStart(id, o)
	if err != nil {
		return err
	}
	if run.Ended != nil {
		return refuse("run_ended", "st orch start --objective '…'", "run %s has ended", run.ID)
	}
	if err := fence(run, id); err != nil {
		return err
	}
	depth, err := s.depth(id, run, 0)
	if err != nil {
		return err
	}
	name, err := s.newName(run, o)
	if err != nil {
		return err
	}
	t := Task{ID: s.next("t"), Run: run.ID, Title: title(o.Title, o.Spec), Spec: o.Spec, Source: o.Source, By: id.id(), Created: s.at}
	d := s.attempt(t, o, attempt{by: id.id(), depth: depth, name: name, nonce: s.in.Nonce, request: s.in.Request})
	s.answerStart(d, o, fresh)
	return nil
}

func (s *step) answerStart(d Dispatch, o WorkerStart, fresh bool) {
	s.answer = func() any {
		d, _ := get[Dispatch](s, d.Key())
		w, _ := get[Worker](s, "worker/"+d.Worker)
		return StartAnswer{Run: d.Run, NewRun: fresh, Worker: w.ID, Name: w.Name, Task: d.Task, Dispatch: d.ID, Agent: d.Agent, EnvFile: o.EnvFile,
			Queued: placeInLine(s, d)}
	}
}

// mayStart holds what an agent may ask: st must not be a way around an agent's own permissions.
func (s *step) mayStart(id identity, o WorkerStart) *Error {
	if id.child {
		return refuse("not_yours", "", "an agent that was started inside %s may not start workers for it; only %[1]s itself may", id.name())
	}
	if id.agent == nil {
		return nil
	}
	for _, l := range o.Lifts {
		if !slices.Contains(o.May.Args, l) && !callerLifts(s.in.By, l) {
			return agentsMay(`args = ["`+l+`"]`, "an agent may not start a worker with %s, which lifts permissions that it does not have itself", l)
		}
	}
	if len(o.EnvNames) > 0 && !o.May.Env {
		return agentsMay("env = true", "an agent may not set --env for a worker")
	}
	if o.Given && !o.May.Kinds {
		return agentsMay("kinds = true", "an agent may not start a worker of the kind %s, which a person has described", o.Kind)
	}
	if o.Tree != nil && o.Tree.Setup != "" && !o.May.Setup {
		return agentsMay("setup = true", "an agent may not say how a worker's worktree is set up: --setup runs a command")
	}
	if o.Tree != nil && len(o.Tree.Runs) > 0 && !o.May.Setup {
		return agentsMay("setup = true", runsPrograms, strings.Join(o.Tree.Runs, ", "))
	}
	if o.Runs && !o.May.DemoRun {
		return agentsMay("demo_run = true", "an agent may not give the %s agent lines that run commands or write files", o.Kind)
	}
	return nil
}

// runsPrograms is why no agent has git at work in a repository.
const runsPrograms = "an agent may not have git run what the repository itself names in its settings: %s"

func agentsMay(line, format string, args ...any) *Error {
	e := refuse("refused_agent", "", format, args...)
	e.Hint = "a person may do it, or allow it in config.toml under [agents_may]: " + line
	return e
}

func callerLifts(by Caller, arg string) bool {
	for _, l := range by.Chain {
		if l.Kind != "" {
			return slices.Contains(l.Lifts, arg)
		}
	}
	return false
}

// title is what a task is called: as it was said, else the first line of its text.
func title(said, spec string) string {
	t := strings.TrimSpace(said)
	for _, l := range strings.Split(spec, "\n") {
		if t != "" {
			break
		}
		t = strings.TrimSpace(strings.TrimLeft(l, "# "))
	}
	if r := []rune(t); len(r) > 80 {
		t = string(r[:79]) + "…"
	}
	return t
}

// workerOf returns the worker that an agent is, or was until another took up its conversation; what it was released from
// it is no more.
func workerOf(v View, agent string) (Worker, bool) {
	for range successorsMost {
		if w, ok := worksAs(v, agent); ok {
			return w, true
		}
		a, ok := get[Agent](v, "agent/"+agent)
		if !ok || a.Next == "" {
			break
		}
		agent = a.Next
	}
	return Worker{}, false
}

// workerNamed finds a worker by id, or by name in the caller's run, the newest of that name.
func workerNamed(v View, by Caller, name string) (Worker, *Error) {
	if w, ok := get[Worker](v, "worker/"+name); ok {
		return w, nil
	}
	run, err := currentRun(v, by)
	if err != nil && err.Code == "no_run" && err.Data == nil {
		return Worker{}, noWorker(v, name, "")
	}
	if err != nil { // which run is meant can't be told, so nothing can be said of its workers
		return Worker{}, err
	}
	var found Worker
	each(v, Of("worker", run.ID), func(w Worker) bool {
		if w.Name == name && (found.ID == "" || found.Released != nil || w.Released == nil) {
			found = w
		}
		return true
	})
	if found.ID == "" {
		return found, noWorker(v, name, run.ID)
	}
	return found, nil
}

// noWorker refuses a name that no worker of a run has; run is "" where none is open. A worker that is called so in
// another run is named: by its id it is found from everywhere.
func noWorker(v View, name, run string) *Error {
	where := ""
	if run != "" {
		where = " in " + run
	}
	e := refuse("worker_not_found", "st worker ls", "worker %q: no such worker%s", name, where)
	var other Worker
	each(v, "worker", func(w Worker) bool {
		if w.Name == name && w.Run != run {
			other = w // of several the newest
		}
		return true
	})
	if other.ID != "" {
		e.Hint = fmt.Sprintf("run %s has one of that name, %s; of another run say its id, or which run with --run %[1]s", other.Run, other.ID)
		e.Next = []string{"st worker show " + other.ID, "st worker ls --run " + other.Run}
	}
	return e
}

// paneOpened takes the window that was opened for a worker.
func (s *step) paneOpened(o PaneOpened) {
	a, _ := get[Agent](s, "agent/"+o.Agent)
	if a.Resumes != "" {
		s.resumedOpened(a, o)
		return
	}
	d, ok := s.dispatchOf(a.ID)
	if !ok || d.Opened != nil || s.unordered(d) {
		return
	}
	dir := a.Place.Dir
	a.Place = o.Place
	if a.Place.Dir == "" {
		a.Place.Dir = dir
	}
	if a.Runner.PID == 0 {
		a.Runner = o.Runner
	}
	s.put(a)
	d.Opened = ptr(s.at)
	s.put(d)
	w, _ := get[Worker](s, "worker/"+d.Worker)
	s.log("window-opened", Event{Worker: w.ID, Agent: a.ID, Dispatch: d.ID, Text: o.Place.Pane})
	if w.Stopping != nil && a.hasPane() {
		s.stopAgent(a)
	}
}

func (s *step) paneFailed(o PaneFailed) {
	a, ok := get[Agent](s, "agent/"+o.Agent)
	if !ok {
		return
	}
	if d, ok := s.dispatchOf(a.ID); a.Resumes != "" {
		a.Failed = o.Error
	} else if ok {
		if o.Again != nil && s.awaitSession(a, d, *o.Again) {
			return
		}
		d.Error = o.Error
		s.put(d)
	}
	if o.Again != nil {
		s.dropLaunch(*o.Again)
	}
	s.end(a, "failed_to_open")
}

// workerProgress takes a line about what the worker does just now.
func (s *step) workerProgress(o WorkerProgress) *Error {
	w, err := s.itself("report")
	if err != nil {
		return err
	}
	w.Progress = o.Text
	s.put(w)
	s.log("progress", Event{Worker: w.ID, Agent: w.Agent, Dispatch: w.Dispatch, Text: o.Text})
	s.answer = func() any { return WorkerAnswer{Worker: workerInfo(s, w.ID)} }
	return nil
}
