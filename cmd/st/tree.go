package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"st/orch"
)

var treeVerb = &verb{
	name: "tree", about: "coordinators, their workers, and the tasks that wait",
	flags: func() []cli.Flag {
		return []cli.Flag{&cli.BoolFlag{Name: "all", Usage: "also ended runs and finished workers"}}
	},
	run: tree,
}

func init() { register(treeVerb) }

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
	return p.limbs(t, "")
}

// limbs prints what hangs below a run, each line behind indent.
func (p *printer) limbs(t orch.TreeInfo, indent string) error {
	for _, g := range t.Run.Gates {
		if err := p.say("%s?  gate %s of %s: %s", styled(indent), g.ID, gateAsker(g), cell(g.Question, 60)); err != nil {
			return err
		}
	}
	limbs := p.limbsOf(t)
	for i, l := range limbs {
		twig, below := "├─", "│  "
		if i == len(limbs)-1 {
			twig, below = "└─", "   "
		}
		if err := p.say("%s%s %s", styled(indent), twig, l.line); err != nil {
			return err
		}
		for _, team := range l.teams {
			if err := p.limbs(team, indent+below); err != nil {
				return err
			}
		}
	}
	return nil
}

// limb is a line of a tree, and the teams that hang below it.
type limb struct {
	line  styled
	teams []orch.TreeInfo
}

func (p *printer) limbsOf(t orch.TreeInfo) (limbs []limb) {
	for _, w := range t.Workers {
		what := cell(asks(w), 80)
		if q := blockedBy(w); q != nil {
			what = plain(q.ID + ": " + string(what))
		}
		if what != "" {
			what = ": " + what
		}
		l := limb{line: branch("%s: %s, %s%s", named(w), p.stands(w), statusFor(status(w.Status, w.WaitingFor), w.Since), what)}
		for _, team := range t.Teams {
			if team.Run.Lead == w.ID {
				l.teams = append(l.teams, team)
			}
		}
		limbs = append(limbs, l)
	}
	for _, task := range t.Run.Tasks { // of those that a worker has, that one tells
		if task.Status == "pending" || task.Status == "ready" || task.Status == "blocked" {
			limbs = append(limbs, limb{line: branch("%s %s: %s", task.ID, quoted(task.Title), p.taskState(task))})
		}
	}
	if t.Completed > 0 {
		limbs = append(limbs, limb{line: branch("Completed (%d)", t.Completed)})
	}
	return limbs
}

// branch is a line of a tree, with what is foreign in it made harmless.
func branch(format string, args ...any) styled { return styled(fmt.Sprintf(format, tame(args)...)) }
