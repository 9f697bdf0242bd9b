//go:build linux || darwin

package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"st/orch"
	"st/orch/journal"
	"st/orch/worktree"
)

// treeBench is a daemon without agents: windows are only said to be opened, and worktrees are really made.
type treeBench struct {
	*testing.T
	d     *daemon
	home  string
	repos int
}

func newTreeBench(t *testing.T) *treeBench {
	t.Helper()
	home := t.TempDir()
	for name, value := range map[string]string{"HOME": home, "XDG_CONFIG_HOME": home, "GIT_CONFIG_NOSYSTEM": "1"} {
		t.Setenv(name, value)
	}
	must(t, os.WriteFile(filepath.Join(home, ".gitconfig"),
		[]byte("[user]\nname = Somebody\nemail = somebody@example.com\n[protocol \"file\"]\nallow = always\n[commit]\ngpgsign = false\n"), 0o600))
	store, err := journal.Open(filepath.Join(home, "st"), journal.Options{})
	must(t, err)
	logger := log.New(io.Discard, "", 0)
	d := &daemon{home: filepath.Join(home, "st"), log: logger, journal: store, callers: &Callers{}}
	ready := make(chan struct{})
	close(ready)
	d.doer = &doer{home: d.home, self: "/st", config: defaultConfig(), log: logger, ready: ready}
	d.loop = &Loop{Journal: store, Step: orch.Step, Due: orch.Due, Effect: pretend(d.doer), Log: func(line string) { t.Log(line) }}
	d.doer.state, d.doer.now = d.loop.Read, d.loop.Now
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); d.loop.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-ended
		must(t, store.Close())
	})
	return &treeBench{T: t, d: d, home: home}
}

// pretend does what git does, and says of the rest that it was done.
func pretend(d *doer) func(context.Context, Running) {
	return func(ctx context.Context, r Running) {
		var what orch.What
		switch o := r.Do.(type) {
		case orch.PaneOpen:
			n := len(o.Agent)
			what = orch.PaneOpened{Agent: o.Agent, Place: orch.Place{Server: "s", Pane: "%" + o.Agent[1:]}, Runner: orch.Process{PID: 1 << 30, Start: uint64(n)}}
		case orch.AgentStop:
			what = orch.AgentStopped{Agent: o.Agent}
		case orch.LaunchDrop:
			what = orch.LaunchDropped{Agent: o.Agent}
		case orch.TreeMake, orch.TreeFinish, orch.SetupRun, orch.SetupStop:
			d.do(ctx, r)
			return
		default:
			return
		}
		if err := r.Done(ctx, what); err != nil && ctx.Err() == nil {
			d.log.Printf("%T: %v", what, err)
		}
	}
}

// person is who gives the orders of these tests.
func person() orch.Caller {
	return orch.Caller{Path: "socket", Chain: []orch.Link{{Process: orch.Process{PID: 90, Start: 1}}}, Place: orch.Place{Server: "s", Pane: "%0", Session: "$0", SessionName: "work"}}
}

// treeRepo is a repository and a worker with a worktree of it.
type treeRepo struct {
	*treeBench
	dir    string // the main working tree
	worker string
	agent  string
	tree   string // path of the worktree
	branch string
	hoard  []string // texts that must not be lost
}

// repo makes a repository with one commit.
func (b *treeBench) repo(args ...string) *treeRepo {
	b.Helper()
	b.repos++
	r := &treeRepo{treeBench: b, dir: filepath.Join(b.home, fmt.Sprint("r", b.repos), "repo")}
	must(b.T, os.MkdirAll(r.dir, 0o755))
	r.git(r.dir, append([]string{"init", "-q", "-b", "main"}, args...)...)
	r.write(r.dir, "a.txt", "first\n")
	r.write(r.dir, ".gitignore", "ignored\n")
	r.commit(r.dir, "one")
	return r
}

func (r *treeRepo) git(dir string, args ...string) string {
	r.Helper()
	out, err := gitIn(dir, args...)
	if err != nil {
		r.Fatalf("git %q in %s: %v\n%s", args, dir, err, out)
	}
	return strings.TrimSpace(out)
}

func gitCommand(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	return cmd
}

func gitIn(dir string, args ...string) (string, error) {
	out, err := gitCommand(dir, args...).CombinedOutput()
	return string(out), err
}

func (r *treeRepo) write(dir, name, text string) {
	r.Helper()
	path := filepath.Join(dir, name)
	must(r.T, os.MkdirAll(filepath.Dir(path), 0o755))
	must(r.T, os.WriteFile(path, []byte(text), 0o644))
}

func (r *treeRepo) commit(dir, message string) string {
	r.Helper()
	r.git(dir, "add", "-A")
	r.git(dir, "commit", "-q", "--allow-empty", "-m", message)
	return r.git(dir, "rev-parse", "HEAD")
}

// hide writes a text that must not be lost into a file of the worktree.
func (r *treeRepo) hide(name string) {
	r.Helper()
	text := fmt.Sprintf("treasure %d of r%d", len(r.hoard)+1, r.repos)
	r.hoard = append(r.hoard, text)
	r.write(r.tree, name, text+"\n")
}

// works makes a commit with a treasure in the worktree.
func (r *treeRepo) works(name string) {
	r.Helper()
	r.hide(name)
	r.commit(r.tree, "work on "+name)
}

// start starts a worker in a worktree, and waits until that stands.
func (r *treeRepo) start(want orch.TreeWant) *treeRepo {
	r.Helper()
	a, err := r.try(want)
	must(r.T, err)
	r.worker, r.agent = a.Worker, a.Agent
	r.until("its worktree stands", func(w orch.WorkerInfo) bool { return w.TreeState == "ready" && w.Pane != "" })
	w := r.info()
	r.tree, r.branch = w.Worktree, w.Branch
	return r
}

func (r *treeRepo) try(want orch.TreeWant) (orch.StartAnswer, error) {
	r.Helper()
	ctx := context.Background()
	tree, err := r.d.doer.prepareTree(ctx, r.dir, &want)
	if err != nil {
		return orch.StartAnswer{}, err
	}
	start := orch.WorkerStart{Kind: "demo", Spec: "do the work", Dir: r.dir, EnvFile: filepath.Join(r.home, "env.json"), Target: orch.Place{Server: "s"}, CopyDir: "/c", Tree: tree, ReadyTimeout: time.Hour, TurnTimeout: time.Hour}
	got, err := r.d.loop.Do(ctx, orch.Input{At: r.d.loop.Now(), By: person(), What: start})
	if err != nil {
		return orch.StartAnswer{}, err
	}
	return got.(orch.StartAnswer), nil
}

func (r *treeRepo) info() (w orch.WorkerInfo) {
	r.Helper()
	r.d.loop.Read(func(v orch.View) {
		var err *orch.Error
		if w, err = orch.WorkerOf(v, person(), orch.WorkerArgs{Worker: r.worker}); err != nil {
			r.Fatal(err)
		}
	})
	return w
}

// until waits until something holds of the worker.
func (r *treeRepo) until(what string, is func(orch.WorkerInfo) bool) {
	r.Helper()
	changed, end := r.d.loop.Subscribe()
	defer end()
	for deadline := time.After(2 * time.Minute); ; {
		w := r.info()
		if is(w) {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			r.Fatalf("not within 2 minutes: %s: %+v", what, w)
		}
	}
}

// ends lets the worker's agent end.
func (r *treeRepo) ends() *treeRepo {
	r.Helper()
	_, err := r.d.loop.Do(context.Background(), orch.Input{At: r.d.loop.Now(), What: orch.AgentExited{Agent: r.agent, Why: "pane_closed"}})
	must(r.T, err)
	return r
}

// order gives an order about the worktree and answers what came of it: the code of a refusal, or how it ended.
func (r *treeRepo) order(name string, what any) string {
	r.Helper()
	body, err := json.Marshal(what)
	must(r.T, err)
	got, err := r.d.do(context.Background(), person(), "", name, body)
	var refusal *orch.Error
	switch {
	case errors.As(err, &refusal):
		if len(refusal.Next) == 0 && refusal.Hint == "" {
			r.Errorf("%s says nothing to type: %s", refusal.Code, refusal.Message)
		}
		return refusal.Code
	case err != nil:
		r.Fatal(err)
	}
	if a, ok := got.(orch.WorktreesAnswer); ok {
		i := slices.IndexFunc(a.Worktrees, func(t orch.WorktreeInfo) bool { return t.Worker == r.worker })
		if i < 0 {
			return "none"
		}
		if a.Worktrees[i].Keeps != "" {
			return "kept"
		}
	}
	r.until("its worktree is finished", func(w orch.WorkerInfo) bool { return w.TreeState != "finishing" })
	return r.ending()
}

func (r *treeRepo) ending() (how string) {
	r.d.loop.Read(func(v orch.View) {
		t := v.Entity(orch.Worktree{Worker: r.worker}.Key()).(orch.Worktree)
		how = t.How
		if t.Error != nil {
			how = "failed " + t.Error.Code + ": " + t.Error.Message
		}
	})
	return how
}

// act does one of the columns of the table.
func (r *treeRepo) act(column string) string {
	r.Helper()
	switch column {
	case "start":
		other := *r
		other.start(orch.TreeWant{Branch: fmt.Sprint("other-", r.repos), Base: r.git(r.dir, "rev-parse", "--verify", "HEAD")}).ends()
		return "ok"
	case "stop":
		if w := r.info(); w.Status != "gone" {
			r.order("worker-stop", orch.WorkerStop{Worker: r.worker})
		}
		r.until("its agent is gone", func(w orch.WorkerInfo) bool { return w.Status == "gone" })
		return "ok"
	case "gc":
		return r.order("trees-free", struct{}{})
	case "finish":
		return r.order("worker-finish", orch.WorkerFinish{Worker: r.worker})
	}
	return r.order("worker-finish", orch.WorkerFinish{Worker: r.worker, How: column})
}

// unreachable are the objects of a repository to which nothing leads.
func (r *treeRepo) unreachable() map[string]bool {
	r.Helper()
	lost := map[string]bool{}
	for _, line := range strings.Split(r.git(r.dir, "fsck", "--unreachable", "--no-reflogs", "--no-progress"), "\n") {
		if strings.HasPrefix(line, "unreachable ") {
			lost[line] = true
		}
	}
	return lost
}

// holds checks that nothing has become unreachable, and that every treasure can be found: in a working tree, or by a
// reference.
func (r *treeRepo) holds(after string, before map[string]bool) {
	r.Helper()
	for line := range r.unreachable() {
		if !before[line] {
			r.Errorf("%s: %s", after, line)
		}
	}
	text := r.git(r.dir, "-c", "core.quotePath=false", "log", "--all", "-m", "-p", "--no-color", "--root", "--full-history")
	if worktree.There(r.tree) { // what is staged
		staged, _ := gitIn(r.tree, "diff", "--cached", "-p")
		text += staged
	}
	for _, dir := range []string{r.dir, r.tree} {
		_ = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() && !strings.Contains(path, "/.git/") {
				raw, _ := os.ReadFile(path)
				text += string(raw)
			}
			return nil
		})
	}
	for _, t := range r.hoard {
		if !strings.Contains(text, t) {
			r.Errorf("%s: %q is lost", after, t)
		}
	}
}

// stood is what is at the place of a worktree.
func (r *treeRepo) stood() string {
	tip, _ := gitIn(r.dir, "rev-parse", "--verify", "-q", "refs/heads/"+r.branch)
	status := "no folder"
	if worktree.There(r.tree) {
		status, _ = gitIn(r.tree, "status", "--porcelain=v1", "--untracked-files=all")
	}
	return tip + status
}
