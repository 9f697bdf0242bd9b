package orch

import (
	"cmp"
	"slices"
	"strings"
)

// Orders about a task that is there.
type (
	// TaskUpdate puts a task's status by hand. Answer: TaskAnswer.
	TaskUpdate struct {
		Task   string `json:"task"`
		Status string `json:"status"`           // ready completed failed cancelled
		Result string `json:"result,omitempty"` // its summary
	}
	// TaskCancel says that nobody wants a task any more. Answer: TaskAnswer.
	TaskCancel struct {
		Task string `json:"task"`
	}
	// TaskAssign hands a task to a worker that is there and has settled. Answer: AssignAnswer.
	TaskAssign struct {
		Task   string `json:"task"`
		Worker string `json:"worker"`

		// Found by the daemon before the order reaches Step.
		Runs    bool   `json:"runs,omitempty"` // the task's text itself runs commands, for this worker's kind
		Command string `json:"command"`        // how an agent's shell calls us where nothing else is known
		May     May    `json:"may"`
	}
	// WorkerRetry begins a new attempt of a worker's task, in a new worker. Answer: StartAnswer.
	WorkerRetry struct {
		Worker string `json:"worker"`
		// Start is how: what the old worker was started with, an environment, a place.
		Start WorkerStart `json:"start"`
	}
)

// Types on the wire.
func (TaskUpdate) Type() string  { return "task-update" }
func (TaskCancel) Type() string  { return "task-cancel" }
func (TaskAssign) Type() string  { return "task-assign" }
func (WorkerRetry) Type() string { return "worker-retry" }

// byHand are the statuses that somebody may put.
var byHand = []string{taskReady, taskCompleted, taskFailed, taskCancelled}

// taskOrdered is a task that the caller may order something about.
func (s *step) taskOrdered(id string) (Task, Run, identity, *Error) {
	t, run, err := s.taskNamed(id)
	if err != nil {
		return t, run, identity{}, err
	}
	by, err := s.ordersTasks(run)
	return t, run, by, err
}

// settledByHand refuses to put a task by hand at which somebody works.
func (s *step) settledByHand(t Task) *Error {
	d, ok := get[Dispatch](s, "dispatch/"+t.Dispatch)
	if !ok || t.Status != taskDispatched || !live(s, d) {
		if d, ok = s.liveTry(t); !ok {
			return nil
		}
		e := refuse("not_ready", "st worker wait "+d.Worker, "%s makes an attempt at task %s (%s)", d.Worker, t.ID, d.Task)
		e.Next = append(e.Next, "st worker stop "+d.Worker+" --yes")
		return e
	}
	e := refuse("not_ready", "st worker wait "+d.Worker, "task %s is dispatched: %s works at it (%s)", t.ID, d.Worker, d.ID)
	e.Next = append(e.Next, "st worker stop "+d.Worker+" --yes")
	return e
}

func (s *step) taskUpdate(o TaskUpdate) *Error {
	if !slices.Contains(byHand, o.Status) {
		return refuse("usage", "st task update --help", "a task can't be put to %q; it can to %s", o.Status, strings.Join(byHand, ", "))
	}
	t, run, id, err := s.taskOrdered(o.Task)
	if err == nil {
		err = s.settledByHand(t)
	}
	if err == nil && o.Status == taskReady && t.Start != nil {
		_, err = s.depth(id, run, 0)
	}
	if err != nil {
		return err
	}
	already := t.Status == o.Status && (o.Result == "" || o.Result == t.Summary) || o.Status == taskReady && t.waits() && t.Status != taskBlocked
	if !already {
		s.putByHand(t, o, id)
	}
	s.answer = func() any { return TaskAnswer{Task: taskInfo(s, t.ID), Already: already} }
	return nil
}

// putByHand puts a task as somebody says. One that is to be ready is so only where nothing holds it.
func (s *step) putByHand(t Task, o TaskUpdate, id identity) {
	s.closeByHand(t, retried)
	t.Outcome, t.Summary = map[string]string{taskCompleted: "succeeded", taskFailed: "failed"}[o.Status], o.Result
	s.log("task-updated", Event{Run: t.Run, Task: t.ID, By: id.name(), Text: o.Status})
	switch o.Status {
	case taskReady:
		t.Status, t.Reason, t.Failures, t.Picked = taskPending, "", 0, ""
		s.put(t)
	case taskCompleted:
		t.Failures = 0
		s.taskOver(t, o.Status, "")
	default:
		s.taskOver(t, o.Status, "by "+personOr(id))
	}
	s.moveTasks(t.Run)
}

func personOr(id identity) string {
	if id.agent == nil {
		return "a person"
	}
	return id.agent.ID
}

func (s *step) taskCancel(o TaskCancel) *Error {
	t, _, id, err := s.taskOrdered(o.Task)
	if err == nil {
		err = s.settledByHand(t)
	}
	if err != nil {
		return err
	}
	already := t.over()
	if !already {
		s.putByHand(t, TaskUpdate{Task: t.ID, Status: taskCancelled}, id)
	}
	s.answer = func() any { return TaskAnswer{Task: taskInfo(s, t.ID), Already: already} }
	return nil
}

// notReady refuses to dispatch a task that is not ready, and says what would make it so.
func (s *step) notReady(t Task) *Error {
	d, _ := get[Dispatch](s, "dispatch/"+t.Dispatch)
	e := refuse("not_ready", "st task show "+t.ID, "task %s is %s", t.ID, t.Status)
	if t.Reason != "" {
		e.Message += ": " + t.Reason
	}
	switch {
	case t.Status == taskReady:
		return nil
	case len(t.Tries) > 0 && !t.over():
		e.Next = []string{"st task attempts " + t.ID, "st task pick " + t.ID + " W"}
	case t.Status == taskDispatched && live(s, d):
		e.Next = []string{"st worker wait " + d.Worker}
	case t.Status == taskDispatched:
		e.Message += ", and " + d.Worker + " has settled without a report"
		e.Next = []string{"st worker retry " + d.Worker, "st task update " + t.ID + " --status ready"}
	case t.Status == taskBlocked:
		for _, id := range t.Deps {
			dep, _ := get[Task](s, "task/"+id)
			if s, _ := standing(s, Task{Deps: []string{id}}); s == taskBlocked && dep.Status != taskBlocked {
				e.Next = append(e.Next, "st task update "+id+" --status ready")
			}
		}
	case t.over():
		e.Next = []string{"st task update " + t.ID + " --status ready"}
	}
	return e
}

// startTask opens a worker for a task that is there.
func (s *step) startTask(id identity, o WorkerStart) *Error {
	t, run, err := s.taskNamed(o.Task)
	if err == nil {
		id, err = s.ordersTasks(run)
	}
	if err == nil {
		err = s.notReady(t)
	}
	if err != nil {
		return err
	}
	if _, err := s.depth(id, run, 0); err != nil {
		return err
	}
	if err := s.mayCheck(id, t, o); err != nil {
		return err
	}
	name, err := s.newName(run, o)
	if err != nil {
		return err
	}
	t, keep := s.tryByHand(t, o)
	if !keep {
		t.Start = s.dropStart(t).Start // somebody does it by hand
	}
	d := s.attempt(t, o, attempt{by: id.id(), depth: 1, name: name, nonce: s.in.Nonce, request: s.in.Request, keep: keep})
	s.answerStart(d, o, false)
	return nil
}

// id is the agent id of a caller, "" for a person.
func (id identity) id() string {
	if id.agent == nil {
		return ""
	}
	return id.agent.ID
}

// workerRetry begins a new attempt of a worker's task.
func (s *step) workerRetry(o WorkerRetry) *Error {
	w, err := workerNamed(s, s.in.By, o.Worker)
	if err != nil {
		return err
	}
	run, _ := get[Run](s, "run/"+w.Run)
	id, err := s.ordersTasks(run)
	if err != nil {
		return err
	}
	start := o.Start
	start.Kind, start.Model, start.Args, start.Scope = w.Kind, w.Model, w.Args, w.Scope
	if start.Tree == nil {
		start.Dir = w.Dir
	}
	if err := s.mayStart(id, start); err != nil {
		return err
	}
	if start.Scope, err = s.scopeOf(id, start); err != nil {
		return err
	}
	if _, err := s.depth(id, run, 0); err != nil {
		return err
	}
	d, ok := get[Dispatch](s, "dispatch/"+w.Dispatch)
	if !ok {
		return refuse("not_ready", "st task create --spec '…'", "worker %s has had no task that could be tried again", w.ID)
	}
	t, _ := get[Task](s, "task/"+d.Task)
	if err := s.mayRetry(w, d, t); err != nil {
		return err
	}
	if err := s.mayCheck(id, t, start); err != nil {
		return err
	}
	for _, name := range w.EnvNames {
		if !slices.Contains(start.EnvNames, name) {
			return refuse("usage", "st worker retry "+w.ID+" --env "+name+"=…", "worker %s was started with --env %s, and its value is kept nowhere: say it again", w.ID, name)
		}
	}
	s.closeByHand(t, retried)
	if start.Name == "" {
		start.Name = w.Name
	}
	t, keep := s.tryByHand(t, start)
	name := s.freeName(run, start, t.Attempts+1)
	next := s.attempt(t, start, attempt{by: id.id(), depth: 1, name: name, nonce: s.in.Nonce, request: s.in.Request, retries: w.ID, keep: keep})
	s.answerStart(next, start, false)
	return nil
}

// retried closes a dispatch whose task somebody has put by hand, or has begun anew.
const retried = "retried"

// mayRetry says why a worker's task can't be begun anew.
func (s *step) mayRetry(w Worker, d Dispatch, t Task) *Error {
	switch {
	case t.Dispatch != d.ID:
		other, _ := get[Dispatch](s, "dispatch/"+t.Dispatch)
		return refuse("not_ready", "st worker show "+other.Worker, "task %s of worker %s has a newer attempt: %s by %s", t.ID, w.ID, other.ID, other.Worker)
	case t.Status == taskDispatched && !live(s, d), t.Status == taskFailed, t.Status == taskCancelled:
	default:
		return s.notRetried(t)
	}
	if status, reason := standing(s, t); status != taskReady {
		return refuse("not_ready", "st task show "+t.ID, "task %s can't be tried again now: it would be %s, %s", t.ID, status, reason)
	}
	return nil
}

// notRetried says what helps with a task that is not one to try again.
func (s *step) notRetried(t Task) *Error {
	if t.waits() && t.Status == taskReady {
		return refuse("not_ready", "st worker start --task-id "+t.ID+" --agent KIND", "task %s is ready for a first attempt already: start a worker for it", t.ID)
	}
	if err := s.settledByHand(t); err != nil {
		return err
	}
	return s.notReady(t)
}

// taskAssign hands a task to a worker that is there: its line is typed when the agent's turn has ended.
func (s *step) taskAssign(o TaskAssign) *Error {
	t, run, id, err := s.taskOrdered(o.Task)
	if err != nil {
		return err
	}
	w, err := workerNamed(s, s.in.By, o.Worker)
	if err != nil {
		return err
	}
	if w.Run != run.ID {
		return refuse("refused", "st worker ls --run "+run.ID, "worker %s works for run %s, and task %s is of %s", w.ID, w.Run, t.ID, run.ID)
	}
	if err := s.mayStart(id, WorkerStart{Kind: w.Kind, Runs: o.Runs, May: o.May}); err != nil {
		return err
	}
	a, _ := get[Agent](s, "agent/"+w.Agent)
	if a.Resumable && w.Stopping == nil {
		return refuse("not_ready", "st worker show "+w.ID, "worker %q can't take a task now: %s", w.Name, WhyHeld(resumable))
	}
	if a.Gone != "" || w.Stopping != nil {
		return refuse("agent_exited", "st worker start --task-id "+t.ID+" --agent "+w.Kind, "worker %q has ended or is being stopped, so it can't take a task", w.Name)
	}
	if err := s.related(w); err != nil {
		return err
	}
	if err := s.tooDeep(w); err != nil {
		return err
	}
	if info := workerInfo(s, w.ID); !info.Settled && w.Dispatch != "" {
		e := refuse("unsettled", "st worker wait "+w.ID, "worker %s has not settled: it works at task %s (%s)", w.ID, info.Task, info.Dispatch)
		e.Next = append(e.Next, "st worker start --task-id "+t.ID+" --agent "+w.Kind)
		return e
	}
	if err := s.notReady(t); err != nil {
		return err
	}
	d := s.furtherDispatch(t, w, a, o)
	s.log("task-assigned", Event{Worker: w.ID, Agent: a.ID, Task: t.ID, Dispatch: d.ID, By: id.name()})
	s.answer = func() any { return AssignAnswer{Task: taskInfo(s, t.ID), Worker: workerInfo(s, w.ID), Dispatch: d.ID} }
	return nil
}

// furtherDispatch gives a worker its next dispatch. Its window and its process are there; the task copy lies beside its
// first, where its launch lets it read.
func (s *step) furtherDispatch(t Task, w Worker, a Agent, o TaskAssign) Dispatch {
	last, _ := get[Dispatch](s, "dispatch/"+w.Dispatch)
	d := Dispatch{ID: s.next("d"), Run: t.Run, Task: t.ID, Worker: w.ID, Agent: a.ID, Created: s.at, Opened: ptr(s.at), Started: ptr(s.at),
		ReadyTimeout: last.ReadyTimeout, TurnTimeout: last.TurnTimeout}
	if d.ReadyTimeout == 0 { // it was adopted, and this is its first
		d.ReadyTimeout, d.TurnTimeout = readyTimeout, turnTimeout
	}
	d.Copy = filesOf(s, w) + "-" + d.ID + ".md"
	word := d.taskWord(s.next("o"))
	word.State = unwritten
	d.Word, w.Dispatch, w.Progress = word.ID, d.ID, ""
	t.Start = s.dropStart(t).Start
	for _, e := range []Entity{t.begun(d), w, d, word} {
		s.put(e)
	}
	s.clock(d)
	s.do(FileWrite{Word: word.ID, Path: d.Copy, Task: &TaskCopy{Worker: w.ID, Run: t.Run, Task: t.ID, Dispatch: d.ID, Command: cmp.Or(w.Command, o.Command), Spec: t.Spec, Scope: w.Scope, Branch: branchOf(s, w.ID), Status: standingOf(s, w)}})
	return d
}
