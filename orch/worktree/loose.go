package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Loose is what only a working tree itself holds: it goes with that.
type Loose struct {
	Refs []Ref  // its own references, such as those of a bisect
	Log  string // a commit that has as parents what was checked out there once; "" for none
}

// Ref is a reference.
type Ref struct{ Name, Object string }

// LooseIn finds what would be lost with a working tree beside what is checked out in it, in no commit or on its branch: what
// its own references hold (refs/worktree, refs/bisect, refs/rewritten), and commits that were checked out there and that
// it has left since, by a reset or by an amended commit. but are branches that go as well.
func LooseIn(ctx context.Context, dir string, but map[string]bool, message string, at Moment) (l Loose, err error) {
	out, err := asks(dir, "for-each-ref", "--format=%(objecttype) %(objectname) %(refname)", "refs/worktree", "refs/bisect", "refs/rewritten").line(ctx)
	if err != nil {
		return l, err
	}
	commits, err := logged(ctx, dir)
	if err != nil {
		return l, err
	}
	var refs []Ref
	for _, row := range strings.Split(out, "\n") {
		switch words := strings.SplitN(row, " ", 3); {
		case len(words) < 3:
		case words[0] == "commit":
			refs = append(refs, Ref{words[2], words[1]})
			commits = append(commits, words[1])
		default:
			l.Refs = append(l.Refs, Ref{words[2], words[1]})
		}
	}
	lost, err := unreached(ctx, dir, commits, but)
	if err != nil {
		return l, err
	}
	for _, r := range refs {
		if _, is := lost[r.Object]; is {
			l.Refs = append(l.Refs, r)
		}
	}
	tips := tipsOf(lost, commits)
	if len(tips) > 0 {
		l.Log, err = hold(ctx, dir, message, at, tips)
	}
	return l, err
}

// logged are the commits that were checked out in a working tree, the last first; nil where no log is kept. git itself does not
// tell them while HEAD names a branch that is not born.
func logged(ctx context.Context, dir string) (commits []string, err error) {
	own, err := gitDir(ctx, dir)
	if err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(filepath.Join(own, "logs", "HEAD"))
	if errors.Is(err, fs.ErrNotExist) { // none is kept, or not in a file
		out, err := asks(dir, "log", "--walk-reflogs", "--format=%H", "HEAD", "--").line(ctx)
		if code(err) == 128 {
			err = nil
		}
		return strings.Fields(out), err
	}
	if err != nil {
		return nil, err
	}
	for row := range strings.Lines(string(raw)) { // what it was, what it is, who, when, why
		if words := strings.Fields(row); len(words) > 1 {
			commits = append(commits, words[0], words[1])
		}
	}
	slices.Reverse(commits)
	return slices.DeleteFunc(slices.Compact(commits), func(id string) bool { return strings.Trim(id, "0") == "" }), nil
}

// unreached are those of some commits, and of their histories, to which no branch, tag or reference of ours leads, each with
// its parents. but are branches that don't count.
func unreached(ctx context.Context, dir string, commits []string, but map[string]bool) (map[string][]string, error) {
	if len(commits) == 0 {
		return nil, nil
	}
	args := []string{"rev-list", "--parents", "--ignore-missing", "--stdin", "--not"}
	for branch := range but {
		args = append(args, "--exclude="+branch)
	}
	c := asks(dir, append(args, "--branches", "--tags", "--remotes", "--glob=refs/st/*")...)
	c.stdin = strings.Join(commits, "\n") + "\n"
	out, err := c.line(ctx)
	lost := map[string][]string{}
	for _, row := range strings.Split(out, "\n") {
		if ids := strings.Fields(row); len(ids) > 0 {
			lost[ids[0]] = ids[1:]
		}
	}
	return lost, err
}

// tipsOf are those of the named commits that are lost, and in the history of no other one.
func tipsOf(lost map[string][]string, named []string) (tips []string) {
	inner := map[string]bool{}
	for _, parents := range lost {
		for _, p := range parents {
			inner[p] = true
		}
	}
	for _, id := range named {
		if _, is := lost[id]; is && !inner[id] {
			tips = append(tips, id)
			inner[id] = true
		}
	}
	return tips
}

// hold makes a commit that has others as parents, and the files of the first.
func hold(ctx context.Context, dir, message string, at Moment, commits []string) (string, error) {
	tree, err := asks(dir, "rev-parse", "--verify", commits[0]+"^{tree}").line(ctx)
	if err != nil {
		return "", err
	}
	return save{dir: dir, message: message, at: at}.commit(ctx, tree, commits...)
}
