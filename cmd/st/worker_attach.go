package main

import (
	"strings"

	"st/orch"
	"st/orch/daemon"
)

var workerAttachVerb = &verb{
	noun: "worker", name: "attach", args: "W PANE", min: 2, max: 2, about: "say in which pane a worker runs again",
	help: "For a worker that is gone_resumable, where it can't be told which agent it is now: worker ls and agents show\n" +
		"those that it may be with a ?. PANE is an id like %3 of your tmux server. Refused (7) where no agent runs there,\n" +
		"one of another kind, one in another conversation, or one that is a worker or coordinates a run already. What goes to\n" +
		"a worker's window is st attach.",
	codes: []int{exitRefused},
	sends: orch.WorkerAttach{},
	run:   workerAttach,
}

func init() { register(workerAttachVerb) }

func workerAttach(c *call) (int, error) {
	pane := c.arg(1)
	if digits, ok := strings.CutPrefix(pane, "%"); !ok || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, c.misuse("worker attach: PANE is an id like %%3, not %s; tmux list-panes -a shows them", quoted(pane))
	}
	var a orch.WorkerAnswer
	if err := c.do(daemon.AttachOrder{Worker: c.arg(0), Pane: pane}, &a); err != nil {
		return 0, err
	}
	switch {
	case c.out.json:
		return exitDone, c.out.data(a)
	case a.Already:
		return exitDone, c.out.say("nothing to do: worker %s is in pane %s", named(a.Worker), pane)
	}
	return exitDone, c.out.say("worker %s is agent %s in pane %s now", named(a.Worker), a.Worker.Agent, pane)
}
