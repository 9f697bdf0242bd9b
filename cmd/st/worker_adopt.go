package main

import (
	"github.com/urfave/cli/v2"

	"st/orch"
)

var workerAdoptVerb = &verb{
	noun: "worker", name: "adopt", args: "PANE|WINDOW|AGENT|NAME", min: 1, max: 1, about: "make an agent that runs already a worker of the run",
	help: "Any agent in a pane of the servers that st knows: by pane (%3) or window (@2) of your own server, by session:window,\n" +
		"by an agent's id (a4) or name, or by a window's name. Nothing is done to it: no key, no other name, no focus. With\n" +
		"--task-id the line of that task is typed when its turn has ended and its input line is free, never over a draft.\n" +
		"What it was asked for by others goes on. One that coordinates a run keeps it, and leads its team. Refused (7): one\n" +
		"without hooks, a worker of another run, who stands above this run, and what would be too deep.",
	flags: func() []cli.Flag {
		return []cli.Flag{
			&cli.StringFlag{Name: "name", Usage: "name of the worker; else that of its agent, or kind and number"},
			&cli.StringFlag{Name: "task-id", Usage: "its first task: the `T` that is ready"},
		}
	},
	codes: []int{exitGone, exitRefused},
	sends: orch.WorkerAdopt{},
	run:   workerAdopt,
}

func init() { register(workerAdoptVerb) }

func workerAdopt(c *call) (int, error) {
	order := orch.WorkerAdopt{Target: c.arg(0)}
	var err error
	if order.Name, err = c.text("name"); err != nil {
		return 0, err
	}
	if order.Task, err = c.text("task-id"); err != nil {
		return 0, err
	}
	if order.Target == "" {
		return 0, c.misuse("worker adopt: which agent? a pane, a window, an agent or a name")
	}
	var a orch.AdoptAnswer
	if err := c.do(order, &a); err != nil {
		return 0, err
	}
	var w orch.WorkerInfo
	if err := c.get("worker", orch.WorkerArgs{Worker: a.Worker}, &w); err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(map[string]any{"worker": w, "run": a.Run, "new_run": a.NewRun, "task": a.Task, "dispatch": a.Dispatch, "already": a.Already})
	}
	return exitDone, c.out.adopted(a, w)
}

func (p *printer) adopted(a orch.AdoptAnswer, w orch.WorkerInfo) error {
	team := ""
	if len(w.TeamRuns) > 0 {
		team = ", with its " + teamOf(w.Team)
	}
	switch {
	case a.Already:
		return p.say("nothing to do: agent %s is worker %s of %s already", w.Agent, named(w), a.Run)
	case a.NewRun:
		p.note("started run %s", a.Run)
	}
	if a.Task == "" {
		err := p.say("adopted agent %s as worker %s in %s%s", w.Agent, named(w), a.Run, team)
		p.note("  st worker send %s '…'", w.ID)
		return err
	}
	if err := p.say("adopted agent %s as worker %s in %s%s: task %s, dispatch %s", w.Agent, named(w), a.Run, team, a.Task, a.Dispatch); err != nil {
		return err
	}
	p.note("  st worker wait %s", w.ID)
	return nil
}
