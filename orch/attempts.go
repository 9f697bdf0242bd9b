package orch

import (
	"fmt"
	"slices"
	"strings"
)

// Attempts are the same task tried several times, each by a worker of its own in a worktree of its own. Each is a task that
// starts by itself; the one that was asked for waits until one of them is picked, and has its outcome then.

// States of what checks an attempt.
const (
	checkRuns   = "running"
	checkPassed = "passed"
	checkFailed = "failed"
)

// TaskPick settles a task with the outcome of one of its attempts. Answer: PickAnswer.
type TaskPick struct {
	Task   string `json:"task"`
	Worker string `json:"worker"`
	Free   bool   `json:"free,omitempty"` // throw the worktrees of the others away, as by worker finish --discard

	// Found by the daemon before the order reaches Step.
	Facts []TreeFacts `json:"facts,omitempty"` // of the others
}

// Orders to the outside world, and their results.
type (
	// CheckRun runs the command that checks an attempt, in its worktree.
	CheckRun struct {
		Task    string `json:"task"`
		Worker  string `json:"worker"`
		Run     string `json:"run"`
		Dir     string `json:"dir"`
		From    string `json:"from,omitempty"`
		Command string `json:"command"`
		EnvFile string `json:"env_file"`
	}
	// CheckEnded is its result.
	CheckEnded struct {
		Task   string `json:"task"`
		Worker string `json:"worker"`        // whose attempt it was: the task may have a newer one
		Log    string `json:"log"`           // path of the file with what it wrote
		Why    string `json:"why,omitempty"` // it has failed
	}
)

// Types on the wire.
func (TaskPick) Type() string   { return "task-pick" }
func (CheckRun) Type() string   { return "check-run" }
func (CheckEnded) Type() string { return "check-ended" }

// AttemptsMost is how many attempts of one task may be made at once.
const AttemptsMost = 20

// mayTry refuses attempts that can't be made, or that an agent may not ask for.
func (s *step) mayTry(id identity, o TaskCreate) *Error {
	switch {
	case len(o.Tries) == 0 && o.Check != "":
		return refuse("usage", "st task create --help", "a check is of attempts")
	case len(o.Tries) > AttemptsMost:
		return refuse("usage", "st task create --help", "%d attempts: %d are the most", len(o.Tries), AttemptsMost)
	case id.agent != nil && o.Check != "" && len(o.Tries) > 0 && !o.Tries[0].May.Check:
		return agentsMay("check = true", "an agent may not say how attempts are checked: --check runs a command")
	}
	for _, t := range o.Tries {
		if err := s.mayStart(id, t); err != nil {
			return err
		}
		if _, err := s.scopeOf(id, t); err != nil {
			return err
		}
		if t.Tree == nil {
			return refuse("usage", "st task create --help", "each attempt works in a worktree of its own")
		}
		if err := checkName(t.Name); t.Name != "" && err != nil {
			return err
		}
	}
	return nil
}

// makeTries makes the attempts of a task: tasks that wait for the same, and start by themselves.
func (s *step) makeTries(t Task, o TaskCreate) {
	for i, start := range o.Tries {
		start.Spec, start.Source, start.Title = "", "", "" // they are the task's
		a := Task{ID: s.next("t"), Run: t.Run, Title: fmt.Sprintf("%s (attempt %d of %d)", t.Title, i+1, len(o.Tries)), Spec: t.Spec, Source: t.Source, Deps: t.Deps,
			Status: taskPending, By: t.By, Created: s.at, Of: t.ID, Check: o.Check, Start: &start}
		s.put(a)
		s.log("task-created", Event{Run: t.Run, Task: a.ID, Text: a.Title})
		t.Tries = append(t.Tries, a.ID)
	}
	s.put(t)
}

// tried says how a task stands that waits for nothing but its attempts.
func tried(v View, t Task) (status, reason string) {
	last := ""
	for _, id := range t.Tries {
		switch a, _ := get[Task](v, "task/"+id); a.Status {
		case taskFailed, taskCancelled, taskBlocked:
			last = id + " " + isIn(a.Status)
		default:
			return taskPending, "waits for a pick among " + strings.Join(t.Tries, ", ")
		}
	}
	return taskBlocked, last + ", and no attempt is left"
}

// dropTries cancels the attempts of a task that is over and that nobody has begun. One that was settled by hand before it began
// starts no more either, should somebody put it to ready again.
func (s *step) dropTries(t Task) {
	for _, id := range t.Tries {
		switch a, _ := get[Task](s, "task/"+id); {
		case a.waits():
			s.taskOver(a, taskCancelled, t.ID+" "+isIn(t.Status))
		case a.over() && a.Start != nil:
			s.put(s.dropStart(a))
		}
	}
}

// liveTry is a worker that works at an attempt of a task.
func (s *step) liveTry(t Task) (Dispatch, bool) {
	for _, id := range t.Tries {
		a, _ := get[Task](s, "task/"+id)
		if d, ok := get[Dispatch](s, "dispatch/"+a.Dispatch); ok && a.Status == taskDispatched && live(s, d) {
			return d, true
		}
	}
	return Dispatch{}, false
}

// taskPick settles a task with the outcome of an attempt.
func (s *step) taskPick(o TaskPick) *Error {
	t, _, id, err := s.taskOrdered(o.Task)
	if err != nil {
		return err
	}
	w, err := workerNamed(s, s.in.By, o.Worker)
	if err != nil {
		return err
	}
	d, _ := get[Dispatch](s, "dispatch/"+w.Dispatch)
	a, _ := get[Task](s, "task/"+d.Task)
	already := t.Picked == w.ID
	switch {
	case len(t.Tries) == 0:
		return noAttempts(t, " to pick from")
	case a.Of != t.ID:
		return refuse("refused", "st task attempts "+t.ID, "worker %s makes no attempt at task %s", w.ID, t.ID)
	case already:
	case t.over():
		return refuse("not_ready", "st task update "+t.ID+" --status ready", "task %s is %s already", t.ID, t.Status)
	case !workerInfo(s, w.ID).Settled:
		return refuse("unsettled", "st worker wait "+w.ID, "worker %s still works at its attempt", w.ID)
	case d.Report == nil:
		return refuse("refused", "st worker read "+w.ID, "worker %s has not reported on its attempt", w.ID)
	default:
		s.pick(t, w, d, id)
	}
	kept := s.freeOthers(t, w, o)
	s.answer = func() any {
		return PickAnswer{Task: taskInfo(s, t.ID), Worker: workerInfo(s, w.ID), Already: already, Others: kept}
	}
	return nil
}

func (s *step) pick(t Task, w Worker, d Dispatch, id identity) {
	t.Picked, t.Outcome, t.Summary, t.Failures = w.ID, d.Report.Outcome, d.Report.Summary, 0
	s.log("task-picked", Event{Run: t.Run, Task: t.ID, Worker: w.ID, By: id.name()})
	if d.Report.Outcome == "succeeded" {
		s.taskOver(t, taskCompleted, "")
	} else {
		s.taskOver(t, taskFailed, w.ID+" reported that it failed")
	}
	s.moveTasks(t.Run)
}

// freeOthers throws the worktrees of the attempts away that were not picked, where that is wanted, and tells of each of
// these attempts what became of it.
func (s *step) freeOthers(t Task, picked Worker, o TaskPick) []WorktreeInfo {
	others := []WorktreeInfo{}
	for _, w := range triers(s, t) {
		tree, ok := get[Worktree](s, Worktree{Worker: w.ID}.Key())
		if w.ID == picked.ID || !ok || !tree.stands() {
			continue
		}
		i := worktreeInfo(s, w.ID)
		i.Keeps = "it was not asked to go: st worker finish " + w.ID + " --discard --yes"
		n := slices.IndexFunc(o.Facts, func(f TreeFacts) bool { return f.Worker == w.ID })
		switch {
		case o.Free && tree.leavesBy(finishDiscard): // by the same order, given before
			i.Keeps = ""
		case o.Free && n >= 0:
			i.Keeps = ""
			if err := s.mayFinish(w, tree, WorkerFinish{How: finishDiscard, Facts: o.Facts[n]}); err != nil {
				i.Keeps = err.Message
			} else {
				s.finishTree(w, tree, o.Facts[n], finishDiscard, nil)
			}
		}
		others = append(others, i)
	}
	return others
}

// triers are the workers that have made, or make, attempts at a task, each attempt's newest last.
func triers(v View, t Task) (list []Worker) {
	each(v, Of("dispatch", t.Run), func(d Dispatch) bool {
		if slices.Contains(t.Tries, d.Task) {
			w, _ := get[Worker](v, "worker/"+d.Worker)
			list = append(list, w)
		}
		return true
	})
	return list
}

// check has an attempt checked, once its worker has reported.
func (s *step) check(t Task, d Dispatch) Task {
	tree, ok := get[Worktree](s, Worktree{Worker: d.Worker}.Key())
	if t.Check == "" || t.Checked != "" || t.Start == nil || !ok || !tree.stands() {
		return t
	}
	t.Checked = checkRuns
	s.do(CheckRun{Task: t.ID, Worker: d.Worker, Run: t.Run, Dir: tree.folder(), From: tree.Want.From, Command: t.Check, EnvFile: t.Start.EnvFile})
	return t
}

// tryByHand prepares an attempt that somebody begins once more. Where it will be checked, the environment of this start is
// kept for that, in place of an older one.
func (s *step) tryByHand(t Task, o WorkerStart) (tried Task, keep bool) {
	if !t.checkable(o) {
		return t, false
	}
	if t.Start != nil {
		s.do(LaunchDrop{EnvFile: t.Start.EnvFile})
	}
	o.Spec, o.Source, o.Title = "", "", "" // they are the task's
	t.Start = &o
	return t, true
}

// checkable says that what comes of a start by hand will be checked.
func (t Task) checkable(o WorkerStart) bool { return t.Of != "" && t.Check != "" && o.Tree != nil }

// mayCheck refuses a start by an agent after which a command runs that is not its own.
func (s *step) mayCheck(id identity, t Task, o WorkerStart) *Error {
	if id.agent == nil || !t.checkable(o) || o.May.Check {
		return nil
	}
	return agentsMay("check = true", "an agent may not begin attempt %s once more: its --check runs a command", t.ID)
}

// checkEnded takes the result of a check. Nothing needs the environment of an attempt any more.
func (s *step) checkEnded(o CheckEnded) {
	t, ok := get[Task](s, "task/"+o.Task)
	d, _ := get[Dispatch](s, "dispatch/"+t.Dispatch)
	if !ok || t.Checked != checkRuns || d.Worker != o.Worker {
		return
	}
	t.Checked, t.CheckLog, t.CheckWhy = checkPassed, o.Log, o.Why
	if o.Why != "" {
		t.Checked = checkFailed
	}
	s.log("attempt-checked", Event{Run: t.Run, Task: t.ID, Text: strings.TrimSpace(t.Checked + " " + o.Why)})
	if t.over() {
		t = s.dropStart(t)
	}
	s.put(t)
}

// AttemptInfo is an attempt as it is shown.
type AttemptInfo struct {
	Task     string     `json:"task"` // its own
	Worker   WorkerInfo `json:"worker"`
	Status   string     `json:"status"` // of its task
	Reason   string     `json:"reason"`
	Outcome  string     `json:"outcome"`
	Summary  string     `json:"summary"`
	Files    []string   `json:"files"` // what was changed, by git
	Added    int        `json:"added"` // lines
	Removed  int        `json:"removed"`
	Commits  []string   `json:"commits"`
	Check    string     `json:"check"` // running passed failed; "" for none, or not yet
	CheckWhy string     `json:"check_why"`
	CheckLog string     `json:"check_log"`
	Picked   bool       `json:"picked"`
}

type (
	// AttemptsInfo are the attempts at a task.
	AttemptsInfo struct {
		Task     TaskInfo      `json:"task"`
		Attempts []AttemptInfo `json:"attempts"`
	}
	// PickAnswer is a task that was settled by a pick. Others are the worktrees of the other attempts.
	PickAnswer struct {
		Task    TaskInfo       `json:"task"`
		Worker  WorkerInfo     `json:"worker"`
		Already bool           `json:"already"`
		Others  []WorktreeInfo `json:"others"`
	}
)

// noAttempts refuses a task at which no attempts are made, and leads from an attempt to its task.
func noAttempts(t Task, to string) *Error {
	if t.Of != "" {
		return refuse("refused", "st task attempts "+t.Of, "task %s is itself an attempt at task %s", t.ID, t.Of)
	}
	return refuse("refused", "st task show "+t.ID, "task %s has no attempts%s", t.ID, to)
}

// Attempts are the attempts at a task, side by side. What only git knows of them is left to whoever asks it.
func Attempts(v View, _ Caller, a TaskArgs) (AttemptsInfo, *Error) {
	t, ok := get[Task](v, "task/"+a.Task)
	if !ok {
		return AttemptsInfo{}, noTask(a.Task)
	}
	if len(t.Tries) == 0 {
		return AttemptsInfo{}, noAttempts(t, "")
	}
	i := AttemptsInfo{Task: taskInfo(v, t.ID), Attempts: []AttemptInfo{}}
	for _, id := range t.Tries {
		a, _ := get[Task](v, "task/"+id)
		d, begun := get[Dispatch](v, "dispatch/"+a.Dispatch)
		o := AttemptInfo{Task: a.ID, Status: a.Status, Reason: a.Reason, Outcome: a.Outcome, Summary: a.Summary, Check: a.Checked, CheckWhy: a.CheckWhy, CheckLog: a.CheckLog}
		if begun {
			o.Worker = workerInfo(v, d.Worker)
			o.Picked = t.Picked == d.Worker
		}
		i.Attempts = append(i.Attempts, o)
	}
	return i, nil
}

// OtherTrees are the worktrees of the attempts at a task but that of one worker.
func OtherTrees(v View, by Caller, o TaskPick) (list []Worktree) {
	t, _ := get[Task](v, "task/"+o.Task)
	picked, err := workerNamed(v, by, o.Worker)
	if err != nil {
		return nil
	}
	for _, w := range triers(v, t) {
		if tree, ok := get[Worktree](v, Worktree{Worker: w.ID}.Key()); ok && w.ID != picked.ID && tree.stands() {
			list = append(list, tree)
		}
	}
	return list
}
