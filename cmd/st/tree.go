package main

import (
	"github.com/urfave/cli/v2"

	"st/orch"
)

func init() {
	register(&verb{
		name: "tree", about: "coordinators and their workers",
		flags: []cli.Flag{&cli.BoolFlag{Name: "all", Usage: "also ended runs and finished workers"}},
		run:   tree,
	})
}

func tree(c *call) (int, error) {
	var trees []orch.TreeInfo
	if err := c.get("tree", orch.ListArgs{All: c.Bool("all")}, &trees); err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(map[string]any{"tree": trees})
	}
	if len(trees) == 0 {
		if c.Bool("all") {
			return exitDone, c.out.say("no run")
		}
		return exitDone, c.out.say("no open run")
	}
	for _, t := range trees {
		if err := c.out.tree(t); err != nil {
			return 0, err
		}
	}
	return exitDone, nil
}

func (p *printer) tree(t orch.TreeInfo) error {
	seat := "a person"
	if a := t.Coordinator; a != nil {
		seat = a.ID + " " + quoted(a.Name) + " (" + a.Kind + ") " + status(a.Status, a.WaitingFor)
	}
	if err := p.say("%s: %s", p.style(p.styles.head, runNamed(t.Run)), seat); err != nil {
		return err
	}
	for i, w := range t.Workers {
		branch := "├─"
		if i == len(t.Workers)-1 && t.Completed == 0 {
			branch = "└─"
		}
		if err := p.say("%s %s: %s, %s", branch, named(w), p.state(w), statusFor(status(w.Status, w.WaitingFor), w.Since)); err != nil {
			return err
		}
	}
	if t.Completed > 0 {
		return p.say("└─ Completed (%d)", t.Completed)
	}
	return nil
}
