package orch

import (
	"slices"
	"strings"
)

// forgetting is how a person says that repositories go with a worktree, beside those of which that was said already; ""
// where one of them can't: git holds such a worktree for one with files that are in no commit.
func forgetting(w Worker, list []string, o WorkerFinish) string {
	o.Forget = slices.Clone(o.Forget)
	for _, l := range list {
		name, why := nameOf(l)
		if why == "" {
			return ""
		}
		o.Forget = append(o.Forget, name)
	}
	return o.line(w, o.How)
}

// nameOf is the path of a repository in a list of TreeFacts, and why its work is nowhere else; "" where the list says none.
// A path may hold what stands between the two, and a reason never does, nor does it end as a folder.
func nameOf(entry string) (name, why string) {
	if at := strings.LastIndex(entry, ": "); at >= 0 && !strings.HasSuffix(entry, "/") {
		entry, why = entry[:at], entry[at+2:]
	}
	return strings.TrimSuffix(entry, "/"), why
}

// Without are the repositories that keep a worktree from going, but some.
func (f TreeFacts) Without(forget []string) []string {
	return append(but(f.Own, forget), but(f.Unsafe, forget)...)
}

func but(list, forget []string) (rest []string) {
	for _, l := range list {
		if name, why := nameOf(l); why == "" || !slices.Contains(forget, name) {
			rest = append(rest, l)
		}
	}
	return rest
}

// leaveOut takes out what a person lets go (--drop), by its exact path.
func (s *step) leaveOut(w Worker, t Worktree, o WorkerFinish, f *TreeFacts) *Error {
	without := o
	without.Forget = nil
	if len(o.Forget) > 0 && s.who(s.in.By).agent != nil {
		e := refuse("refused_agent", without.line(w, o.How), "an agent may not let a repository go whose work is nowhere else")
		e.Hint = "a person may; or move it away, then:"
		return e
	}
	for _, name := range o.Forget {
		if only := []string{name}; len(f.Without(only)) == len(f.Own)+len(f.Unsafe) {
			return refuse("usage", without.line(w, o.How), "--drop %s: no repository of that path keeps %s from going", name, t.Path)
		}
	}
	f.Own, f.Unsafe = but(f.Own, o.Forget), but(f.Unsafe, o.Forget)
	return nil
}
