package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"st/orch"
	"st/orch/worktree"
)

// prepareTree finds out what the worktree of a start needs to be decided: its repository, what it begins at, where it
// goes, which names are in use. Where it refuses nothing has happened.
func (d *doer) prepareTree(ctx context.Context, dir string, asked *orch.TreeWant) (*orch.TreeWant, error) {
	if asked == nil {
		return nil, nil
	}
	w := *asked.Asked()
	if w.Repo != "" {
		dir = w.Repo
	}
	repo, err := findRepo(ctx, dir)
	if err != nil {
		return nil, err
	}
	w.Main, w.Common, w.From = repo.Main, repo.Common, repo.Top
	if w.From == "" {
		w.From = bareless(repo)
	}
	if err := beginning(ctx, dir, &w); err != nil {
		return nil, err
	}
	if err := d.branch(ctx, &w); err != nil {
		return nil, err
	}
	if w.Repo == "" && repo.Prefix != "" {
		begin, err := worktree.Start(ctx, w.Main, w.Name)
		if err != nil {
			return nil, treeError(err)
		}
		has, err := worktree.HasFolder(ctx, w.Main, begin, repo.Prefix)
		if err != nil {
			return nil, treeError(err)
		}
		if has {
			w.Prefix = repo.Prefix
		}
	}
	if w.Runs, err = worktree.Programs(ctx, w.Main); err != nil {
		return nil, treeError(err)
	}
	w.Place = d.place(repo)
	w.Taken, err = takenNames(ctx, w)
	return &w, err
}

// bareless is the main working tree of a repository, "" for a bare one.
func bareless(r worktree.Repo) string {
	if r.Bare {
		return ""
	}
	return r.Main
}

func findRepo(ctx context.Context, dir string) (worktree.Repo, error) {
	repo, err := worktree.Find(ctx, dir)
	if errors.Is(err, worktree.ErrNoRepository) {
		return repo, &orch.Error{
			Code: "no_repository", Message: fmt.Sprintf("folder %q is in no git repository, so there can be no worktree of it", dir),
			Hint: "--repo PATH names one; or make one of the folder", Next: []string{"git -C " + shellWord(dir) + " init"},
		}
	}
	return repo, treeError(err)
}

// treeError makes a refusal of what git has said.
func treeError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, worktree.ErrNoGit):
		return &orch.Error{Code: "git_missing", Message: "git is not in PATH of the daemon", Hint: "install git with the system's package manager, then st down"}
	}
	return &orch.Error{Code: "git_failed", Message: err.Error()}
}

// beginning finds what a worktree begins at: what was named, else the branch or the commit that is checked out. A branch
// is kept by its name, since it may have moved on by the time of the start.
func beginning(ctx context.Context, dir string, w *orch.TreeWant) error {
	branch, head, err := worktree.Head(ctx, dir)
	if err != nil {
		return treeError(err)
	}
	if w.Base == "" && head == "" {
		return &orch.Error{
			Code: "no_commit", Message: fmt.Sprintf("repository %q has no commit yet, so a worktree has nothing to begin at", w.Main),
			Next: []string{"git -C " + shellWord(dir) + " commit --allow-empty -m begin"},
		}
	}
	if w.Base == "" {
		w.Name, w.Into = branch, branch
		if branch == "" {
			w.Name = head
		}
		return nil
	}
	commit, err := worktree.Commit(ctx, dir, w.Base)
	if errors.Is(err, worktree.ErrNoCommit) {
		return &orch.Error{
			Code: "bad_base", Message: fmt.Sprintf("--base %s: no such branch, tag or commit in %s", w.Base, w.Main),
			Next: []string{"git -C " + shellWord(dir) + " branch --all"},
		}
	}
	if err != nil {
		return treeError(err)
	}
	w.Name = commit
	tip, err := worktree.Branch(ctx, dir, strings.TrimPrefix(w.Base, "refs/heads/"))
	if err == nil && tip != "" {
		w.Name = strings.TrimPrefix(w.Base, "refs/heads/")
		w.Into = w.Name
	}
	return treeError(err)
}

// branch checks the branch that is asked for. One that is there is taken as it is, unless it is in use.
func (d *doer) branch(ctx context.Context, w *orch.TreeWant) error {
	if w.Branch == "" {
		return fits(ctx, w, "st/x") // every name that we would choose begins so
	}
	good, err := worktree.GoodBranch(ctx, w.Main, w.Branch)
	if err != nil {
		return treeError(err)
	}
	if !good {
		return &orch.Error{Code: "usage", Message: fmt.Sprintf("--branch %q: git takes no branch of that name", w.Branch), Next: []string{"git check-ref-format --branch " + shellWord(w.Branch)}}
	}
	tip, err := worktree.Branch(ctx, w.Main, w.Branch)
	if err != nil {
		return treeError(err)
	}
	if tip == "" {
		return fits(ctx, w, w.Branch)
	}
	if w.Base != "" {
		return &orch.Error{Code: "branch_exists", Message: fmt.Sprintf("branch %s is there already, so it can't begin at %s", w.Branch, w.Base),
			Hint: "leave --base out to work on the branch as it is, or choose another --branch"}
	}
	at, err := worktree.CheckedOut(ctx, w.Main, w.Branch)
	if err != nil {
		return treeError(err)
	}
	if at != "" {
		return &orch.Error{Code: "branch_exists", Message: fmt.Sprintf("branch %s is checked out in %s, and git lets it be so in one place only", w.Branch, at),
			Hint: "choose another --branch, or work there: --dir " + shellWord(at)}
	}
	w.There = true
	return nil
}

// fits refuses a new branch beside which another one can't be.
func fits(ctx context.Context, w *orch.TreeWant, name string) error {
	other, err := worktree.InTheWayOf(ctx, w.Main, name)
	if err != nil || other == "" {
		return treeError(err)
	}
	is := "branch " + name
	if w.Branch == "" {
		is = "branch st/…, as the worktree's would be called,"
	}
	return &orch.Error{Code: "branch_exists", Message: fmt.Sprintf("branch %s is there, and git takes no %s beside it", other, is),
		Hint: "choose another --branch NAME, or rename that one", Next: []string{"git -C " + shellWord(w.Main) + " branch -m " + shellWord(other) + " NAME"}}
}

// place is the folder in which the worktrees of a repository are made: beside it, or where config.toml says.
func (d *doer) place(r worktree.Repo) string {
	path := r.Main
	switch {
	case r.Bare && strings.HasPrefix(filepath.Base(path), "."): // hidden in its project's folder
		path = filepath.Dir(path)
	case r.Bare:
		path = strings.TrimSuffix(path, ".git")
	}
	if d.config.Worktrees != "" {
		return filepath.Join(d.config.Worktrees, filepath.Base(path))
	}
	return path + "-worktrees"
}

// takenNames are the branches of ours that are there and what stands in the place of worktrees, in lower case.
func takenNames(ctx context.Context, w orch.TreeWant) ([]string, error) {
	taken, err := worktree.Branches(ctx, w.Main, "st")
	if err != nil {
		return nil, treeError(err)
	}
	entries, err := os.ReadDir(w.Place)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &orch.Error{Code: "bad_dir", Message: fmt.Sprintf("the folder of worktrees can't be used: %v", err), Hint: `worktrees = "…" in config.toml names another one`}
	}
	for _, e := range entries {
		taken = append(taken, e.Name())
	}
	for i := range taken {
		taken[i] = strings.ToLower(taken[i])
	}
	return taken, nil
}
