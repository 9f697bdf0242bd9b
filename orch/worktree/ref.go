package worktree

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ErrNoCommit says that a repository has no commit yet, or a name leads to none.
var ErrNoCommit = errors.New("no such commit")

// Commit resolves a name to a commit's id. ErrNoCommit where it leads to none.
func Commit(ctx context.Context, dir, name string) (string, error) {
	id, err := asks(dir, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}").line(ctx)
	if code(err) == 1 || code(err) == 128 {
		return "", fmt.Errorf("%q: %w", name, ErrNoCommit)
	}
	return id, err
}

// idOf resolves a name to the id of what it names itself, such as a tag with a text. ErrNoCommit where there is none.
func idOf(ctx context.Context, dir, name string) (string, error) {
	id, err := asks(dir, "rev-parse", "--verify", "--quiet", "--end-of-options", name).line(ctx)
	if code(err) == 1 || code(err) == 128 {
		return "", fmt.Errorf("%q: %w", name, ErrNoCommit)
	}
	return id, err
}

// Head is the branch that is checked out in a folder, "" for none, and its commit, "" where it has none yet.
func Head(ctx context.Context, dir string) (branch, commit string, err error) {
	branch, err = asks(dir, "symbolic-ref", "--quiet", "HEAD").line(ctx) // the short name may say more where a tag has it too
	if err != nil && code(err) != 1 {
		return "", "", err
	}
	branch = strings.TrimPrefix(branch, "refs/heads/")
	commit, err = Commit(ctx, dir, "HEAD")
	if errors.Is(err, ErrNoCommit) {
		err = nil
	}
	return branch, commit, err
}

// Branch is the commit of a branch, "" where there is no such branch.
func Branch(ctx context.Context, repo, name string) (string, error) {
	id, err := Commit(ctx, repo, "refs/heads/"+name)
	if errors.Is(err, ErrNoCommit) {
		err = nil
	}
	return id, err
}

// Start is the commit that a name of a branch, or else any other name, leads to: git would take a tag first.
func Start(ctx context.Context, repo, name string) (string, error) {
	id, err := Branch(ctx, repo, name)
	if err != nil || id != "" {
		return id, err
	}
	return Commit(ctx, repo, name)
}

// InTheWayOf is a branch beside which git takes none of some name, since one of the two names is a folder of the other's; ""
// for none.
func InTheWayOf(ctx context.Context, repo, name string) (string, error) {
	for i, r := range name {
		if r != '/' {
			continue
		}
		if tip, err := Branch(ctx, repo, name[:i]); err != nil || tip != "" {
			return name[:i], err
		}
	}
	below, err := Branches(ctx, repo, name+"/")
	if err != nil || len(below) == 0 {
		return "", err
	}
	return below[0], nil
}

// Branches lists the branches whose names begin with a folder such as "st".
func Branches(ctx context.Context, repo, folder string) ([]string, error) {
	out, err := asks(repo, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/"+folder).line(ctx)
	if err != nil || out == "" {
		return nil, err
	}
	return strings.Split(out, "\n"), nil
}

// GoodBranch tells whether git takes a name for a branch.
func GoodBranch(ctx context.Context, repo, name string) (bool, error) {
	out, err := asks(repo, "check-ref-format", "--branch", name).line(ctx)
	if code(err) > 0 {
		return false, nil
	}
	return err == nil && out == name, err // "-" and "@{-1}" are names of other branches
}

// HasFolder tells whether a commit has a folder of that path.
func HasFolder(ctx context.Context, repo, commit, path string) (bool, error) {
	kind, err := asks(repo, "cat-file", "-t", commit+":"+path).line(ctx)
	if code(err) > 0 {
		return false, nil
	}
	return kind == "tree", err
}

// Upstream is the full name of the branch that a branch follows, "" for none.
func Upstream(ctx context.Context, repo, branch string) (string, error) {
	return asks(repo, "for-each-ref", "--format=%(upstream)", "refs/heads/"+branch).line(ctx)
}

// contains tells whether a commit is in another's history, or is it.
func contains(ctx context.Context, repo, newer, older string) (bool, error) {
	return asks(repo, "merge-base", "--is-ancestor", older, newer).yes(ctx)
}

// Between lists the commits that the tips have and base has not, the oldest first: id, a blank and the first line.
func Between(ctx context.Context, repo, base string, tips ...string) ([]string, error) {
	out, err := asks(repo, append([]string{"log", "--reverse", "--format=%h %s", "^" + base}, tips...)...).line(ctx)
	if err != nil || out == "" {
		return nil, err
	}
	return strings.Split(out, "\n"), nil
}

// setRef puts a reference that has exactly the old value, "" for one that is not there.
func setRef(ctx context.Context, repo, ref, to, old, why string) error {
	return again(ctx, acts(repo, readTime, "update-ref", "-m", "st: "+why, ref, to, old))
}

// DropBranch deletes a branch that has exactly that commit. One that is not there is nothing to do; one that is held by a
// working tree stays, *InUse: git would call that one's history empty.
func DropBranch(ctx context.Context, repo, name, commit string) error {
	is, err := Branch(ctx, repo, name)
	if err != nil || is == "" {
		return err
	}
	at, err := CheckedOut(ctx, repo, name)
	if err != nil {
		return err
	}
	if at != "" {
		return &InUse{Path: at, Branch: name}
	}
	return again(ctx, acts(repo, readTime, "update-ref", "-d", "refs/heads/"+name, commit))
}

// Keep makes a reference to a commit, or another object, so that it is not lost, and answers its name. Where an earlier try
// has made it for the same commit, that is it; for another one, what has come since is kept beside it, or with fresh false
// nothing has.
func Keep(ctx context.Context, repo, ref, commit string, fresh bool) (string, error) {
	name, last := ref, ""
	for n := 2; ; n++ {
		is, err := idOf(ctx, repo, name)
		switch {
		case errors.Is(err, ErrNoCommit) && last != "" && !fresh:
			return last, nil
		case errors.Is(err, ErrNoCommit):
			return name, setRef(ctx, repo, name, commit, "", "kept")
		case err != nil || is == commit:
			return name, err
		}
		last, name = name, fmt.Sprintf("%s-%d", ref, n)
	}
}
