//go:build linux || darwin

package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"st/orch"
)

// A trap is a situation in which work was lost once, or in which there was no way out. Each act comes to what is wanted,
// and after each of them all is there, also once what was under way is undone. "switch" and the like are what a message
// says to type.
type trap struct {
	name string
	make func(b *treeBench) *treeRepo
	acts []string // pairs: an act of the table, or one of the trap's own, and what it has to come to
	own  map[string]func(r *treeRepo)
	long bool
}

// rebasing begins a rebase of main that stops at a conflict.
func rebasing(r *treeRepo) {
	r.git(r.dir, "switch", "-q", "-c", "up")
	r.write(r.dir, "a.txt", "up\n")
	r.commit(r.dir, "up")
	r.git(r.dir, "switch", "-q", "main")
	r.write(r.dir, "a.txt", "main\n")
	r.commit(r.dir, "main")
	if _, err := gitIn(r.dir, "rebase", "-q", "up"); err == nil {
		r.Error("there is no conflict")
	}
}

// hook lets a program of the repository run.
func hook(r *treeRepo, name, script string) {
	path := filepath.Join(r.dir, ".git", "hooks", name)
	r.write(r.dir, filepath.Join(".git", "hooks", name), "#!/bin/sh\n"+script+"\n")
	must(r.T, os.Chmod(path, 0o755))
}

func withModule(does func(r *treeRepo)) func(*treeBench) *treeRepo {
	return func(b *treeBench) *treeRepo {
		lib, r := b.repo(), b.repo()
		r.git(r.dir, "submodule", "--quiet", "add", lib.dir, "lib")
		r.commit(r.dir, "with a submodule")
		r.start(orch.TreeWant{})
		r.git(r.tree, "submodule", "--quiet", "update", "--init")
		does(r)
		return r.ends()
	}
}

func aside(r *treeRepo) string { return filepath.Join(filepath.Dir(r.dir), "aside") }

var traps = []trap{
	{name: "the base is being rebased", make: asGiven(func(r *treeRepo) { r.works("b.txt"); rebasing(r) }),
		acts: []string{"merge", "refused", "abort", "", "merge", "merge"},
		own:  map[string]func(*treeRepo){"abort": func(r *treeRepo) { r.git(r.dir, "rebase", "--abort") }}},
	{name: "the base is being bisected", long: true, make: asGiven(func(r *treeRepo) {
		r.works("b.txt")
		r.git(r.dir, "bisect", "start")
		r.git(r.dir, "checkout", "-q", "--detach")
	}), acts: []string{"squash", "refused", "reset", "", "squash", "squash"},
		own: map[string]func(*treeRepo){"reset": func(r *treeRepo) { r.git(r.dir, "bisect", "reset") }}},
	{name: "a merge that may be undone", make: asGiven(func(r *treeRepo) { r.works("b.txt") }), acts: []string{"merge", "merge", "look", ""},
		own: map[string]func(*treeRepo){"look": func(r *treeRepo) {
			if ref := r.git(r.dir, "for-each-ref", "--format=%(refname)", "--contains", "main^2"); !strings.Contains(ref, "refs/st/landed/") {
				r.Errorf("its commits are in %s alone", ref)
			}
		}}},
	{name: "into its own branch", make: asGiven(func(r *treeRepo) { r.works("b.txt") }), acts: []string{"own", ""},
		own: map[string]func(*treeRepo){"own": func(r *treeRepo) {
			for _, how := range []string{"merge", "squash", ""} {
				if got := r.order("worker-finish", orch.WorkerFinish{Worker: r.worker, How: how, Into: r.branch}); got != "no_target" {
					r.Errorf("%q into its own branch: %s", how, got)
				}
			}
		}}},
	{name: "two that each count as the other's safe place", make: func(b *treeBench) *treeRepo {
		r := b.repo()
		r.git(r.dir, "tag", "v1")
		r.start(orch.TreeWant{Base: "v1"}).works("b.txt")
		r.ends()
		reviewer := *r
		reviewer.start(orch.TreeWant{Base: r.branch}).ends()
		return r
	}, acts: []string{"gc", "kept", "finish", "not_landed", "discard", "discard"}},
	{name: "two at a commit that is nowhere else", make: func(b *treeBench) *treeRepo {
		r := b.repo()
		r.git(r.dir, "checkout", "-q", "--detach")
		base := r.commit(r.dir, "on no branch")
		r.start(orch.TreeWant{Base: base})
		r.ends()
		other := *r
		other.start(orch.TreeWant{Base: base}).ends()
		r.git(r.dir, "checkout", "-q", "main")
		return r
	}, acts: []string{"gc", "kept", "discard", "discard", "gc", "none"}},
	{name: "moved by git", make: asGiven(func(r *treeRepo) {
		r.git(r.dir, "worktree", "move", r.tree, aside(r))
		r.write(aside(r), "staged", "x\n")
		r.git(aside(r), "add", "staged")
	}), acts: []string{"gc", "kept", "finish", "refused", "merge", "refused", "discard", "refused", "look", "", "back", "", "finish", "unsaved"},
		own: map[string]func(*treeRepo){"look": whole, "back": func(r *treeRepo) { r.git(r.dir, "worktree", "move", aside(r), r.tree) }}},
	{name: "moved by hand", make: asGiven(func(r *treeRepo) {
		r.write(r.tree, "staged", "x\n")
		r.git(r.tree, "add", "staged")
		must(r.T, os.Rename(r.tree, aside(r)))
	}), acts: []string{"gc", "kept", "finish", "refused", "merge", "refused", "discard", "refused", "look", "", "back", "", "finish", "unsaved"},
		own: map[string]func(*treeRepo){"look": whole, "back": func(r *treeRepo) { must(r.T, os.Rename(aside(r), r.tree)) }}},
	{name: "its branch is checked out elsewhere", make: asGiven(func(r *treeRepo) {
		r.git(r.dir, "worktree", "remove", r.tree)
		r.git(r.dir, "switch", "-q", r.branch)
	}), acts: []string{"gc", "kept", "finish", "refused", "look", "", "switch", "", "finish", "landed"},
		own: map[string]func(*treeRepo){"look": func(r *treeRepo) { r.git(r.dir, "rev-parse", "--verify", "HEAD") }, "switch": func(r *treeRepo) { r.git(r.dir, "switch", "-q", "main") }}},
	{name: "removed by hand, with commits on no branch", make: asGiven(func(r *treeRepo) {
		r.git(r.tree, "checkout", "-q", "--detach")
		r.works("b.txt")
		must(r.T, os.RemoveAll(r.tree))
	}), acts: []string{"gc", "kept", "finish", "refused", "keep", "", "finish", "landed"},
		own: map[string]func(*treeRepo){"keep": func(r *treeRepo) { // as the message says
			for _, line := range r.refused(orch.WorkerFinish{Worker: r.worker}) {
				if strings.HasPrefix(line, "git ") {
					r.git(r.dir, strings.Fields(line)[1:]...)
				}
			}
		}}},
	{name: "a repository below what is ignored", make: asGiven(func(r *treeRepo) {
		r.git(r.tree, "init", "-q", "ignored/deep/lib")
		r.write(r.tree, "ignored/deep/lib/x", "x\n")
		r.commit(filepath.Join(r.tree, "ignored/deep/lib"), "inner")
		r.write(r.tree, "ignored/deep/none/.git/x", "only called so")
	}), acts: []string{"gc", "kept", "finish", "unsaved", "discard", "unsaved", "look", ""},
		own: map[string]func(*treeRepo){"look": func(r *treeRepo) { r.git(filepath.Join(r.tree, "ignored/deep/lib"), "show", "HEAD:x") }}},
	{name: "a worktree below what is ignored, and a clone", long: true, make: asGiven(func(r *treeRepo) {
		r.git(r.tree, "clone", "-q", r.dir, "ignored/clone")
		r.git(r.tree, "worktree", "add", "-q", "--detach", "ignored/inner")
	}), acts: []string{"merge", "unsaved", "remove", "", "finish", "landed"},
		own: map[string]func(*treeRepo){"remove": func(r *treeRepo) { r.git(r.dir, "worktree", "remove", filepath.Join(r.tree, "ignored/inner")) }}},
	{name: "a stash in a submodule", make: withModule(func(r *treeRepo) {
		r.write(r.tree, "lib/a.txt", "stashed\n")
		r.git(filepath.Join(r.tree, "lib"), "stash", "-q")
	}), acts: []string{"gc", "kept", "finish", "unsaved", "discard", "unsaved"}},
	{name: "a repository that was added as a file", long: true, make: asGiven(func(r *treeRepo) {
		r.git(r.tree, "init", "-q", "lib")
		r.write(r.tree, "lib/x", "x\n")
		r.commit(filepath.Join(r.tree, "lib"), "inner")
		r.commit(r.tree, "outer")
	}), acts: []string{"merge", "unsaved", "discard", "unsaved"}},
	{name: "changes at which git was told not to look", make: func(b *treeBench) *treeRepo {
		r := b.repo()
		r.write(r.dir, "c.txt", "first\n")
		r.write(r.dir, "d.txt", "first\n")
		r.commit(r.dir, "two more")
		r.start(orch.TreeWant{})
		r.git(r.tree, "update-index", "--assume-unchanged", "a.txt", "d.txt")
		r.git(r.tree, "update-index", "--skip-worktree", "c.txt", "d.txt")
		r.hide("a.txt")
		r.hide("c.txt")
		r.hide("d.txt")
		return r.ends()
	}, acts: []string{"gc", "kept", "finish", "unsaved", "merge", "unsaved", "discard", "discard"}},
	{name: "what is left at its place is no worktree", make: asGiven(func(r *treeRepo) {
		r.works("b.txt")
		r.git(r.dir, "merge", "-q", "--no-ff", "-m", "m", r.branch)
		must(r.T, os.Remove(filepath.Join(r.tree, ".git")))
		r.git(r.dir, "worktree", "prune")
		r.git(filepath.Dir(r.dir), "init", "-q") // which would answer for the folder
	}), acts: []string{"gc", "kept", "finish", "refused", "discard", "refused", "mv", "", "finish", "landed"},
		own: map[string]func(*treeRepo){"mv": func(r *treeRepo) { must(r.T, os.Rename(r.tree, aside(r))) }}},
	{name: "it does not lead to the repository", long: true, make: asGiven(func(r *treeRepo) {
		r.works("b.txt")
		must(r.T, os.Remove(filepath.Join(r.tree, ".git")))
	}), acts: []string{"merge", "refused", "repair", "", "merge", "merge"},
		own: map[string]func(*treeRepo){"repair": func(r *treeRepo) { r.git(r.dir, "worktree", "repair") }}},
	{name: "locked, and not mounted", make: asGiven(func(r *treeRepo) {
		r.works("b.txt")
		r.git(r.dir, "worktree", "lock", r.tree)
		must(r.T, os.Rename(r.tree, aside(r)))
	}), acts: []string{"gc", "kept", "merge", "refused", "mount", "", "merge", "merge"},
		own: map[string]func(*treeRepo){"mount": func(r *treeRepo) {
			if tip := r.git(r.dir, "rev-parse", "main"); tip != r.git(r.dir, "merge-base", "main", r.branch) {
				r.Error("main has moved")
			}
			must(r.T, os.Rename(aside(r), r.tree))
			r.git(r.dir, "worktree", "unlock", r.tree)
		}}},
	{name: "its branch was renamed, and squashed at home", make: asGiven(func(r *treeRepo) {
		r.works("b.txt")
		r.git(r.tree, "branch", "-q", "-m", "feat/x")
		r.git(r.dir, "merge", "-q", "--squash", "feat/x")
		r.commit(r.dir, "squashed")
	}), acts: []string{"finish", "landed"}},
	{name: "no commit is checked out", make: asGiven(func(r *treeRepo) {
		r.works("b.txt")
		r.git(r.tree, "switch", "-q", "--orphan", "fresh")
		r.hide("o.txt")
		r.git(r.tree, "add", "-A")
		r.hide("o.txt")
	}), acts: []string{"finish", "unsaved", "discard", "discard"}},
	{name: "a rebase on no branch, with changes put aside", long: true, make: asGiven(func(r *treeRepo) {
		r.git(r.tree, "checkout", "-q", "--detach")
		r.hide("a.txt")
		r.commit(r.tree, "ours")
		r.works("c.txt")
		r.hide("c.txt")
		r.write(r.dir, "a.txt", "theirs\n")
		r.commit(r.dir, "theirs")
		if _, err := gitIn(r.tree, "rebase", "-q", "--autostash", "main"); err == nil {
			r.Error("there is no conflict")
		}
	}), acts: []string{"discard", "discard"}},
	{name: "a tag has the name of the base", make: func(b *treeBench) *treeRepo {
		r := b.repo()
		r.git(r.dir, "tag", "rel")
		r.git(r.dir, "switch", "-q", "-c", "rel")
		r.commit(r.dir, "newer")
		r.start(orch.TreeWant{})
		if at := r.git(r.tree, "rev-parse", "HEAD"); at != r.git(r.dir, "rev-parse", "refs/heads/rel") {
			r.Errorf("it begins at %s", at)
		}
		r.works("b.txt")
		return r.ends()
	}, acts: []string{"finish", "not_landed", "merge", "merge"}},
	{name: "somebody works on while it comes home", make: asGiven(func(r *treeRepo) {
		r.works("b.txt")
		hook(r, "post-merge", "echo late >"+filepath.Join(r.tree, "late.txt"))
	}), acts: []string{"merge", "failed not_finished", "look", "", "finish", "unsaved"},
		own: map[string]func(*treeRepo){"look": func(r *treeRepo) {
			if _, err := os.Stat(filepath.Join(r.tree, "late.txt")); err != nil {
				r.Error(err)
			}
		}}},
	{name: "somebody works on in one with a submodule while it comes home", long: true, make: withModule(func(r *treeRepo) {
		r.works("b.txt")
		hook(r, "post-merge", "echo late >"+filepath.Join(r.tree, "lib", "late.txt"))
	}), acts: []string{"merge", "failed not_finished", "finish", "unsaved"}},
	{name: "commits in a submodule that is not checked out any more", make: withModule(func(r *treeRepo) {
		lib := filepath.Join(r.tree, "lib")
		r.git(lib, "switch", "-q", "-c", "mine")
		r.write(lib, "x", "x\n")
		r.commit(lib, "inner")
		r.git(r.tree, "submodule", "--quiet", "deinit", "-f", "lib")
	}), acts: []string{"gc", "kept", "finish", "unsaved", "discard", "unsaved", "init", "", "finish", "unsaved"},
		own: map[string]func(*treeRepo){"init": func(r *treeRepo) {
			next := r.refused(orch.WorkerFinish{Worker: r.worker, How: "discard"})
			if want := "st worker finish " + r.worker + " --discard --yes --drop lib"; len(next) == 0 || next[len(next)-1] != want {
				r.Errorf("to type is %q, not %q", next, want)
			}
			r.git(r.tree, "submodule", "--quiet", "update", "--init")
			r.git(filepath.Join(r.tree, "lib"), "rev-parse", "--verify", "mine")
		}}},
	{name: "a submodule that is not checked out any more", make: withModule(func(r *treeRepo) {
		r.git(r.tree, "submodule", "--quiet", "deinit", "-f", "lib")
	}), acts: []string{"finish", "landed"}},
	{name: "a repository made in a folder that git tracks", make: func(b *treeBench) *treeRepo {
		r := b.repo()
		r.write(r.dir, "d/x", "x\n")
		r.commit(r.dir, "a folder")
		r.start(orch.TreeWant{})
		r.git(r.tree, "init", "-q", "d")
		r.commit(filepath.Join(r.tree, "d"), "inner")
		return r.ends()
	}, acts: []string{"gc", "kept", "finish", "unsaved", "discard", "unsaved", "look", ""},
		own: map[string]func(*treeRepo){"look": func(r *treeRepo) { r.git(filepath.Join(r.tree, "d"), "show", "HEAD:x") }}},
	{name: "files in a .git that is no repository", make: asGiven(func(r *treeRepo) { r.write(r.tree, "d/.git/x", "x\n") }),
		acts: []string{"finish", "unsaved"}},
	{name: "a repository without files below what is ignored", make: asGiven(func(r *treeRepo) {
		r.git(r.tree, "init", "-q", "--bare", "ignored/b.git")
		r.works("b.txt")
		r.git(r.tree, "push", "-q", "ignored/b.git", "HEAD:refs/heads/mine")
		r.git(r.dir, "merge", "-q", r.branch)
	}), acts: []string{"finish", "unsaved"}},
	{name: "another repository at its place", make: asGiven(func(r *treeRepo) {
		must(r.T, os.Remove(filepath.Join(r.tree, ".git")))
		r.git(r.dir, "clone", "-q", "--bare", r.dir, filepath.Join(r.tree, ".git"))
		r.git(r.tree, "config", "core.bare", "false")
		r.git(r.tree, "read-tree", "HEAD")
	}), acts: []string{"gc", "kept", "finish", "refused", "discard", "refused"}},
	{name: "the base follows its branch", make: asGiven(func(r *treeRepo) {
		r.works("b.txt")
		r.git(r.dir, "branch", "-q", "-u", r.branch, "main")
	}), acts: []string{"gc", "kept", "finish", "not_landed"}},
	{name: "somebody writes on while it is thrown away", make: asGiven(func(r *treeRepo) {
		r.hide("z.dat")
		r.hoard = append(r.hoard, "late treasure")
		r.write(r.dir, ".git/info/attributes", "*.dat filter=late\n")
		r.git(r.dir, "config", "filter.late.clean", "echo late treasure >0.txt; cat") // when git has its list of files
	}), acts: []string{"discard", "failed refused", "discard", "discard"}},
	{name: "a folder of the name under which it is deleted", make: nameTaken(func(r *treeRepo, name string) { r.write(name, "p", "precious\n") }),
		acts: []string{"finish", "landed", "look", ""},
		own:  map[string]func(*treeRepo){"look": still(func(r *treeRepo) string { return filepath.Join(r.tree+".st-removed", "p") })}},
	{name: "a file of that name", make: nameTaken(func(r *treeRepo, name string) { r.write(filepath.Dir(name), filepath.Base(name), "precious\n") }),
		acts: []string{"gc", "landed", "look", ""},
		own:  map[string]func(*treeRepo){"look": still(func(r *treeRepo) string { return r.tree + ".st-removed" })}},
	{name: "a link of that name", make: nameTaken(func(r *treeRepo, name string) {
		r.write(photos(r), "p", "precious\n")
		must(r.T, os.Symlink(photos(r), name))
	}), acts: []string{"discard", "discard", "look", ""},
		own: map[string]func(*treeRepo){"look": still(func(r *treeRepo) string { return filepath.Join(photos(r), "p") })}},
}

// nameTaken makes something of the name under which a worktree is deleted, and ends the worker.
func nameTaken(make func(r *treeRepo, name string)) func(*treeBench) *treeRepo {
	return asGiven(func(r *treeRepo) { make(r, r.tree+".st-removed") })
}

// photos is a folder outside of every repository.
func photos(r *treeRepo) string { return filepath.Join(r.home, "photos") }

// still checks that a file has its text.
func still(path func(*treeRepo) string) func(*treeRepo) {
	return func(r *treeRepo) {
		if raw, err := os.ReadFile(path(r)); string(raw) != "precious\n" {
			r.Errorf("%s: %q %v", path(r), raw, err)
		}
	}
}

// whole checks that a worktree which was moved is one still, with its history and what is staged.
func whole(r *treeRepo) {
	r.Helper()
	dir := aside(r)
	if _, err := gitIn(dir, "status"); err != nil { // moved by hand: git is told first
		r.git(r.dir, "worktree", "repair", dir)
	}
	r.git(dir, "rev-parse", "--verify", "HEAD")
	if got := r.git(dir, "diff", "--cached", "--name-only", "HEAD"); got != "staged" {
		r.Errorf("staged is %q", got)
	}
}

// refused gives an order that is refused, and answers what there is to type.
func (r *treeRepo) refused(o orch.WorkerFinish) []string {
	r.Helper()
	o.Facts = orch.TreeFacts{}
	r.d.loop.Read(func(v orch.View) {
		t := v.Entity(orch.Worktree{Worker: r.worker}.Key()).(orch.Worktree)
		o.Facts.Into = t.Want.Into
	})
	t, _, err := r.d.treeOf(person(), r.worker)
	must(r.T, err)
	o.Facts = r.d.doer.treeFacts(context.Background(), person(), t, o.Into)
	_, err = r.d.loop.Do(context.Background(), orch.Input{At: r.d.loop.Now(), By: person(), What: o})
	refusal, ok := err.(*orch.Error)
	if !ok {
		r.Fatalf("it is not refused: %v", err)
	}
	return refusal.Next
}

// TestTraps: see trap.
func TestTraps(t *testing.T) {
	b := newTreeBench(t)
	for _, c := range append(traps, quiet...) {
		if c.long && os.Getenv("ST_LONG") == "" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			at := *b
			at.T = t
			r := c.make(&at)
			defer func() { b.repos = at.repos }()
			lost := r.unreachable()
			for i := 0; i < len(c.acts); i += 2 {
				act, want := c.acts[i], c.acts[i+1]
				if does := c.own[act]; does != nil {
					does(r)
				} else if got, _, _ := strings.Cut(r.act(act), ":"); got != want {
					t.Errorf("%s: %s, not %s", act, got, want)
				}
				r.holds(act, lost)
				if ends(want) {
					r.gone(act)
				}
			}
		})
	}
}

// TestKeptAtTheMoment: what no other reference leads to by the time of the effect is kept, whatever was found before.
func TestKeptAtTheMoment(t *testing.T) {
	r := newTreeBench(t).repo()
	r.git(r.dir, "checkout", "-q", "--detach")
	base := r.commit(r.dir, "on no branch")
	r.start(orch.TreeWant{Base: base}).ends()
	r.git(r.dir, "checkout", "-q", "main")
	lost := r.unreachable()
	o := orch.TreeFinish{Worker: r.worker, Main: r.dir, Common: filepath.Join(r.dir, ".git"), Path: r.tree, Branch: r.branch, Base: base, Drop: true, How: "landed", Head: base, Tip: base, Backup: "refs/st/landed/x"}
	done := r.d.doer.treeFinish(context.Background(), Running{}, o).(orch.TreeFinished)
	if done.Error != nil || done.Backup != o.Backup {
		t.Errorf("%+v", done)
	}
	r.gone("landed")
	r.holds("landed", lost)
}

// TestBranchThatDoesNotFit: beside a branch "st" there can be none of ours, and the start says so before it makes a worker.
func TestBranchThatDoesNotFit(t *testing.T) {
	r := newTreeBench(t).repo()
	r.git(r.dir, "branch", "st")
	for _, c := range []struct{ branch, want string }{{"", "branch_exists"}, {"st/x", "branch_exists"}, {"mine", ""}} {
		_, err := r.try(orch.TreeWant{Branch: c.branch})
		got := ""
		if refusal, ok := err.(*orch.Error); ok {
			got = refusal.Code
			if !strings.Contains(refusal.Hint, "--branch") || len(refusal.Next) == 0 {
				t.Errorf("what to type is not said: %+v", refusal)
			}
		} else if err != nil {
			got = fmt.Sprint(err)
		}
		if got != c.want {
			t.Errorf("branch %q: %s, not %q", c.branch, got, c.want)
		}
	}
}

// TestNotFinishedSaysHowItStands: what was done already, what is left, and that it is whole only where it is.
func TestNotFinishedSaysHowItStands(t *testing.T) {
	r := newTreeBench(t).repo().start(orch.TreeWant{}).ends()
	o := orch.TreeFinish{Worker: r.worker, Main: r.dir, Path: r.tree, Branch: r.branch, Into: "main"}
	for _, c := range []struct {
		name string
		does func()
		says []string
	}{
		{"whole", func() {}, []string{"it stands as before, at " + r.tree}},
		{"half of it", func() {
			must(t, os.Remove(filepath.Join(r.tree, ".git")))
			r.git(r.dir, "worktree", "prune")
		}, []string{"could not delete all of it", "mv " + r.tree + " "}},
		{"nothing", func() { must(t, os.RemoveAll(r.tree)) }, []string{"its folder is gone"}},
	} {
		c.does()
		e := notFinished(context.Background(), o, orch.TreeFinished{Commit: "0123456789abcdef", Backup: "refs/st/landed/x"}, errors.New("no"))
		text := e.Message + e.Hint + strings.Join(e.Next, "\n")
		for _, want := range append(c.says, "is in main already by commit 0123456789ab", "kept as refs/st/landed/x", "st worker finish "+r.worker) {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in %s", c.name, want, text)
			}
		}
		if c.name != "whole" && strings.Contains(text, "as before") {
			t.Errorf("%s: %s", c.name, text)
		}
	}
}
