package orch

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestKeepsReleased: of an agent that was released and goes on there, what is said names no verb that refuses.
func TestKeepsReleased(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	tree, facts := Worktree{Worker: "w1", State: treeReady}, TreeFacts{Worker: "w1", Landed: "merged"}
	for _, c := range []struct {
		released *time.Time
		gone     string
		says     string
	}{
		{nil, "", "st worker finish w1"}, {&at, "", "released, and goes on there: st agents"}, {&at, "exited", ""}, {nil, "exited", ""},
	} {
		w := Worker{ID: "w1", Agent: "a1", Dispatch: "d1", State: finished, Released: c.released}
		got := keeps(state{w, Agent{ID: "a1", Gone: c.gone}, Dispatch{ID: "d1", Worker: "w1", Finished: &at, Report: &Report{}}, tree}, tree, facts)
		if (got == "") != (c.says == "") || !strings.HasSuffix(got, c.says) {
			t.Errorf("released %v, gone %q: %q, want %q", c.released != nil, c.gone, got, c.says)
		}
	}
}

// TestForgetsExactly: a person names one repository, and no other goes, whatever signs its path holds.
func TestForgetsExactly(t *testing.T) {
	const why = "it has commits or stashes that are not pushed (main, HEAD)"
	list := []string{"c/a/: " + why, "c/a: b/: " + why, "c/a/: b/: " + why, "c/a: d/", "li: b: " + why}
	for name, want := range map[string]string{
		"c/a": list[0], "c/a: b": list[1], "c/a/: b": list[2], "li: b": list[4], "li": "", "c": "", "c/a: d": "", "c/a: d/": "",
	} {
		left := TreeFacts{Own: list}.Without([]string{name})
		gone := slices.DeleteFunc(slices.Clone(list), func(l string) bool { return slices.Contains(left, l) })
		if got := strings.Join(gone, "; "); got != want {
			t.Errorf("named %q: %q went, not %q", name, got, want)
		}
	}
}

// TestFinishLineCarriesOrder: the line to type next asks for the end that was asked for, onto the same branch, and lets go
// what was let go already.
func TestFinishLineCarriesOrder(t *testing.T) {
	w, tree := Worker{ID: "w1"}, Worktree{Worker: "w1", Path: "/r-worktrees/a", Branch: "st/r1-a"}
	const why = ": it has changes that are not committed"
	for _, c := range []struct {
		order WorkerFinish
		facts TreeFacts
		next  string // the last line
	}{
		{WorkerFinish{How: "merge", Into: "rel", Forget: []string{"lib"}}, TreeFacts{Own: []string{"c/a: b/" + why}}, "st worker finish w1 --merge --into rel --drop lib --drop 'c/a: b'"},
		{WorkerFinish{How: "squash", Into: "rel"}, TreeFacts{Unsafe: []string{"lib" + why}}, "st worker finish w1 --squash --into rel --drop lib"},
		{WorkerFinish{How: "discard", Forget: []string{"x"}}, TreeFacts{Own: []string{"y/" + why}}, "st worker finish w1 --discard --yes --drop x --drop y"},
		{WorkerFinish{How: "squash", Into: "rel", Forget: []string{"x"}}, TreeFacts{Into: "rel", IntoTip: "1", Branch: tree.Branch, Conflicts: []string{"f"}}, "st worker finish w1 --squash --into rel --drop x"},
		{WorkerFinish{How: "squash", Into: "rel", Forget: []string{"x"}}, TreeFacts{Into: "rel", Branch: tree.Branch}, "st worker finish w1 --squash --drop x --into BRANCH"},
		{WorkerFinish{Into: "rel"}, TreeFacts{Into: "rel", Commits: []string{"1 one"}}, "st worker finish w1 --discard --yes"},
	} {
		e := hindrance(w, tree, c.facts, c.order)
		if e == nil && c.order.How == "" {
			e = notLanded(w, tree, c.facts, c.order)
			if e.Next[0] != "st worker finish w1 --merge --into rel" || e.Next[1] != "st worker finish w1 --squash --into rel" {
				t.Errorf("%+v: to type is %q", c.order, e.Next)
			}
		} else if e == nil {
			e = mayJoin(w, tree, c.facts, c.order)
		}
		if e == nil || len(e.Next) == 0 || e.Next[len(e.Next)-1] != c.next {
			t.Errorf("%+v: %+v, to type should be %s", c.order, e, c.next)
		}
	}
}
