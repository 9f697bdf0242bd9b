//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"st/orch"
)

// TestTeamReturns: the workers of a team sit in one folder when tmux is killed. Each conversation is taken up again in a
// window of its own, in any order. Each worker has its own conversation back, what is sent to it goes into that, and the
// wait that was open returns. Four workers once, with ST_LONG twelve and twenty times.
func TestTeamReturns(t *testing.T) {
	beside(t)
	workers, rounds := counted(4, 12), counted(1, 20)
	for n := range rounds {
		t.Run(fmt.Sprint(n), func(t *testing.T) { teamReturns(t, workers, seed(t), byHand) })
	}
}

// byHand is a person who takes up conversations in new windows, as fast as tmux opens them.
func byHand(d *desk, team []orch.WorkerInfo) {
	for _, w := range team {
		d.server.Run("new-window", "-d", "-t", "=wide:", "-n", w.Name, "-c", d.server.Dir(), "-e", "ST_HOME="+d.home, "-e", "PATH="+filepath.Dir(d.bin)+":"+os.Getenv("PATH"),
			d.bin, "demo-agent", "--settings", filepath.Join(d.home, "run", "launch", w.Agent, "settings.json"), "--log", d.log(w.Name), "--resume", w.Conversation)
	}
}

// TestTeamRestored: the same, brought back by st restore; a second one has nothing to do.
func TestTeamRestored(t *testing.T) {
	beside(t)
	workers, rounds := counted(4, 12), counted(1, 20)
	for n := range rounds {
		t.Run(fmt.Sprint(n), func(t *testing.T) { teamReturns(t, workers, seed(t), byRestore) })
	}
}

func byRestore(d *desk, team []orch.WorkerInfo) {
	got := d.st("restore")
	if n := strings.Count(got.String(), " resumed in "); got.code != 0 || n != len(team) {
		d.t.Errorf("%d of %d were resumed: %s", n, len(team), got)
	}
	if again := d.st("restore"); again.code != 0 || !strings.Contains(again.String(), "nothing to do") {
		d.t.Errorf("a second time: %s", again)
	}
}

// teamReturns ends the server of a team and lets back bring it back.
func teamReturns(t *testing.T, n int, r *rand.Rand, back func(d *desk, team []orch.WorkerInfo)) {
	d := newDesk(t)
	d.st("orch", "start", "--objective", "come back")
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint("worker-", i)
		if got := d.st(d.start(names[i], "wide", "sleep 100", "")...); got.code != 0 {
			t.Fatal(got)
		}
	}
	team := make([]orch.WorkerInfo, n)
	for i, name := range names {
		d.await(name+" has a conversation", func() bool {
			team[i] = d.worker(name)
			return team[i].Conversation != "" && team[i].Status == "working"
		})
	}
	waited := make(chan said, 1)
	go func() { waited <- d.st("worker", "wait", "--timeout", "80s") }()
	d.server.Kill()
	for _, name := range names {
		d.await(name+" may come back", func() bool { return d.worker(name).State == "gone_resumable" })
		if got := d.st("worker", "send", name, "run st worker done --summary 'back: "+name+"'"); got.code != 0 {
			t.Error(got)
		}
	}
	d.server.Start()
	d.open()
	shuffled := append([]orch.WorkerInfo(nil), team...)
	r.Shuffle(n, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	first := time.Now()
	back(d, shuffled)
	opened := time.Since(first)
	for _, w := range team {
		d.await(w.Name+" is back", func() bool { now := d.worker(w.Name); return now.Agent != w.Agent })
	}
	t.Logf("from the first pane to the last relation %v, of which it took %v to open the windows", time.Since(first).Round(time.Millisecond), opened.Round(time.Millisecond))
	for _, w := range team {
		d.checkReturned(w)
	}
	if got := <-waited; got.code != 0 {
		t.Errorf("the wait that was open: %s", got)
	}
}

// checkReturned holds that a worker has got what was sent to it meanwhile, in the conversation that has its task, and no other.
func (d *desk) checkReturned(was orch.WorkerInfo) {
	now := d.worker(was.Name)
	if now.ID != was.ID || now.Conversation != was.Conversation || now.Pane == "" {
		d.t.Errorf("%s was %+v and is %+v", was.Name, was, now)
	}
	if title := d.server.Run("display-message", "-p", "-t", now.Pane, "#{window_name}"); title != was.Name {
		d.t.Errorf("%s is in the window %q", was.Name, title)
	}
	d.await(was.Name+" has reported", func() bool { w := d.worker(was.Name); return w.State == "finished" && w.Summary == "back: "+was.Name })
	files, _ := filepath.Glob(filepath.Join(d.home, "demo", was.Conversation+"*")) // the pattern is well-formed
	raw, err := os.ReadFile(strings.Join(files, " "))
	tasks := taskFile.FindAllString(string(raw), -1)
	others := slices.ContainsFunc(tasks, func(t string) bool { return t != "/"+was.Dispatch+".md" })
	if err != nil || len(tasks) == 0 || others || strings.Count(string(raw), "--summary 'back: "+was.Name+"'") != 1 {
		d.t.Errorf("the conversation of %s (%v, %v, %q): %s", was.Name, files, err, tasks, raw)
	}
}

// taskFile is how the line names the file with a task.
var taskFile = regexp.MustCompile(`/d[0-9]+\.md`)
