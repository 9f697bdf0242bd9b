package main

import (
	"github.com/urfave/cli/v2"

	"st/orch"
)

var workerLsVerb = &verb{
	noun: "worker", name: "ls", about: "the workers of the run",
	help: "STATE is how the work stands: queued (in line for a window, with its place), running, needs_input,\n" +
		"finished, failed, no_report, no_task (adopted without one), released, gone, gone_resumable (its tmux server has\n" +
		"ended, and it may come back; ? = it can't be told in which pane: worker attach), or unknown. STATUS is what the\n" +
		"agent does. Beside the state stands team of N for one that coordinates N workers itself, and orphan for one of\n" +
		"which the coordinator is gone. Released ones are shown with --all.",
	flags: func() []cli.Flag {
		return []cli.Flag{&cli.BoolFlag{Name: "all", Usage: "those of every run, also of ended ones"}}
	},
	run: workerLs,
}

func init() { register(workerLsVerb) }

func workerLs(c *call) (int, error) {
	var list []orch.WorkerInfo
	if err := c.get("workers", orch.ListArgs{All: c.Bool("all")}, &list); err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(map[string]any{"workers": list})
	}
	if len(list) == 0 {
		return exitDone, c.out.say("no worker")
	}
	return exitDone, c.out.workers(list)
}
