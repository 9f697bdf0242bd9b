package main

import (
	"fmt"

	"st/orch"
)

var orchUseVerb = &verb{
	noun: "orch", name: "use", args: "R", min: 1, max: 1, about: "take a run over: you coordinate it from now on, and its old coordinator is fenced",
	help: "Called by an agent, that agent is the run's coordinator; by a person, the person at this pane, whose current run\n" +
		"it is then. What is owed to the old seat goes to the new one. An agent that had the seat is told so once, and what it\n" +
		"orders about the run is refused (7) until it takes it back. A worker of the run can't take it.",
	codes: []int{exitRefused},
	sends: orch.RunUse{},
	run:   orchUse,
}

func init() { register(orchUseVerb) }

func orchUse(c *call) (int, error) {
	var a orch.UseAnswer
	if err := c.do(orch.RunUse{Run: c.arg(0)}, &a); err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(a)
	}
	if a.Already {
		return exitDone, c.out.say("nothing to do: you coordinate run %s, and it is the current one", runNamed(a.Run))
	}
	if err := c.out.say("%s", used(a)); err != nil {
		return 0, err
	}
	if !a.Run.Current {
		c.out.note("outside a pane of tmux no run stays the current one: while others are open, say which with each verb:")
		c.out.note("  st orch show --run %s", a.Run.ID)
	}
	return exitDone, c.out.run(a.Run)
}

// used says what a use has done. A run that a person had is that person's still: only where it is current has changed.
func used(a orch.UseAnswer) string {
	switch {
	case a.From != "" || a.Run.Coordinator != "":
		return fmt.Sprintf("run %s is yours now, from %s", runNamed(a.Run), seatOf(a.From))
	case a.Run.Current:
		return fmt.Sprintf("run %s is the current one here now", runNamed(a.Run))
	}
	return fmt.Sprintf("run %s is yours", runNamed(a.Run))
}

// seatOf is who had a run, in words.
func seatOf(agent string) string {
	if agent == "" {
		return "a person"
	}
	return "agent " + agent
}
