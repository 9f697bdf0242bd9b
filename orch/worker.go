package orch

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// States of a worker's work.
const (
	running    = "running"
	needsInput = "needs_input"
	finished   = "finished"
	failed     = "failed"
	noReport   = "no_report"
)

// work says how a worker's work stands, from facts alone.
func work(d Dispatch, a Agent) string {
	switch {
	case d.Finished != nil && d.Report.Outcome == "failed":
		return failed
	case d.Finished != nil:
		return finished
	case d.Closed != "" || a.Gone != "":
		return gone
	case a.Status == waiting:
		return needsInput
	case d.Report == nil && d.TurnEnded != nil && !a.Turn && a.Background == 0:
		return noReport
	case d.Delivery == Unknown && !a.Turn:
		return unknown
	}
	return running
}

// settledState says that nothing more comes of a worker by itself.
func settledState(state string) bool {
	return state == finished || state == failed || state == noReport || state == gone
}

// states brings the computed states of the workers up to date that this step has touched.
func (s *step) states() {
	touched := map[string]bool{}
	for _, k := range slices.Clone(s.order) {
		switch e := s.puts[k].(type) {
		case Agent:
			if w, ok := workerOf(s, e.ID); ok {
				touched[w.ID] = true
			}
		case Dispatch:
			touched[e.Worker] = true
		case Worker:
			touched[e.ID] = true
		}
	}
	for _, k := range slices.Sorted(keys(touched)) {
		w, ok := get[Worker](s, "worker/"+k)
		d, _ := get[Dispatch](s, "dispatch/"+w.Dispatch)
		a, _ := get[Agent](s, "agent/"+w.Agent)
		if st := work(d, a); ok && st != w.State {
			w.State, w.StateSince = st, s.at
			s.put(w)
			s.memory = false
			s.log("worker-"+strings.ReplaceAll(st, "_", "-"), Event{Worker: w.ID, Agent: w.Agent, Dispatch: w.Dispatch, Text: a.WaitingFor})
		}
	}
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

// workerStart opens a worker: run, task, dispatch and agent are made, its window is ordered.
func (s *step) workerStart(o WorkerStart) *Error {
	id := s.who(s.in.By)
	if err := s.mayStart(id, o); err != nil {
		return err
	}
	run, fresh, err := s.runForStart(id, o)
	if err != nil {
		return err
	}
	if run.Ended != nil {
		return refuse("run_ended", "st orch start --objective '…'", "run %s has ended", run.ID)
	}
	depth, err := s.depth(id, run)
	if err != nil {
		return err
	}
	name, err := s.newName(run, o)
	if err != nil {
		return err
	}
	a := Agent{ID: s.next("a"), Kind: o.Kind, Name: name, Ours: true, Mute: o.Mute, Nonce: s.in.Nonce, Place: o.Target, Since: s.at, LastSeen: s.at}
	a.Place.Dir = o.Dir
	t := Task{ID: s.next("t"), Run: run.ID, Title: title(o), Spec: o.Spec, Source: o.Source, Status: "dispatched", Created: s.at}
	w := Worker{ID: s.next("w"), Run: run.ID, Name: name, Kind: o.Kind, Agent: a.ID, Dir: o.Dir, Model: o.Model, Args: o.Args, EnvNames: o.EnvNames, Created: s.at, Depth: depth}
	if id.agent != nil {
		w.By = id.agent.ID
	}
	d := Dispatch{ID: s.next("d"), Run: run.ID, Task: t.ID, Worker: w.ID, Agent: a.ID, Created: s.at, ReadyTimeout: o.ReadyTimeout, TurnTimeout: o.TurnTimeout}
	if d.ReadyTimeout <= 0 {
		d.ReadyTimeout = readyTimeout
	}
	if d.TurnTimeout <= 0 {
		d.TurnTimeout = turnTimeout
	}
	d.Copy = o.CopyDir + "/" + run.ID + "/" + d.ID + ".md"
	word := d.taskWord(s.next("o"))
	d.Word, w.Dispatch, t.Dispatch = word.ID, d.ID, d.ID
	w.State, w.StateSince = running, s.at
	for _, e := range []Entity{a, t, w, d, word} {
		s.put(e)
	}
	s.clock(d)
	s.log("worker-started", Event{Worker: w.ID, Agent: a.ID, Task: t.ID, Dispatch: d.ID, By: id.name(), Text: name})
	s.do(PaneOpen{Agent: a.ID, Worker: w.ID, Dispatch: d.ID, Kind: o.Kind, Target: o.Target, Name: name, Dir: o.Dir, Program: o.Program, Model: o.Model, Args: o.Args,
		EnvFile: o.EnvFile, Nonce: a.Nonce, Copy: d.Copy, Run: run.ID, Task: t.ID, Spec: o.Spec, Command: o.Command})
	s.answer = func() any {
		return StartAnswer{Run: run.ID, NewRun: fresh, Worker: w.ID, Name: w.Name, Task: t.ID, Dispatch: d.ID, Agent: a.ID}
	}
	return nil
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
	if o.Runs && !o.May.DemoRun {
		return agentsMay("demo_run = true", "an agent may not give the %s agent lines that run commands or write files", o.Kind)
	}
	return nil
}

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

// depth is how far below the run's coordinator the new worker is.
func (s *step) depth(id identity, run Run) (int, *Error) {
	if id.agent == nil || id.agent.ID == run.Coordinator {
		return 1, nil
	}
	w, ok := workerOf(s, id.agent.ID)
	if !ok || w.Run != run.ID {
		return 1, nil
	}
	if w.Depth >= maxDepth {
		return 0, refuse("depth", "", "worker %s is already %d levels below its run's coordinator, and %d is the most: do this part yourself, or report that it should be started from above", w.ID, w.Depth, maxDepth)
	}
	return w.Depth + 1, nil
}

func title(o WorkerStart) string {
	t := strings.TrimSpace(o.Title)
	for _, l := range strings.Split(o.Spec, "\n") {
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
	e := refuse("bad_name", "", "the name %s can't be used: %s", shown, why)
	e.Hint = "a name has 1 to 64 printable characters, begins with a letter and is no id (w1, r2)"
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
	each(v, "worker", func(w Worker) bool {
		a, _ := get[Agent](v, "agent/"+w.Agent)
		if w.Run == run && w.Name == name && a.Gone == "" {
			id = w.ID
		}
		return true
	})
	return id
}

// workerOf returns the worker that an agent is.
func workerOf(v View, agent string) (Worker, bool) {
	var found Worker
	each(v, "worker", func(w Worker) bool {
		if w.Agent == agent {
			found = w
		}
		return true
	})
	return found, found.ID != ""
}

// workerNamed finds a worker by id, or by name in the caller's run, the newest of that name.
func workerNamed(v View, by Caller, name string) (Worker, *Error) {
	if w, ok := get[Worker](v, "worker/"+name); ok {
		return w, nil
	}
	run, err := currentRun(v, by)
	if err != nil && err.Code == "no_run" && err.Data == nil {
		return Worker{}, refuse("worker_not_found", "st worker ls", "worker %q: no such worker", name)
	}
	if err != nil { // which run is meant can't be told, so nothing can be said of its workers
		return Worker{}, err
	}
	var found Worker
	each(v, "worker", func(w Worker) bool {
		if w.Run == run.ID && w.Name == name {
			found = w
		}
		return true
	})
	if found.ID == "" {
		return found, refuse("worker_not_found", "st worker ls", "worker %q: no such worker in %s", name, run.ID)
	}
	return found, nil
}

// paneOpened takes the window that was opened for a worker.
func (s *step) paneOpened(o PaneOpened) {
	a, _ := get[Agent](s, "agent/"+o.Agent)
	d, ok := s.dispatchOf(a.ID)
	if !ok || d.Opened != nil {
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
	if d, ok := s.dispatchOf(a.ID); ok {
		d.Error = o.Error
		s.put(d)
	}
	s.end(a, "failed_to_open")
}

// workerStop orders an agent's end.
func (s *step) workerStop(o WorkerStop) *Error {
	w, err := workerNamed(s, s.in.By, o.Worker)
	if err != nil {
		return err
	}
	id, err := s.orders(w)
	if err != nil {
		return err
	}
	already := !s.stop(w, id)
	s.answer = func() any { return WorkerAnswer{Worker: workerInfo(s, w.ID), Already: already} }
	return nil
}

// orders is the caller, who may order something of a worker: a person, its run's coordinator, or who started it.
func (s *step) orders(w Worker) (identity, *Error) {
	id := s.who(s.in.By)
	run, _ := get[Run](s, "run/"+w.Run)
	if id.agent != nil && (id.child || id.agent.ID != run.Coordinator && id.agent.ID != w.By) {
		return id, refuse("not_yours", "st worker ls", "worker %s belongs to run %s, and %s is not its coordinator", w.ID, w.Run, id.name())
	}
	return id, nil
}

// stop orders the end of a worker's agent; false where there is nothing to end.
func (s *step) stop(w Worker, id identity) bool {
	a, _ := get[Agent](s, "agent/"+w.Agent)
	if !a.hasPane() || w.Stopping != nil {
		return false
	}
	w.Stopping = ptr(s.at)
	s.put(w)
	s.withdraw(a.ID, "stopped")
	s.log("worker-stopping", Event{Worker: w.ID, Agent: a.ID, By: id.name()})
	if d, _ := get[Dispatch](s, "dispatch/"+w.Dispatch); d.Opened != nil {
		s.stopAgent(a)
	}
	return true
}

// hasPane says that there may still be a pane of the agent: one that ended with an error leaves its last
// words standing.
func (a Agent) hasPane() bool { return a.Gone == "" || a.Gone == "exited" }

func (s *step) stopAgent(a Agent) {
	s.do(AgentStop{Agent: a.ID, Kind: a.Kind, Place: a.Place, Proc: a.Proc, Runner: a.Runner})
}

func (s *step) agentStopped(o AgentStopped) {
	a, ok := get[Agent](s, "agent/"+o.Agent)
	if !ok {
		return
	}
	if w, ok := workerOf(s, a.ID); ok {
		w.LeftOver = o.LeftOver
		s.put(w)
	}
	if a.Gone == "exited" { // its pane had stayed open with its last words
		a.Gone = "stopped"
		s.put(a)
		return
	}
	s.end(a, "stopped")
}

// workerProgress takes a line about what the worker does just now.
func (s *step) workerProgress(o WorkerProgress) *Error {
	w, err := s.reporter()
	if err != nil {
		return err
	}
	w.Progress = o.Text
	s.put(w)
	s.log("progress", Event{Worker: w.ID, Agent: w.Agent, Dispatch: w.Dispatch, Text: o.Text})
	s.answer = func() any { return WorkerAnswer{Worker: workerInfo(s, w.ID)} }
	return nil
}
