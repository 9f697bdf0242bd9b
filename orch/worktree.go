package orch

import (
	"slices"
	"strings"
	"time"
)

// TreeWant is the git worktree in which a worker is to work.
type TreeWant struct {
	Repo   string   `json:"repo,omitempty"` // as asked: the repository; "" = that of the start's folder
	Base   string   `json:"base,omitempty"` // as asked: what it begins at; "" = what is checked out there
	Branch string   `json:"branch,omitempty"`
	Setup  string   `json:"setup,omitempty"` // a shell command that makes it ready for work
	Async  bool     `json:"async,omitempty"` // the agent begins meanwhile
	Copy   []string `json:"copy,omitempty"`  // globs of files that git does not track, to be copied

	// Found by the daemon before the order reaches Step.
	Main   string   `json:"main,omitempty"`   // the repository's main working tree, or the bare repository
	Common string   `json:"common,omitempty"` // its git folder
	From   string   `json:"from,omitempty"`   // the working tree from which files are copied, "" for none
	Prefix string   `json:"prefix,omitempty"` // the folder in it in which the worker begins, "" for its top
	Name   string   `json:"name,omitempty"`   // what it begins at: a branch, another name, or a commit
	Into   string   `json:"into,omitempty"`   // the branch to which the work comes home, "" where Name is none
	There  bool     `json:"there,omitempty"`  // Branch is there already
	Place  string   `json:"place,omitempty"`  // the folder in which the worktree is made
	Runs   []string `json:"runs,omitempty"`   // settings of the repository itself that have git run a program
	Taken  []string `json:"taken,omitempty"`  // branches of ours that are there, and what stands in Place, in lower case
}

// States of a worktree.
const (
	treeAwaited = ""          // its worker waits in line
	treeMaking  = "making"    // git is at it
	treeReady   = "ready"     // it stands
	treeUnready = "unready"   // it stands, and not as it should, see Why; its worker has not begun
	treeFailed  = "failed"    // it was not made, see Why: nothing of it stands
	treeLeaving = "finishing" // it is brought home or thrown away
	treeGone    = "gone"
)

// States of what makes a worktree ready for work.
const (
	setupRuns   = "running"
	setupDone   = "done"
	setupFailed = "failed"
)

// Worktree is the git worktree of a worker. It outlives its agent, and goes only by an order that says so.
type Worktree struct {
	Worker string   `json:"worker"`
	Run    string   `json:"run"`
	Want   TreeWant `json:"want"`
	Dir    string   `json:"dir"` // the folder for which it was asked
	Path   string   `json:"path"`
	Branch string   `json:"branch"`
	New    bool     `json:"new,omitempty"`  // the branch was made for it
	Base   string   `json:"base,omitempty"` // the commit at which it began, "" before it stands
	State  string   `json:"state,omitempty"`
	Why    string   `json:"why,omitempty"` // it could not be made, or not be finished
	// Open is the window that is opened once it is ready, nil before its turn and after.
	Open     *PaneOpen  `json:"open,omitempty"`
	Setup    string     `json:"setup,omitempty"` // see setupRuns; "" where there is none, or before
	SetupLog string     `json:"setup_log,omitempty"`
	Made     *time.Time `json:"made,omitempty"`
	SetUp    *time.Time `json:"set_up,omitempty"`  // when that had ended
	Skipped  []string   `json:"skipped,omitempty"` // files that were not copied, and why

	// Finish is the end that is ordered once its agent has ended, nil for none. Error is why the last one failed.
	Finish *TreeFinish `json:"finish,omitempty"`
	Error  *Error      `json:"error,omitempty"`
	// How it ended.
	How    string     `json:"how,omitempty"`    // merge, squash, discard, landed
	Landed string     `json:"landed,omitempty"` // how its work had by then: nothing, merged, squashed; "" for not
	Tip    string     `json:"tip,omitempty"`    // its last commit
	Commit string     `json:"commit,omitempty"` // the one by which its work came home
	Backup string     `json:"backup,omitempty"` // the reference that keeps what else would be lost
	Ended  *time.Time `json:"ended,omitempty"`
}

func (t Worktree) Key() string { return "worktree/" + t.Worker }

const (
	standingTrees = "worktree standing" // those that are there, or will be
	openingTrees  = "worktree opening"  // those whose worker's window is still to be opened
)

// Shelves finds a worktree by its run, those that stand, and those for whose window an environment is kept.
func (t Worktree) Shelves() []string {
	all := []string{Of("worktree", t.Run)}
	if t.stands() {
		all = append(all, standingTrees)
	}
	if t.Open != nil {
		all = append(all, openingTrees)
	}
	return all
}

// stands says that there is something of a worktree, or will be.
func (t Worktree) stands() bool { return t.State != treeGone && t.State != treeFailed }

// Orders to the outside world, and their results.
type (
	// TreeMake makes a worktree, and copies files into it.
	TreeMake struct {
		Worker string   `json:"worker"`
		Agent  string   `json:"agent"`
		Main   string   `json:"main"`
		Common string   `json:"common"`
		From   string   `json:"from,omitempty"`
		Path   string   `json:"path"`
		Branch string   `json:"branch"`
		New    bool     `json:"new,omitempty"`
		Name   string   `json:"name"` // at which it begins
		Copy   []string `json:"copy,omitempty"`
		// EnvFile is kept for what makes the worktree ready, "" where nothing does.
		EnvFile string `json:"env_file,omitempty"`
		// Look says that it may be there already: the store was lost and is older than the order.
		Look bool `json:"look,omitempty"`
		// Hooks says that the repository's hooks run: a person has asked for it, and not an agent, which may have written them.
		Hooks bool `json:"hooks,omitempty"`
	}
	// TreeMade is the result of TreeMake.
	TreeMade struct {
		Worker  string   `json:"worker"`
		Base    string   `json:"base,omitempty"` // commit
		Skipped []string `json:"skipped,omitempty"`
		Error   *Error   `json:"error,omitempty"`  // it does not stand, or not as it should
		Stands  bool     `json:"stands,omitempty"` // with an error: it does
	}
	// SetupRun runs the command that makes a worktree ready.
	SetupRun struct {
		Worker  string `json:"worker"`
		Agent   string `json:"agent"`
		Run     string `json:"run"`
		Dir     string `json:"dir"`
		From    string `json:"from,omitempty"`
		Command string `json:"command"`
		Beside  bool   `json:"beside,omitempty"` // its agent begins meanwhile
		// Look says that it may have run already: the store was lost and is older than the order.
		Look bool `json:"look,omitempty"`
	}
	// SetupStop ends it before its time.
	SetupStop struct {
		Worker string `json:"worker"`
	}
	// SetupEnded is the result of SetupRun.
	SetupEnded struct {
		Worker string `json:"worker"`
		Log    string `json:"log"`           // path of the file with what it wrote
		Why    string `json:"why,omitempty"` // it has failed
	}
	// SetupStopped is the result of SetupStop.
	SetupStopped struct {
		Worker string `json:"worker"`
	}
)

// Types on the wire.
func (TreeMake) Type() string     { return "tree-make" }
func (TreeMade) Type() string     { return "tree-made" }
func (SetupRun) Type() string     { return "setup-run" }
func (SetupStop) Type() string    { return "setup-stop" }
func (SetupEnded) Type() string   { return "setup-ended" }
func (SetupStopped) Type() string { return "setup-stopped" }

// Asked is what somebody has said of a worktree, without what was found.
func (w TreeWant) Asked() *TreeWant {
	return &TreeWant{Repo: w.Repo, Base: w.Base, Branch: w.Branch, Setup: w.Setup, Async: w.Async, Copy: w.Copy}
}

// setUp is when a worktree had become ready by its command, nil before and where that failed.
func (t Worktree) setUp() *time.Time {
	if t.Setup != setupDone {
		return nil
	}
	return t.SetUp
}

// newTree is the worktree of a new worker, with names that nothing else has.
func (s *step) newTree(w Worker, dir string, want TreeWant) Worktree {
	t := Worktree{Worker: w.ID, Run: w.Run, Want: want, Dir: dir}
	slug := slug(w.Name, w.ID)
	path, branch := slug, want.Branch
	t.New = !want.There
	if branch == "" {
		branch = "st/" + w.Run + "-" + slug
	}
	used := s.usedNames(want)
	if used[fold(want.Place+"/"+path)] || slices.Contains(want.Taken, fold(path)) {
		path += "-" + w.ID
	}
	if used["branch "+fold(branch)] || want.Branch == "" && slices.Contains(want.Taken, fold(branch)) {
		branch += "-" + w.ID
		t.New = true
	}
	t.Path, t.Branch = want.Place+"/"+path, branch
	t.Want.Taken, t.Want.Runs = nil, nil // of use at the start alone
	return t
}

// usedNames are the folders and the branches of the worktrees that stand, in lower case: a file system may not tell a
// name from another one that differs in case.
func (s *step) usedNames(want TreeWant) map[string]bool {
	used := map[string]bool{}
	each(s, standingTrees, func(t Worktree) bool {
		used[fold(t.Path)] = true
		if t.Want.Common == want.Common {
			used["branch "+fold(t.Branch)] = true
		}
		return true
	})
	return used
}

func fold(s string) string { return strings.ToLower(s) }

// slugMost is the longest part of a folder's and a branch's name that comes from a worker's.
const slugMost = 40

// slug makes of a worker's name one that git and every file system take; other is for a name of which nothing is left.
func slug(name, other string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
			b.WriteRune(r)
		case !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	made := b.String()
	made = strings.Trim(made[:min(len(made), slugMost)], "-")
	if made == "" || slices.Contains(devices, fold(made)) {
		return strings.Trim(made+"-"+other, "-")
	}
	return made
}

// devices are names that no file can have on some systems.
var devices = []string{"con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "lpt1", "lpt2", "lpt3"}

// folder is where in its worktree a worker begins.
func (t Worktree) folder() string {
	if t.Want.Prefix == "" {
		return t.Path
	}
	return t.Path + "/" + t.Want.Prefix
}

// makeTree has a worker's worktree made, before its window is opened; false where it has none.
func (s *step) makeTree(o PaneOpen) bool {
	t, ok := get[Worktree](s, Worktree{Worker: o.Worker}.Key())
	if !ok || t.State != treeAwaited {
		return false
	}
	o.Spec = "" // its task has it
	t.State, t.Open = treeMaking, &o
	s.put(t)
	m := TreeMake{Worker: t.Worker, Agent: o.Agent, Main: t.Want.Main, Common: t.Want.Common, From: t.Want.From, Path: t.Path, Branch: t.Branch, New: t.New,
		Name: t.Want.Name, Copy: t.Want.Copy, Look: o.Look}
	w, _ := get[Worker](s, "worker/"+t.Worker)
	m.Hooks = w.By == ""
	if t.Want.Setup != "" {
		m.EnvFile = o.EnvFile
	}
	s.do(m)
	return true
}

// treeMade takes the result of making a worktree.
func (s *step) treeMade(o TreeMade) {
	t, ok := get[Worktree](s, Worktree{Worker: o.Worker}.Key())
	if !ok || t.State != treeMaking {
		return
	}
	if t.Base = o.Base; o.Error != nil {
		t.State, t.Why = treeFailed, o.Error.Message
		if o.Stands {
			t.State = treeUnready
		}
		s.put(t)
		s.log("worktree-failed", Event{Run: t.Run, Worker: t.Worker, Text: t.Why})
		s.notOpened(t, o.Error)
		return
	}
	t.State, t.Made, t.Skipped = treeReady, ptr(s.at), o.Skipped
	s.put(t)
	s.log("worktree-made", Event{Run: t.Run, Worker: t.Worker, Text: t.Branch})
	if t.Want.Setup != "" && !s.unwanted(t) {
		t.Setup = setupRuns
		s.put(t)
		s.do(SetupRun{Worker: t.Worker, Agent: t.Open.Agent, Run: t.Run, Dir: t.folder(), From: t.Want.From, Command: t.Want.Setup, Beside: t.Want.Async, Look: t.Open.Look})
	}
	if t.Setup == "" || t.Want.Async {
		s.openIn(t)
	}
}

// unwanted says that a worker is being stopped, gone, or has come to its end otherwise, before it has a window.
func (s *step) unwanted(t Worktree) bool {
	w, _ := get[Worker](s, "worker/"+t.Worker)
	a, _ := get[Agent](s, "agent/"+w.Agent)
	d, _ := get[Dispatch](s, "dispatch/"+w.Dispatch)
	return w.Stopping != nil || a.Gone != "" || t.Open != nil && (!d.open() || d.Report != nil)
}

// openIn opens the window of a worker whose worktree is ready.
func (s *step) openIn(t Worktree) {
	if t.Open == nil {
		return
	}
	if s.unwanted(t) {
		s.notOpened(t, nil)
		return
	}
	open := *t.Open
	task, _ := get[Task](s, "task/"+open.Task)
	open.Spec, open.Branch = task.Spec, t.Branch
	t.Open = nil
	s.put(t)
	s.do(open)
}

// notOpened ends the start of a worker whose window will not be opened.
func (s *step) notOpened(t Worktree, why *Error) {
	if t.Open == nil {
		return
	}
	open := *t.Open
	t.Open = nil
	s.put(t)
	if !open.Keep {
		s.do(LaunchDrop{Agent: open.Agent, EnvFile: open.EnvFile})
	}
	d, _ := get[Dispatch](s, "dispatch/"+open.Dispatch)
	d.Error = why
	s.put(d)
	a, _ := get[Agent](s, "agent/"+open.Agent)
	if why == nil {
		s.end(a, "stopped")
		return
	}
	s.end(a, "failed_to_open")
}

// setupEnded takes the result of what makes a worktree ready. Where the agent has begun meanwhile, whoever answers for it
// is told of a failure.
func (s *step) setupEnded(o SetupEnded) {
	t, ok := get[Worktree](s, Worktree{Worker: o.Worker}.Key())
	if !ok || t.Setup != setupRuns {
		return
	}
	t.Setup, t.SetupLog, t.SetUp = setupDone, o.Log, ptr(s.at)
	if o.Why == "" {
		s.log("setup-done", Event{Run: t.Run, Worker: t.Worker})
	} else {
		t.Setup, t.Why = setupFailed, "setup: "+o.Why
		s.log("setup-failed", Event{Run: t.Run, Worker: t.Worker, Text: o.Why})
	}
	s.put(t)
	switch {
	case o.Why == "":
		s.openIn(t)
	case t.Open != nil && s.unwanted(t):
		s.notOpened(t, nil)
	case t.Open != nil:
		s.notOpened(t, setupRefusal(t, o))
	case !s.unwanted(t):
		s.escalateSetup(t, o)
	}
}

func setupRefusal(t Worktree, o SetupEnded) *Error {
	e := refuse("setup_failed", "st worker retry "+t.Worker, "the setup of worker %s has failed: %s", t.Worker, o.Why)
	e.Hint = "what it wrote is in " + o.Log + "; the worktree " + t.Path + " stands as it left it"
	e.Next = append(e.Next, "st worker finish "+t.Worker+" --discard --yes")
	return e
}

// escalateSetup tells whoever answers for a worker that it works in a worktree that is not ready.
func (s *step) escalateSetup(t Worktree, o SetupEnded) {
	w, _ := get[Worker](s, "worker/"+t.Worker)
	l := letter{subject: "the setup of worker " + w.ID + " has failed",
		body: "Its agent has begun meanwhile. It failed so: " + o.Why + ". What it wrote is in " + o.Log + ". What next: st worker send " + w.ID + " with what it has to know, or st worker stop " + w.ID + " --yes and st worker retry " + w.ID}
	s.deposit(Message{Run: t.Run, Type: Escalation, To: boxOf(s, w), From: Us, Worker: w.ID, Dispatch: w.Dispatch}, l, "", "escalated")
}

// SetupRuns says that what makes a worker's worktree ready has not ended.
func SetupRuns(v View, worker string) bool {
	t, _ := get[Worktree](v, Worktree{Worker: worker}.Key())
	return t.Setup == setupRuns
}

// stopSetup ends what still makes a stopped worker's worktree ready.
func (s *step) stopSetup(worker string) {
	if t, ok := get[Worktree](s, Worktree{Worker: worker}.Key()); ok && t.Setup == setupRuns {
		s.do(SetupStop{Worker: worker})
	}
}

// branchOf is the branch of a worker's worktree, "" where it has none.
func branchOf(v View, worker string) string {
	t, _ := get[Worktree](v, Worktree{Worker: worker}.Key())
	return t.Branch
}
