package main

import "st/orch"

var taskCancelVerb = &verb{
	noun: "task", name: "cancel", args: "T", min: 1, max: 1, about: "nobody wants a task any more",
	help:  "What depends on it is blocked. Refused while a worker has it: stop that one first.",
	codes: []int{exitRefused},
	sends: orch.TaskCancel{},
	run:   taskCancel,
}

func init() { register(taskCancelVerb) }

func taskCancel(c *call) (int, error) {
	var a orch.TaskAnswer
	if err := c.do(orch.TaskCancel{Task: c.arg(0)}, &a); err != nil {
		return 0, err
	}
	return c.changed(a)
}
