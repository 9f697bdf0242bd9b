package main

import (
	"strconv"
	"strings"

	"st/orch"
)

var taskShowVerb = &verb{
	noun: "task", name: "show", args: "T", min: 1, max: 1, about: "one task in full",
	run: taskShow,
}

func init() { register(taskShowVerb) }

func taskShow(c *call) (int, error) {
	var t orch.TaskInfo
	if err := c.get("task", orch.TaskArgs{Task: c.arg(0)}, &t); err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(map[string]any{"task": t})
	}
	return exitDone, c.out.task(t)
}

// task prints one task in full.
func (p *printer) task(t orch.TaskInfo) error {
	if err := p.say("%s %s: %s", p.style(p.styles.head, t.ID), quoted(t.Title), p.taskState(t)); err != nil {
		return err
	}
	rows := []field{{"run", t.Run}, {"deps", strings.Join(t.Deps, ", ")}, {"worker", joined(t.Worker, t.Dispatch)}, {"outcome", t.Outcome}, {"file", t.Source}}
	if t.Attempts > 0 {
		rows = append(rows, field{"attempts", strconv.Itoa(t.Attempts)})
	}
	if t.Failures > 0 {
		rows = append(rows, field{"failures", strconv.Itoa(t.Failures) + " in a row"})
	}
	if t.Auto {
		rows = append(rows, field{"auto", "a worker starts by itself when it is ready"})
	}
	if err := p.fields(rows); err != nil {
		return err
	}
	if err := p.text("summary", t.Summary); err != nil {
		return err
	}
	return p.text("task", t.Spec)
}
