package main

import (
	"encoding/json"

	"github.com/urfave/cli/v2"

	"st/orch"
	"st/orch/daemon"
)

var gcVerb = &verb{
	name: "gc", about: "take away the worktrees whose work has landed and whose workers have ended",
	help: "It lists each worktree with its size, and why it is kept where it is. What is not provably in the branch to which it\n" +
		"comes home, not committed, or in use stays. --run R looks at that run alone.\n" +
		"--refs lists what finished worktrees have left under refs/st in this repository, with how many commits nothing else\n" +
		"leads to. It is never dropped by itself: --drop REF and --older AGE say what, and --yes does it.",
	flags: func() []cli.Flag {
		return append([]cli.Flag{&cli.BoolFlag{Name: "dry-run", Usage: "only say what it would do"}}, keptFlags()...)
	},
	codes: []int{exitRefused},
	sends: orch.TreesFree{},
	run:   gc,
}

func init() { register(gcVerb) }

func gc(c *call) (int, error) {
	if c.Bool("refs") {
		return c.keptRefs()
	}
	for _, name := range []string{"repo", "drop", "older", "yes"} {
		if c.IsSet(name) {
			return 0, c.misuse("gc: --%s goes with --refs", name)
		}
	}
	client, err := c.connect()
	if err != nil {
		return 0, err
	}
	var a orch.WorktreesAnswer
	if c.Bool("dry-run") {
		err = c.get("trees", nil, &a)
	} else {
		err = c.order(client, orch.TreesFree{}, &a)
	}
	if err != nil {
		return 0, err
	}
	code := exitDone
	for i, t := range a.Worktrees {
		if t.Keeps != "" || c.Bool("dry-run") {
			continue
		}
		if err := c.followTree(client, &a.Worktrees[i]); err != nil {
			return 0, err
		}
		if why := a.Worktrees[i].Error; why != nil {
			a.Worktrees[i].Keeps = why.Message
			if is := exitOf(why.Code); is != exitRefused { // that was no failure: it is kept
				code = is
			}
		}
	}
	if c.out.json {
		return code, c.out.data(a)
	}
	return code, c.out.freed(a.Worktrees, c.Bool("dry-run"))
}

// followTree waits until a worktree has come to its end, or has not.
func (c *call) followTree(client *daemon.Client, t *orch.WorktreeInfo) error {
	was := *t
	if !t.Done() {
		c.out.progress("waiting until git is done with the worktree of %s (Ctrl-C ends only the waiting)", t.Worker)
	}
	return c.watch(c.ctx, client, "worktree", orch.WorkerArgs{Worker: t.Worker}, func(raw json.RawMessage) (bool, error) {
		*t = orch.WorktreeInfo{}
		err := json.Unmarshal(raw, t)
		t.Keeps, t.Landed, t.Bytes = was.Keeps, was.Landed, was.Bytes
		return !t.Done(), err
	})
}

// freed prints which worktrees went, or would, and which are kept and why.
func (p *printer) freed(list []orch.WorktreeInfo, dry bool) error {
	if len(list) == 0 {
		return p.say("nothing to do: there is no worktree")
	}
	var rows [][]styled
	var free, kept int64
	for _, t := range list {
		does := p.style(p.styles.good, "freed")
		if dry {
			does = p.style(p.styles.good, "would be freed")
		}
		if t.Keeps != "" {
			does, kept = p.style(p.styles.warn, "kept: "+t.Keeps), kept+t.Bytes
		} else {
			free += t.Bytes
		}
		rows = append(rows, []styled{plain(t.Worker), cell(t.Name, 24), plain(size(t.Bytes)), plain(t.Branch), plain(t.Path), does})
	}
	if err := p.table([]string{"WORKER", "NAME", "SIZE", "BRANCH", "WORKTREE", ""}, rows); err != nil {
		return err
	}
	word := "freed"
	if dry {
		word = "to be freed"
	}
	return p.say("%s %s, kept %s", size(free), word, size(kept))
}
