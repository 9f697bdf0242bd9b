package main

import (
	"strings"

	"github.com/google/uuid"
	"github.com/urfave/cli/v2"

	"st/orch"
)

func init() {
	register(&verb{
		noun: "orch", name: "end", args: "[R]", max: 1, about: "end a run; without R the current one",
		help: "Refused while a worker is unsettled, unless --force says that it may go on without a run.",
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "close", Usage: "also stop the workers that are settled"},
			&cli.BoolFlag{Name: "force", Usage: "even while a worker is unsettled"},
		},
		codes: []int{exitRefused},
		run:   orchEnd,
	})
}

func orchEnd(c *call) (int, error) {
	from := c.from()
	if r := c.arg(0); r != "" {
		from.Run = r
	}
	client, err := c.connectFrom(from)
	if err != nil {
		return 0, err
	}
	var a orch.RunAnswer
	order := orch.RunEnd{Close: c.Bool("close"), Force: c.Bool("force")}
	if err := client.Do(c.ctx, uuid.NewString(), order, &a); err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(a)
	}
	switch {
	case a.Already:
		return exitDone, c.out.say("nothing to do: run %s had ended", runNamed(a.Run))
	case len(a.Stopped) > 0:
		return exitDone, c.out.say("ended run %s; stopping %s", runNamed(a.Run), strings.Join(a.Stopped, ", "))
	}
	if err := c.out.say("ended run %s", runNamed(a.Run)); err != nil {
		return 0, err
	}
	c.out.staying(a.Run)
	return exitDone, nil
}

// staying names the workers whose agents outlive their run, and how to end them.
func (p *printer) staying(r orch.RunInfo) {
	var ids []string
	for _, w := range r.Workers {
		if w.Status != "gone" && w.Status != "gone_resumable" {
			ids = append(ids, w.ID)
		}
	}
	if len(ids) > 0 {
		p.note("still in their windows: %s", strings.Join(ids, ", "))
		p.note("  st orch end %s --close", r.ID)
	}
}
