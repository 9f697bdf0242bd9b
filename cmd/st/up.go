package main

import (
	"os"

	"st/orch"
	"st/orch/daemon"
)

func init() {
	register(&verb{
		name: "up", about: "start the daemon",
		help: "Any verb that needs the daemon starts it; up only makes sure that it is there.",
		run:  up,
	})
}

func up(c *call) (int, error) {
	home, err := daemon.Home(os.Getenv)
	if err != nil {
		return 0, err
	}
	_, err = daemon.Dial(c.ctx, home, c.from())
	already := err == nil
	var s orch.StatusInfo
	if err := c.get("status", nil, &s); err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(struct {
			orch.StatusInfo
			Already bool `json:"already"`
		}{s, already})
	}
	if already {
		return exitDone, c.out.say("nothing to do: the daemon runs (pid %d)", s.PID)
	}
	return exitDone, c.out.say("the daemon runs now (pid %d, %s)", s.PID, home)
}
