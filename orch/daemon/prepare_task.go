package daemon

import (
	"context"
	"encoding/json"
	"fmt"

	"st/hooks"
	"st/orch"
)

// RetryOrder is what a verb sends for a further attempt.
type RetryOrder struct {
	Worker string     `json:"worker"`
	Start  StartOrder `json:"start"` // its place, environment, program and times
}

// Type is the name on the wire.
func (RetryOrder) Type() string { return orch.WorkerRetry{}.Type() }

// TaskOrder is what a verb sends for a new task.
type TaskOrder struct {
	orch.TaskCreate
	// Start, where it is set, is how a worker is started for it as soon as it is ready.
	Start *StartOrder `json:"start,omitempty"`
	// Tries are how the workers of its attempts are started.
	Tries []StartOrder `json:"tries,omitempty"`
}

// asked is what decides whether it is the same one, with the environment by which it is known.
func (o TaskOrder) asked() (asked TaskOrder, env string) {
	asked = o
	asked.Source = ""
	if o.Start != nil {
		s := o.Start.asked().(StartOrder)
		asked.Start, env = &s, o.Start.EnvFile
	}
	asked.Tries = nil
	for _, t := range o.Tries {
		asked.Tries = append(asked.Tries, t.asked().(StartOrder))
	}
	return asked, env
}

// textOf is a task's text, "" where there is no such task: that is refused later.
func (d *doer) textOf(task string) (text string) {
	d.state(func(v orch.View) { text, _ = orch.TaskFor(v, task) })
	return text
}

func badOrder(err error) error {
	return &orch.Error{Code: "usage", Message: fmt.Sprintf("the order can't be read: %v", err)}
}

// retry begins a worker's task anew, as the worker was started.
func (d *daemon) retry(ctx context.Context, in orch.Input, body json.RawMessage) (any, error) {
	var o RetryOrder
	if err := json.Unmarshal(body, &o); err != nil {
		return nil, badOrder(err)
	}
	in.What = orch.WorkerRetry{}
	asked := RetryOrder{Worker: o.Worker, Start: o.Start.asked().(StartOrder)}
	return d.launch(ctx, in, asked, o.Start.EnvFile, func() (orch.What, error) {
		was, err := d.retryOf(in.By, o.Worker)
		if err != nil {
			return nil, err
		}
		s := o.Start
		s.Kind, s.Dir, s.Model, s.Args, s.Scope, s.Spec = was.Kind, was.Dir, was.Model, was.Args, was.Scope, was.Spec
		if s.Tree == nil {
			s.Tree = was.Tree
		}
		start, err := d.doer.prepareStart(ctx, in.By, s)
		start.Spec = "" // its task has it
		return orch.WorkerRetry{Worker: o.Worker, Start: start}, err
	})
}

func (d *daemon) retryOf(by orch.Caller, worker string) (was orch.WorkerStart, err error) {
	refusal := (*orch.Error)(nil)
	d.loop.Read(func(v orch.View) {
		if refusal = orch.CheckAs(v, by); refusal == nil {
			was, refusal = orch.RetryOf(v, by, orch.WorkerArgs{Worker: worker})
		}
	})
	if refusal != nil {
		return was, refusal
	}
	return was, nil
}

// createTask makes a task. What the start of its worker will need is found out now, where its caller can still be told.
func (d *daemon) createTask(ctx context.Context, in orch.Input, body json.RawMessage) (any, error) {
	var o TaskOrder
	if err := json.Unmarshal(body, &o); err != nil {
		return nil, badOrder(err)
	}
	in.What = orch.TaskCreate{}
	if len(o.Tries) > 0 {
		return d.createTries(ctx, in, o)
	}
	asked, env := o.asked()
	return d.launch(ctx, in, asked, env, func() (orch.What, error) {
		what := o.TaskCreate
		what.Start = nil
		if o.Start == nil {
			return what, nil
		}
		s := *o.Start
		s.Spec = o.Spec
		start, err := d.doer.prepareStart(ctx, in.By, s)
		what.Start = &start
		return what, err
	})
}

// createTries makes a task with attempts. Each of them has an environment of its own, and where nobody will need one of
// them, nobody needs any.
func (d *daemon) createTries(ctx context.Context, in orch.Input, o TaskOrder) (any, error) {
	asked, _ := o.asked()
	first := o.Tries[0].EnvFile
	data, err := d.launch(ctx, in, asked, first, func() (orch.What, error) {
		what := o.TaskCreate
		what.Start, what.Tries = nil, nil
		for _, t := range o.Tries {
			t.Spec = o.Spec
			start, err := d.doer.prepareStart(ctx, in.By, t)
			if err != nil {
				return nil, err
			}
			start.Spec = "" // the task has it
			what.Tries = append(what.Tries, start)
		}
		return what, nil
	})
	if d.doer.checkEnv(first) != nil { // it was removed
		for _, t := range o.Tries[1:] {
			d.doer.dropEnv(t.EnvFile)
		}
	}
	return data, err
}

// assignTask hands a task to a worker that is there.
func (d *daemon) assignTask(ctx context.Context, in orch.Input, body json.RawMessage) (any, error) {
	var o orch.TaskAssign
	if err := json.Unmarshal(body, &o); err != nil {
		return nil, badOrder(err)
	}
	in.What = o
	return d.launch(ctx, in, orch.TaskAssign{Task: o.Task, Worker: o.Worker}, "", func() (orch.What, error) {
		was, err := d.retryOf(in.By, o.Worker)
		if err != nil {
			return nil, err
		}
		kind, err := hooks.Lookup(was.Kind)
		if err != nil {
			return nil, err
		}
		o.Runs, o.Command, o.May = kind.Runs(d.doer.textOf(o.Task)), d.doer.self, d.doer.config.may()
		return o, nil
	})
}
