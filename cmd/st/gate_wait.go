package main

import (
	"time"

	"github.com/urfave/cli/v2"
)

var gateWaitVerb = &verb{
	noun: "gate", name: "wait", args: "G", min: 1, max: 1, about: "wait until a person has answered",
	help: "It prints the choice. A gate that was cancelled, or whose deadline has passed, ends it with 7, and 124 says that\n" +
		"nobody has answered within --timeout. Ctrl-C ends only the waiting.",
	flags: func() []cli.Flag {
		return []cli.Flag{&cli.DurationFlag{Name: "timeout", Usage: "wait at most this long"}}
	},
	codes: []int{exitRefused, exitTimedOut, exitInterrupted},
	run:   gateWait,
}

func init() { register(gateWaitVerb) }

func gateWait(c *call) (int, error) {
	client, err := c.connect()
	if err != nil {
		return 0, err
	}
	limit := time.Duration(-1)
	if c.IsSet("timeout") {
		limit = c.Duration("timeout")
	}
	return c.gateWaited(client, c.arg(0), limit)
}
