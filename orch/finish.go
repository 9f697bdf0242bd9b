package orch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// How a worktree comes to its end.
const (
	finishMerge   = "merge"
	finishSquash  = "squash"
	finishDiscard = "discard"
	finishLanded  = "landed" // its work is at home already, or there is none
)

// Orders about worktrees.
type (
	// WorkerFinish brings a worker's worktree home, or throws it away. Answer: WorktreeAnswer, given at once: how it goes on is
	// read from the worktree.
	WorkerFinish struct {
		Worker string `json:"worker"`
		How    string `json:"how,omitempty"`  // merge, squash, discard; "" = take it away where its work has landed
		Into   string `json:"into,omitempty"` // the branch to which it comes home; "" = the one at which it began
		// Forget names repositories in it that go although their work is nowhere else.
		Forget []string `json:"forget,omitempty"`

		// Found by the daemon before the order reaches Step.
		Facts TreeFacts `json:"facts"`
	}
	// TreesFree takes away the worktrees whose work has landed and whose workers have ended. Answer: WorktreesAnswer.
	TreesFree struct {
		// Found by the daemon before the order reaches Step.
		Facts []TreeFacts `json:"facts"`
	}
)

// TreeFacts is how a worktree stands.
type TreeFacts struct {
	Worker    string   `json:"worker"`
	Broken    string   `json:"broken,omitempty"`  // what git said where it could not tell
	Gone      bool     `json:"gone,omitempty"`    // its folder is not there
	Missing   bool     `json:"missing,omitempty"` // and git does not know of it: it was moved, or removed by hand
	Rest      bool     `json:"rest,omitempty"`    // what is there is no worktree of the repository
	At        string   `json:"at,omitempty"`      // another working tree that has its branch, "" for none
	Branch    string   `json:"branch,omitempty"`  // that is checked out, "" for none
	Head      string   `json:"head,omitempty"`    // the commit that is checked out
	Tip       string   `json:"tip,omitempty"`     // of its own branch, "" where that is gone
	Changed   []string `json:"changed,omitempty"`
	Hidden    []string `json:"hidden,omitempty"` // changed, and git was told not to look
	Untracked []string `json:"untracked,omitempty"`
	Mounts    []string `json:"mounts,omitempty"`  // folders in it in which something else is mounted
	Own       []string `json:"own,omitempty"`     // repositories in it that are no submodules; below what is ignored those whose work is nowhere else
	Ignored   []string `json:"ignored,omitempty"` // the topmost
	Doing     string   `json:"doing,omitempty"`   // rebase, merge, …
	Locked    bool     `json:"locked,omitempty"`
	Unsafe    []string `json:"unsafe,omitempty"` // submodules whose work is nowhere else
	Modules   bool     `json:"modules,omitempty"`
	Processes []string `json:"processes,omitempty"` // that run inside: pid and name
	Commits   []string `json:"commits,omitempty"`   // since its base
	Landed    string   `json:"landed,omitempty"`    // nothing, merged, squashed; "" for not
	Bytes     int64    `json:"bytes,omitempty"`     // of all files below it
	Runs      []string `json:"runs,omitempty"`      // settings of the repository itself that have git run a program

	// The branch to which it comes home.
	Into        string   `json:"into,omitempty"`
	IntoTip     string   `json:"into_tip,omitempty"` // "" where there is no such branch
	IntoAt      string   `json:"into_at,omitempty"`  // the working tree in which it is checked out, "" for none
	IntoChanged []string `json:"into_changed,omitempty"`
	IntoDoing   string   `json:"into_doing,omitempty"`
	IntoInWay   []string `json:"into_in_way,omitempty"` // what stands there where the work has a file, and is not tracked
	Conflicts   []string `json:"conflicts,omitempty"`
}

// TreeFinish is the order to the outside world: it brings a worktree home and takes it away, or does neither.
type TreeFinish struct {
	Worker  string    `json:"worker"`
	Agent   string    `json:"agent"`
	Main    string    `json:"main"`
	Common  string    `json:"common"`
	Path    string    `json:"path"`
	Branch  string    `json:"branch"`
	Base    string    `json:"base,omitempty"` // the commit at which it began
	Drop    bool      `json:"drop,omitempty"` // the branch goes too: it was made for the worktree
	How     string    `json:"how"`
	Head    string    `json:"head,omitempty"` // what was checked out when that was decided
	Tip     string    `json:"tip"`
	Into    string    `json:"into,omitempty"`
	IntoTip string    `json:"into_tip,omitempty"`
	Message string    `json:"message"`          // of the commit that is made
	Backup  string    `json:"backup"`           // the reference under which is kept what was done, and what no other one leads to
	Forget  []string  `json:"forget,omitempty"` // as in WorkerFinish
	Force   bool      `json:"force,omitempty"`  // git may take it away although something stands in it
	Hooks   bool      `json:"hooks,omitempty"`  // those of the repository run: a person has asked for it
	At      time.Time `json:"at"`               // of the commits that are made: a second try makes the same ones
}

// TreeFinished is its result.
type TreeFinished struct {
	Worker string `json:"worker"`
	Commit string `json:"commit,omitempty"` // by which the work came home
	Backup string `json:"backup,omitempty"` // the reference that was made
	Error  *Error `json:"error,omitempty"`
}

// Types on the wire.
func (WorkerFinish) Type() string { return "worker-finish" }
func (TreesFree) Type() string    { return "trees-free" }
func (TreeFinish) Type() string   { return "tree-finish" }
func (TreeFinished) Type() string { return "tree-finished" }

// workerFinish orders the end of a worker's worktree. Its agent is stopped before, where that has settled.
func (s *step) workerFinish(o WorkerFinish) *Error {
	w, _, err := s.ordersNamed(o.Worker)
	if err != nil {
		return err
	}
	t, ok := get[Worktree](s, Worktree{Worker: w.ID}.Key())
	if !ok {
		return refuse("no_worktree", "st worker show "+w.ID, "worker %s has no worktree: it works in %s", w.ID, w.Dir)
	}
	if t.State == treeFailed {
		return refuse("no_worktree", "st worker retry "+w.ID, "the worktree of worker %s was not made: %s", w.ID, t.Why)
	}
	already := t.State == treeGone
	if !already && !t.leavesBy(o.How) {
		if err := s.mayFinish(w, t, o); err != nil {
			return err
		}
		how := o.How
		if o.Facts.Landed != "" && (how != finishDiscard || o.Facts.Tip == "" && o.Facts.Gone) {
			how = finishLanded
		}
		s.finishTree(w, t, o.Facts, how, o.Forget)
	}
	s.answer = func() any { return WorktreeAnswer{Worktree: worktreeInfo(s, w.ID), Already: already} }
	return nil
}

// leavesBy says that a worktree is just coming to the end that is wanted: whoever asks again hears what comes of it.
func (t Worktree) leavesBy(how string) bool {
	return t.State == treeLeaving && (t.How == how || how != finishDiscard && t.How == finishLanded || how == "" && t.How != finishDiscard)
}

// mayFinish says why a worktree can't be finished as it is wanted, with all that is in the way.
func (s *step) mayFinish(w Worker, t Worktree, o WorkerFinish) *Error {
	f := o.Facts
	switch {
	case !slices.Contains([]string{"", finishMerge, finishSquash, finishDiscard}, o.How):
		return refuse("usage", "st worker finish --help", "a worktree can't be finished by %q", o.How)
	case t.State == treeLeaving:
		return refuse("not_ready", "st worker show "+w.ID, "the worktree of worker %s is being finished already", w.ID)
	case t.State == treeAwaited || t.State == treeMaking:
		return refuse("not_ready", "st worker wait "+w.ID, "worker %s has no worktree yet: its start is under way", w.ID)
	case !workerInfo(s, w.ID).Settled:
		e := refuse("unsettled", "st worker wait "+w.ID, "worker %s still works in %s", w.ID, t.Path)
		e.Next = append(e.Next, "st worker stop "+w.ID+" --yes")
		return e
	}
	if err := s.inUse(w, t); err != nil {
		return err
	}
	if err := s.mayRun(w, f); err != nil {
		return err
	}
	if err := s.leaveOut(w, t, o, &f); err != nil {
		return err
	}
	if err := hindrance(w, t, f, o); err != nil {
		return err
	}
	if o.How == finishDiscard {
		return nil
	}
	if f.Into == t.Branch {
		return refuse("no_target", "st worker finish "+w.ID+" --merge --into BRANCH", "branch %s is the worktree's own, and goes with it: its work can't come home there", t.Branch)
	}
	if err := unsaved(w, t, f, o); err != nil {
		return err
	}
	switch {
	case f.Landed != "":
		return nil
	case o.How == "":
		return notLanded(w, t, f, o)
	}
	return mayJoin(w, t, f, o)
}

// mayRun refuses an agent what would have git run a program that it may have named itself.
func (s *step) mayRun(w Worker, f TreeFacts) *Error {
	if len(f.Runs) == 0 || s.who(s.in.By).agent == nil {
		return nil
	}
	e := refuse("refused_agent", "st worker finish "+w.ID, runsPrograms, strings.Join(f.Runs, ", "))
	e.Hint = "a person may do it:"
	return e
}

// inUse refuses to take a worktree away under an agent that goes on there without its worker, or is just being started again.
func (s *step) inUse(w Worker, t Worktree) *Error {
	a, _ := get[Agent](s, "agent/"+w.Agent)
	switch {
	case restarts(s, a):
		return refuse("not_ready", "st worker show "+w.ID, "the agent of worker %s is being started again in %s", w.ID, t.Path)
	case w.Released != nil && a.Gone == "":
		e := refuse("released", "st agents", "agent %s was released, and goes on in %s", a.ID, t.Path)
		e.Hint = "end it, then try again"
		return e
	}
	return nil
}

// restarts says that another agent is taking up an agent's conversation.
func restarts(v View, a Agent) bool {
	next, ok := get[Agent](v, "agent/"+a.Restart)
	return ok && next.Gone == ""
}

// treeTaken refuses to take up a worker's conversation whose folder is gone, or goes.
func (s *step) treeTaken(w Worker) *Error {
	t, ok := get[Worktree](s, Worktree{Worker: w.ID}.Key())
	if !ok || t.State != treeLeaving && t.State != treeGone {
		return nil
	}
	return refuse("no_worktree", "st worker retry "+w.ID, "worker %s %q was not restarted: its worktree %s was finished", w.ID, w.Name, t.Path)
}

// hindrance is what keeps a worktree from going whatever becomes of its work.
func hindrance(w Worker, t Worktree, f TreeFacts, o WorkerFinish) *Error {
	path, git := word(t.Path), "git -C "+word(t.Want.Main)+" "
	again := o.line(w, "")
	switch {
	case f.Broken != "":
		return refuse("git_failed", "git -C "+path+" status", "the worktree of worker %s can't be read: %s", w.ID, f.Broken)
	case f.Locked:
		e := refuse("refused", git+"worktree unlock "+path, "somebody has locked the worktree of worker %s", w.ID)
		if f.Gone {
			e.Message += ", and it is not at " + t.Path
			e.Hint = "is it on a disk that is not mounted?"
		}
		return e
	case f.Rest && f.Missing:
		return refuse("refused", git+"worktree repair", "%s does not lead to the worktree of worker %s that git has there", t.Path, w.ID)
	case f.Rest:
		e := refuse("refused", "mv "+path+" "+word(t.Path+"-rest"), "%s is no worktree of %s any more, and what is in it was left alone", t.Path, t.Want.Main)
		e.Hint = "move it out of the way, or remove it, then finish"
		e.Next = append(e.Next, again)
		return e
	case f.Missing:
		e := refuse("refused", "mv FOLDER "+path, "the worktree of worker %s is not at %s: it was moved, or removed by hand", w.ID, t.Path)
		e.Hint = "move it back; or, if it was removed, let git know, which forgets what was staged there"
		if f.Head != "" && f.Head != f.Tip {
			e.Next = append(e.Next, git+"branch "+word(t.Branch+"-head")+" "+f.Head)
		}
		e.Next = append(e.Next, git+"worktree remove "+path, again)
		return e
	case f.At != "":
		e := refuse("refused", git+"worktree list", "branch %s of worker %s is checked out, or being moved, in %s", t.Branch, w.ID, f.At)
		if f.Gone && f.At != t.Want.Main {
			e.Hint = "was the worktree moved? then move it back"
			e.Next = []string{git + "worktree move " + word(f.At) + " " + path}
		} else {
			e.Next = []string{"git -C " + word(f.At) + " switch " + word(cmp.Or(f.Into, "BRANCH"))}
		}
		e.Next = append(e.Next, again)
		return e
	case len(f.Processes) > 0:
		e := listed("processes_inside", f.Processes, "processes run in %s:", t.Path)
		e.Hint = "end them, or leave the folder, then try again"
		return e
	case len(f.Mounts) > 0:
		e := listed("unsaved", f.Mounts, "other folders or disks are mounted in %s, and would be emptied:", t.Path)
		for _, m := range f.Mounts[:min(len(f.Mounts), listMost)] {
			e.Next = append(e.Next, "umount "+word(t.Path+"/"+m))
		}
		e.Next = append(e.Next, again)
		return e
	case len(f.Own) > 0:
		e := listed("unsaved", f.Own, "git repositories of their own stand in %s, and no commit could hold them:", t.Path)
		e.Hint = "move them away, then try again"
		if forget := forgetting(w, f.Own, o); forget != "" {
			e.Hint += "; or a person says that they go with it:"
			e.Next = append(e.Next, forget)
		}
		return e
	case len(f.Unsafe) > 0:
		e := listed("unsaved", f.Unsafe, "submodules in %s hold work that is nowhere else:", t.Path)
		e.Next = []string{"git -C " + path + " submodule foreach 'git status'"}
		e.Hint = "push it; or a person says that it goes with it:"
		e.Next = append(e.Next, forgetting(w, f.Unsafe, o))
		return e
	}
	return nil
}

// line is how an end is asked for in some way, with all else that the order says: without it the next line would bring the
// work home elsewhere, or be refused for what was let go already.
func (o WorkerFinish) line(w Worker, how string) string {
	line := "st worker finish " + w.ID
	switch how {
	case "":
	case finishDiscard:
		line += " --discard --yes"
	default:
		line += " --" + how
	}
	if o.Into != "" && how != finishDiscard {
		line += " --into " + word(o.Into)
	}
	for _, name := range o.Forget {
		line += " --drop " + word(name)
	}
	return line
}

// Again is how this end is asked for once more after it has failed; where its work came home already, plainly.
func (o TreeFinish) Again(done TreeFinished) string {
	order, how := WorkerFinish{Forget: o.Forget}, o.How
	if done.Commit != "" || how == finishLanded {
		how = ""
	}
	if how == finishMerge || how == finishSquash {
		order.Into = o.Into
	}
	return order.line(Worker{ID: o.Worker}, how)
}

// unsaved is what stands in a worktree and in no commit.
func unsaved(w Worker, t Worktree, f TreeFacts, o WorkerFinish) *Error {
	path := word(t.Path)
	switch {
	case f.Doing != "":
		e := refuse("unsaved", "git -C "+path+" status", "a %s is under way in %s", f.Doing, t.Path)
		e.Next = append(e.Next, "git -C "+path+" "+f.Doing+" --abort")
		if f.Doing == "bisect" {
			e.Next[1] = "git -C " + path + " bisect reset"
		}
		return e
	case len(f.Hidden) > 0:
		e := listed("unsaved", f.Hidden, "%s holds changes that git was told not to look at:", t.Path)
		for _, flag := range []string{"--no-assume-unchanged", "--no-skip-worktree"} {
			e.Next = append(e.Next, "git -C "+path+" update-index "+flag+" "+words(f.Hidden[:min(len(f.Hidden), listMost)]))
		}
		e.Next = append(e.Next, o.line(w, finishDiscard))
		return e
	case len(f.Changed)+len(f.Untracked) > 0:
		all := append(signed("changed ", f.Changed), signed("untracked ", f.Untracked)...)
		e := listed("unsaved", all, "%s holds work that is in no commit:", t.Path)
		e.Next = []string{"git -C " + path + " add -A && git -C " + path + " commit -m " + word(title("", t.Branch)), o.line(w, finishDiscard)}
		return e
	}
	return nil
}

func signed(sign string, list []string) (all []string) {
	for _, l := range list {
		all = append(all, sign+l)
	}
	return all
}

// notLanded says what would be lost.
func notLanded(w Worker, t Worktree, f TreeFacts, o WorkerFinish) *Error {
	into := f.Into
	if into == "" {
		into = "any other branch"
	}
	e := listed("not_landed", f.Commits, "the work of worker %s on branch %s is not in %s; it would be lost:", w.ID, t.Branch, into)
	e.Next = []string{o.line(w, finishMerge), o.line(w, finishSquash), o.line(w, finishDiscard)}
	return e
}

// mayJoin says why work can't come home.
func mayJoin(w Worker, t Worktree, f TreeFacts, o WorkerFinish) *Error {
	path, at := word(t.Path), word(f.IntoAt)
	again, elsewhere := o.line(w, o.How), WorkerFinish{Forget: o.Forget}.line(w, o.How)+" --into BRANCH"
	switch {
	case !f.Gone && f.Branch != t.Branch:
		was := "branch " + f.Branch
		if f.Branch == "" {
			was = "no branch, but commit " + short(f.Head)
		}
		return refuse("refused", "git -C "+path+" switch "+word(t.Branch), "in %s %s is checked out, and its own is %s", t.Path, was, t.Branch)
	case f.Into == "":
		return refuse("no_target", elsewhere, "the worktree of worker %s began at a commit, so it has no branch to come home to", w.ID)
	case f.IntoTip == "":
		return refuse("no_target", elsewhere, "there is no branch %s any more", f.Into)
	case len(f.Conflicts) > 0:
		e := listed("conflict", f.Conflicts, "branch %s does not go together with %s; nothing was changed. Conflicts:", t.Branch, f.Into)
		e.Hint = "merge it there, or have its worker do so; then finish it"
		e.Next = []string{"git -C " + path + " merge " + word(f.Into), again}
		return e
	case f.IntoDoing != "":
		return refuse("refused", "git -C "+at+" status", "branch %s is checked out in %s, where a %s is under way", f.Into, f.IntoAt, f.IntoDoing)
	case len(f.IntoChanged) > 0:
		e := listed("refused", f.IntoChanged, "branch %s is checked out in %s, with changes that are not committed:", f.Into, f.IntoAt)
		e.Next = []string{"git -C " + at + " stash", again, "git -C " + at + " stash pop"}
		return e
	case len(f.IntoInWay) > 0:
		e := listed("refused", f.IntoInWay, "branch %s is checked out in %s, where files that git does not track are in the way:", f.Into, f.IntoAt)
		e.Hint = "move them away, then try again"
		return e
	}
	return nil
}

// listMost is how many lines of a list a message shows; its data has all.
const listMost = 20

// listed is a refusal with a list in it.
func listed(code string, list []string, format string, args ...any) *Error {
	e := refuse(code, "", format, args...)
	for i, l := range list {
		if i == listMost {
			e.Message += fmt.Sprintf("\n  … and %d more", len(list)-i)
			break
		}
		e.Message += "\n  " + l
	}
	e.Data = map[string]any{"list": list}
	return e
}

// word is a word as a shell reads it.
func word(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_@%+=:,./-", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// words are some words as a shell reads them.
func words(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = word(s)
	}
	return strings.Join(quoted, " ")
}

func short(commit string) string { return commit[:min(len(commit), 12)] }

// finishTree orders the end of a worktree, after that of its worker's agent, where there is one.
func (s *step) finishTree(w Worker, t Worktree, f TreeFacts, how string, forget []string) {
	a, _ := get[Agent](s, "agent/"+w.Agent)
	o := TreeFinish{Worker: w.ID, Agent: a.ID, Main: t.Want.Main, Common: t.Want.Common, Path: t.Path, Branch: t.Branch, Base: t.Base, Drop: t.New, How: how,
		Head: f.Head, Tip: f.Tip, Into: f.Into, IntoTip: f.IntoTip, Forget: forget, Hooks: s.who(s.in.By).agent == nil, Message: s.finishMessage(w, t, how), Force: how == finishDiscard || f.Modules, At: s.at}
	o.Backup = backupRef("landed", w, s.at)
	if how == finishDiscard {
		o.Backup = backupRef("discarded", w, s.at)
	}
	t.State, t.How, t.Tip, t.Landed, t.Error, t.Why = treeLeaving, how, f.Tip, f.Landed, nil, ""
	t.Want.Into = cmp.Or(f.Into, t.Want.Into)
	t.Finish = &o
	s.put(t)
	if w.Released == nil { // else its agent is none of ours to end, and has ended
		s.stop(w, s.who(s.in.By))
	}
	if a, _ = get[Agent](s, "agent/"+w.Agent); !a.hasPane() || w.Released != nil {
		s.agentLeft(w.ID)
	}
}

// backupRef is the name under which work is kept.
func backupRef(kind string, w Worker, at time.Time) string {
	return "refs/st/" + kind + "/" + w.Run + "-" + w.ID + "-" + at.UTC().Format("20060102T150405Z")
}

// finishMessage is the message of the commit by which work comes home, or is kept.
func (s *step) finishMessage(w Worker, t Worktree, how string) string {
	d, _ := get[Dispatch](s, "dispatch/"+w.Dispatch)
	task, _ := get[Task](s, "task/"+d.Task)
	subject, body := task.Title, ""
	if d.Report != nil {
		body = d.Report.Summary
	}
	switch how {
	case finishMerge:
		subject, body = "Merge branch '"+t.Branch+"'", strings.TrimSpace(task.Title+"\n\n"+body)
	case finishDiscard:
		subject, body = "Discarded: "+subject, "Worktree of worker "+w.ID+" of run "+w.Run+", branch "+t.Branch
	}
	return strings.TrimSpace(subject+"\n\n"+body) + "\n"
}

// agentLeft goes on with the end of a worktree once its agent has ended.
func (s *step) agentLeft(worker string) {
	t, ok := get[Worktree](s, Worktree{Worker: worker}.Key())
	if !ok || t.Finish == nil {
		return
	}
	o := *t.Finish
	t.Finish = nil
	s.put(t)
	s.do(o)
}

// treeFinished takes the result of an end. One that failed has left the worktree where it was.
func (s *step) treeFinished(o TreeFinished) {
	t, ok := get[Worktree](s, Worktree{Worker: o.Worker}.Key())
	if !ok || t.State != treeLeaving {
		return
	}
	if t.Error = o.Error; o.Error != nil {
		t.State, t.How, t.Landed = treeReady, "", ""
		s.put(t)
		s.log("worktree-kept", Event{Run: t.Run, Worker: t.Worker, Text: o.Error.Message})
		return
	}
	t.State, t.Commit, t.Backup, t.Ended = treeGone, o.Commit, o.Backup, ptr(s.at)
	s.put(t)
	s.log("worktree-gone", Event{Run: t.Run, Worker: t.Worker, Text: t.How})
}
