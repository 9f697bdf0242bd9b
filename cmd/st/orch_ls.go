package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"st/orch"
)

var orchLsVerb = &verb{
	noun: "orch", name: "ls", about: "open runs",
	flags: func() []cli.Flag { return []cli.Flag{&cli.BoolFlag{Name: "all", Usage: "also ended ones"}} },
	run:   orchLs,
}

func init() { register(orchLsVerb) }

func orchLs(c *call) (int, error) {
	var runs []orch.RunInfo
	if err := c.get("runs", orch.ListArgs{All: c.Bool("all")}, &runs); err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(map[string]any{"runs": runs})
	}
	if len(runs) == 0 {
		if c.Bool("all") {
			return exitDone, c.out.say("no run")
		}
		return exitDone, c.out.say("no open run")
	}
	var rows [][]styled
	for _, r := range runs {
		mark := ""
		if r.Current {
			mark = "*"
		}
		rows = append(rows, []styled{
			plain(r.ID + mark), cell(r.Name, 24), plain(r.State), plain(r.Coordinator), plain(fmt.Sprint(len(r.Workers))),
			plain(ago(r.Created)), cell(r.Objective, 60),
		})
	}
	return exitDone, c.out.table([]string{"ID", "NAME", "STATE", "BY", "WORKERS", "AGE", "OBJECTIVE"}, rows)
}
