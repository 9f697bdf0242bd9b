package main

import (
	"github.com/urfave/cli/v2"

	"st/orch"
)

var orchStartVerb = &verb{
	noun: "orch", name: "start", about: "begin a run: an objective and the workers for it",
	flags: func() []cli.Flag {
		return []cli.Flag{
			&cli.StringFlag{Name: "objective", Usage: "what the run is for: `TEXT`"},
			&cli.StringFlag{Name: "name", Usage: "what the run is called: `N`"},
		}
	},
	needs: []string{"objective"},
	codes: []int{exitRefused},
	sends: orch.RunStart{},
	run:   orchStart,
}

func init() { register(orchStartVerb) }

func orchStart(c *call) (int, error) {
	objective, err := c.text("objective")
	if err != nil {
		return 0, err
	}
	if objective == "" {
		return 0, c.misuse("orch start: --objective is missing")
	}
	name, err := c.text("name")
	if err != nil {
		return 0, err
	}
	var a orch.RunAnswer
	if err := c.do(orch.RunStart{Objective: objective, Name: name}, &a); err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(map[string]any{"run": a.Run})
	}
	return exitDone, c.out.say("started run %s", runNamed(a.Run))
}
