package worktree

import (
	"strings"
	"testing"
)

// TestUnpushed: what only a reference of a repository's own leads to is told of by that name, however it leads there.
func TestUnpushed(t *testing.T) {
	b := oneCommit(t)
	main := b.git("", "rev-parse", "HEAD")
	b.git("", "update-ref", "refs/remotes/origin/main", main)
	if got, err := unpushed(ctx, b.dir, ""); got != "" || err != nil {
		t.Errorf("all is pushed: %q, %v", got, err)
	}
	b.git("", "checkout", "-q", "--detach")
	b.write("mine", "x\n")
	b.commit("", "mine")
	if got, err := unpushed(ctx, b.dir, ""); !strings.Contains(got, "(HEAD)") || err != nil {
		t.Errorf("what is checked out alone: %q, %v", got, err)
	}
	b.git("", "tag", "-a", "-m", "inner", "inner")
	b.git("", "tag", "-a", "-m", "outer", "outer", "inner")
	b.git("", "tag", "-d", "inner")
	b.git("", "checkout", "-q", main)
	if got, err := unpushed(ctx, b.dir, ""); !strings.Contains(got, "(tags/outer)") || err != nil {
		t.Errorf("a tag of a tag: %q, %v", got, err)
	}
}
