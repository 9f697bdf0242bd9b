package main

import "st/orch"

var orchShowVerb = &verb{
	noun: "orch", name: "show", args: "[R]", max: 1, about: "a run and its workers; without R the current one",
	run: orchShow,
}

func init() { register(orchShowVerb) }

func orchShow(c *call) (int, error) {
	var r orch.RunInfo
	if err := c.get("run", orch.RunArgs{Run: c.arg(0)}, &r); err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(map[string]any{"run": r})
	}
	return exitDone, c.out.run(r)
}
