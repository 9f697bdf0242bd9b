package main

import "st/orch"

var workerReleaseVerb = &verb{
	noun: "worker", name: "release", args: "W", min: 1, max: 1, about: "end a worker's relation to its run; its agent lives on",
	help: "What it was to be told for the run and has not been is withdrawn, its open dispatch is closed, and its task is\n" +
		"cancelled. One that was at it is told so by one line. A run that it coordinates itself stays its own, as it is.",
	codes: []int{exitRefused},
	sends: orch.WorkerRelease{},
	run:   workerRelease,
}

func init() { register(workerReleaseVerb) }

func workerRelease(c *call) (int, error) {
	var a orch.WorkerAnswer
	if err := c.do(orch.WorkerRelease{Worker: c.arg(0)}, &a); err != nil {
		return 0, err
	}
	switch {
	case c.out.json:
		return exitDone, c.out.data(a)
	case a.Already:
		return exitDone, c.out.say("nothing to do: worker %s was released before", named(a.Worker))
	}
	return exitDone, c.out.say("released worker %s of %s", named(a.Worker), a.Worker.Run)
}
