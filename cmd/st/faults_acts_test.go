//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"st/hooks/demo"
	"st/orch"
	"st/orch/failpoint"
	"st/orch/proc/proctest"
	"st/tmux"
)

// TestKilledActs kills the daemon, or whoever calls it, at each moment of a single act: a worktree that is made, brought home or
// thrown away, attempts, a restore, an adoption. The verb itself goes on with the next daemon, or the same verb again
// finishes the job; nothing is lost, done twice or left over. Each point of failpoint.Acts must come.
func TestKilledActs(t *testing.T) {
	beside(t)
	if testing.Short() {
		t.Skip("real windows need minutes")
	}
	var mu sync.Mutex
	came := map[string]bool{}
	t.Run("of", func(t *testing.T) {
		for name, suite := range map[string]func(a *acts){
			"start": startActs, "merge": mergeActs, "squash": squashActs, "discard": discardActs, "gc": gcActs, "attempts": attemptActs,
			"adopt": adoptActs,
			// Each takes a server down and up again: in two halves beside each other.
			"restore": func(a *acts) { restoreActs(a, restores[:4]) }, "restore2": func(a *acts) { restoreActs(a, append(restores[4:], long(moreRestores...)...)) },
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				a := newActs(t)
				suite(a)
				mu.Lock()
				defer mu.Unlock()
				for _, row := range a.fired() {
					point, _, _ := strings.Cut(row, ":")
					came[point] = true
				}
			})
		}
	})
	for _, p := range failpoint.Acts {
		if !came[p] && !t.Failed() {
			t.Errorf("nobody was killed at %s", p)
		}
	}
}

// acts is a desk with a repository, at which acts are cut off.
type acts struct {
	*faultDesk
	repo string
}

func newActs(t *testing.T) *acts {
	a := &acts{faultDesk: newFaultDesk(t)}
	a.repo = filepath.Join(a.server.Dir(), "repo")
	for _, args := range [][]string{{"init", "-q", "-b", "main", a.repo}, {"config", "user.name", "Somebody"}, {"config", "user.email", "somebody@example.com"}} {
		a.git(args...)
	}
	for name, text := range map[string]string{"a.txt": "1\n", ".gitignore": "*.env\n", "secret.env": "secret\n"} {
		a.write(filepath.Join(a.repo, name), text)
	}
	a.git("add", "-A")
	a.git("commit", "-qm", "one")
	if got := a.st("orch", "start", "--objective", "acts"); got.code != 0 {
		t.Fatal(got)
	}
	return a
}

func (a *acts) write(path, text string) {
	a.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		a.t.Fatal(err)
	}
}

func (a *acts) git(args ...string) string {
	a.t.Helper()
	cmd := exec.Command("git", args...)
	if _, err := os.Stat(a.repo); err == nil {
		cmd.Dir = a.repo
	}
	cmd.Env = a.env
	out, err := proctest.CombinedOutput(cmd)
	if err != nil {
		a.t.Errorf("git %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// killAt is the moment of an act: the n-th time from now that a point is reached, 0 for the first.
type killAt struct {
	point string
	later int64
}

func (m killAt) String() string { return fmt.Sprintf("%s+%d", m.point, m.later) }

// points are moments at the first time of each.
func points(names ...string) (list []killAt) {
	for _, n := range names {
		list = append(list, killAt{point: n})
	}
	return list
}

// cut does an act that is cut off at a moment, and then the same again.
func (a *acts) cut(m killAt, args ...string) (first, again said) {
	before := len(a.firedRows())
	a.set("plan", fmt.Sprintf("%s:%d=kill\n", m.point, a.hits(m.point)+1+m.later))
	first = a.call(args...)
	a.await(fmt.Sprintf("%s comes in %q", m, args), func() bool { return len(a.firedRows()) > before })
	a.set("plan", "")
	return first, a.insist(args...)
}

// firedRows are the planned faults that came.
func (a *acts) firedRows() (rows []string) {
	for _, row := range a.fired() {
		if row != "" {
			rows = append(rows, row)
		}
	}
	return rows
}

// done holds that both the act that was cut off, unless its own process was killed, and the same again came to their end.
func (a *acts) done(what string, first, again said) {
	a.t.Helper()
	if first.code != exitDone && first.code != -1 {
		a.t.Errorf("%s: cut off it said %s", what, first)
	}
	if again.code != exitDone {
		a.t.Errorf("%s: the same again said %s", what, again)
	}
}

// worked starts a worker in a worktree that commits a file of its name and reports.
func (a *acts) worked(name string) orch.WorkerInfo {
	a.t.Helper()
	task := fmt.Sprintf("run mkdir -p w && echo %[1]s >w/%[1]s.txt && git add -A && git commit -qm 'work of %[1]s' ;; done did %[1]s", name)
	if got := a.st(a.start(name, "small", task, "", "--dir", a.repo, "--worktree")...); got.code != 0 {
		a.t.Fatal(got)
	}
	if got := a.st("worker", "wait", name, "--timeout", "60s"); got.code != 0 {
		a.t.Fatal(got)
	}
	return a.worker(name)
}

// isHome holds that the work of a worker came into main once, and that nothing is left of its worktree.
func (a *acts) isHome(what string, w orch.WorkerInfo, tip string) {
	a.t.Helper()
	if n := len(strings.Fields(a.git("log", "--first-parent", "--format=%h", "main", "--", "w/"+w.Name+".txt"))); n != 1 {
		a.t.Errorf("%s: %d commits of main bring its file", what, n)
	}
	if _, err := os.Stat(filepath.Join(a.repo, "w", w.Name+".txt")); err != nil {
		a.t.Errorf("%s: %v", what, err)
	}
	a.isGone(what, w, tip)
}

// isGone holds that nothing is left of a worktree, that its commit is not lost, and that the person's working tree is whole.
func (a *acts) isGone(what string, w orch.WorkerInfo, tip string) {
	a.t.Helper()
	if left, _ := filepath.Glob(w.Worktree + "*"); len(left) > 0 {
		a.t.Errorf("%s: left over: %v", what, left)
	}
	if list := a.git("worktree", "list"); strings.Contains(list, w.Worktree) {
		a.t.Errorf("%s: git knows it still: %s", what, list)
	}
	if a.git("branch", "--list", w.Branch) != "" {
		a.t.Errorf("%s: its branch is there", what)
	}
	if a.git("for-each-ref", "--contains", tip) == "" {
		a.t.Errorf("%s: its commit %s is lost", what, tip)
	}
	a.calm(what)
}

// calm holds that nothing is half done where a person works.
func (a *acts) calm(what string) {
	a.t.Helper()
	if is := a.git("status", "--porcelain"); is != "" {
		a.t.Errorf("%s: the person's working tree: %s", what, is)
	}
	for _, name := range []string{"MERGE_HEAD", "index.lock"} {
		if _, err := os.Stat(filepath.Join(a.repo, ".git", name)); err == nil {
			a.t.Errorf("%s: %s is there", what, name)
		}
	}
}

// kept are the references that keep a commit beside the branches.
func (a *acts) kept(tip string) []string {
	return strings.Fields(a.git("for-each-ref", "--format=%(refname)", "--contains", tip, "refs/st"))
}

// anyOrder are moments at which any order may be cut off: in the daemon, and in the process of the verb.
var anyOrder = []killAt{{"journal.commit.before", 0}, {"journal.commit.after", 0}, {"loop.answer.before", 0}, {"effect.begin", 0}, {"effect.result.before", 0},
	{"client.sent", 0}, {"client.sent", 1}, {"client.do.answered", 0}}

// usually are some of them, all with ST_LONG.
func usually(all []killAt) (list []killAt) {
	for i, m := range all {
		if i%counted(3, 1) == 0 {
			list = append(list, m)
		}
	}
	return list
}

// long are moments that only ST_LONG wants: what goes on after them another act shows in an ordinary run.
func long(moments ...killAt) []killAt {
	if os.Getenv("ST_LONG") == "" {
		return nil
	}
	return moments
}

func (a *acts) finishes(how string, moments []killAt, holds func(what string, w orch.WorkerInfo, tip string)) {
	for i, m := range moments {
		w := a.worked(fmt.Sprintf("%s%dx", how, i))
		tip := a.git("rev-parse", w.Branch)
		args := []string{"worker", "finish", w.Name, "--" + how}
		if how == "discard" {
			args = append(args, "--yes")
			a.write(filepath.Join(w.Worktree, "dirty.txt"), "of "+w.Name+"\n")
		}
		what := fmt.Sprintf("finish --%s, killed at %s", how, m)
		first, again := a.cut(m, args...)
		a.done(what, first, again)
		holds(what, w, tip)
	}
}

func mergeActs(a *acts) {
	own := points("tree.finish.before", "tree.join.after", "tree.advance.after", "tree.aside.after", "tree.remove.after", "tree.files.after", "tree.branch.after")
	a.finishes("merge", append(own, usually(anyOrder)...), a.isHome)
	a.slowMerge()
}

// slowMerge kills the daemon while git itself moves the files of the person's working tree, and goes on with that.
func (a *acts) slowMerge() {
	w := a.worked("slow")
	tip := a.git("rev-parse", w.Branch)
	began, goes := filepath.Join(a.server.Dir(), "began"), filepath.Join(a.server.Dir(), "goes")
	a.write(filepath.Join(a.repo, ".git", "info", "attributes"), "w/slow.txt filter=slow\n")
	a.git("config", "filter.slow.smudge", fmt.Sprintf("touch '%s'; until test -e '%s'; do sleep 0.02; done; cat", began, goes))
	answer := make(chan said, 1)
	go func() { answer <- a.call("worker", "finish", "slow", "--merge") }()
	a.await("git moves the files", func() bool { _, err := os.Stat(began); return err == nil })
	a.killDaemon()
	if got := a.st("worker", "show", "slow"); got.code != 0 { // there is a daemon again
		a.t.Error(got)
	}
	a.write(goes, "")
	a.done("finish --merge, killed while git merges", <-answer, a.insist("worker", "finish", "slow", "--merge"))
	a.isHome("finish --merge, killed while git merges", w, tip)
}

func squashActs(a *acts) {
	// From the commit that is kept on it goes as a merge does.
	own := points("tree.join.after", "tree.advance.after", "tree.keep.after", "tree.aside.before")
	own = append(own, long(points("tree.keep.before", "tree.aside.after", "tree.branch.after", "effect.result.before")...)...)
	a.finishes("squash", own, func(what string, w orch.WorkerInfo, tip string) {
		a.isHome(what, w, tip)
		if refs := a.kept(tip); len(refs) != 1 {
			a.t.Errorf("%s: its own commits are kept by %v", what, refs)
		}
	})
}

func discardActs(a *acts) {
	// A folder that is aside is kept no second time; from there on it goes as a merge does.
	own := points("tree.keep.before", "tree.keep.after", "tree.aside.after", "effect.result.before")
	own = append(own, long(points("tree.finish.before", "tree.remove.after", "tree.files.after", "tree.branch.after", "client.do.answered")...)...)
	a.finishes("discard", own, func(what string, w orch.WorkerInfo, tip string) {
		a.isGone(what, w, tip)
		refs := a.kept(tip)
		if len(refs) != 1 {
			a.t.Fatalf("%s: it is kept by %v", what, refs)
		}
		if is := a.git("show", refs[0]+":dirty.txt"); is != "of "+w.Name {
			a.t.Errorf("%s: what was in no commit is %q", what, is)
		}
	})
}

func gcActs(a *acts) {
	moments := append(points("tree.finish.before", "tree.aside.after", "journal.commit.after"), killAt{"client.sent", 1})
	moments = append(moments, long(points("tree.remove.after", "tree.branch.after", "effect.result.before", "client.do.answered")...)...)
	for i, m := range moments {
		w := a.worked(fmt.Sprintf("gc%dx", i))
		tip := a.git("rev-parse", w.Branch)
		a.git("merge", "-q", "--no-edit", w.Branch)
		if got := a.st("worker", "stop", w.Name, "--yes"); got.code != 0 {
			a.t.Fatal(got)
		}
		a.await(w.Name+" may be freed", func() bool { return strings.Contains(a.st("gc", "--dry-run").out, "would be freed") })
		what := "gc, killed at " + m.String()
		first, again := a.cut(m, "gc")
		a.done(what, first, again)
		a.isHome(what, w, tip)
	}
}

// startActs cuts off starts in worktrees. What makes one ready is not begun again where nobody knows how far it came: then the
// start says so, and a retry begins anew.
func startActs(a *acts) {
	for i, m := range append(points("tree.add.before", "tree.add.after", "tree.copy.before", "tree.copy.after", "command.start.after"), killAt{"effect.result.before", 0}) {
		name := fmt.Sprintf("start%dx", i)
		a.startOnce(name, m, name)
	}
	for i, m := range points("command.told", "command.begin.before", "command.ended") {
		name := fmt.Sprintf("start%dy", i)
		a.cutSetUp(name, m)
	}
}

func (a *acts) starts(name string) []string {
	// It says that it was set up, and what was copied for it.
	task := "run st worker done --summary \"$(cat set-up | wc -l) $(cat secret.env) $(git branch --show-current)\""
	return a.start(name, "small", task, "", "--dir", a.repo, "--worktree", "--copy", "*.env", "--setup", "echo once >>set-up", "--request", name)
}

func (a *acts) startOnce(name string, m killAt, branch string) {
	what := "start, killed at " + m.String()
	first, again := a.cut(m, a.starts(name)...)
	a.done(what, first, again)
	a.isReady(what, name, branch)
}

func (a *acts) isReady(what, name, branch string) {
	a.t.Helper()
	if got := a.st("worker", "wait", name, "--timeout", "60s"); got.code != 0 {
		a.t.Errorf("%s: wait: %s", what, got)
	}
	w := a.worker(name)
	if w.Summary != "1 secret st/r1-"+branch || a.windows(name) != 1 {
		a.t.Errorf("%s: %q in %d windows", what, w.Summary, a.windows(name))
	}
	if parts, _ := filepath.Glob(filepath.Join(w.Worktree, "*.st-part")); len(parts) > 0 {
		a.t.Errorf("%s: %v", what, parts)
	}
	a.calm(what)
}

func (a *acts) cutSetUp(name string, m killAt) {
	what := "start, killed at " + m.String()
	first, again := a.cut(m, a.starts(name)...)
	for _, got := range []said{first, again} {
		if got.code != exitFailed || !strings.Contains(got.err, "nobody knows how far it came") || !strings.Contains(got.err, "st worker retry ") {
			a.t.Errorf("%s: %s", what, got)
		}
	}
	old := a.worker(name)
	if got := a.insist("worker", "retry", old.ID); got.code != exitDone {
		a.t.Errorf("%s: retry: %s", what, got)
	}
	if got := a.insist("worker", "finish", old.ID, "--discard", "--yes"); got.code != exitDone {
		a.t.Errorf("%s: %s", what, got)
	}
	a.isReady(what+", then retried", name, name+"-"+a.worker(name).ID)
}

// attemptActs cuts off what checks attempts, and the pick that throws the others away.
func attemptActs(a *acts) {
	// Beside other points these commands are cut off as a start's, and the worktrees as those of discard.
	moments := append(points("command.told", "tree.keep.before", "loop.answer.before"), long(points("command.start.after", "command.ended", "tree.aside.after")...)...)
	for i, m := range moments {
		what := "attempts, killed at " + m.String()
		create := []string{"task", "create", "--title", fmt.Sprint("try", i), "--attempts", "2", "--agent", "demo", "--session", "small", "--dir", a.repo, "--check", "test -e tried",
			"--spec", "run git branch --show-current >tried && git add -A && git commit -qm tried ;; done tried it", "--request", fmt.Sprint("try", i)}
		checks := strings.HasPrefix(m.point, "command.")
		first, again := said{}, said{}
		if checks {
			first, again = a.cut(m, create...)
		} else {
			again = a.insist(create...)
		}
		a.done(what, first, again)
		var made struct{ Task orch.TaskInfo }
		if err := a.insist(append(create, "--json")...).read(&made); err != nil {
			a.t.Fatal(err)
		}
		var info orch.AttemptsInfo
		a.await(what+": both are checked", func() bool {
			info = orch.AttemptsInfo{}
			got := a.insist("task", "attempts", made.Task.ID, "--json")
			return got.read(&info) == nil && len(info.Attempts) == 2 && !slices.ContainsFunc(info.Attempts, func(i orch.AttemptInfo) bool { return i.Check != "passed" })
		})
		one, other := a.worker(info.Attempts[0].Worker.ID), a.worker(info.Attempts[1].Worker.ID)
		tip := a.git("rev-parse", other.Branch)
		pick := []string{"task", "pick", made.Task.ID, one.ID, "--free", "--yes"}
		if checks {
			again = a.insist(pick...)
		} else {
			first, again = a.cut(m, pick...)
		}
		a.done(what, first, again)
		a.isGone(what, other, tip)
		if got := a.insist("worker", "finish", one.ID, "--discard", "--yes"); got.code != 0 {
			a.t.Errorf("%s: %s", what, got)
		}
	}
}

// restores are the moments at which a restore is cut off.
var restores = []killAt{{"restore.planned", 0}, {"restore.window.before", 1}, {"restore.window.after", 2}, {"restore.built", 0}, {"restore.order.before", 0},
	{"restore.order.after", 1}, {"restore.over.before", 0}, {"restore.over.after", 0}, {"effect.begin", 1}}

var moreRestores = []killAt{{"restore.window.after", 0}, {"restore.order.after", 0}, {"effect.result.before", 0}, {"client.do.answered", 0}}

// restoreActs cuts off restores. A person has begun anew meanwhile, so that some places are taken.
func restoreActs(a *acts, moments []killAt) {
	for _, name := range []string{"one", "two"} {
		if got := a.st(a.start(name, "wide", "sleep 100", "")...); got.code != 0 {
			a.t.Fatal(got)
		}
	}
	a.await("they have conversations", func() bool { return a.worker("one").Status == "working" && a.worker("two").Status == "working" })
	two, _ := a.pane("two")
	a.server.Run("join-pane", "-d", "-s", two, "-t", "=wide:=one")
	a.server.Run("split-window", "-d", "-t", "=wide:=one", "sh", "-c", "exec cat")
	a.server.Run("new-window", "-d", "-t", "=small:", "-n", "named", "-c", a.repo, "sh", "-c", "exec cat")
	for _, m := range moments {
		a.restoreOnce(m)
		if a.t.Failed() {
			return // the next would only tell of the same
		}
	}
}

func (a *acts) restoreOnce(m killAt) {
	what := "restore, killed at " + m.String()
	a.await(what+": the layout is kept", func() bool { return a.keeps("one") })
	before := a.builtWindows()
	was := map[string]orch.WorkerInfo{"one": a.worker("one"), "two": a.worker("two")}
	a.server.Kill()
	for name := range was {
		a.await(what+": "+name+" may come back", func() bool { return a.worker(name).Status == "gone_resumable" })
	}
	a.server.Start()
	for _, name := range []string{"wide", "small"} {
		a.server.Run("new-session", "-d", "-s", name, "-x", "80", "-y", "24", "-c", a.home, "sh", "-c", "exec cat")
	}
	a.setEnv()
	first, again := a.cut(m, "restore")
	a.done(what, first, again)
	for name, old := range was {
		a.await(what+": "+name+" is back", func() bool {
			w := a.worker(name)
			return w.Agent != old.Agent && w.Pane != "" && w.Status != "gone_resumable"
		})
		if w := a.worker(name); w.Conversation != old.Conversation {
			a.t.Errorf("%s: %s has the conversation %s, not %s", what, name, w.Conversation, old.Conversation)
		}
	}
	if got := a.insist("restore"); got.code != 0 || !strings.Contains(got.String(), "nothing to do") {
		a.t.Errorf("%s: once more: %s", what, got)
	}
	after := a.builtWindows()
	if len(after) != len(before)+2 { // the person's own two
		a.t.Errorf("%s: there were\n%s\nand are\n%s", what, strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
	tags := a.server.Run("list-panes", "-a", "-F", "#{"+tmux.TagOption+"}")
	if n := len(strings.Fields(tags)); n != 2 || strings.Contains(tags, "held") {
		a.t.Errorf("%s: the panes bear %q", what, tags)
	}
	seen := map[string]bool{}
	for _, mark := range strings.Fields(a.server.Run("list-windows", "-a", "-F", "#{"+tmux.BuiltOption+"}")) {
		if seen[mark] {
			a.t.Errorf("%s: two windows were built for %s", what, mark)
		}
		seen[mark] = true
	}
	for _, name := range []string{"wide", "small"} { // they would be one more each time
		a.server.Run("kill-window", "-t", "="+name+":^")
	}
}

// builtWindows are the windows with the number of their panes.
func (a *acts) builtWindows() []string {
	return strings.Split(a.server.Run("list-windows", "-a", "-F", "#{session_name}:#{window_index} #{window_name} #{window_panes} #{"+tmux.BuiltOption+"}"), "\n")
}

// keeps says that a window of that name, as all others that are there, is in the file from which a restore would build it.
func (a *acts) keeps(name string) bool {
	files, _ := filepath.Glob(filepath.Join(a.home, "layouts", "*.json")) // the pattern is well-formed
	panes := strings.Fields(a.server.Run("list-panes", "-a", "-F", "#{pane_id}"))
	for _, f := range files {
		raw, err := os.ReadFile(f)
		var file struct{ Now tmux.Layout }
		if err != nil || json.Unmarshal(raw, &file) != nil {
			continue
		}
		kept, named := []string{}, false
		for _, s := range file.Now.Sessions {
			for _, w := range s.Windows {
				named = named || w.Name == name
				for _, p := range w.Panes {
					kept = append(kept, p.ID)
				}
			}
		}
		slices.Sort(kept)
		slices.Sort(panes)
		if named && slices.Equal(kept, panes) {
			return true
		}
	}
	return false
}

// adoptActs cuts off the adoption of agents that run already, with a task, and their release.
func adoptActs(a *acts) {
	settings := filepath.Join(a.server.Dir(), "hooked.json")
	all := map[string][]any{}
	for _, event := range demo.Events {
		all[event] = []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": a.bin + " hook demo", "timeout": 20}}}}
	}
	raw, err := json.Marshal(map[string]any{"hooks": all})
	if err != nil {
		a.t.Fatal(err)
	}
	a.write(settings, string(raw))
	for i, m := range append(usually(anyOrder), killAt{"client.do.answered", 0}, killAt{"file.write.before", 0}, killAt{"file.write.after", 0}) {
		name, what := fmt.Sprintf("adopt%dx", i), "adopt, killed at "+m.String()
		a.server.Run("new-window", "-d", "-t", "=wide:", "-n", name, "-c", a.server.Dir(), "-e", "ST_HOME="+a.home, "-e", "PATH="+filepath.Dir(a.bin)+":"+os.Getenv("PATH"),
			a.bin, demo.Verb, "--settings", settings, "--log", a.log(name))
		pane, _ := a.paneOf(name)
		if !a.await(name+" is known", func() bool { return a.seen(pane) }) {
			return
		}
		got := a.insist("task", "create", "--spec", "done did "+name, "--json")
		var made struct{ Task orch.TaskInfo }
		if err := got.read(&made); err != nil {
			a.t.Fatal(got)
		}
		first, again := a.cut(m, "worker", "adopt", "wide:"+name, "--name", name, "--task-id", made.Task.ID)
		a.done(what, first, again)
		if got := a.st("worker", "wait", name, "--timeout", "60s"); got.code != 0 {
			a.t.Errorf("%s: wait: %s", what, got)
		}
		if w := a.worker(name); w.Summary != "did "+name || len(a.taken(name)) != 1 {
			a.t.Errorf("%s: %q, %d lines", what, w.Summary, len(a.taken(name)))
		}
		if m.point == "file.write.before" || m.point == "file.write.after" || m.point == "effect.result.before" || m.point == "effect.begin" {
			m = killAt{"loop.answer.before", 0} // a release writes no file
		}
		first, again = a.cut(m, "worker", "release", name)
		a.done("release, killed at "+m.String(), first, again)
		if w := a.worker(name); w.Released == nil || a.windows(name) != 1 {
			a.t.Errorf("release, killed at %s: %s, %d windows", m, w.State, a.windows(name))
		}
	}
}

// seen says that hooks have told of the agent in a pane.
func (a *acts) seen(pane string) bool {
	var list struct{ Agents []orch.AgentInfo }
	return a.st("agents", "--json").read(&list) == nil &&
		slices.ContainsFunc(list.Agents, func(i orch.AgentInfo) bool { return i.Pane == pane && (i.Status == "ready" || i.Status == "idle") })
}
