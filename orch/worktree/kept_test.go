package worktree

import (
	"context"
	"errors"
	"testing"
)

// TestDropKept: all that are named go or none, no other one does, and what a reference stands for stays.
func TestDropKept(t *testing.T) {
	b, ctx := oneCommit(t), context.Background()
	b.git("", "branch", "mine")
	b.git("", "update-ref", "refs/st/landed/one", "HEAD")
	b.git("", "symbolic-ref", "refs/st/landed/sym", "refs/heads/mine")
	list, err := KeptRefs(ctx, b.dir)
	b.must(err)
	if len(list) != 2 {
		t.Fatalf("kept: %+v", list)
	}
	one, sym := list[0], list[1]
	stands := func(want string) {
		t.Helper()
		if got := b.git("", "for-each-ref", "--format=%(refname)", "refs/st", "refs/heads/mine"); got != want {
			t.Errorf("there is %q, not %q", got, want)
		}
	}
	moved := sym
	moved.Object = b.git("", "rev-parse", "HEAD^{tree}")
	if err := DropKept(ctx, b.dir, []KeptRef{one, moved}); !errors.Is(err, ErrMoved) {
		t.Errorf("one that has moved: %v", err)
	}
	if err := DropKept(ctx, b.dir, []KeptRef{one, {Name: "refs/heads/mine", Object: one.Object}}); !errors.Is(err, ErrNotOurs) {
		t.Errorf("a branch: %v", err)
	}
	stands("refs/heads/mine\nrefs/st/landed/one\nrefs/st/landed/sym")
	b.must(DropKept(ctx, b.dir, []KeptRef{sym, sym, {Name: "refs/st/landed/none", Object: one.Object}}))
	stands("refs/heads/mine\nrefs/st/landed/one")
}
