package main

import (
	"github.com/urfave/cli/v2"

	"st/orch"
)

func init() {
	register(&verb{
		noun: "worker", name: "ls", about: "the workers of the run",
		flags: []cli.Flag{&cli.BoolFlag{Name: "all", Usage: "also those that are gone, and those of ended runs"}},
		run:   workerLs,
	})
}

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
