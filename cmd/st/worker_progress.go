package main

import (
	"st/orch"
)

var workerProgressVerb = &verb{
	noun: "worker", name: "progress", args: "TEXT", min: 1, max: 1,
	about: "a worker says what it does just now",
	help:  "For workers. It is a state that the next progress replaces, not a message.",
	codes: []int{exitRefused},
	sends: orch.WorkerProgress{},
	run:   workerProgress,
}

func init() { register(workerProgressVerb) }

func workerProgress(c *call) (int, error) {
	if c.arg(0) == "" {
		return 0, c.misuse("worker progress: TEXT is empty")
	}
	if why := unfit(c.arg(0)); why != "" {
		return 0, c.misuse("worker progress: TEXT: %s", why)
	}
	var a orch.WorkerAnswer
	queued, err := c.report(orch.WorkerProgress{Text: c.arg(0)}, &a)
	if err != nil {
		return 0, err
	}
	if c.out.json {
		data := map[string]any{"worker": a.Worker, "queued": queued}
		if queued {
			data["worker"] = nil // only the daemon knows which one this is
		}
		return exitDone, c.out.data(data)
	}
	if queued {
		return exitDone, c.out.say("%s", queuedSaid(c.ifWorker()))
	}
	return exitDone, c.out.say("noted for worker %s %s", a.Worker.ID, quoted(a.Worker.Name))
}
