package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// How work has landed.
const (
	NotLanded = ""
	Nothing   = "nothing"  // there is no work: no commit beside those of the base
	Merged    = "merged"   // the commits themselves are in the other branch's history, whatever it made of their change
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
	is, err := asks(repo, "rev-parse", "--verify", into+"^{tree}").line(ctx)
	if err != nil {
		return NotLanded, err
	}
	merged, err := plainMerge(ctx, repo, into, tip)
	if err != nil {
		return NotLanded, err
	}
	if merged == is {
		return Squashed, nil
	}
	return samePatch(ctx, repo, fork, tip, into)
}

// searched is how many commits of the other branch are looked at for the same change: a squash is seldom old.
const searched = "500"

// samePatch looks for a commit that makes the whole change of a branch.
func samePatch(ctx context.Context, repo, fork, tip, into string) (string, error) {
	whole, err := asks(repo, "diff-tree", "-p", "--full-index", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", fork, tip).do(ctx)
	if err != nil || whole == "" {
		return NotLanded, err
	}
	log, err := asks(repo, "log", "-p", "--format=tformat:commit", "--full-index", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-merges", "-n", searched, fork+".."+into).do(ctx)
	if err != nil || log == "" {
		return NotLanded, err
	}
	want := changes("commit\n" + whole)
	if len(want) == 1 && slices.Contains(changes(log), want[0]) {
		return Squashed, nil
	}
	return NotLanded, nil
}

// changes are the changes in a log, in which places within files don't count. All else does, blanks as well, and of files
// that are no text what they are.
func changes(log string) (list []string) {
	var b strings.Builder
	var index string
	end := func() {
		if b.Len() > 0 {
			list = append(list, b.String())
		}
		b.Reset()
	}
	for line := range strings.Lines(log) {
		switch {
		case strings.HasPrefix(line, "commit"):
			end()
			index = ""
		case strings.HasPrefix(line, "index "):
			index = line
		case strings.HasPrefix(line, "Binary files "):
			b.WriteString(index + line)
		case strings.HasPrefix(line, "@@ "):
			b.WriteString("@@\n")
		case line != "\n":
			b.WriteString(line)
		}
	}
	end()
	return list
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

// Own tells whether a commit is not in the history of a base; of both "" is none.
func Own(ctx context.Context, repo, base, commit string) (bool, error) {
	if base == "" || commit == "" {
		return commit != "", nil
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
	return quotedPath(path)
}

// quotedPath is a path in double quotes, as git reads it in a list.
func quotedPath(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

// plainMerge is the tree of two merged commits, "" where they don't go together, as plain text and nothing else: whoever
// has git keep one side of some file by a setting, or merge it by a program, has not shown that the other side is in it.
// It is made in a place that knows no settings and no attributes of the repository. Where that is not enough, such as in a
// repository that fetches what it needs, nothing is shown either.
func plainMerge(ctx context.Context, repo, into, tip string) (string, error) {
	scratch, err := os.MkdirTemp("", "st-merge-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(scratch) // what stays lies among the temporary files
	out, err := asks(repo, "rev-parse", "--path-format=absolute", "--git-path", "objects", "--git-path", "shallow", "--show-object-format").line(ctx)
	if err != nil {
		return "", err
	}
	facts := strings.Split(out, "\n")
	if len(facts) != 3 {
		return "", fmt.Errorf("git rev-parse: %q is no answer", out)
	}
	config := "[core]\n\tbare = true\n\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = " + facts[2] + "\n"
	if facts[2] == "sha1" {
		config = "[core]\n\tbare = true\n"
	}
	shallow, err := os.ReadFile(facts[1])
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	files := map[string]string{"HEAD": "ref: refs/heads/none\n", "config": config}
	if len(shallow) > 0 {
		files["shallow"] = string(shallow)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(scratch, name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	for _, name := range []string{"objects", "refs"} {
		if err := os.Mkdir(filepath.Join(scratch, name), 0o700); err != nil {
			return "", err
		}
	}
	c := mergeTree(scratch, into, tip)
	c.args = append([]string{"-c", "core.attributesFile=" + os.DevNull, "-c", "merge.default=text"}, c.args...)
	c.env = []string{"GIT_DIR=" + scratch, "GIT_ATTR_NOSYSTEM=1", "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + quoteAlternate(facts[0])}
	t, err := c.tried(ctx)
	if code(err) > 0 || len(t.Conflicts) > 0 {
		return "", nil
	}
	return t.Tree, err
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
