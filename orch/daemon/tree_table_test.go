//go:build linux || darwin

package daemon

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"st/orch"
)

// A situation of the table: how a worktree stands, and what each act on it has to come to.
type situation struct {
	name string
	make func(b *treeBench) *treeRepo
	// By column: how it ends, or the code of the refusal. stop is always "ok" and leaves all as it was; start is a further
	// worktree of the same repository, and is "ok".
	finish, merge, squash, discard, gc string
}

// asGiven makes a worktree, and does something in it; its agent has ended.
func asGiven(does func(r *treeRepo)) func(*treeBench) *treeRepo {
	return func(b *treeBench) *treeRepo {
		r := b.repo().start(orch.TreeWant{})
		does(r)
		return r.ends()
	}
}

// parts changes the same line in the worktree and at the base.
func (r *treeRepo) parts() {
	r.hide("a.txt")
	r.commit(r.tree, "ours")
	r.write(r.dir, "a.txt", "theirs\n")
	r.commit(r.dir, "theirs")
}

// clashes leaves a merge or rebase onto the base in the middle of a conflict.
func (r *treeRepo) clashes(how string) {
	if _, err := gitIn(r.tree, how, "-q", "main"); err == nil {
		r.Error("there is no conflict")
	}
}

// squashes brings home by hand, in one commit, what was done.
func (r *treeRepo) squashes() {
	r.git(r.dir, "merge", "-q", "--squash", r.branch)
	r.commit(r.dir, "squashed")
}

// onNoBranch is a worktree that begins at a commit of no branch.
func (b *treeBench) onNoBranch() *treeRepo {
	r := b.repo()
	r.git(r.dir, "checkout", "-q", "--detach")
	r.commit(r.dir, "on no branch")
	return r.start(orch.TreeWant{})
}

// withSubmodule is a worktree with a submodule.
func (b *treeBench) withSubmodule() *treeRepo {
	lib, r := b.repo(), b.repo()
	r.git(r.dir, "submodule", "--quiet", "add", lib.dir, "lib")
	r.commit(r.dir, "with a submodule")
	r.start(orch.TreeWant{})
	r.git(r.tree, "submodule", "--quiet", "update", "--init")
	return r
}

var situations = []situation{
	{"nothing was done", asGiven(func(r *treeRepo) {}), "landed", "landed", "landed", "discard", "landed"},
	{"commits", asGiven(func(r *treeRepo) { r.works("b.txt"); r.works("c d/ü.txt") }), "not_landed", "merge", "squash", "discard", "kept"},
	{"commits, and files that are ignored", asGiven(func(r *treeRepo) { r.works("b.txt"); r.write(r.tree, "ignored", "x") }), "not_landed", "merge", "squash", "discard", "kept"},
	{"merged by hand", asGiven(func(r *treeRepo) { r.works("b.txt"); r.git(r.dir, "merge", "-q", "--no-ff", "-m", "m", r.branch) }), "landed", "landed", "landed", "discard", "landed"},
	{"squashed by hand, and the base has gone on", asGiven(func(r *treeRepo) {
		r.works("b.txt")
		r.works("c.txt")
		r.squashes()
		r.write(r.dir, "z.txt", "later\n")
		r.commit(r.dir, "later")
	}), "landed", "landed", "landed", "discard", "landed"},
	{"squashed by hand, and changed there since", asGiven(func(r *treeRepo) {
		r.hide("a.txt")
		r.commit(r.tree, "changed")
		r.squashes()
		r.write(r.dir, "a.txt", "changed once more\n")
		r.commit(r.dir, "once more")
	}), "landed", "landed", "landed", "discard", "landed"},
	{"rebased by hand, with one commit left out", asGiven(func(r *treeRepo) {
		r.works("b.txt")
		picked := r.git(r.tree, "rev-parse", "HEAD")
		r.works("c.txt")
		r.write(r.dir, "z.txt", "later\n")
		r.commit(r.dir, "later")
		r.git(r.dir, "cherry-pick", picked)
	}), "not_landed", "merge", "squash", "discard", "kept"},
	{"a change in no commit", asGiven(func(r *treeRepo) { r.works("b.txt"); r.hide("a.txt") }), "unsaved", "unsaved", "unsaved", "discard", "kept"},
	{"a staged change, and another on top", asGiven(func(r *treeRepo) {
		r.hide("a.txt")
		r.git(r.tree, "add", "a.txt")
		r.hide("a.txt")
	}), "unsaved", "unsaved", "unsaved", "discard", "kept"},
	{"a staged file that was removed again", asGiven(func(r *treeRepo) {
		r.hide("new.txt")
		r.git(r.tree, "add", "new.txt")
		must(r.T, os.Remove(filepath.Join(r.tree, "new.txt")))
	}), "unsaved", "unsaved", "unsaved", "discard", "kept"},
	{"an untracked file in a new folder", asGiven(func(r *treeRepo) { r.hide("new/한글 file") }), "unsaved", "unsaved", "unsaved", "discard", "kept"},
	{"in the middle of a merge", asGiven(func(r *treeRepo) {
		r.parts()
		r.clashes("merge")
	}), "unsaved", "unsaved", "unsaved", "discard", "kept"},
	{"in the middle of a rebase", asGiven(func(r *treeRepo) {
		r.works("b.txt")
		r.parts()
		r.clashes("rebase")
	}), "unsaved", "unsaved", "unsaved", "discard", "kept"},
	{"in the middle of a bisect", asGiven(func(r *treeRepo) { r.works("b.txt"); r.git(r.tree, "bisect", "start") }), "unsaved", "unsaved", "unsaved", "discard", "kept"},
	{"commits on no branch", asGiven(func(r *treeRepo) { r.git(r.tree, "checkout", "-q", "--detach"); r.works("b.txt") }), "not_landed", "refused", "refused", "discard", "kept"},
	{"commits on another branch", asGiven(func(r *treeRepo) { r.works("b.txt"); r.git(r.tree, "switch", "-q", "-c", "mine"); r.works("c.txt") }), "not_landed", "refused", "refused", "discard", "kept"},
	{"a conflict with the base", asGiven((*treeRepo).parts), "not_landed", "conflict", "conflict", "discard", "kept"},
	{"changes where the base is checked out", asGiven(func(r *treeRepo) { r.works("b.txt"); r.write(r.dir, "a.txt", "mine\n") }), "not_landed", "refused", "refused", "discard", "kept"},
	{"a file in the way where the base is checked out", asGiven(func(r *treeRepo) { r.works("b.txt"); r.write(r.dir, "b.txt", "mine\n") }), "not_landed", "refused", "refused", "discard", "kept"},
	{"an ignored file in the way there", asGiven(func(r *treeRepo) {
		r.hide("ignored")
		r.git(r.tree, "add", "-f", "ignored")
		r.commit(r.tree, "not ignored any more")
		r.write(r.dir, "ignored", "mine\n")
	}), "not_landed", "refused", "refused", "discard", "kept"},
	{"the base is checked out nowhere", asGiven(func(r *treeRepo) {
		r.works("b.txt")
		r.git(r.dir, "switch", "-q", "-c", "elsewhere")
		r.write(r.dir, "a.txt", "mine\n")
	}), "not_landed", "merge", "squash", "discard", "kept"},
	{"the base is gone", asGiven(func(r *treeRepo) { r.works("b.txt"); r.git(r.dir, "branch", "-q", "-m", "main", "trunk") }), "not_landed", "no_target", "no_target", "discard", "kept"},
	{"begun at a commit", func(b *treeBench) *treeRepo {
		r := b.onNoBranch()
		r.works("b.txt")
		return r.ends()
	}, "not_landed", "no_target", "no_target", "discard", "kept"},
	{"begun at a commit that is nowhere else by now", func(b *treeBench) *treeRepo {
		r := b.onNoBranch()
		r.git(r.dir, "checkout", "-q", "main")
		return r.ends()
	}, "not_landed", "no_target", "no_target", "discard", "kept"},
	{"a repository of its own inside", asGiven(func(r *treeRepo) {
		r.git(r.tree, "init", "-q", "lib")
		r.hide("lib/x")
		r.commit(filepath.Join(r.tree, "lib"), "inner")
	}), "unsaved", "unsaved", "unsaved", "unsaved", "kept"},
	{"a submodule with a commit that is nowhere else", func(b *treeBench) *treeRepo {
		r := b.withSubmodule()
		r.hide("lib/x")
		r.commit(filepath.Join(r.tree, "lib"), "inner")
		r.commit(r.tree, "outer")
		return r.ends()
	}, "unsaved", "unsaved", "unsaved", "unsaved", "kept"},
	{"a submodule whose commits are elsewhere too", func(b *treeBench) *treeRepo {
		r := b.withSubmodule()
		r.works("b.txt")
		return r.ends()
	}, "not_landed", "merge", "squash", "discard", "kept"},
	{"its folder was removed", asGiven(func(r *treeRepo) { r.works("b.txt"); must(r.T, os.RemoveAll(r.tree)) }), "refused", "refused", "refused", "refused", "kept"},
	{"its folder and its branch were removed", asGiven(func(r *treeRepo) {
		must(r.T, os.RemoveAll(r.tree))
		r.git(r.dir, "worktree", "prune")
		r.git(r.dir, "branch", "-q", "-D", r.branch)
	}), "landed", "landed", "landed", "landed", "landed"},
	{"locked by a person", asGiven(func(r *treeRepo) { r.works("b.txt"); r.git(r.dir, "worktree", "lock", r.tree) }), "refused", "refused", "refused", "refused", "kept"},
	{"a process runs inside", asGiven(func(r *treeRepo) {
		r.works("b.txt")
		if _, err := os.Stat("/proc/self/cwd"); err != nil {
			r.Skip("needs /proc")
		}
		cmd := exec.Command("tail", "-f", "/dev/null")
		cmd.Dir = r.tree
		must(r.T, cmd.Start())
		r.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() }) //nolint:errcheck // it is killed
	}), "processes_inside", "processes_inside", "processes_inside", "processes_inside", "kept"},
	{"of a bare repository", func(b *treeBench) *treeRepo {
		r := b.repo()
		bare := filepath.Join(filepath.Dir(r.dir), "repo.git")
		r.git(r.dir, "clone", "-q", "--bare", r.dir, bare)
		r.dir = bare
		r.start(orch.TreeWant{}).works("b.txt")
		return r.ends()
	}, "not_landed", "merge", "squash", "discard", "kept"},
	{"with a sparse checkout", func(b *treeBench) *treeRepo {
		r := b.repo()
		r.write(r.dir, "wide/x", "x\n")
		r.commit(r.dir, "wide")
		r.git(r.dir, "sparse-checkout", "set", "narrow")
		r.start(orch.TreeWant{}).works("b.txt")
		return r.ends()
	}, "not_landed", "merge", "squash", "discard", "kept"},
	{"on a branch that was there", func(b *treeBench) *treeRepo {
		r := b.repo()
		r.git(r.dir, "branch", "mine")
		r.start(orch.TreeWant{Branch: "mine"}).works("b.txt")
		return r.ends()
	}, "not_landed", "merge", "squash", "discard", "kept"},
	{"it was removed by git", asGiven(func(r *treeRepo) { r.works("b.txt"); r.git(r.dir, "worktree", "remove", r.tree) }), "not_landed", "merge", "squash", "discard", "kept"},
	{"its agent still works", func(b *treeBench) *treeRepo {
		r := b.repo().start(orch.TreeWant{})
		r.works("b.txt")
		return r
	}, "unsettled", "unsettled", "unsettled", "unsettled", "kept"},
}

// usual is how many of the situations are left out between two, but with ST_LONG: each costs a hundred runs of git.
const usual = 6

// TestSituations is the table: what each act comes to in each situation, and that nothing is lost by any.
func TestSituations(t *testing.T) {
	b := newTreeBench(t)
	for i, s := range situations {
		if os.Getenv("ST_LONG") == "" && i%usual != 1 {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			at := *b
			at.T = t
			r := s.make(&at)
			defer func() { b.repos = at.repos }()
			lost := r.unreachable()
			for _, c := range []struct{ column, want string }{
				{"start", "ok"}, {"gc", s.gc}, {"finish", s.finish}, {"merge", s.merge}, {"squash", s.squash}, {"discard", s.discard}, {"stop", "ok"},
			} {
				if c.want == "unsettled" && c.column == "stop" {
					continue
				}
				was := r.stood()
				got := r.act(c.column)
				if got != c.want {
					t.Errorf("%s: %s, not %s", c.column, got, c.want)
				}
				r.holds(c.column, lost)
				if ends(c.want) {
					r.gone(c.column)
					r = s.make(&at)
					lost = r.unreachable()
				} else if is := r.stood(); is != was {
					t.Errorf("%s: it stood as\n%s\nand now\n%s", c.column, was, is)
				}
			}
			t.Logf("gc: %s, finish: %s, merge: %s, squash: %s, discard: %s", s.gc, s.finish, s.merge, s.squash, s.discard)
		})
	}
}

func ends(how string) bool {
	return how == "landed" || how == "merge" || how == "squash" || how == "discard"
}

// gone checks that a finished worktree is away, with the branch that was made for it and no other.
func (r *treeRepo) gone(column string) {
	r.Helper()
	if _, err := os.Stat(r.tree); err == nil {
		r.Errorf("%s: %s is still there", column, r.tree)
	}
	if left, err := filepath.Glob(r.tree + ".st-removed*/removed-by-st"); err != nil || len(left) > 0 {
		r.Errorf("%s: left over: %q %v", column, left, err)
	}
	_, err := gitIn(r.dir, "rev-parse", "--verify", "-q", "refs/heads/"+r.branch)
	if made := strings.HasPrefix(r.branch, "st/"); made != (err != nil) {
		r.Errorf("%s: branch %s is gone: %v", column, r.branch, err != nil)
	}
}
