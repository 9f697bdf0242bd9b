package worktree

import (
	"os"
	"path/filepath"
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

// TestElsewhere: the repository of a submodule that stays is found, whatever the folders above are called.
func TestElsewhere(t *testing.T) {
	b := oneCommit(t)
	above := filepath.Dir(b.dir)
	lib, tree, repo := filepath.Join(above, "lib"), filepath.Join(above, "tree"), filepath.Join(above, "worktrees", "modules", "r")
	b.git("", "clone", "-q", b.dir, lib)
	b.must(os.MkdirAll(filepath.Dir(repo), 0o755))
	b.git("", "clone", "-q", lib, repo)
	b.git(repo, "submodule", "--quiet", "add", lib, "lib")
	b.commit(repo, "lib")
	b.git(repo, "worktree", "add", "-q", tree)
	b.git(tree, "submodule", "--quiet", "update", "--init")
	got, err := elsewhere(ctx, filepath.Join(tree, "lib"))
	if want := filepath.Join(repo, ".git", "modules", "lib"); got != want || err != nil {
		t.Errorf("%q, %v, not %q", got, err, want)
	}
	if got, err := elsewhere(ctx, filepath.Join(repo, "lib")); got != "" || err != nil {
		t.Errorf("of the main working tree: %q, %v", got, err)
	}
}
