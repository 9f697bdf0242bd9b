package worktree

import (
	"context"
	"testing"
)

// TestDropKeptNoOther: a reference that stands for a branch goes, and the branch stays.
func TestDropKeptNoOther(t *testing.T) {
	b := oneCommit(t)
	b.git("", "branch", "mine")
	b.git("", "symbolic-ref", "refs/st/landed/sym", "refs/heads/mine")
	list, err := KeptRefs(context.Background(), b.dir)
	b.must(err)
	if len(list) != 1 {
		t.Fatalf("kept: %+v", list)
	}
	b.must(DropKept(context.Background(), b.dir, list[0].Name, list[0].Object))
	if got := b.git("", "for-each-ref", "--format=%(refname)", "refs/st", "refs/heads/mine"); got != "refs/heads/mine" {
		t.Errorf("there is %q", got)
	}
}
