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

// ErrOwnRepository says that something in a working tree is a repository of its own, of which no commit can hold the
// files.
var ErrOwnRepository = errors.New("it is a git repository of its own")

// saver is who writes commits that save something: nobody's name is needed for it.
var saver = []string{"GIT_AUTHOR_NAME=st", "GIT_AUTHOR_EMAIL=st@localhost", "GIT_COMMITTER_NAME=st", "GIT_COMMITTER_EMAIL=st@localhost"}

// Save makes a commit of all that stands in a working tree: its commit, what is staged, what is changed and what git
// neither tracks nor ignores, and what an operation that is under way holds. What git stores otherwise than it stands in
// the files is there twice: as git has it, and, in a parent, as its bytes are. more are commits that it is to hold as well.
// Neither the working tree nor its index is touched. Where nothing stands there beside its commit, and that holds more, it
// is that commit itself.
func Save(ctx context.Context, dir, message string, at Moment, more ...string) (commit string, err error) {
	_, head, err := Head(ctx, dir)
	if err != nil {
		return "", err
	}
	s := save{dir: dir, message: message, at: at}
	if s.scratch, err = os.MkdirTemp("", "st-save-"); err != nil {
		return "", err
	}
	defer os.RemoveAll(s.scratch) // what stays lies among the temporary files
	parents, err := s.parents(ctx, head, more)
	if err != nil {
		return "", err
	}
	files, err := s.files(ctx, head)
	if err != nil {
		return "", err
	}
	was := "" // before the first commit
	if head != "" {
		if was, err = asks(dir, "rev-parse", "--verify", head+"^{tree}").line(ctx); err != nil {
			return "", err
		}
	}
	for _, also := range []func(context.Context, string, string, string) ([]string, error){s.staged, s.raw} {
		commits, err := also(ctx, head, was, files)
		if err != nil {
			return "", err
		}
		parents = append(parents, commits...)
	}
	if was == files && len(parents) == 1 {
		return head, nil
	}
	return s.commit(ctx, files, parents...)
}

// parents are the commits that a saving one holds, none twice.
func (s save) parents(ctx context.Context, head string, more []string) (parents []string, err error) {
	if head != "" {
		parents = []string{head}
	}
	held, err := inHand(ctx, s.dir)
	if err != nil {
		return nil, err
	}
	for _, m := range append(more, held...) {
		in := m == ""
		for _, p := range parents {
			if in {
				break
			}
			if in, err = contains(ctx, s.dir, p, m); err != nil {
				return nil, err
			}
		}
		if !in {
			parents = append(parents, m)
		}
	}
	return parents, nil
}

// inHand are the commits that an operation which is under way in a working tree holds, and maybe nothing else: what it
// brings in, where it began, and changes that it has put aside.
func inHand(ctx context.Context, dir string) (commits []string, err error) {
	own, err := gitDir(ctx, dir)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"MERGE_HEAD", "MERGE_AUTOSTASH", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge/orig-head", "rebase-merge/stopped-sha",
		"rebase-merge/autostash", "rebase-apply/orig-head", "rebase-apply/autostash"} {
		raw, err := os.ReadFile(filepath.Join(own, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, id := range strings.Fields(string(raw)) {
			commit, err := Commit(ctx, dir, id)
			if err != nil && !errors.Is(err, ErrNoCommit) {
				return nil, err
			}
			commits = append(commits, commit)
		}
	}
	return commits, nil
}

type save struct {
	dir, scratch, message string
	at                    Moment
}

// files makes a tree of the files as they stand, by an index of its own.
func (s save) files(ctx context.Context, head string) (string, error) {
	index, had, err := s.begin(ctx, head)
	if err != nil {
		return "", err
	}
	c := acts(s.dir, 10*readTime, "add", "--all", "--", ":/")
	c.env = index
	if _, err := c.do(ctx); err != nil {
		return "", err
	}
	if err := s.whole(ctx, had, index); err != nil {
		return "", err
	}
	c = acts(s.dir, readTime, "write-tree")
	c.env = index
	return c.line(ctx)
}

// whole refuses repositories in the working tree that are no submodules: of those the index holds a commit's id alone.
func (s save) whole(ctx context.Context, had []indexed, index []string) error {
	known := map[string]bool{}
	for _, i := range had {
		known[i.name] = i.module()
	}
	has, err := indexOf(ctx, s.dir, index...)
	for _, i := range has {
		if i.module() && !known[i.name] {
			return fmt.Errorf("%s: %w", i.name, ErrOwnRepository)
		}
	}
	return err
}

// begin fills the index: with a copy of the real one, which knows what has not changed, else with the commit. In it git
// looks at every file.
func (s save) begin(ctx context.Context, head string) (index []string, had []indexed, err error) {
	index, there, err := scratchIndex(ctx, s.dir, s.scratch)
	if err != nil {
		return nil, nil, err
	}
	if there {
		var unseen []indexed
		if had, unseen, err = overlooked(ctx, s.dir); err == nil {
			err = enter(ctx, s.dir, index, unseen)
		}
		return index, had, err
	}
	of := head
	if of == "" {
		of = "--empty"
	}
	c := acts(s.dir, readTime, "read-tree", of)
	c.env = index
	_, err = c.do(ctx)
	return index, nil, err
}

// staged are commits of what is staged, none where that stands in the commit or in the files already. In the middle of a
// merge a file is staged up to three times, and each of them is a commit: what was staged may be nowhere else by then.
func (s save) staged(ctx context.Context, head, was, files string) (commits []string, err error) {
	list, err := indexOf(ctx, s.dir)
	if err != nil {
		return nil, err
	}
	stages := map[byte][]indexed{}
	for _, i := range list {
		stages[i.stage] = append(stages[i.stage], i)
	}
	var trees []string
	if len(stages) == 1 && len(stages['0']) > 0 {
		tree, err := acts(s.dir, readTime, "write-tree").line(ctx) // which leaves out what is only meant to be added
		if err != nil {
			return nil, err
		}
		trees = append(trees, tree)
	} else {
		for _, stage := range []byte("0123") {
			tree, err := s.tree(ctx, stages[stage], "stage-"+string(stage))
			if err != nil {
				return nil, err
			}
			trees = append(trees, tree)
		}
	}
	for n, tree := range trees {
		if tree == "" || tree == was || tree == files || slices.Contains(trees[:n], tree) {
			continue
		}
		is := s
		is.message = "Staged"
		if len(trees) > 1 {
			is.message = fmt.Sprint("Staged, stage ", n)
		}
		commit, err := is.commit(ctx, tree, some(head)...)
		if err != nil {
			return nil, err
		}
		commits = append(commits, commit)
	}
	return commits, nil
}

// tree makes a tree of some files of an index, by an index of that name; "" for none.
func (s save) tree(ctx context.Context, list []indexed, name string) (string, error) {
	if len(list) == 0 {
		return "", nil
	}
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(s.scratch, name)}
	if err := enter(ctx, s.dir, env, list); err != nil {
		return "", err
	}
	c := acts(s.dir, readTime, "write-tree")
	c.env = env
	return c.line(ctx)
}

// raw is a commit of the bytes of those changed files that git stores otherwise than they stand there: with other line
// ends, in another encoding, or as a filter makes them. None where there is no such file.
func (s save) raw(ctx context.Context, head, was, files string) ([]string, error) {
	args := []string{"ls-tree", "-r", "-z", files}
	if was != "" {
		args = []string{"diff-tree", "-r", "-z", "--no-renames", "--diff-filter=d", was, files}
	}
	list, err := treeRows(asks(s.dir, args...).words(ctx))
	var plain []indexed
	for _, i := range list {
		info, err := os.Lstat(filepath.Join(s.dir, i.name))
		if err == nil && info.Mode().IsRegular() && strings.HasPrefix(i.mode, "100") {
			plain = append(plain, i)
		}
	}
	if err != nil || len(plain) == 0 {
		return nil, err
	}
	var names strings.Builder
	for _, i := range plain {
		names.WriteString(quotedPath(i.name) + "\n")
	}
	c := acts(s.dir, 10*readTime, "hash-object", "-w", "--no-filters", "--stdin-paths")
	c.stdin = names.String()
	out, err := c.line(ctx)
	ids := strings.Fields(out)
	if err == nil && len(ids) != len(plain) {
		err = fmt.Errorf("git hash-object: %d ids of %d files", len(ids), len(plain))
	}
	if err != nil {
		return nil, err
	}
	var other []indexed
	for n, i := range plain {
		if i.id != ids[n] {
			i.id = ids[n]
			other = append(other, i)
		}
	}
	tree, err := s.tree(ctx, other, "raw")
	if err != nil || tree == "" {
		return nil, err
	}
	s.message = "The bytes of the files that git stores otherwise"
	commit, err := s.commit(ctx, tree, some(head)...)
	return []string{commit}, err
}

// treeRows reads the entries of a tree, or those in which it differs from another one.
func treeRows(rows []string, err error) (list []indexed, _ error) {
	for n := 0; n < len(rows) && err == nil; n++ {
		words := strings.Fields(rows[n])
		switch {
		case strings.HasPrefix(rows[n], ":") && len(words) == 5 && n+1 < len(rows): // :mode mode id id sign, and its name by itself
			n++
			list = append(list, indexed{mode: words[1], id: words[3], name: rows[n]})
		case strings.Contains(rows[n], "\t") && len(words) > 3: // mode type id, a tab, and its name
			_, name, _ := strings.Cut(rows[n], "\t")
			list = append(list, indexed{mode: words[0], id: words[2], name: name})
		default:
			err = fmt.Errorf("git: %q is no entry of a tree", rows[n])
		}
	}
	return list, err
}

// some is a list of one, or of none for "".
func some(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

func (s save) commit(ctx context.Context, tree string, parents ...string) (string, error) {
	args := []string{"commit-tree"}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	c := acts(s.dir, readTime, append(args, "-F", "-", tree)...)
	c.stdin, c.env = strings.TrimSpace(s.message)+"\n", append(s.at.dates(), saver...)
	return c.line(ctx)
}
