package main

import "st/orch"

var workerShowVerb = &verb{
	noun: "worker", name: "show", args: "W", min: 1, max: 1, about: "one worker in full",
	run: workerShow,
}

func init() { register(workerShowVerb) }

func workerShow(c *call) (int, error) {
	var w orch.WorkerInfo
	if err := c.get("worker", orch.WorkerArgs{Worker: c.arg(0)}, &w); err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(map[string]any{"worker": w})
	}
	return exitDone, c.out.worker(w)
}
