package main

import "st/orch"

var gateCancelVerb = &verb{
	noun: "gate", name: "cancel", args: "G", min: 1, max: 1, about: "close a gate that nobody needs any more",
	help:  "Whoever asked, the run's coordinator or a person may. Whoever waits is told; a task that it held may go on.",
	codes: []int{exitRefused},
	sends: orch.GateCancel{},
	run:   gateCancel,
}

func init() { register(gateCancelVerb) }

func gateCancel(c *call) (int, error) {
	var a orch.GateReply
	if err := c.do(orch.GateCancel{Gate: c.arg(0)}, &a); err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(a)
	}
	if a.Already {
		return exitDone, c.out.say("nothing to do: gate %s is cancelled", a.Gate.ID)
	}
	return exitDone, c.out.say("gate %s is cancelled", a.Gate.ID)
}
