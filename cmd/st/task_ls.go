package main

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"st/orch"
)

var taskLsVerb = &verb{
	noun: "task", name: "ls", about: "the tasks of the run",
	help: "STATUS is pending (it waits, and says for what), ready, dispatched (a worker has it), completed, failed,\n" +
		"blocked (something that it depends on has failed), or cancelled.",
	flags: func() []cli.Flag {
		return []cli.Flag{
			&cli.BoolFlag{Name: "ready", Usage: "only those that a worker could take now"},
			&cli.BoolFlag{Name: "brief", Usage: "in JSON without their texts"},
		}
	},
	run: taskLs,
}

func init() { register(taskLsVerb) }

func taskLs(c *call) (int, error) {
	var list []orch.TaskInfo
	brief := c.Bool("brief") || !c.out.json
	if err := c.get("tasks", orch.TasksArgs{Ready: c.Bool("ready"), Brief: brief}, &list); err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(map[string]any{"tasks": list})
	}
	if len(list) == 0 {
		if c.Bool("ready") {
			return exitDone, c.out.say("no task is ready")
		}
		return exitDone, c.out.say("no task")
	}
	return exitDone, c.out.tasks(list)
}

// tasks prints a table of tasks.
func (p *printer) tasks(list []orch.TaskInfo) error {
	var rows [][]styled
	for _, t := range list {
		rows = append(rows, []styled{
			plain(t.ID), cell(t.Title, 40), p.taskStatus(t), plain(strings.Join(t.Deps, ",")), plain(t.Worker), plain(t.Dispatch),
			plain(strconv.Itoa(t.Attempts)), cell(cmp.Or(t.Reason, t.Summary), 48),
		})
	}
	return p.table([]string{"ID", "TITLE", "STATUS", "DEPS", "WORKER", "DISPATCH", "TRIES", "SAYS"}, rows)
}

// taskStatus is a task's status in its colour.
func (p *printer) taskStatus(t orch.TaskInfo) styled {
	s := p.styles
	style, text := s.dim, t.Status
	switch t.Status {
	case "ready", "dispatched":
		style = s.head
	case "completed":
		style = s.good
	case "blocked":
		style = s.warn
	case "failed":
		style = s.bad
	}
	if t.Auto && (t.Status == "pending" || t.Status == "blocked") {
		text += " (auto)"
	}
	return p.style(style, text)
}

// taskState is a task's status and why it is so, or who has it.
func (p *printer) taskState(t orch.TaskInfo) styled {
	switch {
	case t.Status == "dispatched":
		return p.taskStatus(t) + " to " + plain(t.Worker) + " (" + plain(t.Dispatch) + ")"
	case t.Reason != "":
		return p.taskStatus(t) + ", " + plain(t.Reason)
	}
	return p.taskStatus(t)
}
