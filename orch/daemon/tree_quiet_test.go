//go:build linux || darwin

package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"st/orch"
	"st/orch/worktree"
)

// quiet are traps of which git says nothing by itself.
var quiet = []trap{
	{name: "commits that its own references hold alone", make: asGiven(func(r *treeRepo) {
		r.git(r.tree, "checkout", "-q", "--detach")
		for _, ref := range []string{"refs/worktree/mine", "refs/bisect/bad", "refs/rewritten/x"} {
			r.works(filepath.Base(ref))
			r.git(r.tree, "update-ref", ref, "HEAD")
			r.git(r.tree, "reset", "-q", "--hard", "main")
		}
		r.git(r.tree, "update-ref", "refs/worktree/blob", r.git(r.tree, "hash-object", "-w", "a.txt"))
		r.git(r.tree, "tag", "-a", "-m", "annotated", "t")
		r.git(r.tree, "update-ref", "refs/worktree/tag", "t")
		r.git(r.tree, "tag", "-d", "t")
		r.git(r.tree, "switch", "-q", r.branch)
		r.git(r.tree, "reflog", "expire", "--expire=now", "--all")
	}), acts: []string{"gc", "landed", "look", ""},
		own: map[string]func(*treeRepo){"look": func(r *treeRepo) {
			if kept := r.git(r.dir, "for-each-ref", "--format=%(refname) %(contents:subject)", "refs/st"); !strings.Contains(kept, ".own/worktree/tag annotated") || !strings.Contains(kept, ".own/worktree/blob") {
				r.Errorf("kept is %s", kept)
			}
		}}},
	{name: "commits that it has left by a reset, and by an amended one", make: asGiven(func(r *treeRepo) {
		r.works("b.txt")
		r.works("c.txt")
		r.git(r.tree, "reset", "-q", "--hard", "HEAD~2")
		r.works("d.txt")
		r.git(r.tree, "rm", "-q", "d.txt")
		r.git(r.tree, "commit", "-q", "--amend", "--allow-empty", "-m", "without")
	}), acts: []string{"finish", "landed"}},
	{name: "two files that differ by case alone", make: asGiven(func(r *treeRepo) {
		r.git(r.dir, "config", "core.ignoreCase", "true")
		if _, err := os.Stat(filepath.Join(r.tree, "A.TXT")); err == nil {
			r.Skip("this file system has one of them")
		}
		r.hide("A.TXT")
		r.hide("a.txt")
	}), acts: []string{"gc", "kept", "finish", "unsaved", "discard", "discard"}},
	{name: "what was staged for a conflict", make: asGiven(func(r *treeRepo) {
		r.parts()
		r.clashes("merge")
		r.hide("new.txt")
		r.git(r.tree, "add", "new.txt")
		must(r.T, os.Remove(filepath.Join(r.tree, "new.txt")))
		for stage := range 3 {
			r.hide("staged.txt")
			r.stages(stage+1, "three.txt", r.git(r.tree, "hash-object", "-w", "staged.txt"))
		}
		must(r.T, os.Remove(filepath.Join(r.tree, "staged.txt")))
	}), acts: []string{"discard", "discard"}},
	{name: "a commit that a tag in a submodule holds alone", make: withModule(func(r *treeRepo) {
		lib := filepath.Join(r.tree, "lib")
		at := r.git(lib, "rev-parse", "HEAD")
		r.write(lib, "x", "x\n")
		r.commit(lib, "inner")
		r.git(lib, "tag", "mine")
		r.git(lib, "checkout", "-q", at)
		r.git(lib, "branch", "-f", "main", at)
	}), acts: []string{"gc", "kept", "finish", "unsaved", "discard", "unsaved", "forget", "discard"},
		own: map[string]func(*treeRepo){"forget": func(r *treeRepo) {
			if got := r.order("worker-finish", orch.WorkerFinish{Worker: r.worker, Forget: []string{"li"}}); got != "usage" {
				r.Errorf("another one forgotten: %s", got)
			}
			if got := r.order("worker-finish", orch.WorkerFinish{Worker: r.worker, How: "discard", Forget: []string{"lib"}}); got != "discard" {
				r.Errorf("forgotten: %s", got)
			}
		}}},
	{name: "a side that a merge driver leaves out", make: asGiven(func(r *treeRepo) {
		r.write(r.dir, ".git/info/attributes", "a.txt merge=mine\n")
		r.git(r.dir, "config", "merge.mine.driver", "true")
		r.parts()
	}), acts: []string{"gc", "kept", "finish", "not_landed", "merge", "merge"}},
	{name: "merged, and left out by a strategy", long: true, make: asGiven(func(r *treeRepo) {
		r.works("b.txt")
		r.git(r.dir, "merge", "-q", "-s", "ours", "-m", "theirs is not wanted", r.branch)
	}), acts: []string{"finish", "landed"}},
	{name: "the same change but for blanks", make: asGiven(func(r *treeRepo) {
		r.write(r.tree, "a.txt", "\tfirst\n")
		r.commit(r.tree, "ours")
		r.write(r.dir, "a.txt", "first \n")
		r.commit(r.dir, "theirs")
		r.write(r.dir, "a.txt", "other\n")
		r.commit(r.dir, "later")
	}), acts: []string{"gc", "kept", "finish", "not_landed"}},
	{name: "an edit that keeps the length and the time of a file", make: asGiven(func(r *treeRepo) {
		for _, kv := range [][]string{{"core.checkStat", "minimal"}, {"core.trustCtime", "false"}} {
			r.git(r.dir, "config", kv[0], kv[1])
		}
		r.hide("a.txt")
		path, old := filepath.Join(r.tree, "a.txt"), time.Unix(1e9, 0)
		text := r.hoard[len(r.hoard)-1]
		must(r.T, os.WriteFile(path, []byte(strings.Repeat("x", len(text))+"\n"), 0o644))
		must(r.T, os.Chtimes(path, old, old))
		r.git(r.tree, "commit", "-q", "-am", "of that length")
		r.git(r.tree, "merge", "-q", "main") // nothing to do
		r.git(r.dir, "merge", "-q", r.branch)
		must(r.T, os.WriteFile(path, []byte(text+"\n"), 0o644))
		must(r.T, os.Chtimes(path, old, old))
	}), acts: []string{"gc", "kept", "finish", "unsaved", "discard", "discard"}},
	{name: "bytes that git stores otherwise", make: asGiven(func(r *treeRepo) {
		r.write(r.dir, ".git/info/attributes", "*.up filter=up\n*.crlf text eol=lf\n*.id ident\n")
		r.git(r.dir, "config", "filter.up.clean", "tr a-z A-Z")
		r.hide("x.up")
		r.hide("staged.up")
		r.git(r.tree, "add", "staged.up")
		r.write(r.tree, "say \"ü\"\n.crlf", "two\r\nlines\r\n")
		r.write(r.tree, "x.id", "$Id: mine $\n")
	}), acts: []string{"finish", "unsaved", "discard", "discard", "look", ""},
		own: map[string]func(*treeRepo){"look": func(r *treeRepo) {
			text := r.git(r.dir, "log", "--all", "-p", "--no-color")
			for _, want := range []string{"+two\r\n+lines\r\n", "+$Id: mine $", "+TREASURE"} {
				if !strings.Contains(text, want) {
					r.Errorf("%q is nowhere", want)
				}
			}
		}}},
	{name: "an end that was cut off before its mark", make: nameTaken(func(r *treeRepo, name string) { must(r.T, os.Mkdir(name, 0o777)) }),
		acts: []string{"finish", "landed", "look", ""},
		own: map[string]func(*treeRepo){"look": func(r *treeRepo) {
			if left, err := filepath.Glob(r.tree + ".st-removed*"); err != nil || len(left) > 0 {
				r.Errorf("left over: %q %v", left, err)
			}
		}}},
	{name: "repositories within the folders of others that hold nothing", make: asGiven(func(r *treeRepo) {
		r.git(r.tree, "init", "-q", "--bare", "ignored/e.git")
		r.git(r.tree, "init", "-q", "ignored/e.git/inner")
		r.git(r.tree, "clone", "-q", r.dir, "ignored/nest")
		r.git(r.tree, "clone", "-q", "--bare", r.dir, "ignored/nest/.git/modules/lib")
		for _, in := range []string{"ignored/e.git/inner", "ignored/nest/.git/modules/lib"} {
			r.git(r.tree, "-C", in, "update-ref", "refs/heads/mine", r.git(r.tree, "-C", in, "commit-tree", "-m", "only here", r.git(r.tree, "-C", in, "hash-object", "-w", "-t", "tree", "/dev/null")))
		}
		r.git(r.tree, "-C", "ignored/nest/.git/modules/lib", "config", "core.bare", "false")
		r.git(r.tree, "-C", "ignored/nest/.git/modules/lib", "config", "core.worktree", "../../../lib") // as of a submodule that was checked out
	}), acts: []string{"gc", "kept", "finish", "unsaved", "forget", ""},
		own: map[string]func(*treeRepo){"forget": func(r *treeRepo) {
			next := r.refused(orch.WorkerFinish{Worker: r.worker})
			want := "st worker finish " + r.worker + " --drop ignored/e.git/inner --drop ignored/nest/.git/modules/lib"
			if len(next) == 0 || next[len(next)-1] != want {
				r.Errorf("to type is %q, not %q", next, want)
			}
		}}},
	{name: "a cache of another repository below what is ignored", make: asGiven(func(r *treeRepo) {
		r.works("b.txt")
		r.git(r.tree, "clone", "-q", "--mirror", r.dir, "ignored/cache/b.git")
	}), acts: []string{"merge", "unsaved", "forget", "merge"},
		own: map[string]func(*treeRepo){"forget": func(r *treeRepo) {
			next := r.refused(orch.WorkerFinish{Worker: r.worker, How: "merge"})
			want := "st worker finish " + r.worker + " --merge --drop ignored/cache/b.git"
			if len(next) == 0 || next[len(next)-1] != want {
				r.Errorf("to type is %q, not %q", next, want)
			}
			if got := r.order("worker-finish", orch.WorkerFinish{Worker: r.worker, How: "merge", Forget: []string{"ignored/cache/b.git"}}); got != "merge" {
				r.Errorf("forgotten: %s", got)
			}
		}}},
}

// stages puts a file into the index of the worktree as one side of a conflict.
func (r *treeRepo) stages(stage int, name, blob string) {
	r.Helper()
	cmd := gitCommand(r.tree, "update-index", "--index-info")
	cmd.Stdin = strings.NewReader("100644 " + blob + " " + string(rune('0'+stage)) + "\t" + name + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		r.Fatalf("%v\n%s", err, out)
	}
}

// TestHomeThatMoves: where work is to come home, or has, may be the branch of another worker, who goes on.
func TestHomeThatMoves(t *testing.T) {
	r := newTreeBench(t).repo().start(orch.TreeWant{})
	home := r.branch
	first := *r
	r.start(orch.TreeWant{Base: home}).works("b.txt")
	r.ends()
	was := r.git(r.dir, "rev-parse", home)
	tip := r.git(r.dir, "rev-parse", r.branch)
	o := orch.TreeFinish{Worker: r.worker, Main: r.dir, Common: filepath.Join(r.dir, ".git"), Path: r.tree, Branch: r.branch, Base: was, Drop: true, How: "merge", Head: tip, Tip: tip,
		Into: home, IntoTip: was, Message: "m", Backup: "refs/st/landed/x"}
	first.works("other.txt")
	finish := func() orch.TreeFinished {
		return r.d.doer.treeFinish(context.Background(), Running{}, o).(orch.TreeFinished)
	}
	if done := finish(); done.Error == nil || done.Error.Code != "refused" {
		t.Errorf("merged into what has moved: %+v", done)
	}
	r.hoard = append(r.hoard, first.hoard...)
	r.holds("merge", r.unreachable()) // a commit that was made, and is nobody's

	r.git(first.tree, "merge", "-q", "-m", "home", r.branch)
	o.How, o.IntoTip = "landed", r.git(r.dir, "rev-parse", home)
	r.git(first.tree, "reset", "-q", "--hard", "HEAD~1")
	lost := r.unreachable()
	if done := finish(); done.Error == nil || done.Error.Code != "refused" || !strings.Contains(done.Error.Message, "has moved meanwhile") {
		t.Errorf("landed in what has moved: %+v", done)
	}
	r.holds("landed", lost)
	if !worktree.There(r.tree) {
		t.Error("it is gone")
	}
}

// TestAgentRunsNothing: to look for an agent runs no program that the repository names, or one of a worktree, or one below
// what is ignored; not for a person either where it is a repository of its own.
func TestAgentRunsNothing(t *testing.T) {
	r := newTreeBench(t).repo()
	r.write(r.dir, ".gitattributes", "a.txt filter=own\n")
	r.commit(r.dir, "attributes")
	r.start(orch.TreeWant{})
	ran := filepath.Join(r.home, "ran")
	agent := person()
	agent.Chain = []orch.Link{{Process: orch.Process{PID: 91, Start: 1}, Kind: "demo"}, {Process: orch.Process{PID: 90, Start: 1}}}
	r.git(r.dir, "config", "extensions.worktreeConfig", "true")
	for _, c := range []struct {
		name, dir string
		args      []string
		by        orch.Caller
		runs      bool // it is told of, and so the agent is refused
	}{
		{"the worktree's own settings", r.tree, []string{"--worktree"}, agent, true},
		{"a repository below what is ignored", filepath.Join(r.tree, "ignored/lib"), nil, person(), false},
	} {
		if c.dir != r.tree {
			r.git(r.tree, "config", "--worktree", "--unset", "filter.own.clean")
			r.git(r.tree, "clone", "-q", r.dir, c.dir)
		}
		r.git(c.dir, append(append([]string{"config"}, c.args...), "filter.own.clean", "touch "+ran+"; cat")...)
		r.write(c.dir, "a.txt", "First\n")
		tree, _, err := r.d.treeOf(person(), r.worker)
		must(t, err)
		f := r.d.doer.treeFacts(context.Background(), c.by, tree, "")
		if (len(f.Runs) > 0) != c.runs || f.Broken != "" {
			t.Errorf("%s: %+v", c.name, f)
		}
		_, err = worktree.Changed(context.Background(), c.dir, "HEAD")
		must(t, err)
		if _, err := os.Stat(ran); err == nil {
			t.Errorf("%s: it ran", c.name)
		}
	}
}

// TestAgentForgetsNothing: what is nowhere else a person lets go, by its exact name.
func TestAgentForgetsNothing(t *testing.T) {
	r := newTreeBench(t).repo()
	agent := person()
	agent.Chain = []orch.Link{{Process: orch.Process{PID: 91, Start: 1}, Kind: "demo"}, {Process: orch.Process{PID: 90, Start: 1}}}
	head := r.git(r.dir, "rev-parse", "HEAD")
	for _, ref := range []string{"refs/st/landed/x", "refs/heads/mine"} {
		r.git(r.dir, "update-ref", ref, head)
		body, err := json.Marshal(orch.RefsDrop{Repo: r.dir, Refs: []orch.KeptRef{{Ref: ref, Commit: head}}})
		must(t, err)
		var refusal *orch.Error
		if _, err := r.d.do(context.Background(), agent, "", "refs-drop", body); !errors.As(err, &refusal) || refusal.Code != "refused_agent" {
			t.Errorf("an agent drops %s: %v", ref, err)
		}
		if _, err := r.d.do(context.Background(), person(), "", "refs-drop", body); (err == nil) != (ref == "refs/st/landed/x") {
			t.Errorf("a person drops %s: %v", ref, err)
		}
	}
	r.git(r.dir, "rev-parse", "--verify", "refs/heads/mine")
	if _, err := gitIn(r.dir, "rev-parse", "--verify", "-q", "refs/st/landed/x"); err == nil {
		t.Error("it is there yet")
	}
}
