package main

import (
	"encoding/json"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"st/orch"
)

var workerFinishVerb = &verb{
	noun: "worker", name: "finish", args: "W", min: 1, max: 1, about: "bring a worker's worktree home, or throw it away",
	help: "Without a flag it is taken away where its work has landed already, squashed too; else it says what would be lost.\n" +
		"--merge makes a merge commit of its branch on the branch at which it began, --squash one commit of the whole change.\n" +
		"A working tree in which that branch is checked out goes along, if nothing is changed there. Its own commits are kept\n" +
		"under refs/st/landed. Then the worktree and its branch are taken away, with the files that git ignores. A settled\n" +
		"agent is ended and its window closed.\n" +
		"It refuses, with the list, where something is not committed, a rebase is under way, a process runs inside, it was moved,\n" +
		"or there are conflicts: then nothing has changed. --discard keeps all but the ignored files under refs/st/discarded,\n" +
		"and says how to get them back.",
	flags: func() []cli.Flag {
		return []cli.Flag{
			&cli.BoolFlag{Name: "merge", Usage: "by a merge commit"},
			&cli.BoolFlag{Name: "squash", Usage: "by one commit"},
			&cli.BoolFlag{Name: "discard", Usage: "throw it away; wants --yes"},
			&cli.StringFlag{Name: "into", Usage: "onto branch `B`; else the one at which it began"},
			&cli.StringSliceFlag{Name: "drop", Usage: "let the repository at `PATH` in it go, although its work is nowhere else; a person's to say"},
			&cli.BoolFlag{Name: "yes", Usage: "don't ask"},
		}
	},
	codes: []int{exitRefused},
	sends: orch.WorkerFinish{},
	run:   workerFinish,
}

func init() { register(workerFinishVerb) }

func workerFinish(c *call) (int, error) {
	order, err := c.finishOrder()
	if err != nil {
		return 0, err
	}
	client, err := c.connect()
	if err != nil {
		return 0, err
	}
	var a orch.WorktreeAnswer
	if err := c.order(client, order, &a); err != nil {
		return 0, err
	}
	t := a.Worktree
	if !t.Done() {
		c.out.progress("waiting until worker %s has ended and git is done with its worktree (Ctrl-C ends only the waiting)", t.Worker)
	}
	err = c.watch(c.ctx, client, "worktree", orch.WorkerArgs{Worker: t.Worker}, func(raw json.RawMessage) (bool, error) {
		t = orch.WorktreeInfo{}
		err := json.Unmarshal(raw, &t)
		return !t.Done(), err
	})
	switch {
	case err != nil:
		return 0, err
	case t.Error != nil:
		return 0, t.Error
	case c.out.json:
		return exitDone, c.out.data(orch.WorktreeAnswer{Worktree: t, Already: a.Already})
	}
	return exitDone, c.out.finished(t, a.Already)
}

func (c *call) finishOrder() (orch.WorkerFinish, error) {
	o := orch.WorkerFinish{Worker: c.arg(0)}
	for _, name := range c.StringSlice("drop") {
		o.Forget = append(o.Forget, filepath.Clean(name))
	}
	var err error
	if o.Into, err = c.text("into"); err != nil {
		return o, err
	}
	for _, how := range []string{"merge", "squash", "discard"} {
		if !c.Bool(how) {
			continue
		}
		if o.How != "" {
			return o, c.misuse("worker finish: --%s and --%s exclude each other", o.How, how)
		}
		o.How = how
	}
	switch {
	case o.Into != "" && o.How == "discard":
		return o, c.misuse("worker finish: --into and --discard exclude each other")
	case o.How == "discard" && !c.Bool("yes"):
		line := "st worker finish " + shellWord(o.Worker) + " --discard --yes"
		for _, name := range o.Forget {
			line += " --drop " + shellWord(name)
		}
		return o, &orch.Error{Code: "confirm", Message: "throwing the worktree of worker " + quoted(o.Worker) + " away takes its files and its branch",
			Hint: "all but the ignored files is kept under refs/st/discarded", Next: []string{line}}
	}
	return o, nil
}

// finished says what became of a worktree.
func (p *printer) finished(t orch.WorktreeInfo, already bool) error {
	of := "the worktree of worker " + t.Worker + " " + quoted(t.Name)
	var err error
	switch {
	case already:
		err = p.say("nothing to do: %s is gone (%s)", of, t.How)
	case t.How == "merge" || t.How == "squash":
		err = p.say("finished %s: branch %s is in %s by commit %.12s", of, t.Branch, t.Into, t.Commit)
	case t.How == "discard":
		err = p.say("discarded %s; kept as %s", of, t.Backup)
	default:
		err = p.say("finished %s: %s", of, landed(t))
	}
	if t.Restore != "" && t.How == "discard" {
		p.note("to get it back:")
		p.note("  %s", t.Restore)
	} else if t.Backup != "" && !already {
		p.note("its own commits are kept as %s", t.Backup)
	}
	return err
}

// landed says what it means that work had landed. Commits may be in a branch whose files are not as they left them: whoever
// merged them may have decided so, or have taken them back since.
func landed(t orch.WorktreeInfo) string {
	where := "another branch"
	if t.Into != "" {
		where = "branch " + t.Into
	}
	switch t.Landed {
	case "merged":
		return "its commits were in " + where + " already"
	case "squashed":
		return "its whole change was in " + where + " already"
	case "nothing":
		return "it had no commits of its own"
	}
	return "its work had landed"
}
