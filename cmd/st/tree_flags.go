package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"st/orch"
)

// treeFlags say in which worktree a worker works.
func treeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "worktree", Usage: "work in a git worktree of its own; the flags below say which"},
		&cli.StringFlag{Name: "repo", Usage: "of the repository at `PATH`; else of the folder's"},
		&cli.StringFlag{Name: "base", Usage: "begin it at `REF`; else at what is checked out there"},
		&cli.StringFlag{Name: "branch", Usage: "its branch is called `B`; one that is there is taken as it is"},
		&cli.StringFlag{Name: "setup", Usage: "run `CMD` in it before the agent begins; what it writes is kept in a file"},
		&cli.BoolFlag{Name: "setup-async", Usage: "let the agent begin meanwhile"},
		&cli.StringSliceFlag{Name: "copy", Usage: "copy files that git does not track and that fit `GLOB`; may be repeated", KeepSpace: true},
	}
}

// treeWant reads the flags that say in which worktree a worker works, nil for none.
func (c *call) treeWant() (*orch.TreeWant, error) {
	if !c.Bool("worktree") {
		for _, f := range treeFlags() {
			if name := f.Names()[0]; c.IsSet(name) && name != "worktree" {
				return nil, c.misuse("%s: --%s says how a worktree is made, and goes with --worktree", c.verb.path(), name)
			}
		}
		return nil, nil
	}
	w := orch.TreeWant{Copy: c.StringSlice("copy"), Async: c.Bool("setup-async")}
	for name, into := range map[string]*string{"repo": &w.Repo, "base": &w.Base, "branch": &w.Branch, "setup": &w.Setup} {
		value, err := c.text(name)
		if err != nil {
			return nil, err
		}
		if why := unfit(value); why != "" {
			return nil, c.misuse("%s: --%s: %s", c.verb.path(), name, why)
		}
		*into = value
	}
	return &w, c.checkTree(&w)
}

func (c *call) checkTree(w *orch.TreeWant) (err error) {
	switch {
	case w.Async && w.Setup == "":
		return c.misuse("%s: --setup-async goes with --setup", c.verb.path())
	case w.Repo != "" && c.IsSet("dir"):
		return c.misuse("%s: --repo and --dir exclude each other", c.verb.path())
	}
	for _, g := range w.Copy {
		if g == "" || strings.ContainsAny(g, "\n\x00") || slices.Contains(strings.Split(filepath.ToSlash(g), "/"), "..") {
			return c.misuse("%s: --copy %s: a glob of files in the repository is wanted", c.verb.path(), quoted(g))
		}
	}
	if w.Repo != "" {
		w.Repo, err = folder(w.Repo, true)
	}
	return err
}
