package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// modules tells whether submodules are checked out, and which of them hold work that is nowhere else: their repositories
// go with the worktree. What was added as a file by mistake and is a repository is none the less one.
func modules(ctx context.Context, dir string, list []indexed) (any bool, unsafe []string, err error) {
	for _, i := range list {
		if !i.module() {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, i.name, ".git")); err != nil {
			continue
		}
		any = true
		other, err := elsewhere(ctx, filepath.Join(dir, i.name))
		if err != nil {
			return any, unsafe, err
		}
		why, err := onlyHere(ctx, filepath.Join(dir, i.name), other)
		if err != nil {
			return any, unsafe, err
		}
		if why != "" {
			unsafe = append(unsafe, i.name+": "+why)
		}
	}
	return any, unsafe, nil
}

// found is what stands in a working tree and that git does not tell of.
type found struct {
	mounts []string // folders in which another file system begins
	own    []string // repositories whose work is nowhere else, and why
}

// stored finds the repositories of submodules that are not checked out any more, and whose work is nowhere else: git keeps
// them in the git folder of the worktree, which goes with it.
func stored(ctx context.Context, dir string) (unsafe []string, err error) {
	own, err := gitDir(ctx, dir)
	if err != nil {
		return nil, err
	}
	top := filepath.Join(own, "modules")
	err = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.IsDir() || !isRepository(path) {
			return err
		}
		why, err := unpushed(ctx, path, "", "GIT_DIR="+path, "GIT_WORK_TREE="+path) // the one that it names may be gone
		if rel, failed := filepath.Rel(top, path); failed == nil && why != "" {
			unsafe = append(unsafe, rel+": it is not checked out (git submodule update --init), and "+why)
		}
		return err
	})
	return unsafe, err
}

// look walks over a whole working tree, by no link. git does not look below what it ignores, and takes all away. A folder
// that can't be read is an error: nobody knows what is in it.
// known are repositories that are looked at elsewhere.
func look(ctx context.Context, dir string, ignored, known []string) (f found, err error) {
	if f.mounts, err = mounted(dir); err != nil {
		return f, err
	}
	device, err := deviceOf(dir)
	if err != nil {
		return f, err
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, fs.ErrNotExist) && path != dir || err == nil && !d.IsDir() && d.Name() != ".git" {
			return nil // gone since, or a plain file: most are
		}
		rel, _ := filepath.Rel(dir, path)
		if err != nil || rel == "." {
			return err
		}
		if d.IsDir() && slices.Contains([]string{"objects", "refs"}, d.Name()) && isRepository(filepath.Dir(path)) {
			return fs.SkipDir // git's own; what stands beside them may be a repository in a repository
		}
		if d.IsDir() {
			is, err := deviceOf(path)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			if err == nil && is != device && !slices.Contains(f.mounts, rel) {
				f.mounts = append(f.mounts, rel)
			}
			if slices.Contains(f.mounts, rel) {
				return fs.SkipDir
			}
		}
		if d.Name() == ".git" && slices.Contains(known, filepath.ToSlash(filepath.Dir(rel))) || rel == ".git" {
			return nil
		}
		return f.repository(ctx, dir, rel, d, ignored)
	})
	return f, err
}

// repository notes a repository whose work is nowhere else: one that an entry named .git leads to, or one without files.
// Such a folder that is none, and has something in it, is no work only where git ignores it. Others may lie within either.
func (f *found) repository(ctx context.Context, dir, rel string, d fs.DirEntry, ignored []string) error {
	path := filepath.Join(dir, rel)
	name, why, err := rel, "", error(nil)
	switch {
	case d.Name() == ".git":
		name = filepath.Dir(rel)
		why, err = alone(ctx, path, d.IsDir())
		if err == nil && why == "" && d.IsDir() && !within(rel, ignored) && !isRepository(path) && holdsFiles(path) {
			why = "its .git holds files, and git looks at none of them"
		}
	case d.IsDir() && isRepository(path): // the working tree that it names may be gone
		why, err = unpushed(ctx, path, "", "GIT_DIR="+path, "GIT_WORK_TREE="+path)
	default:
		return nil
	}
	if err != nil {
		return err
	}
	if why != "" {
		f.own = append(f.own, name+"/: "+why)
	}
	return nil
}

// isRepository tells whether a folder is a git folder, as git itself tells.
func isRepository(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

func holdsFiles(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err != nil || len(entries) > 0
}

// within tells whether a path is below one of some folders, whose names end with a slash.
func within(rel string, folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool {
		return strings.HasSuffix(f, "/") && strings.HasPrefix(filepath.ToSlash(rel), f)
	})
}

// alone says what of the repository is nowhere else to which a folder or file .git leads, "" for nothing.
func alone(ctx context.Context, git string, dir bool) (string, error) {
	if dir {
		if _, err := os.Lstat(filepath.Join(git, "HEAD")); errors.Is(err, fs.ErrNotExist) {
			return "", nil // only called so
		}
	} else if raw, err := os.ReadFile(git); err != nil || !strings.HasPrefix(string(raw), "gitdir:") {
		return "", err
	} else if to := filepath.Clean(strings.TrimSpace(strings.TrimPrefix(string(raw), "gitdir:"))); filepath.Base(filepath.Dir(to)) == "worktrees" {
		return "it is a worktree", nil
	}
	other, err := elsewhere(ctx, filepath.Dir(git))
	if err != nil {
		return "", fmt.Errorf("%s: %w", filepath.Dir(git), err)
	}
	why, err := onlyHere(ctx, filepath.Dir(git), other)
	if err != nil {
		err = fmt.Errorf("%s: %w", filepath.Dir(git), err)
	}
	return why, err
}

// onlyHere says what of a repository's work is nowhere else, "" for nothing. other is a repository that may have it too, ""
// for none. Of what its settings name no program runs: they are nobody's whose worktree this is.
func onlyHere(ctx context.Context, dir, other string) (string, error) {
	ctx, err := Plainly(ctx, dir)
	if err != nil {
		return "", err
	}
	_, unseen, err := overlooked(ctx, dir)
	if err != nil {
		return "", err
	}
	var s Status
	if err := s.rows(ctx, dir, unseen); err != nil {
		return "", err
	}
	if len(s.Changed)+len(s.Hidden)+len(s.Untracked) > 0 {
		return "it has changes that are not committed", nil
	}
	return unpushed(ctx, dir, other)
}

// unpushed says what of a repository's commits is nowhere else, and which references lead to it. env may name its git folder.
func unpushed(ctx context.Context, dir, other string, env ...string) (string, error) {
	in := func(c call) call { c.env = env; return c }
	not := []string{"--not", "--remotes"}
	file, err := in(asks(dir, "rev-parse", "--path-format=absolute", "--git-path", "shallow")).line(ctx)
	if err != nil {
		return "", err
	}
	if raw, err := os.ReadFile(file); err == nil { // what a history was cut off at was fetched
		not = append(not, strings.Fields(string(raw))...)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	out, err := in(asks(dir, append([]string{"rev-list", "--exclude=refs/remotes/*", "--all"}, not...)...)).line(ctx)
	if err != nil || out == "" {
		return "", err
	}
	lost := set(strings.Fields(out))
	rows, err := in(asks(dir, "for-each-ref", "--format=%(refname) %(objectname) %(*objectname) %(*objecttype)")).line(ctx)
	if err != nil {
		return "", err
	}
	head, err := in(asks(dir, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")).line(ctx)
	if err != nil && code(err) != 1 { // 1: there is none yet
		return "", err
	}
	var refs []string
	for _, row := range strings.Split(rows+"\nHEAD "+head, "\n") {
		words := strings.Fields(row)
		if len(words) < 2 {
			continue
		}
		tip := words[min(2, len(words)-1)]
		if len(words) > 3 && words[3] == "tag" { // git 2.39 follows a tag of a tag once
			if tip, err = in(asks(dir, "rev-parse", "--verify", words[0]+"^{}")).line(ctx); err != nil {
				return "", err
			}
		}
		if !lost[tip] {
			continue
		}
		has, err := hasCommit(ctx, other, tip)
		if err != nil {
			return "", err
		}
		if !has {
			refs = append(refs, strings.TrimPrefix(strings.TrimPrefix(words[0], "refs/"), "heads/"))
		}
	}
	if len(refs) == 0 {
		return "", nil
	}
	return "it has commits or stashes that are not pushed (" + strings.Join(refs, ", ") + ")", nil
}

// hasCommit tells whether a reference of a repository leads to a commit; "" is a repository without any.
func hasCommit(ctx context.Context, repo, id string) (bool, error) {
	if repo == "" {
		return false, nil
	}
	out, err := asks(repo, "for-each-ref", "--count=1", "--contains", id).line(ctx)
	if code(err) > 0 { // it does not know of it
		return false, nil
	}
	return out != "", err
}

// ofTree is the git folder of a submodule in a worktree: what stays, and how the submodule is called. The git folder of a
// worktree has one name, so that a folder above which is called the same is not taken for it.
var ofTree = regexp.MustCompile(`^(.*?)/worktrees/[^/]+/modules/(.+)$`)

// elsewhere is the repository of the same submodule that stays when a worktree goes: that of the main working tree; "" for
// none. git keeps those of a worktree below its own git folder.
func elsewhere(ctx context.Context, git string) (string, error) {
	common, err := asks(git, "rev-parse", "--path-format=absolute", "--git-common-dir").do(ctx)
	if err != nil {
		return "", err
	}
	found := ofTree.FindStringSubmatch(filepath.ToSlash(strings.TrimSuffix(common, "\n")))
	if found == nil {
		return "", nil
	}
	if path := filepath.Join(found[1], "modules", found[2]); isRepository(path) {
		return path, nil
	}
	return "", nil
}
