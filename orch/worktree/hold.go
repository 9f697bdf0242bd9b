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

// Holders are the working trees that hold a branch: it is checked out there, or what is under way there ends by moving it
// or by going back to it. While a rebase or a bisect runs git tells of no branch there, and a branch that was moved
// meanwhile is put back by its end.
func Holders(ctx context.Context, repo, branch string) (paths []string, err error) {
	list, err := List(ctx, repo)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	for _, e := range list {
		if e.Branch == branch && !e.Bare {
			paths = append(paths, e.Path)
		}
	}
	common, err := asks(repo, "rev-parse", "--path-format=absolute", "--git-common-dir").line(ctx)
	if err != nil {
		return nil, err
	}
	dirs, err := filepath.Glob(filepath.Join(quoteGlob(common), "worktrees", "*"))
	if err != nil {
		return nil, err
	}
	for _, dir := range append([]string{common}, dirs...) {
		names, err := awaited(dir)
		if err != nil {
			return nil, err
		}
		path := list[0].Path
		if dir != common {
			path = placeOf(dir)
		}
		if slices.Contains(names, branch) && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// CheckedOut is the first of a branch's Holders, "" for none.
func CheckedOut(ctx context.Context, repo, branch string) (string, error) {
	paths, err := Holders(ctx, repo, branch)
	if err != nil || len(paths) == 0 {
		return "", err
	}
	return paths[0], nil
}

// awaited are the branches to which what is under way in a working tree will come back, by the git folder of that tree.
func awaited(dir string) (branches []string, err error) {
	for _, name := range []string{"rebase-merge/head-name", "rebase-apply/head-name", "rebase-merge/update-refs", "BISECT_START"} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, line := range strings.Split(string(raw), "\n") {
			if short, full := strings.CutPrefix(line, "refs/heads/"); full || name == "BISECT_START" {
				branches = append(branches, short)
			}
		}
	}
	return branches, nil
}

// placeOf is the working tree of a git folder of its own, which names the file .git in it.
func placeOf(dir string) string {
	raw, err := os.ReadFile(filepath.Join(dir, "gitdir"))
	if err != nil {
		return dir
	}
	file := strings.TrimSpace(string(raw))
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	return filepath.Dir(file)
}

// quoteGlob writes a path so that a glob means just that.
func quoteGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// Place is what stands where a worktree was made.
type Place struct {
	Folder bool // there is a folder
	Known  bool // git has a worktree there
	Linked bool // the folder is that worktree
	Head   string
	Locked bool
}

// PlaceOf finds out what stands at the path of a worktree. A folder alone proves nothing: what git did not delete of a
// worktree is a folder too, and one that was moved away is still known by its old place.
func PlaceOf(ctx context.Context, repo, path string) (p Place, err error) {
	e, known, err := entry(ctx, repo, path)
	if err != nil {
		return p, err
	}
	p = Place{Folder: There(path), Known: known, Head: e.Head, Locked: e.Locked}
	if !p.Folder || !known {
		return p, nil
	}
	if _, err := os.Lstat(filepath.Join(path, ".git")); err != nil {
		return p, nil
	}
	top, err := asks(path, "rev-parse", "--show-toplevel").do(ctx)
	if err != nil || !Same(strings.TrimSuffix(top, "\n"), path) {
		return p, nil
	}
	// Another repository may have been put there.
	own, err := asks(path, "rev-parse", "--path-format=absolute", "--git-dir").do(ctx)
	if err != nil {
		return p, nil
	}
	common, err := asks(repo, "rev-parse", "--path-format=absolute", "--git-common-dir").do(ctx)
	if err != nil {
		return p, err
	}
	p.Linked = Same(filepath.Dir(strings.TrimSuffix(own, "\n")), filepath.Join(strings.TrimSuffix(common, "\n"), "worktrees"))
	return p, nil
}
