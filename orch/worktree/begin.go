package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrNone says that a folder is in no working tree of git.
var ErrNone = errors.New("no working tree")

// Begin is how the working tree of a folder stood once.
type Begin struct {
	Commit string `json:"commit"` // "" before the first
	// Changed are the paths that differed from the commit then, with the stamp of each: one that has it still has not been
	// changed since.
	Changed map[string]string `json:"changed"`
}

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
	names, err := changedBelow(ctx, dir, b.Commit)
	b.Changed = map[string]string{}
	for _, n := range names {
		b.Changed[n] = stamp(filepath.Join(dir, n))
	}
	return b, err
}

// Later is the same begin with all that has been changed until now: a file that stays as it is now has not been changed since.
func (b Begin) Later(ctx context.Context, dir string) (Begin, error) {
	names, err := changedBelow(ctx, dir, b.Commit)
	for n := range b.Changed {
		names = append(names, n)
	}
	later := Begin{Commit: b.Commit, Changed: map[string]string{}}
	for _, n := range names {
		later.Changed[n] = stamp(filepath.Join(dir, n))
	}
	return later, err
}

// Since lists what was changed below a folder since then: what was committed, what is staged, what is neither and what git
// does not track, each path once and relative to the folder.
func Since(ctx context.Context, dir string, b Begin) (changed []string, err error) {
	names, err := changedBelow(ctx, dir, b.Commit)
	for _, n := range names {
		if was, ok := b.Changed[n]; !ok || was != stamp(filepath.Join(dir, n)) {
			changed = append(changed, n)
		}
		delete(b.Changed, n)
	}
	for n, was := range b.Changed { // it is as in the commit again
		if now := stamp(filepath.Join(dir, n)); now != was {
			changed = append(changed, n)
		}
	}
	return changed, err
}

// changedBelow lists what differs below a folder from a commit, "" for none, and what is not tracked.
func changedBelow(ctx context.Context, dir, commit string) ([]string, error) {
	others, err := asks(dir, "ls-files", "-z", "--others", "--exclude-standard").words(ctx)
	if err != nil {
		return nil, err
	}
	tracked := asks(dir, "ls-files", "-z")
	if commit != "" {
		tracked = asks(dir, "diff", "--name-only", "--relative", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=dirty", "--end-of-options", commit, "--", ".")
	}
	names, err := tracked.words(ctx)
	list := make([]string, 0, len(names)+len(others))
	seen := map[string]bool{}
	for _, n := range append(names, others...) {
		if n = strings.TrimSuffix(n, "/"); !seen[n] {
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
