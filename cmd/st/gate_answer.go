package main

import (
	"strings"

	"st/orch"
)

var gateAnswerVerb = &verb{
	noun: "gate", name: "answer", args: "G CHOICE", min: 2, max: 2, about: "answer a gate, as a person",
	help: "A person's verb: type it in the active pane of a terminal that is attached to tmux. The daemon looks whether a\n" +
		"key was pressed there in the last 5 s, and whether an agent is above this command; what it finds is kept with\n" +
		"the answer. No configuration lets an agent do this. CHOICE is one of the gate's options, where it has any.",
	codes: []int{exitRefused},
	sends: orch.GateAnswer{},
	run:   gateAnswer,
}

func init() { register(gateAnswerVerb) }

func gateAnswer(c *call) (int, error) {
	choice := c.arg(1)
	switch {
	case strings.TrimSpace(choice) == "":
		return 0, c.misuse("gate answer: CHOICE is empty")
	case unfit(choice) != "":
		return 0, c.misuse("gate answer: CHOICE: %s", unfit(choice))
	}
	var a orch.GateReply
	if err := c.do(orch.GateAnswer{Gate: c.arg(0), Choice: choice}, &a); err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(a)
	}
	if a.Already {
		return exitDone, c.out.say("nothing to do: gate %s was answered with this already", a.Gate.ID)
	}
	return exitDone, c.out.say("gate %s is answered: %s", a.Gate.ID, a.Gate.Choice)
}
