package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"st/orch"
)

// keptFlags are the flags of gc about what finished worktrees have left.
func keptFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "refs", Usage: "what was kept of finished worktrees, under refs/st"},
		&cli.StringFlag{Name: "repo", Usage: "with --refs: of the repository at `PATH`; else of this folder's"},
		&cli.StringSliceFlag{Name: "drop", Usage: "with --refs: drop `REF`, and what was kept beside it; may be repeated"},
		&cli.StringFlag{Name: "older", Usage: "with --refs: drop all that are older than `AGE`, such as 90d or 12h"},
		&cli.BoolFlag{Name: "yes", Usage: "don't ask"},
	}
}

// keptRefs lists what was kept, or drops some of it.
func (c *call) keptRefs() (int, error) {
	repo, err := c.text("repo")
	if err != nil {
		return 0, err
	}
	if repo == "" {
		repo = "."
	}
	if repo, err = folder(repo, true); err != nil {
		return 0, err
	}
	age, err := c.older()
	if err != nil {
		return 0, err
	}
	var kept orch.KeptRefs
	if err := c.get("kept-refs", orch.KeptArgs{Repo: repo}, &kept); err != nil {
		return 0, err
	}
	if len(c.StringSlice("drop")) == 0 && age == 0 {
		if c.out.json {
			return exitDone, c.out.data(kept)
		}
		return exitDone, c.out.kept(kept)
	}
	chosen, err := chooseRefs(kept, c.StringSlice("drop"), age)
	if err != nil {
		return 0, err
	}
	if len(chosen) > 0 && (!c.Bool("yes") || c.Bool("dry-run")) {
		return 0, c.confirmDrop(chosen)
	}
	gone := orch.KeptRefs{Repo: kept.Repo, Refs: []orch.KeptRef{}}
	if len(chosen) > 0 {
		if err := c.do(orch.RefsDrop{Repo: kept.Repo, Refs: chosen}, &gone); err != nil {
			return 0, err
		}
	}
	if c.out.json {
		return exitDone, c.out.data(gone)
	}
	return exitDone, c.out.dropped(gone)
}

// older reads --older, which knows days beside what durations are written in; 0 where it is not given.
func (c *call) older() (time.Duration, error) {
	if !c.IsSet("older") {
		return 0, nil
	}
	text := c.String("older")
	age, err := time.ParseDuration(text)
	if days, is := strings.CutSuffix(text, "d"); is {
		var n int64
		n, err = strconv.ParseInt(days, 10, 17) // more days than those are no duration any more, and would become a short one
		age = time.Duration(n) * 24 * time.Hour
	}
	if err != nil || age <= 0 {
		return 0, c.misuse("gc: --older %s: an age such as 90d or 12h is wanted", quoted(text))
	}
	return age, nil
}

// chooseRefs are those that are named, with what was kept beside them, and those of that age; 0 is none.
func chooseRefs(kept orch.KeptRefs, names []string, age time.Duration) (chosen []orch.KeptRef, err error) {
	found := map[string]bool{}
	for _, k := range kept.Refs {
		fits := age > 0 && !k.Made.IsZero() && time.Since(k.Made) > age // of some nobody knows it
		for _, name := range names {
			full := "refs/st/" + strings.TrimPrefix(name, "refs/st/")
			if k.Ref == full || strings.HasPrefix(k.Ref, full+".") {
				fits, found[name] = true, true
			}
		}
		if fits {
			chosen = append(chosen, k)
		}
	}
	for _, name := range names {
		if !found[name] {
			return nil, &orch.Error{Code: "no_ref", Message: "--drop " + name + ": nothing was kept under that name in " + kept.Repo, Next: []string{"st gc --refs"}}
		}
	}
	return chosen, nil
}

// confirmDrop says what would go.
func (c *call) confirmDrop(chosen []orch.KeptRef) error {
	e := &orch.Error{Code: "confirm", Message: fmt.Sprintf("%d references would be dropped; what only they lead to can't be had back once git tidies up:", len(chosen))}
	line := "st gc --refs"
	if c.IsSet("repo") {
		line += " --repo " + shellWord(c.String("repo"))
	}
	for _, k := range chosen {
		e.Message += fmt.Sprintf("\n  %s, %d commits: %s", k.Ref, k.Commits, k.Subject)
	}
	for _, name := range c.StringSlice("drop") {
		line += " --drop " + shellWord(name)
	}
	if c.IsSet("older") {
		line += " --older " + shellWord(c.String("older"))
	}
	e.Next = []string{line + " --yes"}
	return e
}

// kept lists references, and what they keep.
func (p *printer) kept(k orch.KeptRefs) error {
	if len(k.Refs) == 0 {
		return p.say("nothing is kept under refs/st in %s", k.Repo)
	}
	var rows [][]styled
	for _, r := range k.Refs {
		rows = append(rows, []styled{plain(r.Ref), plain(ago(r.Made)), plain(strconv.Itoa(r.Commits)), cell(r.Subject, 60)})
	}
	if err := p.table([]string{"REF", "KEPT", "COMMITS", "SUBJECT"}, rows); err != nil {
		return err
	}
	p.note("COMMITS: how many nothing but such references leads to. See one: git log -p REF; back as a branch: git branch NAME REF")
	return nil
}

// dropped says what went, and how to have it back while git still has it.
func (p *printer) dropped(k orch.KeptRefs) error {
	if len(k.Refs) == 0 {
		return p.say("nothing to do: nothing of that age is kept in %s", k.Repo)
	}
	for _, r := range k.Refs {
		if err := p.say("dropped %s: it was %s", r.Ref, r.Commit); err != nil {
			return err
		}
	}
	p.note("until git tidies up, this has one back: git -C %s update-ref REF COMMIT", shellWord(k.Repo))
	return nil
}
