package main

import (
	"github.com/urfave/cli/v2"

	"st/orch"
)

var taskPickVerb = &verb{
	noun: "task", name: "pick", args: "T W", min: 2, max: 2, about: "settle a task with the outcome of one of its attempts",
	help: "The tasks that wait for it go on. The work itself comes home with st worker finish W --merge. The other attempts stay as\n" +
		"they are; with --free --yes their worktrees are thrown away as by st worker finish --discard: all that they hold but the\n" +
		"ignored files is kept under refs/st/discarded.",
	flags: func() []cli.Flag {
		return []cli.Flag{
			&cli.BoolFlag{Name: "free", Usage: "throw the worktrees of the others away, all that they hold kept but the ignored files"},
			&cli.BoolFlag{Name: "yes", Usage: "don't ask before that"},
		}
	},
	codes: []int{exitRefused},
	sends: orch.TaskPick{},
	run:   taskPick,
}

func init() { register(taskPickVerb) }

func taskPick(c *call) (int, error) {
	if c.Bool("free") && !c.Bool("yes") {
		return 0, &orch.Error{Code: "confirm", Message: "throwing the worktrees of the other attempts at task " + quoted(c.arg(0)) + " away takes their files and their branches",
			Hint: "all but the ignored files is kept under refs/st/discarded", Next: []string{"st task pick " + shellWord(c.arg(0)) + " " + shellWord(c.arg(1)) + " --free --yes"}}
	}
	client, err := c.connect()
	if err != nil {
		return 0, err
	}
	var a orch.PickAnswer
	if err := c.order(client, orch.TaskPick{Task: c.arg(0), Worker: c.arg(1), Free: c.Bool("free")}, &a); err != nil {
		return 0, err
	}
	code := exitDone
	for i, t := range a.Others {
		if t.Keeps != "" {
			continue
		}
		if err := c.followTree(client, &a.Others[i]); err != nil {
			return 0, err
		}
		if e := a.Others[i].Error; e != nil {
			a.Others[i].Keeps = e.Message
		}
	}
	for _, t := range a.Others {
		if c.Bool("free") && t.Keeps != "" {
			code = exitRefused
		}
	}
	if c.out.json {
		return code, c.out.data(a)
	}
	return code, c.out.picked(a)
}

func (p *printer) picked(a orch.PickAnswer) error {
	did := "picked"
	if a.Already {
		did = "nothing to do: picked already:"
	}
	if err := p.say("%s worker %s for task %s, which is %s", did, named(a.Worker), a.Task.ID, a.Task.Status); err != nil {
		return err
	}
	for _, t := range a.Others {
		switch {
		case t.Keeps != "":
			p.note("kept the worktree of %s: %s", t.Worker, t.Keeps)
		default:
			p.note("discarded the worktree of %s; to get it back: %s", t.Worker, t.Restore)
		}
	}
	if a.Worker.TreeState == "ready" {
		p.note("  st worker finish %s --merge", a.Worker.ID)
	}
	return nil
}
