//go:build linux || darwin

package daemon

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"st/orch"
	"st/tmux"
)

func TestEffects(t *testing.T) {
	st := buildProgram(t)
	t.Run("a task is handed over, done and read", func(t *testing.T) { handedOver(newWorld(t, st)) })
	t.Run("a refused start leaves nothing", func(t *testing.T) { refusedStart(newWorld(t, st)) })
	t.Run("stop ends the tree and names what left it", func(t *testing.T) { stopTree(newWorld(t, st)) })
	for _, step := range []string{"new-window", "paste-buffer", "send-keys"} {
		for _, when := range []string{"before", "after"} {
			t.Run("daemon killed "+when+" "+step, func(t *testing.T) { killedAt(newWorld(t, st), when, step) })
		}
	}
	t.Run("an agent that ended while no daemon ran gets no second window", func(t *testing.T) { endedUnseen(newWorld(t, st)) })
	for _, step := range []string{"paste-buffer", "send-keys"} {
		for _, when := range []string{"before", "after"} {
			t.Run("daemon killed "+when+" "+step+" of a message", func(t *testing.T) { killedInSend(newWorld(t, st), when, step) })
		}
	}
	t.Run("a line that somebody has entered while no daemon ran is not typed again", func(t *testing.T) { enteredMeanwhile(newWorld(t, st)) })
	for _, when := range []string{"before", "after"} {
		t.Run("daemon killed "+when+" kill-pane", func(t *testing.T) { killedInStop(newWorld(t, st), when) })
	}
}

func handedOver(w *world) {
	o := w.job("one", "say hello\ndone all 'good'")
	a := w.start(o)
	w.until(a, "the worker finishes", isState("finished"))
	if got := w.submitted("one"); len(got) != 1 || !strings.Contains(got[0], w.home+"/orch/r1/d1.md") {
		w.Fatalf("submitted: %q", got)
	}
	var read orch.ReadInfo
	must(w.T, w.client.Get(context.Background(), "read", orch.ReadArgs{Worker: "one", Screen: true}, &read))
	if read.Summary != "all 'good'" || read.Answer != "hello" || read.AnswerSource != "hook" || read.Cursor != 0 {
		w.Errorf("read: %+v", read)
	}
	if !strings.Contains(read.Screen, "hello") || strings.ContainsRune(read.Screen, '\x1b') {
		w.Errorf("screen: %q", read.Screen)
	}
	copied, err := os.ReadFile(w.home + "/orch/r1/d1.md")
	must(w.T, err)
	if !strings.Contains(string(copied), "st worker done --dispatch d1 --summary '") {
		w.Errorf("the copy does not name the command:\n%s", copied)
	}
	if _, err := os.Stat(o.EnvFile); !os.IsNotExist(err) {
		w.Errorf("the environment stays in a file: %v", err)
	}
}

func refusedStart(w *world) {
	ctx := context.Background()
	for _, c := range []struct {
		code   string
		change func(*order)
	}{
		{"session_not_found", func(o *order) { o.Session = "mai" }},
		{"not_in_tmux", func(o *order) { o.Session = "" }},
		{"bad_dir", func(o *order) { o.Dir = w.path("nowhere") }},
		{"usage", func(o *order) { o.Kind = "nobody" }},
		{"bad_name", func(o *order) { o.Name = "w1" }},
	} {
		o := w.job("x", "say no")
		c.change(&o)
		err := w.client.Do(ctx, uuid.NewString(), o, nil)
		if e, ok := err.(*orch.Error); !ok || e.Code != c.code {
			w.Errorf("got %v, want %s", err, c.code)
		}
		if _, err := os.Stat(o.EnvFile); !os.IsNotExist(err) {
			w.Errorf("%s: the environment stays in a file: %v", c.code, err)
		}
	}
	if tags := w.panes(); len(tags) > 0 {
		w.Errorf("panes were opened: %v", tags)
	}
}

// stopTree has the agent start a process that stays below it and one that leaves it.
func stopTree(w *world) {
	below, apart := w.path("below.pid"), w.path("apart.pid")
	if _, err := exec.LookPath("setsid"); err != nil {
		w.Skip("setsid is not installed")
	}
	spec := fmt.Sprintf("run setsid -f sh -c 'echo $$ > %s; exec sleep 300'\nrun sh -c 'echo $$ > %s; exec sleep 300'", apart, below)
	a := w.start(w.job("one", spec))
	w.wait("both processes run", func() (bool, string) {
		b, err1 := os.ReadFile(below)
		c, err2 := os.ReadFile(apart)
		return len(b) > 1 && len(c) > 1, fmt.Sprint(err1, err2)
	})
	w.stop("one")
	i := w.until(a, "the worker is gone", isState("gone"))
	w.until(a, "it says what was left over", func(n orch.StartInfo) bool { i = n; return len(n.Worker.LeftOver) > 0 })
	left, err := os.ReadFile(apart)
	must(w.T, err)
	if want := strings.TrimSpace(string(left)) + " sleep"; len(i.Worker.LeftOver) != 1 || i.Worker.LeftOver[0] != want {
		w.Errorf("left over: %q, want %q", i.Worker.LeftOver, want)
	}
	if pid := readPID(w, below); processAlive(pid) {
		w.Errorf("process %d below the agent lives on", pid)
	}
	if tags := w.panes(); len(tags) > 0 {
		w.Errorf("panes stay: %v", tags)
	}
	endProcess(w, readPID(w, apart))
}

// killedAt kills the daemon at a step of a start. The next daemon goes on: the task goes in once, in one
// window.
func killedAt(w *world, when, step string) {
	pid := w.pid()
	w.dieAt(when, step)
	a := w.start(w.job("one", "say hello\ndone good"))
	w.died(pid)
	w.up()
	w.until(a, "the worker finishes", isState("finished"))
	if got := w.submitted("one"); len(got) != 1 {
		w.Errorf("submitted %d times: %q", len(got), got)
	}
	if tags := w.panes(); len(tags) != 1 {
		w.Errorf("panes: %q", tags)
	}
	if i := w.info(a.Dispatch); i.Delivery != orch.Delivered {
		w.Errorf("delivery: %q", i.Delivery)
	}
}

// endedUnseen: the daemon is killed before it has noted the window that it opened, and the agent there ends.
func endedUnseen(w *world) {
	pid := w.pid()
	w.dieAt("after", "new-window")
	o := w.job("one", "say hello")
	o.Args = append(o.Args, "--nasty", "dies-at-start=0")
	a := w.start(o)
	w.died(pid)
	w.wait("its window is closed", func() (bool, string) { tags := w.panes(); return len(tags) == 0, fmt.Sprint(tags) })
	w.up()
	i := w.until(a, "the worker is gone", isState("gone"))
	if tags := w.panes(); len(tags) > 0 || i.Code != 6 || i.Delivery != orch.NotDelivered {
		w.Errorf("panes: %q, code %d, %q", tags, i.Code, i.Delivery)
	}
	w.wait("nothing is owed", func() (bool, string) {
		entries, err := filepath.Glob(filepath.Join(runDir(w.home), "launch", "*"))
		return err == nil && len(entries) == 0, fmt.Sprint(entries, w.panes())
	})
	if tags := w.panes(); len(tags) > 0 {
		w.Errorf("a second window: %q", tags)
	}
}

// killedInSend: two messages are recorded, and the daemon dies while it types the first.
func killedInSend(w *world, when, step string) {
	a := w.start(w.job("one", "say hello\ndone good"))
	w.until(a, "the worker finishes", isState("finished"))
	w.until(a, "its turn has ended", func(i orch.StartInfo) bool { return i.Worker.Status == "idle" })
	pid := w.pid()
	w.dieAt(when, step)
	var sent [2]orch.SendAnswer
	back := false
	for n := range sent {
		request, order := uuid.NewString(), orch.WorkerSend{Worker: "one", Text: fmt.Sprint("say message ", n)}
		if err := w.client.Do(context.Background(), request, order, &sent[n]); err != nil { // it is dying just now
			w.died(pid)
			w.up()
			back = true
			must(w.T, w.client.Do(context.Background(), request, order, &sent[n]))
		}
	}
	if !back {
		w.died(pid)
		w.up()
	}
	for _, s := range sent {
		var m orch.MessageInfo
		w.wait("message "+s.Message.ID+" is delivered", func() (bool, string) {
			err := w.client.Get(context.Background(), "message", orch.MessageArgs{Message: s.Message.ID}, &m)
			return err == nil && m.State == orch.Delivered, fmt.Sprintf("%+v %v", m, err)
		})
	}
	var got string
	one, two := "d1-"+sent[0].Message.ID+".md", "d1-"+sent[1].Message.ID+".md"
	w.wait("both are with the agent", func() (bool, string) { // whose prompt hook tells before it takes a prompt
		got = strings.Join(w.given("one"), "\n")
		return strings.Contains(got, one) && strings.Contains(got, two), got
	})
	first, second := strings.Index(got, one), strings.Index(got, two)
	if strings.Count(got, one) != 1 || strings.Count(got, two) != 1 || first > second {
		w.Errorf("given: %s", got)
	}
}

// enteredMeanwhile: the daemon dies when a message's line stands in the input line, and a person presses Enter there.
func enteredMeanwhile(w *world) {
	a := w.start(w.job("one", "say hello\ndone good"))
	w.until(a, "the worker finishes", isState("finished"))
	w.until(a, "its turn has ended", func(i orch.StartInfo) bool { return i.Worker.Status == "idle" })
	pid := w.pid()
	w.dieAt("after", "paste-buffer")
	request, order := uuid.NewString(), orch.WorkerSend{Worker: "one", Text: "say it"}
	err := w.client.Do(context.Background(), request, order, nil)
	w.died(pid)
	pane := w.server.Run("list-panes", "-a", "-f", "#{m:*:w1,#{@st_agent}}", "-F", "#{pane_id}")
	w.server.WaitText(pane, "d1-m2.md") // m1 is the report
	w.server.Run("send-keys", "-t", pane, "Enter")
	w.wait("the agent has it", func() (bool, string) {
		got := strings.Join(w.given("one"), "\n")
		return strings.Contains(got, "d1-m2.md"), got
	})
	w.up()
	if err != nil {
		must(w.T, w.client.Do(context.Background(), request, order, nil))
	}
	must(w.T, w.client.Do(context.Background(), uuid.NewString(), orch.WorkerSend{Worker: "one", Text: "say more"}, nil))
	var got string
	w.wait("the next is with the agent", func() (bool, string) { // it comes after the first has been seen to its end
		got = strings.Join(w.given("one"), "\n")
		return strings.Contains(got, "d1-m3.md"), got
	})
	if strings.Count(got, "d1-m2.md") != 1 {
		w.Errorf("given: %s", got)
	}
}

func killedInStop(w *world, when string) {
	a := w.start(w.job("one", "say hello\ndone good"))
	w.until(a, "the worker finishes", isState("finished"))
	runner := w.server.Run("list-panes", "-a", "-f", "#{m:*:w1,#{@st_agent}}", "-F", "#{pane_pid}")
	pid := w.pid()
	w.dieAt(when, "kill-pane")
	w.stop("one")
	w.died(pid)
	w.up()
	w.until(a, "the stop is settled", func(i orch.StartInfo) bool { return i.Worker.Status == "gone" })
	w.wait("its window is closed", func() (bool, string) { tags := w.panes(); return len(tags) == 0, fmt.Sprint(tags) })
	var n int
	if _, err := fmt.Sscan(runner, &n); err != nil || processAlive(n) {
		w.Errorf("the pane's process %q lives on", runner)
	}
	if entries, err := filepath.Glob(filepath.Join(runDir(w.home), "launch", "*")); err != nil || len(entries) > 0 {
		w.Errorf("files of the launch stay: %v", entries)
	}
}

// What was typed a moment ago was so by the loop's clock as well, which goes on where the system's was set back.
func TestTypedByTheLoopsClock(t *testing.T) {
	ahead := time.Now().Add(time.Hour)
	d := &doer{now: func() time.Time { return ahead }}
	got := d.wordTyped("o1", tmux.Typed{Outcome: tmux.Submitted, Submitted: time.Now().Add(-time.Second)})
	if off := ahead.Add(-time.Second).Sub(*got.Submitted); off.Abs() > 100*time.Millisecond || got.Typed != nil {
		t.Errorf("submitted %s, typed %v; the clock is at %s", got.Submitted, got.Typed, ahead)
	}
}
