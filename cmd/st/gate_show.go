package main

import (
	"cmp"
	"strings"
	"time"

	"st/orch"
)

var gateShowVerb = &verb{
	noun: "gate", name: "show", args: "G", min: 1, max: 1, about: "a gate: its question, its options, and the answer",
	run: gateShow,
}

func init() { register(gateShowVerb) }

func gateShow(c *call) (int, error) {
	var g orch.GateInfo
	if err := c.get("gate", orch.GateArgs{Gate: c.arg(0)}, &g); err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(map[string]any{"gate": g})
	}
	err := c.out.gate(g)
	if g.Status == orch.GateOpen || g.Status == orch.GateTimedOut {
		c.out.note("  %s", answerLine(g))
	}
	return exitDone, err
}

// gate prints one gate in full.
func (p *printer) gate(g orch.GateInfo) error {
	if err := p.say("%s: %s", p.style(p.styles.head, g.ID), p.gateStatus(g)); err != nil {
		return err
	}
	var options []string
	for _, o := range g.Options {
		options = append(options, shellWord(o))
	}
	deadline := ""
	if g.Deadline != nil {
		deadline = g.Deadline.Local().Format(time.DateTime)
	}
	err := p.fields([]field{
		{"run", g.Run}, {"by", gateAsker(g)}, {"age", ago(g.Created)}, {"holds", g.Task}, {"deadline", deadline},
		{"options", strings.Join(options, ", ")}, {"choice", g.Choice}, {"answered", g.AnsweredBy},
	})
	if err != nil {
		return err
	}
	return p.text("question", g.Question)
}

// gateStatus is how a gate stands, in its colour.
func (p *printer) gateStatus(g orch.GateInfo) styled {
	switch g.Status {
	case orch.GateOpen, orch.GateTimedOut:
		return p.style(p.styles.warn, g.Status)
	case orch.GateAnswered:
		return p.style(p.styles.good, g.Status)
	}
	return p.style(p.styles.dim, g.Status)
}

// gateAsker is who asks at a gate.
func gateAsker(g orch.GateInfo) string { return cmp.Or(g.Worker, g.By, "a person") }
