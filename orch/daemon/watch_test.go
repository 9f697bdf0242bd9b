//go:build linux || darwin

package daemon

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"st/hooks"
	"st/orch"
	"st/orch/proc"
	"st/tmux"
)

func TestWatch(t *testing.T) {
	st := buildProgram(t)
	t.Run("a closed pane is seen", func(t *testing.T) { paneClosed(newWorld(t, st)) })
	t.Run("a pane closed while no daemon ran is seen", func(t *testing.T) { paneClosedUnseen(newWorld(t, st)) })
	t.Run("an agent that dies is seen with its exit code", func(t *testing.T) { agentDies(newWorld(t, st)) })
	t.Run("the process of a pane that is killed is seen", func(t *testing.T) { runnerDies(newWorld(t, st)) })
	t.Run("the end of the server is seen", func(t *testing.T) { serverEnds(newWorld(t, st)) })
	t.Run("an interrupt that no hook tells is seen", func(t *testing.T) { interrupted(newWorld(t, st)) })
	t.Run("a dialog is named and nothing is typed", func(t *testing.T) { dialog(newWorld(t, st)) })
	t.Run("at rest nothing is asked", func(t *testing.T) { atRest(newWorld(t, st)) })
}

func (w *world) agent(id string) (a orch.AgentInfo) {
	w.Helper()
	var list []orch.AgentInfo
	must(w.T, w.client.Get(context.Background(), "agents", orch.ListArgs{All: true}, &list))
	for _, a := range list {
		if a.ID == id {
			return a
		}
	}
	w.Fatalf("no agent %s in %+v", id, list)
	return a
}

func (w *world) finished(name string) orch.StartAnswer {
	w.Helper()
	a := w.start(w.job(name, "say hello\ndone good"))
	w.until(a, "the worker finishes", isState("finished"))
	w.until(a, "its turn has ended", func(i orch.StartInfo) bool { return i.Worker.Status == "idle" })
	return a
}

func (w *world) goneAfter(a orch.StartAnswer, limit time.Duration) {
	w.Helper()
	began := time.Now()
	w.until(a, "the agent is gone", func(i orch.StartInfo) bool { return i.Worker.Status == "gone" })
	if took := time.Since(began); took > limit {
		w.Errorf("it took %v", took)
	}
}

func paneClosed(w *world) {
	a := w.finished("one")
	w.server.Run("kill-pane", "-t", w.agent(a.Agent).Pane)
	w.goneAfter(a, 5*time.Second)
}

func paneClosedUnseen(w *world) {
	a := w.start(w.job("one", "sleep 100"))
	w.until(a, "its turn runs", func(i orch.StartInfo) bool { return i.Worker.Status == "working" })
	pane, daemon := w.agent(a.Agent).Pane, w.pid()
	p, err := proc.Of(daemon)
	must(w.T, err)
	must(w.T, proc.Signal(p, syscall.SIGKILL))
	w.wait("the daemon is gone", func() (bool, string) { return !processAlive(daemon), "it lives" })
	w.server.Run("kill-pane", "-t", pane)
	w.up()
	w.goneAfter(a, 5*time.Second)
	if i := w.info(a.Dispatch); i.Worker.State != "gone" {
		w.Errorf("state %q", i.Worker.State)
	}
}

func agentDies(w *world) {
	a := w.start(w.job("one", "say hello", "--nasty", "dies-in-turn"))
	i := w.until(a, "the agent is gone", func(i orch.StartInfo) bool { return i.Worker.Status == "gone" })
	if i.Worker.State != "gone" || i.Delivery != orch.Delivered {
		w.Errorf("state %q, delivery %q", i.Worker.State, i.Delivery)
	}
}

// runnerDies kills what would have told of the end.
func runnerDies(w *world) {
	a := w.finished("one")
	pid, err := strconv.Atoi(w.server.Run("list-panes", "-a", "-f", "#{m:*:w1,#{@st_agent}}", "-F", "#{pane_pid}"))
	must(w.T, err)
	p, err := proc.Of(pid)
	must(w.T, err)
	must(w.T, proc.Signal(p, syscall.SIGKILL))
	w.goneAfter(a, 5*time.Second)
}

func serverEnds(w *world) {
	a, b := w.finished("one"), w.finished("two")
	w.server.Kill()
	for _, x := range []orch.StartAnswer{a, b} {
		w.wait("the agent is gone and may come back", func() (bool, string) {
			i := w.info(x.Dispatch)
			return i.Worker.Status == "gone_resumable", i.Worker.Status
		})
	}
	// A server that starts anew has panes of the same ids: none of them is taken for the agent's.
	w.server.Start()
	w.server.Session("main")
	o := w.start(w.job("three", "say hello\ndone good"))
	w.until(o, "the worker finishes", isState("finished"))
	if i := w.info(a.Dispatch); i.Worker.Status != "gone_resumable" {
		w.Errorf("status %q", i.Worker.Status)
	}
}

func interrupted(w *world) {
	a := w.start(w.job("one", "say begun\nsleep 100"))
	w.until(a, "its turn runs", func(i orch.StartInfo) bool { return i.Worker.Status == "working" })
	must(w.T, w.server.Tmux().Keys(context.Background(), w.agent(a.Agent).Pane, "Escape"))
	began := time.Now()
	w.until(a, "its turn has ended", func(i orch.StartInfo) bool { return i.Worker.Status == "idle" })
	if took := time.Since(began); took > 2*time.Second {
		w.Errorf("it took %v", took)
	}
}

func dialog(w *world) {
	a := w.start(w.job("one", "say hello\ndone good", "--nasty", "trust"))
	i := w.until(a, "the dialog is named", func(i orch.StartInfo) bool { return i.Worker.WaitingFor == "trust" })
	if i.Worker.Status != "waiting" || i.Worker.State != "needs_input" {
		w.Errorf("status %q, state %q", i.Worker.Status, i.Worker.State)
	}
	if got := w.submitted("one"); len(got) > 0 {
		w.Errorf("submitted: %q", got)
	}
}

// atRest has settled workers and counts what the daemon does about them: no call of tmux, hardly any time of
// a processor.
func atRest(w *world) {
	workers, rest := 3, 3*time.Second
	if os.Getenv("ST_LONG") != "" {
		workers, rest = 50, time.Minute
	}
	for n := range workers {
		w.finished(fmt.Sprint("n", n))
	}
	w.wait("the last look is over", func() (bool, string) {
		before := w.calls()
		time.Sleep(2500 * time.Millisecond) // longer than the longest pause between two looks
		return w.calls() == before, strings.Join(w.lastCalls(), "\n")
	})
	calls, used := w.calls(), w.cpu()
	time.Sleep(rest) // the length of the measurement
	if now := w.calls(); now != calls {
		w.Errorf("tmux was called %d times at rest:\n%s", now-calls, strings.Join(w.lastCalls(), "\n"))
	}
	share := float64(w.cpu()-used) / float64(rest)
	w.Logf("%d workers at rest: %.4f %% of a processor", workers, share*100)
	if os.Getenv("ST_LONG") != "" && share > 0.001 {
		w.Errorf("%d workers at rest: %.4f %% of a processor", workers, share*100)
	}
}

func (w *world) lastCalls() []string {
	raw, err := os.ReadFile(w.path("calls"))
	must(w.T, err)
	list := strings.Split(strings.TrimSpace(string(raw)), "\n")
	return list[max(0, len(list)-5):]
}

// cpu is the processor time that the daemon has used, in the system's ticks of 10 ms.
func (w *world) cpu() time.Duration {
	w.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", w.pid()))
	if os.IsNotExist(err) {
		w.Skip("this system does not tell a process' time")
	}
	must(w.T, err)
	_, rest, _ := strings.Cut(string(raw), ") ")
	fields := strings.Fields(rest)
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	must(w.T, err1)
	must(w.T, err2)
	return time.Duration(user+system) * 10 * time.Millisecond
}

func TestScreenText(t *testing.T) {
	for row, want := range map[string]string{
		"plain": "plain", "\x1b[1mbold\x1b[0m x": "bold x", "\x1b[38;5;9mred": "red", "a\x07b\u009bc": "abc", "한글 ✳": "한글 ✳",
	} {
		if got := plainRow(row); got != want {
			t.Errorf("%q: got %q, want %q", row, got, want)
		}
	}
}

func TestPage(t *testing.T) {
	text := "aé한😀z" // 1 2 3 4 1 bytes
	for _, c := range []struct {
		cursor, limit int
		want          string
		next          int
	}{
		{0, 0, text, 0}, {0, 11, text, 0}, {0, 3, "aé", 3}, {3, 3, "한", 6}, {6, 3, "😀", 10}, {10, 3, "z", 0},
		{2, 3, "한", 6}, {0, 1, "a", 1}, {11, 5, "", 0}, {6, 4, "😀", 10},
	} {
		got, next, err := page(text, c.cursor, c.limit)
		if err != nil || got != c.want || next != c.next {
			t.Errorf("from %d, %d bytes: got %q, %d, %v; want %q, %d", c.cursor, c.limit, got, next, err, c.want, c.next)
		}
	}
	for _, cursor := range []int{-1, 12} {
		if _, _, err := page(text, cursor, 0); err == nil {
			t.Errorf("cursor %d is taken", cursor)
		}
	}
}

func TestEnvironmentOfAnAgent(t *testing.T) {
	env := []string{"PATH=/bin", "A=1", "A=2", "PARENT_ID=7", "PARENT_MINE=8", "ST_AGENT=other", "TMUX_PANE=%1", "BAD"}
	l := hooks.Launch{
		Env:   map[string]string{"ADDED": "x", "A": "kind", "MINE": "kind"},
		Unset: []string{"PARENT_*", "TMUX_PANE"},
	}
	got := launchEnv(append(env, "MINE=by hand"), []string{"PARENT_MINE", "MINE"}, l, map[string]string{"ST_AGENT": "secret"})
	want := "A=kind ADDED=x MINE=by hand PARENT_MINE=8 PATH=/bin ST_AGENT=secret"
	if strings.Join(got, " ") != want {
		t.Errorf("got %q\nwant %q", strings.Join(got, " "), want)
	}
}

func TestGone(t *testing.T) {
	for _, err := range []error{tmux.ErrNoServer, tmux.ErrOtherServer, tmux.ErrNoPane} {
		if !gone(fmt.Errorf("pane %%3: %w", err)) {
			t.Errorf("%v is not gone", err)
		}
	}
	if gone(nil) || gone(tmux.ErrCopyMode) {
		t.Error("what is there is gone")
	}
}
