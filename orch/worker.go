package orch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
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

// likeID tells whether a name has the shape of an id: a letter that ids begin with, then digits.
func likeID(name string) bool {
	if len(name) < 2 || !strings.ContainsRune("artwdmvgo", rune(name[0])) {
		return false
	}
	return strings.Trim(name[1:], "0123456789") == ""
}

// hidden tells whether a name looks like another one: what turns the reading direction, and what has no width,
// can't be seen in a list or a window's name. What joins two signs into one picture may stand between them.
func hidden(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r) && string(r) != joiner
	}) || strings.HasPrefix(name, joiner) || strings.HasSuffix(name, joiner)
}

// joiner is the zero width joiner of emoji such as families.
const joiner = "\u200d"

// checkName refuses a name that could be taken for something else.
func checkName(name string) *Error {
	why := ""
	switch n := utf8.RuneCountInString(name); {
	case strings.TrimSpace(name) == "":
		why = "it is empty"
	case !utf8.ValidString(name), strings.ContainsRune(name, utf8.RuneError): // JSON puts that sign for what is not UTF-8
		why = "it is not valid UTF-8"
	case n > 64:
		why = "it has " + strconv.Itoa(n) + " characters, and 64 is the most"
	case strings.TrimSpace(name) != name:
		why = "it begins or ends with a space"
	case strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }):
		why = "it has a control character or a line break in it"
	case strings.ContainsRune("-=%@$:+~!#", rune(name[0])):
		why = "it begins with " + name[:1]
	case hidden(name):
		why = "it has a character in it that can't be seen"
	case strings.Trim(name, "0123456789") == "":
		why = "it is a number"
	case likeID(name):
		why = "it looks like an id"
	default:
		return nil
	}
	shown := strconv.Quote(name)
	if len(shown) > 60 {
		shown = shown[:57] + `…"`
	}
	e := refuse("bad_name", "st help workers", "the name %s can't be used: %s", shown, why)
	e.Hint = "a name has 1 to 64 printable characters, begins with a letter and is nothing like an id (w1, d1, g2); all rules:"
	return e
}

// newName is the worker's name: unique in its run among live workers.
func (s *step) newName(run Run, o WorkerStart) (string, *Error) {
	c, _ := get[Counters](s, "counters/")
	name := o.Name
	if name == "" {
		name = o.Kind + "-" + strconv.Itoa(c.Worker+1)
		for taken(s, run.ID, name) != "" {
			name += "x"
		}
		return name, nil
	}
	if err := checkName(name); err != nil {
		return "", err
	}
	if w := taken(s, run.ID, name); w != "" {
		e := refuse("name_taken", "st worker show "+w, "worker %s of %s is called %q already", w, run.ID, name)
		e.Hint = "choose another --name, or stop that one: st worker stop " + w + " --yes"
		return "", e
	}
	return name, nil
}

// taken returns the live worker of that name in a run.
func taken(v View, run, name string) (id string) {
	each(v, Of("worker", run), func(w Worker) bool {
		a, _ := get[Agent](v, "agent/"+w.Agent)
		if w.Name == name && a.there() && w.Released == nil {
			id = w.ID
		}
		return true
	})
	return id
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

// workerStop orders an agent's end.
func (s *step) workerStop(o WorkerStop) *Error {
	w, id, err := s.ordersNamed(o.Worker)
	if err == nil {
		err = s.mayStop(w, id)
	}
	if err != nil {
		return err
	}
	already := !s.stop(w, id)
	s.answer = func() any { return WorkerAnswer{Worker: workerInfo(s, w.ID), Already: already} }
	return nil
}

// mayStop refuses to end what is not the run's to end: an agent that was released, and for another agent one that it has
// not started but found.
func (s *step) mayStop(w Worker, id identity) *Error {
	if err := s.related(w); err != nil {
		return err
	}
	if id.agent != nil && s.ranBefore(w) {
		e := refuse("refused_agent", "st worker release "+w.ID, "worker %s ran before it was adopted, so no agent may end it: release it", w.ID)
		e.Hint = "a person may stop it"
		return e
	}
	return nil
}

// ordersNamed is a worker by id or name, and the caller, who may order something of it.
func (s *step) ordersNamed(name string) (Worker, identity, *Error) {
	w, err := workerNamed(s, s.in.By, name)
	if err != nil {
		return w, identity{}, err
	}
	id, err := s.orders(w)
	return w, id, err
}

// ranBefore says that a worker's agent was there before st had anything to do with it, also where its conversation goes on
// in one that st has started since.
func (s *step) ranBefore(w Worker) bool {
	a, ok := get[Agent](s, "agent/"+w.Agent)
	for ok && a.Ours && a.Resumes != "" {
		a, ok = get[Agent](s, "agent/"+a.Resumes)
	}
	return ok && w.Adopted && !a.Ours
}

// orders is the caller, who may order something of a worker: a person, its run's coordinator, or who started it.
func (s *step) orders(w Worker) (identity, *Error) {
	id := s.who(s.in.By)
	run, _ := get[Run](s, "run/"+w.Run)
	if err := fence(run, id); err != nil {
		return id, err
	}
	if id.agent != nil && (id.child || id.agent.ID != run.Coordinator && id.agent.ID != w.By) {
		return id, refuse("not_yours", "st worker ls", "worker %s belongs to run %s, and %s is not its coordinator", w.ID, w.Run, id.name())
	}
	return id, nil
}

// stop orders the end of a worker's agent; false where there is nothing to end.
func (s *step) stop(w Worker, id identity) bool {
	a, _ := get[Agent](s, "agent/"+w.Agent)
	if !a.hasPane() && !a.Resumable || w.Stopping != nil {
		return false
	}
	w.Stopping = ptr(s.at)
	if id.agent != nil {
		w.StoppedBy = id.agent.ID
	}
	s.put(w)
	if a.Resumable { // there is nothing to end
		s.log("worker-stopping", Event{Worker: w.ID, Agent: a.ID, By: id.name()})
		s.letGo(a, "stopped")
		return true
	}
	s.withdraw(a.ID, "stopped")
	s.takeBack(w.ID)
	s.log("worker-stopping", Event{Worker: w.ID, Agent: a.ID, By: id.name()})
	s.stopSetup(w.ID)
	switch d, _ := get[Dispatch](s, "dispatch/"+w.Dispatch); {
	case d.queued():
		s.end(a, "stopped")
	case s.quits(a): // it is being ended already
	case d.Opened != nil || d.ID == "":
		s.stopAgent(a)
	}
	return true
}

// hasPane says that there may still be a pane of the agent: one that ended with an error leaves its last
// words standing.
func (a Agent) hasPane() bool { return a.Gone == "" || a.Gone == "exited" }

func (s *step) stopAgent(a Agent) { s.do(a.stop()) }

// stop is the order for an agent's end. Of one that was found only its own program is ended: what its pane runs is a
// person's shell.
func (a Agent) stop() AgentStop {
	o := AgentStop{Agent: a.ID, Kind: a.Kind, Place: a.Place, Proc: a.Proc}
	if a.Ours {
		o.Runner = a.Runner
	}
	return o
}

func (s *step) agentStopped(o AgentStopped) {
	a, ok := get[Agent](s, "agent/"+o.Agent)
	if !ok {
		return
	}
	if a.Opens != nil {
		return // without a window there is nothing to end
	}
	if w, ok := worksAs(s, a.ID); ok { // who has its work now may sit there
		w.LeftOver = o.LeftOver
		s.put(w)
		defer s.agentLeft(w.ID)
	}
	if s.quitFor(a, o) {
		return
	}
	if o.Kept { // for a window that does not come any more
		s.stopAgent(a)
	}
	if a.Gone == exited { // its pane had stayed open with its last words
		if !a.Resumable {
			a.Gone = "stopped"
			s.put(a)
		}
		return
	}
	s.end(a, "stopped")
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
