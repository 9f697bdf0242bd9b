package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"st/orch"
)

var orchEndVerb = &verb{
	noun: "orch", name: "end", args: "[R]", max: 1, about: "end a run; without R the current one",
	help: "Refused while a worker is unsettled, unless --force says that it may go on without a run;\n" +
		"one that waits in line for its window is stopped then. Tasks that nobody has begun do not hold it up, and stay so.\n" +
		"When it has ended, the open run that you used before it in this pane is the current one; to end that, name it.",
	flags: func() []cli.Flag {
		return []cli.Flag{
			&cli.BoolFlag{Name: "close", Usage: "also stop its settled workers"},
			&cli.BoolFlag{Name: "force", Usage: "even while a worker is unsettled"},
		}
	},
	codes: []int{exitRefused},
	sends: orch.RunEnd{},
	run:   orchEnd,
}

func init() { register(orchEndVerb) }

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
	if err := c.order(client, order, &a); err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(a)
	}
	switch {
	case a.Already:
		return exitDone, c.out.say("nothing to do: run %s had ended", runNamed(a.Run))
	case len(a.Stopped) > 0:
		err = c.out.say("ended run %s; stopping %s", runNamed(a.Run), strings.Join(a.Stopped, ", "))
	default:
		err = c.out.say("ended run %s", runNamed(a.Run))
	}
	if err == nil {
		c.out.staying(a)
		c.out.left(a)
	}
	return exitDone, err
}

// left says how many tasks nobody has begun, or will.
func (p *printer) left(a orch.RunAnswer) {
	switch {
	case a.Left == 1:
		p.note("1 task is left undone: st task ls --run %s", a.Run.ID)
	case a.Left > 1:
		p.note("%d tasks are left undone: st task ls --run %s", a.Left, a.Run.ID)
	}
}

// staying names the workers whose agents outlive their run, and how to end them.
func (p *printer) staying(a orch.RunAnswer) {
	var settled, busy []string
	for _, w := range a.Run.Workers {
		switch {
		case gone(w) || slices.Contains(a.Stopped, w.ID):
		case w.Settled:
			settled = append(settled, w.ID)
		default:
			busy = append(busy, w.ID)
		}
	}
	if len(settled) > 0 {
		p.note("still in their windows: %s", strings.Join(settled, ", "))
		p.note("  st orch end %s --close", a.Run.ID)
	}
	if len(busy) > 0 {
		p.note("not settled, they go on: %s", strings.Join(busy, ", "))
	}
	for _, w := range busy {
		p.note("  st worker stop %s --yes", w)
	}
}
