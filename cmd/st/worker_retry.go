package main

import (
	"github.com/urfave/cli/v2"

	"st/orch"
	"st/orch/daemon"
)

var workerRetryVerb = &verb{
	noun: "worker", name: "retry", args: "W", min: 1, max: 1, about: "try a worker's task again, in a new worker",
	help: "The new one has the kind, folder, model, --arg and --scope of the old, and the environment of who calls; --env has to be given\n" +
		"again; one that had a worktree gets a new one, begun like that. The task must have failed, been cancelled, or its worker\n" +
		"have settled without a report. The old worker stays as\n" +
		"it is. It returns like st worker start.",
	flags: func() []cli.Flag {
		return append(append(treeFlags(), placeFlags()...), &cli.BoolFlag{Name: "detach", Usage: "return as soon as the start is recorded"})
	},
	codes: []int{exitNeedsInput, exitGone, exitRefused, exitUnknown, exitInterrupted},
	sends: orch.WorkerRetry{},
	run:   workerRetry,
}

func init() { register(workerRetryVerb) }

func workerRetry(c *call) (int, error) {
	order := daemon.RetryOrder{Worker: c.arg(0)}
	want, err := c.treeWant()
	if err != nil {
		return 0, err
	}
	order.Start.Tree = want
	if err := c.placeOrder(&order.Start); err != nil {
		return 0, err
	}
	client, err := c.connect()
	if err != nil {
		return 0, err
	}
	if err := c.launchAgain(client, order.Worker, c.ready, &order.Start); err != nil {
		return 0, err
	}
	var a orch.StartAnswer
	if err := c.orderStart(client, order, &a, order.Start.EnvFile); err != nil {
		return 0, err
	}
	if c.Bool("detach") {
		return c.detached(client, a)
	}
	return c.followStart(client, a)
}
