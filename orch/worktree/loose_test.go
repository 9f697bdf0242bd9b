package worktree

import "testing"

// TestLoggedUnborn: what was checked out is found also while HEAD names a branch that is not born.
func TestLoggedUnborn(t *testing.T) {
	b := oneCommit(t)
	b.git("", "checkout", "-q", "--detach")
	b.write("mine", "x\n")
	b.commit("", "mine")
	mine := b.git("", "rev-parse", "HEAD")
	b.git("", "checkout", "-q", "--orphan", "other")
	l, err := LooseIn(ctx, b.dir, nil, "left", Moment{})
	if err != nil || l.Log == "" {
		t.Fatalf("%+v, %v", l, err)
	}
	if is := b.git("", "rev-parse", l.Log+"^1"); is != mine {
		t.Errorf("it holds %s, not %s", is, mine)
	}
}
