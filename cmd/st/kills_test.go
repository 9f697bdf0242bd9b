//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"st/orch"
	"st/orch/proc/proctest"
)

// runFile is a run as its file tells it: read without the daemon, whose death is what is tested.
func (d *desk) runFile(run string) (f orch.RunFile) {
	raw, err := os.ReadFile(filepath.Join(d.home, "orch", run, "run.json"))
	if err != nil {
		return f
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		d.t.Errorf("run.json: %v", err)
	}
	return f
}

// dispatch is the newest of a worker in the run's file.
func (d *desk) dispatch(run, name string) orch.RunDispatch {
	f := d.runFile(run)
	for _, w := range f.Workers {
		for _, e := range f.Dispatches {
			if w.Name == name && e.ID == w.Dispatch {
				return e
			}
		}
	}
	return orch.RunDispatch{}
}

// pane is the id and the pid of a worker's pane; "" where there is no window.
func (d *desk) pane(name string) (id string, pid int) {
	for _, row := range strings.Split(d.server.Run("list-panes", "-a", "-F", "#{window_name}\t#{pane_id}\t#{pane_pid}"), "\n") {
		if cells := strings.Split(row, "\t"); len(cells) == 3 && cells[0] == name {
			pid, _ = strconv.Atoi(cells[2])
			return cells[1], pid
		}
	}
	return "", 0
}

// shows says whether the task line stands on a worker's screen.
func (d *desk) shows(name string) bool {
	id, _ := d.pane(name)
	return id != "" && strings.Contains(d.server.Run("capture-pane", "-p", "-J", "-t", id), "Your task is in this file")
}

func (d *desk) has(name, what string) bool {
	return slices.ContainsFunc(d.jotted(name), func(j jotted) bool { return j.What == what })
}

// agentPID is the process of a worker's agent: the child of its pane's.
func (d *desk) agentPID(name string) int {
	_, runner := d.pane(name)
	for _, pid := range children(runner) {
		return pid
	}
	return 0
}

func children(pid int) (list []int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is well-formed
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			continue // the thread has ended
		}
		for _, field := range strings.Fields(string(raw)) {
			if n, err := strconv.Atoi(field); err == nil {
				list = append(list, n)
			}
		}
	}
	return list
}

// moments are the stages of a start at which the daemon is killed.
var moments = []struct {
	name string
	is   func(d *desk, name string) bool
}{
	{"asked", func(d *desk, name string) bool { return d.dispatch("r1", name).ID != "" }},
	{"window", func(d *desk, name string) bool { return d.windows(name) > 0 }},
	{"agent", func(d *desk, name string) bool { return d.dispatch("r1", name).Started != nil }},
	{"ready", func(d *desk, name string) bool { return d.dispatch("r1", name).Ready != nil }},
	{"typed", func(d *desk, name string) bool { return d.shows(name) }},
	{"entered", func(d *desk, name string) bool { return d.has(name, "lost-enter") }},
	{"submitted", func(d *desk, name string) bool { return len(d.submitted(name)) > 0 }},
	{"turn", func(d *desk, name string) bool { return d.dispatch("r1", name).Turn != nil }},
	{"report", func(d *desk, name string) bool { return len(d.runFile("r1").Reports) > 0 && d.has(name, "submitted") }},
}

// kill is one round: a start, and when the daemon was killed under it.
type kill struct {
	d        *desk
	name     string
	moment   int           // of moments; one more stands for any time
	pause    time.Duration // after that moment
	again    time.Duration // after the first kill, a second one; 0 = none
	down     time.Duration // how long nobody calls the daemon back
	detach   bool
	got      said
	delivery string
	lines    int
	faults   []string
}

func (k *kill) what() string {
	what := "any time"
	if k.moment < len(moments) {
		what = moments[k.moment].name
	}
	return what
}

func (k *kill) fault(format string, args ...any) {
	k.faults = append(k.faults, fmt.Sprintf(format, args...))
}

func (k *kill) run() {
	d := k.d
	args := d.start(k.name, "wide", "sleep 0.3 ;; done did "+k.name, "paste-slow=150,enter-swallowed", "--json")
	if k.detach {
		args = append(args, "--detach")
	}
	started := make(chan said, 1)
	go func() { started <- d.st(args...) }()
	if k.moment < len(moments) {
		for begun := time.Now(); !moments[k.moment].is(d, k.name); time.Sleep(tick / 2) { // not await, whose looks become rarer
			if time.Since(begun) > patience {
				d.t.Errorf("%s has not reached %s within %v", k.name, k.what(), patience)
				break
			}
		}
	}
	time.Sleep(k.pause) // chance, not a condition: any moment will do
	d.killDaemon()
	if k.again > 0 { // as chance wants it, too
		time.Sleep(k.down / 2)
		d.st("worker", "ls")
		time.Sleep(k.again)
		d.killDaemon()
	}
	time.Sleep(k.down)
	if got := d.st("worker", "ls"); got.code != 0 {
		k.fault("the next verb: %s", got)
	}
	k.got = <-started
	k.judge()
}

// judge waits for the end and counts.
func (k *kill) judge() {
	d := k.d
	if k.got.code == 9 || k.got.code == 4 {
		k.fault("the start said %s", k.got)
	}
	if k.dispatchless() {
		return
	}
	wait := d.st("worker", "wait", k.name, "--timeout", "60s")
	w := d.worker(k.name)
	k.delivery, k.lines = w.Delivery, len(d.submitted(k.name))
	switch {
	case k.lines > 1:
		k.fault("the line was submitted %d times", k.lines)
	case w.Delivery == orch.Unknown && k.lines == 0:
		// Honest: Enter may have been pressed, and nothing can tell.
	case w.Delivery != orch.Delivered || k.lines != 1 || wait.code != 0:
		k.fault("%q, submitted %d times, wait said %s", w.Delivery, k.lines, wait)
	case w.Summary != "did "+k.name:
		k.fault("summary %q", w.Summary)
	}
	if n := d.windows(k.name); n != 1 {
		k.fault("%d windows", n)
	}
	var reports int
	for _, r := range d.runFile("r1").Reports {
		if r.Worker == w.ID {
			reports++
		}
	}
	if w.Delivery == orch.Delivered && reports != 1 {
		k.fault("%d reports", reports)
	}
}

// dispatchless says that the daemon died before the order was taken: then the start said so, and there is
// nothing.
func (k *kill) dispatchless() bool {
	if k.got.code != 8 || k.d.windows(k.name) > 0 || k.d.dispatch("r1", k.name).ID != "" {
		return false
	}
	k.delivery = "refused"
	return true
}

// TestKilledDaemon: the daemon is killed at every stage of a start and at any time; the next verb brings it
// back, and there is one window, one line, one report.
func TestKilledDaemon(t *testing.T) {
	beside(t)
	d := newDesk(t)
	r := seed(t)
	if got := d.st("orch", "start", "--objective", "kills"); got.code != 0 {
		t.Fatal(got)
	}
	kills := make([]*kill, counted(10, 100))
	for i := range kills {
		kills[i] = &kill{d: d, name: fmt.Sprintf("k%dx", i), moment: i % (len(moments) + 1), detach: r.IntN(2) == 0}
		kills[i].chance(r)
		kills[i].run()
	}
	text := fmt.Sprintf("\n%-5s %-10s %9s %9s %9s %7s %-12s %5s", "name", "killed at", "after", "again", "down", "detach", "delivery", "lines")
	for _, k := range kills {
		text += fmt.Sprintf("\n%-5s %-10s %9v %9v %9v %7v %-12s %5d", k.name, k.what(), k.pause, k.again, k.down, k.detach, k.delivery, k.lines)
	}
	t.Log(text)
	for _, k := range kills {
		for _, f := range k.faults {
			t.Errorf("%s, killed at %s: %s", k.name, k.what(), f)
		}
	}
}

func (k *kill) chance(r *rand.Rand) {
	k.down = time.Duration(r.IntN(500)) * time.Millisecond
	switch {
	case k.moment == len(moments):
		k.pause = time.Duration(r.IntN(3000)) * time.Millisecond
	case r.IntN(2) == 0:
		k.pause = time.Duration(r.IntN(200)) * time.Millisecond
	}
	if r.IntN(3) == 0 {
		k.again = time.Duration(1+r.IntN(800)) * time.Millisecond
	}
}

// TestTenStartsAtOnce: ten starts with no daemon running, and beside them twenty verbs, are all served.
func TestTenStartsAtOnce(t *testing.T) {
	beside(t)
	d := newDesk(t)
	if got := d.st("orch", "start", "--objective", "ten"); got.code != 0 {
		t.Fatal(got)
	}
	d.killDaemon()
	var all sync.WaitGroup
	for i := range 10 {
		name := fmt.Sprintf("s%dx", i)
		all.Go(func() {
			if got := d.st(d.start(name, "small", "done did "+name, "")...); got.code != 0 {
				t.Errorf("%s: %s", name, got)
			}
		})
	}
	for i := range 20 {
		verb := [][]string{{"worker", "ls"}, {"tree"}, {"agents"}, {"orch", "show", "r1"}, {"ls"}}[i%5]
		all.Go(func() {
			if got := d.st(append(verb, "--json")...); got.code != 0 {
				t.Errorf("%q: %s", verb, got)
			}
		})
	}
	all.Wait()
	if got := d.st("worker", "wait", "--timeout", "60s"); got.code != 0 {
		t.Errorf("wait: %s", got)
	}
	for i := range 10 {
		name := fmt.Sprintf("s%dx", i)
		if w, n := d.windows(name), len(d.submitted(name)); w != 1 || n != 1 {
			t.Errorf("%s: %d windows, %d lines", name, w, n)
		}
		if w := d.worker(name); w.Summary != "did "+name {
			t.Errorf("%s: %+v", name, w)
		}
	}
}

// TestReportThatOutlivesTheDaemon: a report that was sent to a daemon that hung, and was queued since it got no
// answer, is taken once by the next daemon.
func TestReportThatOutlivesTheDaemon(t *testing.T) {
	beside(t)
	d := newDesk(t)
	script := "run while ! test -e go; do sleep 0.05; done; st worker done --summary once >said; st worker done --summary once >again\ndone once"
	task := filepath.Join(d.server.Dir(), "task")
	if err := os.WriteFile(task, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := d.st("worker", "start", "--agent", "demo", "--name", "api", "--session", "small", "--task", task); got.code != 0 {
		t.Fatal(got)
	}
	pid := d.daemon()
	if err := proctest.Stop(pid); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.server.Dir(), "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.await("the report is queued", func() bool {
		text, err := os.ReadFile(filepath.Join(d.server.Dir(), "said"))
		return err == nil && strings.Contains(string(text), "queued")
	})
	d.killDaemon()
	if got := d.st("worker", "wait", "api", "--timeout", "60s"); got.code != 0 || !strings.Contains(got.out, "finished: once") {
		t.Errorf("wait: %s", got)
	}
	if all := d.runFile("r1").Reports; len(all) != 1 {
		t.Errorf("%d reports: %+v", len(all), all)
	}
}

// TestGone: whatever ends a worker from outside, during its start or while it is waited for, ends both with 6. One that may
// come back is waited for until it is stopped.
func TestGone(t *testing.T) {
	beside(t)
	ends := map[string]func(d *desk, name string){
		"agent killed": func(d *desk, name string) { syscall.Kill(d.agentPID(name), syscall.SIGKILL) },
		"pane closed":  func(d *desk, name string) { id, _ := d.pane(name); d.server.Run("kill-pane", "-t", id) },
		"tmux killed": func(d *desk, _ string) {
			d.server.Kill()
			d.await("the one that had a turn may come back", func() bool { return d.worker("there").State == "gone_resumable" })
			if got := d.st("worker", "stop", "there", "--yes"); got.code != 0 { // nobody takes up its conversation
				d.t.Errorf("stop: %s", got)
			}
		},
	}
	for _, end := range []string{"agent killed", "pane closed", "tmux killed"} {
		t.Run(end, func(t *testing.T) {
			beside(t)
			d := newDesk(t)
			if got := d.st("orch", "start", "--objective", "gone"); got.code != 0 {
				t.Fatal(got)
			}
			if got := d.st(d.start("there", "small", "sleep 600", "")...); got.code != 0 {
				t.Fatal(got)
			}
			answers := make(chan said, 2)
			go func() { answers <- d.st("worker", "wait", "there") }()
			go func() { answers <- d.st(d.start("coming", "wide", "done never", "slow-mount=600")...) }()
			d.await("the agent runs", func() bool { return d.dispatch("r1", "coming").Started != nil && d.agentPID("coming") > 0 })
			ends[end](d, "coming")
			if end != "tmux killed" {
				ends[end](d, "there")
			}
			for range 2 {
				if got := <-answers; got.code != 6 {
					t.Errorf("%s", got)
				}
			}
			for _, name := range []string{"coming", "there"} {
				if w := d.worker(name); w.State != "gone" || w.Status != "gone" {
					t.Errorf("%s: %s, %s", name, w.State, w.Status)
				}
			}
			if end == "tmux killed" {
				d.server.Start()
				d.open()
				if got := d.st("worker", "start", "--agent", "demo", "--session", "small", "--prompt", "done anew"); got.code != 0 {
					t.Errorf("a start on the next server: %s", got)
				}
			}
		})
	}
}

// TestFrozenAgent: an agent that hangs while Enter is pressed takes it later: while the line is being taken back,
// or after that. What it took is not typed a second time, though its hook is late.
func TestFrozenAgent(t *testing.T) {
	beside(t)
	for _, seconds := range []int{6, 10} {
		t.Run(fmt.Sprint(seconds), func(t *testing.T) {
			beside(t)
			d := newDesk(t)
			got := d.st(d.start("ice", "small", "done thawed", fmt.Sprintf("freezes=%d,late-hook=4", seconds), "--turn-timeout", "2s", "--json")...)
			if got.code != 9 {
				t.Errorf("%s", got)
			}
			if wait := d.st("worker", "wait", "ice", "--timeout", "60s"); wait.code != 0 {
				t.Errorf("wait: %s", wait)
			}
			if lines := d.submitted("ice"); len(lines) != 1 {
				t.Errorf("submitted %d times: %+v", len(lines), d.jotted("ice"))
			}
		})
	}
}
