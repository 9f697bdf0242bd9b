package main

import (
	"github.com/urfave/cli/v2"

	"st/orch"
)

var taskUpdateVerb = &verb{
	noun: "task", name: "update", args: "T", min: 1, max: 1, about: "put a task's status by hand",
	help: "ready: it shall be done (again); where something holds it, it is pending or blocked instead. The others settle it,\n" +
		"with --result as its summary. Refused while a worker has it.",
	flags: func() []cli.Flag {
		return []cli.Flag{
			&cli.StringFlag{Name: "status", Usage: "what it is from now on: `ready|completed|failed|cancelled`"},
			&cli.StringFlag{Name: "result", Usage: "what came of it: `TEXT`"},
		}
	},
	needs: []string{"status"},
	codes: []int{exitRefused},
	sends: orch.TaskUpdate{},
	run:   taskUpdate,
}

func init() { register(taskUpdateVerb) }

func taskUpdate(c *call) (int, error) {
	order := orch.TaskUpdate{Task: c.arg(0), Status: c.String("status"), Result: c.String("result")}
	switch order.Status {
	case "ready":
		if c.IsSet("result") {
			return 0, c.misuse("task update: --result is of a task that is over, not of one that is to be done")
		}
	case "completed", "failed", "cancelled":
	default:
		return 0, c.misuse("task update: --status is ready, completed, failed or cancelled, not %q", order.Status)
	}
	if why := unfit(order.Result); why != "" {
		return 0, c.misuse("task update: --result: %s", why)
	}
	var a orch.TaskAnswer
	if err := c.do(order, &a); err != nil {
		return 0, err
	}
	return c.changed(a)
}

// changed tells what a task is now.
func (c *call) changed(a orch.TaskAnswer) (int, error) {
	if c.out.json {
		return exitDone, c.out.data(a)
	}
	if a.Already {
		return exitDone, c.out.say("nothing to do: task %s is %s", a.Task.ID, c.out.taskState(a.Task))
	}
	if err := c.out.say("task %s is %s", a.Task.ID, c.out.taskState(a.Task)); err != nil {
		return 0, err
	}
	if a.Task.Status == "ready" {
		c.out.note("  st worker start --task-id %s --agent KIND", a.Task.ID)
	}
	return exitDone, nil
}
