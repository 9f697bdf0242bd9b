package main

import (
	"strings"

	"st/orch"
)

var escalateVerb = &verb{
	name: "escalate", args: "TEXT", min: 1, max: 1, about: "a worker tells whoever answers for it that something is wrong",
	help: "For workers. It asks nothing and waits for nobody: st ask asks. Where the daemon can't be reached it is\n" +
		"queued and taken as soon as one runs.",
	codes: []int{exitRefused},
	sends: orch.Escalate{},
	run:   escalate,
}

func init() { register(escalateVerb) }

func escalate(c *call) (int, error) {
	text := c.arg(0)
	if strings.TrimSpace(text) == "" {
		return 0, c.misuse("escalate: TEXT is empty")
	}
	if why := unfit(text); why != "" {
		return 0, c.misuse("escalate: TEXT: %s", why)
	}
	var a orch.SendAnswer
	queued, err := c.report(orch.Escalate{Text: text}, &a)
	if err != nil {
		return 0, err
	}
	a.Message.Body = inRecord(text)
	if c.out.json {
		data := map[string]any{"message": a.Message, "queued": queued}
		if queued {
			data["message"] = nil // only the daemon gives it an id
		}
		return exitDone, c.out.data(data)
	}
	if queued {
		return exitDone, c.out.say("%s", queuedSaid(c.ifWorker()))
	}
	return exitDone, c.out.say("message %s to %s: %s", a.Message.ID, boxName(a.Message), a.Message.State)
}
