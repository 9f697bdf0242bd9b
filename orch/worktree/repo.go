package worktree

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Repo is a repository, and where in it a path is.
type Repo struct {
	Common string // its git folder, the one that all of its working trees share
	Main   string // its main working tree, or the repository itself where that is bare
	Top    string // the working tree in which the path is; "" where it is in none
	Prefix string // of the path below Top, without a slash at its end; "" for Top itself
	Bare   bool
}

// ErrNoRepository says that a path is in no repository.
var ErrNoRepository = errors.New("it is in no git repository")

// Find finds the repository of a folder. Paths are absolute and without links, as git tells them. ErrNoRepository where
// there is none; a *Failure where git refuses it, such as one that belongs to somebody else.
func Find(ctx context.Context, path string) (Repo, error) {
	out, err := asks(path, "rev-parse", "--path-format=absolute", "--git-common-dir", "--git-dir", "--is-bare-repository", "--is-inside-work-tree").line(ctx)
	var f *Failure
	if errors.As(err, &f) && strings.Contains(f.Said, "not a git repository") {
		return Repo{}, fmt.Errorf("%s: %w", path, ErrNoRepository)
	}
	if err != nil {
		return Repo{}, err
	}
	facts := strings.Split(out, "\n")
	if len(facts) != 4 {
		return Repo{}, fmt.Errorf("git rev-parse: %q is no answer", out)
	}
	r := Repo{Common: facts[0], Bare: facts[2] == "true"}
	if facts[3] == "true" {
		if err := r.place(ctx, path); err != nil {
			return r, err
		}
	}
	if r.Top != "" && facts[0] == facts[1] {
		r.Main = r.Top
		return r, nil
	}
	return r, r.main(ctx, path)
}

// place finds the working tree of a path. A name may hold anything, line ends too.
func (r *Repo) place(ctx context.Context, path string) error {
	top, err := asks(path, "rev-parse", "--show-toplevel").do(ctx)
	if err != nil {
		return err
	}
	prefix, err := asks(path, "rev-parse", "--show-prefix").do(ctx)
	r.Top, r.Prefix = strings.TrimSuffix(top, "\n"), strings.TrimSuffix(strings.TrimSuffix(prefix, "\n"), "/")
	return err
}

// main finds the main working tree of a repository, seen from another one.
func (r *Repo) main(ctx context.Context, path string) error {
	list, err := List(ctx, path)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("git worktree list: nothing for %s", path)
	}
	if err != nil {
		return err
	}
	r.Main, r.Bare = list[0].Path, list[0].Bare
	return nil
}

// Entry is a working tree of a repository.
type Entry struct {
	Path   string
	Head   string // commit, "" where there is none yet
	Branch string // short name, "" where no branch is checked out
	Bare   bool
	Locked bool
	Why    string // the reason that whoever locked it gave
}

// initializing is the reason of the lock that git itself keeps on a worktree which it has not finished making.
const initializing = "initializing"

// List lists the working trees of a repository, the main one first.
func List(ctx context.Context, repo string) ([]Entry, error) {
	out, err := asks(repo, "worktree", "list", "--porcelain", "-z").do(ctx)
	if err != nil {
		return nil, err
	}
	var list []Entry
	for _, record := range strings.Split(out, "\x00\x00") {
		if record = strings.Trim(record, "\x00"); record != "" {
			list = append(list, entryOf(record))
		}
	}
	return list, nil
}

func entryOf(record string) (e Entry) {
	for _, field := range split(record) {
		name, value, _ := strings.Cut(field, " ")
		switch name {
		case "worktree":
			e.Path = value
		case "HEAD":
			if strings.Trim(value, "0") != "" {
				e.Head = value
			}
		case "branch":
			e.Branch = strings.TrimPrefix(value, "refs/heads/")
		case "bare":
			e.Bare = true
		case "locked":
			e.Locked, e.Why = true, value
		}
	}
	return e
}

// entry finds the working tree at a path, as its repository knows it.
func entry(ctx context.Context, repo, path string) (Entry, bool, error) {
	list, err := List(ctx, repo)
	for _, e := range list {
		if Same(e.Path, path) {
			return e, true, nil
		}
	}
	return Entry{}, false, err
}

// Same tells whether two paths name one place, also where one of them goes through links, or is not there any more.
func Same(a, b string) bool { return a == b || real(a) == real(b) }

func real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// gitDir is the git folder of a working tree, its own one where it has that.
func gitDir(ctx context.Context, dir string) (string, error) {
	path, err := asks(dir, "rev-parse", "--path-format=absolute", "--git-dir").do(ctx)
	return strings.TrimSuffix(path, "\n"), err
}
