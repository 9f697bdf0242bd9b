package main

import (
	"cmp"
	"time"

	"github.com/urfave/cli/v2"

	"st/orch"
)

var gateLsVerb = &verb{
	noun: "gate", name: "ls", about: "open gates",
	help: "An agent sees those of its run, a person those of all runs unless --run names one.",
	flags: func() []cli.Flag {
		return []cli.Flag{&cli.BoolFlag{Name: "all", Usage: "also those that are closed, or whose deadline has passed"}}
	},
	run: gateLs,
}

func init() { register(gateLsVerb) }

func gateLs(c *call) (int, error) {
	var gates []orch.GateInfo
	if err := c.get("gates", orch.GatesArgs{All: c.Bool("all")}, &gates); err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(map[string]any{"gates": gates})
	}
	if len(gates) == 0 {
		return exitDone, c.out.say("no open gate")
	}
	return exitDone, c.out.gates(gates)
}

// gates prints a table of gates.
func (p *printer) gates(list []orch.GateInfo) error {
	var rows [][]styled
	for _, g := range list {
		left := ""
		if g.Deadline != nil && g.Status == orch.GateOpen {
			left = max(time.Until(*g.Deadline), 0).Round(time.Second).String()
		}
		rows = append(rows, []styled{
			plain(g.ID), plain(g.Run), plain(gateAsker(g)), p.gateStatus(g), plain(ago(g.Created)), plain(left), plain(g.Task),
			cell(cmp.Or(g.Choice, "-"), 24), cell(g.Question, 60),
		})
	}
	return p.table([]string{"ID", "RUN", "BY", "STATUS", "FOR", "LEFT", "HOLDS", "CHOICE", "QUESTION"}, rows)
}
