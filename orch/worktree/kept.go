package worktree

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// KeptRef is a reference by which something was kept that would have been lost with a worktree.
type KeptRef struct {
	Name    string
	Object  string // what it leads to
	Made    time.Time
	Subject string // the first line of the commit; "" where it leads to none
	Commits int    // that nothing else but such references leads to
}

// ours is where they are.
const ours = "refs/st/"

var madeAt = regexp.MustCompile(`-(\d{8}T\d{6}Z)(?:-\d+)?(?:\.|$)`)

// KeptRefs lists those of a repository, the oldest first.
func KeptRefs(ctx context.Context, repo string) (list []KeptRef, err error) {
	out, err := asks(repo, "for-each-ref", "--sort=refname", "--format=%(refname) %(objectname) %(objecttype) %(creatordate:unix) %(contents:subject)", ours).do(ctx)
	if err != nil {
		return nil, err
	}
	for row := range strings.Lines(out) {
		words := strings.SplitN(strings.TrimSuffix(row, "\n"), " ", 5)
		if len(words) < 5 {
			return nil, fmt.Errorf("git for-each-ref: %q is no reference", row)
		}
		k := KeptRef{Name: words[0], Object: words[1], Subject: words[4]}
		if at := madeAt.FindStringSubmatch(k.Name); at != nil {
			k.Made, err = time.Parse("20060102T150405Z", at[1])
		}
		if seconds, failed := strconv.ParseInt(words[3], 10, 64); (k.Made.IsZero() || err != nil) && failed == nil {
			k.Made = time.Unix(seconds, 0).UTC()
		}
		if words[2] == "commit" {
			n, err := asks(repo, "rev-list", "--count", k.Object, "--not", "--branches", "--tags", "--remotes").line(ctx)
			if err != nil {
				return nil, err
			}
			if k.Commits, err = strconv.Atoi(n); err != nil {
				return nil, err
			}
		}
		list = append(list, k)
	}
	return list, nil
}

// ErrNotOurs says that a reference is none by which something was kept.
var ErrNotOurs = errors.New("it is no reference of st")

// DropKept deletes such references where they lead to those objects yet, all or none, and never another one that they stand
// for. One that is not there is nothing to do.
func DropKept(ctx context.Context, repo string, list []KeptRef) error {
	out, err := asks(repo, "for-each-ref", "--format=%(refname) %(objectname)", ours).do(ctx)
	if err != nil {
		return err
	}
	stand := map[string]string{}
	for row := range strings.Lines(out) {
		name, object, _ := strings.Cut(strings.TrimSuffix(row, "\n"), " ")
		stand[name] = object
	}
	c := acts(repo, readTime, "update-ref", "--no-deref", "--stdin")
	for _, k := range list {
		is, ok := stand[k.Name]
		switch {
		case !strings.HasPrefix(k.Name, ours):
			return fmt.Errorf("%s: %w", k.Name, ErrNotOurs)
		case !ok:
			continue
		case is != k.Object:
			return fmt.Errorf("%s: %w", k.Name, ErrMoved)
		}
		c.stdin += "delete " + k.Name + " " + k.Object + "\n"
		delete(stand, k.Name)
	}
	if c.stdin == "" {
		return nil
	}
	return again(ctx, c)
}
