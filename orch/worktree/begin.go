package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrNone says that a folder is in no working tree of git.
var ErrNone = errors.New("no working tree")

// Begin is how the working tree of a folder stood once: all of it, not only what is below the folder.
type Begin struct {
	Commit string `json:"commit"` // "" before the first
	// Changed are the paths that differed from the commit then, with the stamp of each: one that has it still has not been
	// changed since. As all paths here they are relative to the folder, with slashes.
	Changed map[string]string `json:"changed"`
	// Ignored are files that git ignores, with their stamps. What lies in a folder that is ignored as a whole is not looked at.
	Ignored map[string]string `json:"ignored,omitempty"`
	// Whole says that no tracked file was left out of the working tree, as a sparse checkout does: one that git leaves out
	// later has been taken away since.
	Whole bool `json:"whole,omitempty"`
}

// tree is a working tree, seen from one of its folders.
type tree struct{ dir, top, prefix string }

func treeOf(ctx context.Context, dir string) (t tree, err error) {
	r := Repo{}
	err = r.place(ctx, dir)
	return tree{dir: dir, top: r.Top, prefix: r.Prefix}, err
}

// from is a path of the working tree as it is seen from the folder.
func (t tree) from(name string) string {
	rel, err := filepath.Rel(filepath.FromSlash("/"+t.prefix), filepath.FromSlash("/"+name))
	if err != nil {
		return name // can't be: both are absolute
	}
	return filepath.ToSlash(rel)
}

func (t tree) stamp(name string) string { return stamp(filepath.Join(t.dir, filepath.FromSlash(name))) }

// BeginOf finds out how the working tree of a folder stands; ErrNone where there is none.
func BeginOf(ctx context.Context, dir string) (b Begin, err error) {
	inside, err := asks(dir, "rev-parse", "--is-inside-work-tree").line(ctx)
	if f := (*Failure)(nil); errors.As(err, &f) && f.Late == 0 || err == nil && inside != "true" {
		return b, ErrNone
	}
	if err != nil {
		return b, err
	}
	if b.Commit, err = asks(dir, "rev-parse", "--verify", "--quiet", "HEAD^{commit}").line(ctx); err != nil && code(err) != 1 {
		return b, err
	}
	if ctx, err = Plainly(ctx, dir); err != nil {
		return b, err
	}
	t, err := treeOf(ctx, dir)
	if err != nil {
		return b, err
	}
	return t.begin(ctx, b.Commit)
}

// Later is the same begin with all that has been changed until now: a file that stays as it is now has not been changed since.
func (b Begin) Later(ctx context.Context, dir string) (Begin, error) {
	ctx, err := Plainly(ctx, dir)
	if err != nil {
		return b, err
	}
	t, err := treeOf(ctx, dir)
	if err != nil {
		return b, err
	}
	later, err := t.begin(ctx, b.Commit)
	if err != nil {
		return b, err
	}
	for n := range b.Changed {
		later.Changed[n] = t.stamp(n)
	}
	for n := range b.Ignored {
		later.Ignored[n] = t.stamp(n)
	}
	return later, nil
}

// begin is how the working tree stands beside a commit, "" for none.
func (t tree) begin(ctx context.Context, commit string) (Begin, error) {
	b := Begin{Commit: commit, Changed: map[string]string{}, Ignored: map[string]string{}}
	list, unseen, err := overlooked(ctx, t.top)
	if err != nil {
		return b, err
	}
	b.Whole = !slices.ContainsFunc(list, func(i indexed) bool { return i.flagged() && !i.blind(t.top) })
	names, err := t.changed(ctx, commit, unseen)
	if err != nil {
		return b, err
	}
	for _, n := range names {
		b.Changed[n] = t.stamp(n)
	}
	ignored, err := asks(t.top, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory").words(ctx)
	for _, n := range ignored {
		if !strings.HasSuffix(n, "/") {
			b.Ignored[t.from(n)] = t.stamp(t.from(n))
		}
	}
	return b, err
}

// Since lists what was changed in the working tree of a folder since then: what was committed, what is staged, what is
// neither, what git does not track, and of what it ignores that which was there; each path once and relative to the folder.
func Since(ctx context.Context, dir string, b Begin) (changed []string, err error) {
	if ctx, err = Plainly(ctx, dir); err != nil {
		return nil, err
	}
	t, err := treeOf(ctx, dir)
	if err != nil {
		return nil, err
	}
	list, unseen, err := overlooked(ctx, t.top)
	if err != nil {
		return nil, err
	}
	for _, i := range list {
		if b.Whole && i.flagged() && !i.blind(t.top) {
			unseen = append(unseen, i)
		}
	}
	names, err := t.changed(ctx, b.Commit, unseen)
	for _, n := range names {
		if was, ok := b.Changed[n]; !ok || was != t.stamp(n) {
			changed = append(changed, n)
		}
		delete(b.Changed, n)
		delete(b.Ignored, n)
	}
	for _, was := range []map[string]string{b.Changed, b.Ignored} { // it is as in the commit again, or ignored
		for n, stamp := range was {
			if t.stamp(n) != stamp {
				changed = append(changed, n)
			}
		}
	}
	return changed, err
}

// changed lists what differs from a commit, "" for none, and what is not tracked. At the files in unseen it looks although
// git was told not to.
func (t tree) changed(ctx context.Context, commit string, unseen []indexed) ([]string, error) {
	others, err := asks(t.top, "ls-files", "-z", "--others", "--exclude-standard").words(ctx)
	if err != nil {
		return nil, err
	}
	tracked := asks(t.top, "ls-files", "-z")
	if commit != "" {
		tracked = asks(t.top, "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=dirty", "--end-of-options", commit, "--", ".")
	}
	env, done, err := seeing(ctx, t.top, unseen)
	defer done()
	if err != nil {
		return nil, err
	}
	tracked.env = env
	names, err := tracked.words(ctx)
	list := make([]string, 0, len(names)+len(others))
	seen := map[string]bool{}
	for _, n := range append(names, others...) {
		if n = t.from(strings.TrimSuffix(n, "/")); !seen[n] {
			seen[n] = true
			list = append(list, n)
		}
	}
	return list, err
}

// stamp tells one state of a file from the next, "" where there is none.
func stamp(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano())
}
