package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"st/orch"
)

var gateAskVerb = &verb{
	noun: "gate", name: "ask", about: "ask a question that only a person may answer",
	help: "The persons who are there are told: by a line and the bell on their terminals, by #{@st_gate} in a status\n" +
		"line, and by the program that config.toml names as notify. An agent that ends its turn is told of the answer;\n" +
		"with --wait the answer is printed here. --task holds a task that has not been dispatched until the gate is\n" +
		"answered or cancelled. Once the deadline of --timeout has passed, whoever waits is told so (7), and a person\n" +
		"may still answer. Options are separated by commas; one with a comma stands in double quotes.",
	flags: func() []cli.Flag {
		return []cli.Flag{
			&cli.StringFlag{Name: "question", Usage: "what is asked (at most 8 KiB)"},
			&cli.StringSliceFlag{Name: "options", Usage: "what may be answered: `A,B`; without them any text may"},
			&cli.StringFlag{Name: "task", Usage: "hold this task `T`"},
			&cli.BoolFlag{Name: "wait", Usage: "wait for the answer and print it"},
			&cli.DurationFlag{Name: "timeout", Usage: "the gate's deadline, from now"},
		}
	},
	needs: []string{"question"},
	codes: []int{exitRefused, exitInterrupted},
	sends: orch.GateAsk{},
	run:   gateAsk,
}

func init() { register(gateAskVerb) }

func gateAsk(c *call) (int, error) {
	ask, err := c.gateAsked()
	if err != nil {
		return 0, err
	}
	client, err := c.connect()
	if err != nil {
		return 0, err
	}
	var a orch.GateReply
	if err := c.order(client, ask, &a); err != nil {
		return 0, err
	}
	if c.Bool("wait") {
		return c.gateWaited(client, a.Gate.ID, -1)
	}
	if c.out.json {
		return exitDone, c.out.data(map[string]any{"gate": a.Gate})
	}
	err = c.out.say("gate %s is open: %s", a.Gate.ID, a.Gate.Question)
	c.out.note("  %s", answerLine(a.Gate))
	c.out.note("  st gate wait %s", a.Gate.ID)
	return exitDone, err
}

// gateAsked reads the question from the flags.
func (c *call) gateAsked() (orch.GateAsk, error) {
	ask := orch.GateAsk{Timeout: c.Duration("timeout")}
	var err error
	if ask.Question, err = c.text("question"); err != nil {
		return ask, err
	}
	if ask.Task, err = c.text("task"); err != nil {
		return ask, err
	}
	switch {
	case strings.TrimSpace(ask.Question) == "":
		return ask, c.misuse("gate ask: --question is missing")
	case unfit(ask.Question) != "":
		return ask, c.misuse("gate ask: --question: %s", unfit(ask.Question))
	case c.IsSet("timeout") && ask.Timeout == 0:
		return ask, c.misuse("gate ask: --timeout must be longer than nothing")
	}
	ask.Options, err = c.options()
	return ask, err
}

// answerLine is what a person types to answer a gate.
func answerLine(g orch.GateInfo) string {
	choice := "CHOICE"
	if len(g.Options) > 0 {
		choice = shellWord(g.Options[0])
	}
	return "st gate answer " + g.ID + " " + choice
}
