package orch

import (
	"cmp"
	"time"
)

// TaskInfo is a task as it is shown.
type TaskInfo struct {
	ID       string    `json:"id"`
	Run      string    `json:"run"`
	Title    string    `json:"title"`
	Spec     string    `json:"spec"` // "" in brief lists
	Source   string    `json:"source"`
	Status   string    `json:"status"` // pending ready dispatched completed failed blocked cancelled
	Reason   string    `json:"reason"` // of pending, blocked, failed, cancelled
	Deps     []string  `json:"deps"`
	Dispatch string    `json:"dispatch"` // the newest
	Worker   string    `json:"worker"`   // of the newest dispatch
	Attempts int       `json:"attempts"`
	Failures int       `json:"failures"` // how many attempts in a row have failed
	Outcome  string    `json:"outcome"`  // succeeded, failed, ""
	Summary  string    `json:"summary"`
	Tries    []string  `json:"tries"`  // tasks that are attempts at it
	Picked   string    `json:"picked"` // the worker whose attempt was taken
	Of       string    `json:"of"`     // the task at which it is an attempt
	Auto     bool      `json:"auto"`   // a worker starts by itself when it is ready
	By       string    `json:"by"`     // agent id, "" for a person
	Created  time.Time `json:"created"`
}

type (
	// TaskAnswer is the task that was made or changed.
	TaskAnswer struct {
		Task    TaskInfo `json:"task"`
		Already bool     `json:"already"` // nothing was to do
		// EnvFile is the environment that is kept for its workers: a request that is repeated brings another one.
		EnvFile string `json:"env_file,omitempty"`
	}
	// AssignAnswer is a task and the worker that has it now.
	AssignAnswer struct {
		Task     TaskInfo   `json:"task"`
		Worker   WorkerInfo `json:"worker"`
		Dispatch string     `json:"dispatch"`
	}
	// TaskArgs names a task by its id.
	TaskArgs struct{ Task string }
	// TasksArgs says which tasks of the current run are meant.
	TasksArgs struct {
		Ready bool // only those that are ready
		Brief bool // without their texts
	}
)

// TaskOf is one task.
func TaskOf(v View, _ Caller, a TaskArgs) (TaskInfo, *Error) {
	if _, ok := get[Task](v, "task/"+a.Task); !ok {
		return TaskInfo{}, noTask(a.Task)
	}
	return taskInfo(v, a.Task), nil
}

// Tasks lists the tasks of the current run, the oldest first. A caller with no run at all gets an empty list.
func Tasks(v View, by Caller, a TasksArgs) ([]TaskInfo, *Error) {
	r, err := currentRun(v, by)
	if err != nil {
		if by.Run == "" && err.Data == nil {
			return []TaskInfo{}, nil
		}
		return nil, err
	}
	return tasksIn(v, r.ID, func(t TaskInfo) bool { return !a.Ready || t.Status == taskReady }, !a.Brief), nil
}

// tasksIn are the tasks of a run that are wanted.
func tasksIn(v View, run string, wanted func(TaskInfo) bool, whole bool) []TaskInfo {
	list := []TaskInfo{}
	each(v, Of("task", run), func(t Task) bool {
		i := t.info(v)
		if !whole {
			i.Spec = ""
		}
		if wanted(i) {
			list = append(list, i)
		}
		return true
	})
	return list
}

func taskInfo(v View, id string) TaskInfo {
	t, _ := get[Task](v, "task/"+id)
	return t.info(v)
}

func (t Task) info(v View) TaskInfo {
	d, _ := get[Dispatch](v, "dispatch/"+t.Dispatch)
	return TaskInfo{ID: t.ID, Run: t.Run, Title: t.Title, Spec: t.Spec, Source: t.Source, Status: t.Status, Reason: t.Reason, Deps: list(t.Deps), Dispatch: t.Dispatch,
		Worker: cmp.Or(t.Picked, d.Worker), Attempts: t.Attempts, Failures: t.Failures, Outcome: t.Outcome, Summary: t.Summary, Tries: list(t.Tries), Picked: t.Picked, Of: t.Of, Auto: t.Start != nil, By: t.By, Created: t.Created}
}

// TaskFor is what the start of a worker for a task needs to know of it before it is asked for: its text.
func TaskFor(v View, id string) (spec string, ok bool) {
	t, ok := get[Task](v, "task/"+id)
	return t.Spec, ok
}

// RetryOf is how a worker was started, as far as a further attempt takes it over.
func RetryOf(v View, by Caller, a WorkerArgs) (start WorkerStart, err *Error) {
	w, err := workerNamed(v, by, a.Worker)
	if err != nil {
		return start, err
	}
	d, _ := get[Dispatch](v, "dispatch/"+w.Dispatch)
	t, _ := get[Task](v, "task/"+d.Task)
	start = WorkerStart{Kind: w.Kind, Dir: w.Dir, Model: w.Model, Args: w.Args, Scope: w.Scope, Spec: t.Spec}
	if tree, ok := get[Worktree](v, Worktree{Worker: w.ID}.Key()); ok {
		start.Dir, start.Tree = tree.Dir, tree.Want.Asked()
	}
	return start, nil
}
