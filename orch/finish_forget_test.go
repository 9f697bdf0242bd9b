package orch

import (
	"slices"
	"testing"
)

// TestForgettingAll: the line to type lets go what is still in the way, with all that was said before, so that it does what it says.
func TestForgettingAll(t *testing.T) {
	f := TreeFacts{Own: []string{"cache/b.git: it has commits"}, Unsafe: []string{"lib: it has commits"}}
	o := WorkerFinish{Worker: "w1", How: finishMerge, Into: "my branch"}
	for _, want := range []string{
		"st worker finish w1 --merge --into 'my branch' --drop cache/b.git",
		"st worker finish w1 --merge --into 'my branch' --drop cache/b.git --drop lib",
	} {
		e := hindrance(Worker{ID: "w1"}, Worktree{Path: "/t"}, f, o)
		if e == nil || !slices.Contains(e.Next, want) {
			t.Fatalf("%+v, not %s", e, want)
		}
		o.Forget, f.Own = []string{"cache/b.git"}, nil
	}
}
