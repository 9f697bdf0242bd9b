package main

import (
	"github.com/urfave/cli/v2"

	"st/orch"
	"st/orch/daemon"
	"st/tmux"
)

var workerKeyVerb = &verb{
	noun: "worker", name: "key", args: "W [KEY…]", min: 1, max: -1, about: "press keys on a worker's screen",
	help: "For persons, where a screen blocks a worker: it says which screen stood there before and after. Keys\n" +
		"are tmux's names (Enter, Escape, Up, C-c) or one character each; --literal types a text before them.\n" +
		"When the screen becomes another one, the keys that are left are not pressed (7). An agent is refused,\n" +
		"unless config.toml says [agents_may] verbs = [\"worker key\"].",
	flags: func() []cli.Flag {
		return []cli.Flag{&cli.StringFlag{Name: "literal", Usage: "type this `TEXT` first"}}
	},
	codes: []int{exitGone, exitRefused, exitUnknown},
	sends: orch.WorkerKey{},
	run:   workerKey,
}

func init() { register(workerKeyVerb) }

func workerKey(c *call) (int, error) {
	order, err := c.keyOrder()
	if err != nil {
		return 0, err
	}
	client, err := c.connect()
	if err != nil {
		return 0, err
	}
	var a orch.KeyAnswer
	if err := c.order(client, order, &a); err != nil {
		return 0, err
	}
	code := exitDone
	if a.Pressed < a.Asked {
		code = exitRefused
		c.out.note("the screen changed, so %d of %d were not pressed", a.Asked-a.Pressed, a.Asked)
	}
	if c.out.json {
		return code, c.out.data(a)
	}
	return code, c.out.say("%d of %d pressed in worker %s: screen %s before, %s after", a.Pressed, a.Asked, named(a.Worker), a.Before, a.After)
}

func (c *call) keyOrder() (daemon.KeyOrder, error) {
	order := daemon.KeyOrder{Worker: c.arg(0), Keys: c.arguments[1:]}
	var err error
	if order.Text, err = c.text("literal"); err != nil {
		return order, err
	}
	if order.Text == "" && len(order.Keys) == 0 {
		return order, c.misuse("worker key: KEY or --literal is missing")
	}
	if why := unfit(order.Text); why != "" {
		return order, c.misuse("worker key: --literal: %s", why)
	}
	for _, k := range order.Keys {
		if err := tmux.KeyName(k); err != nil {
			return order, c.misuse("worker key: %v", err)
		}
	}
	return order, nil
}
