package main

import "st/orch"

var taskAssignVerb = &verb{
	noun: "task", name: "assign", args: "T W", min: 2, max: 2, about: "hand a task to a worker that is there",
	help: "The worker must have settled, and the task be ready. Its line is typed as soon as the agent's turn has ended and\n" +
		"its input line is free; how it goes on tells st worker wait W.",
	codes: []int{exitGone, exitRefused},
	sends: orch.TaskAssign{},
	run:   taskAssign,
}

func init() { register(taskAssignVerb) }

func taskAssign(c *call) (int, error) {
	var a orch.AssignAnswer
	if err := c.do(orch.TaskAssign{Task: c.arg(0), Worker: c.arg(1)}, &a); err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(a)
	}
	if err := c.out.say("assigned task %s to worker %s: dispatch %s", a.Task.ID, named(a.Worker), a.Dispatch); err != nil {
		return 0, err
	}
	c.out.note("  st worker wait %s", a.Worker.ID)
	return exitDone, nil
}
