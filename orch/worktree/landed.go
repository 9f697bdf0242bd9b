package worktree

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// How work has landed.
const (
	NotLanded = ""
	Nothing   = "nothing"  // there is no work: no commit beside those of the base
	Merged    = "merged"   // the commits themselves are in the other branch
	Squashed  = "squashed" // their change is, in commits of its own
)

// Landed tells whether the work of a commit since its base is in another branch or commit, whole. What was squashed is
// known by its change: it adds nothing to the other, or one commit there makes just that change.
func Landed(ctx context.Context, repo, base, tip, into string) (string, error) {
	in, err := contains(ctx, repo, into, tip)
	if err != nil {
		return NotLanded, err
	}
	own := true
	if in {
		own, err = contains(ctx, repo, base, tip)
		own = !own
	}
	switch {
	case err != nil:
		return NotLanded, err
	case in && !own:
		return Nothing, nil
	case in:
		return Merged, nil
	}
	return squashed(ctx, repo, tip, into)
}

func squashed(ctx context.Context, repo, tip, into string) (string, error) {
	fork, err := asks(repo, "merge-base", into, tip).line(ctx)
	if code(err) == 1 {
		return NotLanded, nil // they have nothing in common
	}
	if err != nil {
		return NotLanded, err
	}
	tried, err := TryMerge(ctx, repo, into, tip)
	if err != nil {
		return NotLanded, err
	}
	is, err := asks(repo, "rev-parse", "--verify", into+"^{tree}").line(ctx)
	if err != nil {
		return NotLanded, err
	}
	if len(tried.Conflicts) == 0 && tried.Tree == is {
		return Squashed, nil
	}
	return samePatch(ctx, repo, fork, tip, into)
}

// searched is how many commits of the other branch are looked at for the same change: a squash is seldom old.
const searched = "500"

// samePatch looks for a commit that makes the whole change of a branch.
func samePatch(ctx context.Context, repo, fork, tip, into string) (string, error) {
	whole, err := asks(repo, "diff-tree", "-p", "--no-ext-diff", "--no-textconv", "--no-renames", fork, tip).do(ctx)
	if err != nil || whole == "" {
		return NotLanded, err
	}
	log, err := asks(repo, "log", "-p", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-merges", "-n", searched, fork+".."+into).do(ctx)
	if err != nil || log == "" {
		return NotLanded, err
	}
	want, err := patchIDs(ctx, repo, whole)
	if err != nil || len(want) != 1 {
		return NotLanded, err
	}
	have, err := patchIDs(ctx, repo, log)
	for _, id := range have {
		if id == want[0] {
			return Squashed, err
		}
	}
	return NotLanded, err
}

// patchIDs are the ids of changes in which line numbers and blanks don't count.
func patchIDs(ctx context.Context, repo, patch string) (ids []string, err error) {
	c := asks(repo, "patch-id", "--stable")
	c.stdin = patch
	out, err := c.line(ctx)
	for _, row := range strings.Split(out, "\n") {
		if id, _, ok := strings.Cut(row, " "); ok {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// Elsewhere names a reference that has a commit in its history, other than some branches; "" for none. Where folders are
// given it looks below those, such as refs/tags, else at branches and tags, those of other repositories too.
func Elsewhere(ctx context.Context, repo, commit string, but map[string]bool, folders ...string) (string, error) {
	if len(folders) == 0 {
		folders = []string{"refs/heads", "refs/tags", "refs/remotes"}
	}
	out, err := asks(repo, append([]string{"for-each-ref", "--format=%(refname)", "--contains", commit}, folders...)...).line(ctx)
	if err != nil {
		return "", err
	}
	for _, ref := range strings.Fields(out) {
		if branch, is := strings.CutPrefix(ref, "refs/heads/"); !is || !but[branch] {
			return ref, nil
		}
	}
	return "", nil
}

// Own tells whether a commit is not in the history of a base, "" for none.
func Own(ctx context.Context, repo, base, commit string) (bool, error) {
	if base == "" {
		return true, nil
	}
	in, err := contains(ctx, repo, base, commit)
	return !in, err
}

// Tried is what a merge would come to.
type Tried struct {
	Tree      string   // of the merged files
	Conflicts []string // paths; none where it would go well
	Added     []string // paths that the first of the two has not
}

// TryMerge merges two commits in a place of its own: nothing of it stays, no working tree and no reference is touched.
func TryMerge(ctx context.Context, repo, into, tip string) (t Tried, err error) {
	scratch, err := os.MkdirTemp("", "st-merge-")
	if err != nil {
		return t, err
	}
	defer os.RemoveAll(scratch) // what stays lies among the temporary files
	objects, err := asks(repo, "rev-parse", "--path-format=absolute", "--git-path", "objects").line(ctx)
	if err != nil {
		return t, err
	}
	c := mergeTree(repo, into, tip)
	quarantine := []string{"GIT_OBJECT_DIRECTORY=" + scratch, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + quoteAlternate(objects)}
	c.env = quarantine
	if t, err = c.tried(ctx); err != nil || len(t.Conflicts) > 0 {
		return t, err
	}
	c = asks(repo, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=A", into, t.Tree)
	c.env = quarantine
	t.Added, err = c.words(ctx)
	return t, err
}

// quoteAlternate writes a path for a list of paths, which a colon parts.
func quoteAlternate(path string) string {
	if !strings.ContainsAny(path, `:"`) {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}

func mergeTree(repo, into, tip string) call {
	return asks(repo, "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", into, tip)
}

// tried reads what a merge has said: it ends with 1 where there are conflicts.
func (c call) tried(ctx context.Context) (t Tried, err error) {
	out, err := c.do(ctx)
	words := split(out)
	if code(err) == 1 && len(words) > 0 {
		return Tried{Tree: words[0], Conflicts: words[1:]}, nil
	}
	if err != nil || len(words) == 0 {
		return t, err
	}
	return Tried{Tree: words[0]}, nil
}

// Fork is the newest commit that two have in common; ErrNoCommit where there is none.
func Fork(ctx context.Context, repo, a, b string) (string, error) {
	id, err := asks(repo, "merge-base", a, b).line(ctx)
	if code(err) == 1 {
		return "", fmt.Errorf("%s and %s have nothing in common: %w", a, b, ErrNoCommit)
	}
	return id, err
}
