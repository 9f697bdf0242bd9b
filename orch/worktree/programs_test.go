package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestHooksRunOnlyWhereTheyAreWanted: making, joining and removing a worktree runs nothing that stands in the repository.
func TestHooksRunOnlyWhereTheyAreWanted(t *testing.T) {
	b := oneCommit(t)
	ran := filepath.Join(filepath.Dir(b.dir), "ran")
	for _, hook := range []string{"post-checkout", "reference-transaction", "post-index-change"} {
		b.write(".git/hooks/"+hook, "#!/bin/sh\necho "+hook+" >>"+ran+"\n")
		b.must(os.Chmod(filepath.Join(b.dir, ".git/hooks", hook), 0o755))
	}
	base := b.git("", "rev-parse", "HEAD")
	b.must(os.RemoveAll(ran))
	w := Want{Repo: b.dir, Path: filepath.Join(filepath.Dir(b.dir), "repo-worktrees", "x"), Branch: "st/x", Base: base, New: true}
	b.must(w.Add(ctx, time.Minute))
	b.must(Remove(ctx, b.dir, w.Path, false, time.Minute))
	b.must(DropBranch(ctx, b.dir, w.Branch, base))
	if said, err := os.ReadFile(ran); err == nil {
		t.Errorf("it ran %s", said)
	}
	b.must(w.Add(WithHooks(ctx), time.Minute))
	if _, err := os.Stat(ran); err != nil {
		t.Errorf("where they are wanted none ran: %v", err)
	}
}

// TestPrograms: what the repository itself sets counts, also by a file that it includes; what a person has set does not.
func TestPrograms(t *testing.T) {
	b := oneCommit(t)
	if got, err := Programs(ctx, b.dir); len(got) != 0 || err != nil {
		t.Errorf("in a plain repository %q, %v", got, err)
	}
	b.write(".git/more", "[merge \"own\"]\n\tdriver = touch merged\n")
	b.git("", "config", "filter.Own.smudge", "touch smudged; cat")
	b.git("", "config", "include.path", "more")
	b.git("", "config", "user.name", "Somebody")
	if got, err := Programs(ctx, b.dir); !slices.Equal(got, []string{"filter.Own.smudge", "merge.own.driver"}) || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
