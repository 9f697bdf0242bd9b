package orch

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// Statuses of a task, see design.md.
const (
	taskPending    = "pending"
	taskReady      = "ready"
	taskDispatched = "dispatched"
	taskCompleted  = "completed"
	taskFailed     = "failed"
	taskBlocked    = "blocked"
	taskCancelled  = "cancelled"
)

// maxFailures is how many attempts of a task in a row may fail before somebody has to look: no further one starts by
// itself.
const maxFailures = 3

// TaskCreate makes a task. Answer: TaskAnswer.
type TaskCreate struct {
	Title  string   `json:"title,omitempty"` // "" = first line of the text
	Spec   string   `json:"spec"`            // the text
	Source string   `json:"source,omitempty"`
	Deps   []string `json:"deps,omitempty"` // ids of tasks of the same run
	// Start is how a worker is started for it as soon as it is ready; nil where somebody does that by hand. Its text is
	// the task's.
	Start *WorkerStart `json:"start,omitempty"`
	// Tries are how the workers of its attempts are started, and Check the command by which each is checked.
	Tries []WorkerStart `json:"tries,omitempty"`
	Check string        `json:"check,omitempty"`
}

// Type is the name on the wire.
func (TaskCreate) Type() string { return "task-create" }

// waits says that a task is one whose status follows from others.
func (t Task) waits() bool {
	return t.Status == taskPending || t.Status == taskReady || t.Status == taskBlocked
}

// over says that nobody works at a task and nobody waits to.
func (t Task) over() bool {
	return t.Status == taskCompleted || t.Status == taskFailed || t.Status == taskCancelled
}

// taskCreate makes a task in the caller's run.
func (s *step) taskCreate(o TaskCreate) *Error {
	run, err := currentRun(s, s.in.By)
	if err != nil {
		return err
	}
	id, err := s.ordersTasks(run)
	if err != nil {
		return err
	}
	if strings.TrimSpace(o.Spec) == "" {
		return refuse("usage", "st task create --help", "a task needs a text")
	}
	deps, err := s.deps(run, o.Deps)
	if err != nil {
		return err
	}
	t := Task{ID: s.next("t"), Run: run.ID, Title: title(o.Title, o.Spec), Spec: o.Spec, Source: o.Source, Deps: deps, Status: taskPending,
		Created: s.at, Request: s.in.Request}
	if id.agent != nil {
		t.By = id.agent.ID
	}
	if err := s.mayTry(id, o); err != nil {
		return err
	}
	if o.Start != nil || len(o.Tries) > 0 {
		if _, err := s.depth(id, run, 0); err != nil {
			return err
		}
	}
	file := ""
	if len(o.Tries) > 0 {
		file = o.Tries[0].EnvFile
	}
	if o.Start != nil {
		if err := s.mayStart(id, *o.Start); err != nil {
			return err
		}
		if o.Start.Name != "" {
			if err := checkName(o.Start.Name); err != nil {
				return err
			}
		}
		start := *o.Start
		if start.Scope, err = s.scopeOf(id, start); err != nil {
			return err
		}
		file = start.EnvFile
		start.Spec, start.Source, start.Title = "", "", "" // they are the task's
		t.Start = &start
	}
	s.put(t)
	s.log("task-created", Event{Run: run.ID, Task: t.ID, By: id.name(), Text: t.Title})
	s.makeTries(t, o)
	s.moveTasks(run.ID)
	s.answer = func() any { return TaskAnswer{Task: taskInfo(s, t.ID), EnvFile: file} }
	return nil
}

// ordersTasks is the caller, who may order something of a run's tasks: its coordinator or a person. Nothing changes in a
// run that has ended.
func (s *step) ordersTasks(run Run) (identity, *Error) {
	id := s.who(s.in.By)
	if err := fence(run, id); err != nil {
		return id, err
	}
	switch {
	case id.child:
		return id, refuse("not_yours", "", "an agent that was started inside %s may not order tasks for it; only %[1]s itself may", id.name())
	case id.agent != nil && id.agent.ID != run.Coordinator:
		return id, refuse("not_yours", "st orch show "+run.ID, "the tasks of run %s are its coordinator's, and that is not %s", run.ID, id.name())
	case run.Ended != nil:
		return id, refuse("run_ended", "st orch start --objective '…'", "run %s has ended", run.ID)
	}
	return id, nil
}

// deps are the tasks that a new one depends on, each once. All are older than it, so there are no circles.
func (s *step) deps(run Run, ids []string) (deps []string, err *Error) {
	for _, id := range ids {
		t, ok := get[Task](s, "task/"+id)
		switch {
		case !ok:
			return nil, noTask(id)
		case t.Run != run.ID:
			return nil, refuse("refused", "st task ls --run "+run.ID, "task %s is of run %s, and a task of %s depends on tasks of %[3]s only", id, t.Run, run.ID)
		case !slices.Contains(deps, id):
			deps = append(deps, id)
		}
	}
	return deps, nil
}

func noTask(id string) *Error {
	return refuse("task_not_found", "st task ls", "task %q: no such task", id)
}

// taskNamed finds a task and its run. Where the caller names a run, it is to be that one.
func (s *step) taskNamed(id string) (Task, Run, *Error) {
	t, ok := get[Task](s, "task/"+id)
	if !ok {
		return t, Run{}, noTask(id)
	}
	run, _ := get[Run](s, "run/"+t.Run)
	if s.in.By.Run == "" {
		return t, run, nil
	}
	named, err := runNamed(s, s.in.By.Run)
	if err == nil && named.ID != run.ID {
		err = refuse("task_not_found", "st task show "+t.ID, "task %s is of run %s, not of %s", t.ID, run.ID, named.ID)
	}
	return t, run, err
}

// tasks brings the tasks up to date that hang on what this step has put.
func (s *step) tasks() {
	runs := map[string]bool{}
	for _, k := range s.order {
		switch e := s.puts[k].(type) {
		case Task:
			runs[e.Run] = true
		case Gate:
			runs[e.Run] = true
		}
	}
	for _, run := range slices.Sorted(keys(runs)) {
		s.moveTasks(run)
	}
}

// moveTasks brings the tasks of a run that wait up to date, until nothing changes any more, and starts workers for those
// that are ready and want one. In a run that has ended nothing changes by itself.
func (s *step) moveTasks(run string) {
	r, ok := get[Run](s, "run/"+run)
	if !ok || r.Ended != nil {
		return
	}
	for more := true; more; {
		more = false
		for _, t := range waitingTasks(s, run) {
			status, reason := standing(s, t)
			if status == t.Status && reason == t.Reason {
				continue
			}
			if status != t.Status {
				s.log("task-"+status, Event{Run: run, Task: t.ID, Text: reason})
			}
			t.Status, t.Reason, more = status, reason, true
			s.put(t)
			s.memory = false
		}
	}
	for _, t := range waitingTasks(s, run) {
		if t.Status == taskReady && t.Start != nil {
			s.startAuto(r, t)
		}
	}
}

// waitingTasks are the tasks of a run whose status follows from others, the oldest first.
func waitingTasks(v View, run string) (list []Task) {
	each(v, waitingIn(run), func(t Task) bool {
		list = append(list, t)
		return true
	})
	slices.SortFunc(list, func(a, b Task) int { return idNumber("t", a.ID) - idNumber("t", b.ID) })
	return list
}

// standing says whether a task could be dispatched, and if not, why: from its deps and the gates on it alone.
func standing(v View, t Task) (status, reason string) {
	var open []string
	for _, id := range t.Deps {
		switch d, _ := get[Task](v, "task/"+id); d.Status {
		case taskCompleted:
		case taskFailed, taskCancelled, taskBlocked:
			return taskBlocked, id + " " + isIn(d.Status)
		default:
			open = append(open, id)
		}
	}
	if len(open) > 0 {
		return taskPending, "waits for " + strings.Join(open, ", ")
	}
	var gates []string
	for _, g := range openGates(v, t.ID) {
		gates = append(gates, g.ID)
	}
	if len(gates) > 0 {
		return taskPending, "gate " + strings.Join(gates, ", ") + " is open"
	}
	if len(t.Tries) > 0 {
		return tried(v, t)
	}
	return taskReady, ""
}

// isIn says in words that a task is in a status.
func isIn(status string) string {
	if status == taskFailed {
		return "has failed"
	}
	return "is " + status
}

// startAuto starts a worker for a task that is ready, as it was asked for when the task was made.
func (s *step) startAuto(run Run, t Task) {
	o := *t.Start
	o.Spec = t.Spec
	by := ""
	if t.By != "" {
		by = run.Coordinator // whoever has the seat by now
	}
	s.attempt(t, o, attempt{by: by, depth: 1, name: s.freeName(run, o, t.Attempts+1), nonce: s.secret(t), auto: true, keep: true})
}

// secret is a fresh secret for an agent that nobody has asked for by this very input: several may be started by it.
func (s *step) secret(t Task) string {
	sum := sha256.Sum256([]byte(s.in.Nonce + " " + t.ID + " " + strconv.Itoa(t.Attempts)))
	return hex.EncodeToString(sum[:16])
}

// freeName is a name that no live worker of the run has: the one that is wished for, or one that tells the attempt too.
func (s *step) freeName(run Run, o WorkerStart, n int) string {
	if o.Name == "" {
		name, _ := s.newName(run, o) // only a wished name is refused
		return name
	}
	name, base := o.Name, []rune(o.Name)
	for ; taken(s, run.ID, name) != ""; n++ {
		end := "-" + strconv.Itoa(n)
		name = strings.TrimSpace(string(base[:min(len(base), 64-len(end))])) + end
	}
	return name
}

// dropStart gives up that workers start for a task by themselves, with the environment that was kept for them. While a
// window is about to be opened with it, that waits.
func (s *step) dropStart(t Task) Task {
	if t.Start == nil || t.Checked == checkRuns {
		return t
	}
	if d, ok := get[Dispatch](s, "dispatch/"+t.Dispatch); ok && d.open() && d.Opened == nil && !d.queued() && d.Report == nil {
		return t
	}
	s.do(LaunchDrop{EnvFile: t.Start.EnvFile})
	t.Start = nil
	return t
}
