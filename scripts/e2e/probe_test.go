package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"st/hooks"
	"st/orch"
	"st/tmux/tmuxtest"
)

func long() bool { return os.Getenv("ST_LONG") == "1" }

// TestTurns lets a real Claude work, ask, fail and be stopped, and holds the state that follows from hooks,
// transcript and screen against what Claude says of itself: never wrong for more than 2 s.
func TestTurns(t *testing.T) {
	b := newBench(t)
	seconds := 8
	if long() {
		seconds = 60
	}
	build := fmt.Sprintf(`MOCK: bash python3 -c "import time; time.sleep(%d)" ;; MOCK: say built`, seconds)
	turns := []struct {
		name string
		args []string
		do   func(*agent)
	}{
		{"a tool runs long", []string{"--allowedTools", "Bash(python3:*)"}, func(a *agent) {
			a.say(build)
			a.wait(10*time.Second, "the tool runs", func() bool { return a.has(orch.ToolStarted) == 1 })
			a.wait(time.Duration(seconds)*time.Second+15*time.Second, "the turn ends", func() bool { return a.has(orch.TurnEnded) == 1 })
			a.wait(10*time.Second, "idle", func() bool { return a.status() == "idle" })
			a.wait(10*time.Second, "its answer stands in the transcript", func() bool { return a.answer() == "built" })
		}},
		{"Esc while a tool runs", []string{"--allowedTools", "Bash(python3:*)"}, func(a *agent) {
			a.say(build)
			a.wait(10*time.Second, "the tool runs", func() bool { return a.has(orch.ToolStarted) == 1 && a.on().Working })
			hold(time.Second)
			a.press("Escape")
			a.wait(10*time.Second, "the transcript tells of the interrupt", func() bool { return a.has(orch.Interrupted) == 1 })
			a.wait(10*time.Second, "idle", func() bool { return a.status() == "idle" })
			if a.has(orch.TurnEnded) > 0 {
				a.t.Error("a hook tells of the interrupt: it didn't when this was written")
			}
		}},
		{"Esc before the first word", nil, func(a *agent) {
			a.say("MOCK: sleep 20 ;; MOCK: say never")
			a.wait(10*time.Second, "the screen shows a turn", func() bool { return a.on().Working })
			hold(time.Second)
			a.press("Escape")
			a.wait(10*time.Second, "the prompt is back in the input line", func() bool { return strings.HasPrefix(a.on().Draft, "MOCK: sleep 20") })
			a.wait(10*time.Second, "idle", func() bool { return a.status() == "idle" })
		}},
		{"a permission is given", nil, func(a *agent) {
			a.say("MOCK: bash touch given && sleep 3 ;; MOCK: say done")
			a.dialog(hooks.Permission, orch.PermissionAsked)
			a.press("1")
			a.wait(10*time.Second, "busy", func() bool { return a.status() == "busy" })
			a.wait(15*time.Second, "the turn ends", func() bool { return a.has(orch.TurnEnded) == 1 })
		}},
		{"a permission is refused", nil, func(a *agent) {
			a.say("MOCK: bash touch refused ;; MOCK: say done")
			a.dialog(hooks.Permission, orch.PermissionAsked)
			a.press("4")
			a.wait(10*time.Second, "the transcript tells of the refusal", func() bool { return a.has(orch.Interrupted) == 1 })
			a.wait(10*time.Second, "idle", func() bool { return a.status() == "idle" })
		}},
		{"a permission is left with Esc", nil, func(a *agent) {
			a.say("MOCK: bash touch left ;; MOCK: say done")
			a.dialog(hooks.Permission, orch.PermissionAsked)
			a.press("Escape")
			a.wait(10*time.Second, "the transcript tells of the refusal", func() bool { return a.has(orch.Interrupted) == 1 })
			a.wait(10*time.Second, "idle", func() bool { return a.status() == "idle" })
		}},
		{"a question is answered", nil, func(a *agent) {
			a.say("MOCK: ask-user Which colour? ;; MOCK: say done")
			a.dialog(hooks.Question, orch.QuestionAsked)
			a.press("1")
			a.wait(15*time.Second, "the turn ends", func() bool { return a.has(orch.TurnEnded) == 1 })
		}},
		{"a prompt is queued and outlives an Esc", []string{"--allowedTools", "Bash(python3:*)"}, func(a *agent) {
			a.say(build)
			a.wait(10*time.Second, "the tool runs", func() bool { return a.has(orch.ToolStarted) == 1 && a.on().Working })
			a.say("MOCK: sleep 3 ;; MOCK: say second")
			a.press("Escape")
			a.wait(10*time.Second, "the transcript tells of the interrupt", func() bool { return a.has(orch.Interrupted) == 1 })
			a.wait(20*time.Second, "the queued turn ends", func() bool { return a.has(orch.TurnEnded) == 1 })
			a.wait(10*time.Second, "idle", func() bool { return a.status() == "idle" })
		}},
		{"the model's server refuses", nil, func(a *agent) {
			a.say("MOCK: error 400")
			a.wait(15*time.Second, "a hook tells that the turn failed", func() bool { return a.has(orch.TurnFailed) > 0 })
			a.wait(10*time.Second, "idle", func() bool { return a.status() == "idle" })
		}},
		{"it is asked to quit", nil, func(a *agent) {
			a.say("MOCK: say hello")
			a.wait(15*time.Second, "the turn ends", func() bool { return a.has(orch.TurnEnded) == 1 })
			a.enter(a.kind.Quit().Line)
			a.wait(15*time.Second, "a hook tells of the end", func() bool { return a.has(orch.SessionEnded) == 1 })
		}},
	}
	for i, turn := range turns {
		t.Run(turn.name, func(t *testing.T) {
			s := tmuxtest.New(t)
			session := s.Session("probe")
			if i%2 == 0 { // a detached session has 80×24; every other turn is seen in 120×40
				s.Run("resize-window", "-t", session.Window, "-x", "120", "-y", "40")
				s.Run("set-option", "-g", "default-size", "120x40")
			}
			a := newAgent(t, b, s, session, "turns", "MOCK: say nothing to do\n", turn.args...)
			a.watched(func() {
				a.wait(30*time.Second, "ready", a.ready)
				turn.do(a)
				if a.on().Name == hooks.Ready {
					hold(tolerance + 500*time.Millisecond) // a state that turns wrong afterwards is found too
				}
			})
		})
	}
}

// dialog waits for a dialog on the screen and for the hook that tells of it, and lets it stand for a while.
func (a *agent) dialog(screen, event string) {
	a.t.Helper()
	a.wait(15*time.Second, "a dialog: "+screen, func() bool { return a.on().Name == screen })
	a.wait(10*time.Second, "its hook", func() bool { return a.has(event) == 1 })
	hold(3 * time.Second)
	if s := a.on().Name; s != screen {
		a.t.Errorf("the dialog is read as %s after a while", s)
	}
}

func (a *agent) answer() string {
	a.mu.Lock()
	path := a.log.path
	a.mu.Unlock()
	answer, err := a.kind.LastAnswer(path)
	if err != nil {
		a.t.Error(err)
	}
	return answer
}

// TestReports lets a real Claude in manual mode, with nothing allowed, report in several forms: no dialog may
// come, what is allowed must reach st as it was meant, and the others must be refused with the line to write.
func TestReports(t *testing.T) {
	b := newBench(t)
	s := tmuxtest.New(t)
	a := newAgent(t, b, s, s.Session("reports"), "reports", "MOCK: say nothing to do\n")
	a.watched(func() {
		a.wait(60*time.Second, "ready", a.ready)
		for i, report := range []struct{ command, called, reason string }{
			{`st worker done --summary 'it costs $5, "sure"' --files a.go`, `worker done --summary it costs $5, "sure" --files a.go`, ""},
			{`st worker progress "half \"done\" for \$5"`, `worker progress half "done" for $5`, ""},
			{`st worker progress 'a' && st worker done --summary 'b'`, `worker progress a worker done --summary b`, ""},
			{`st worker done --summary "uses $HOME"`, "", `Write: st worker done --summary 'uses $HOME' (`},
			{`cd . && st worker done --summary 'x'`, "", `Write: st worker done --summary x (`},
		} {
			a.say("MOCK: bash " + report.command + " ;; MOCK: say done")
			a.wait(30*time.Second, "the turn ends: "+report.command, func() bool { return a.has(orch.TurnEnded) == i+1 })
			if got := a.calls(); got != report.called {
				a.t.Errorf("%s: st was called with %q, want %q", report.command, got, report.called)
			}
			a.wait(10*time.Second, "the transcript has "+report.reason, func() bool { return a.logged(report.reason) })
		}
		if a.dialogs > 0 {
			a.t.Errorf("a person was asked: %d looks at a dialog", a.dialogs)
		}
	})
}

// calls returns the words with which st was called since the last time.
func (a *agent) calls() string {
	a.t.Helper()
	text, err := os.ReadFile(a.called)
	if os.IsNotExist(err) {
		return ""
	}
	if err != nil {
		a.t.Fatal(err)
	}
	if err := os.Remove(a.called); err != nil {
		a.t.Fatal(err)
	}
	return strings.TrimSpace(strings.ReplaceAll(string(text), "\x00", " "))
}

// logged reports whether a text stands in the transcript.
func (a *agent) logged(text string) bool {
	a.mu.Lock()
	path := a.log.path
	a.mu.Unlock()
	all, err := os.ReadFile(path)
	if err != nil {
		return false // not written yet
	}
	return strings.Contains(string(all), text)
}

// stages of a start, in order.
var stages = []string{"session", "ready", "typed", "verified", "submitted", "prompt", "request", "end"}

// TestStarts starts Claude again and again while both cores are busy, hands it a task and compares who is
// thought to have got it with what the model's server was asked: nobody more, nobody less.
func TestStarts(t *testing.T) {
	b := newBench(t)
	n := 10
	if long() {
		n = 100
	}
	busy(t, 2)
	s := tmuxtest.New(t)
	session := s.Session("starts")
	took := map[string][]time.Duration{}
	began := time.Now()
	delivered := map[string]bool{}
	var paths []string
	for i := range n {
		a := newAgent(t, b, s, session, fmt.Sprintf("s%d", i), fmt.Sprintf("MOCK: say start %d is done\n", i))
		paths = append(paths, a.copy)
		at, err := a.run()
		if err != nil {
			t.Errorf("start %d: %v\n%s\n%s", i, err, strings.Join(a.trace, "\n"), tmuxtest.Screen(a.view))
		}
		delivered[a.copy] = !at["prompt"].IsZero()
		if asked := b.asked(t, began, a.copy); len(asked) > 0 {
			at["request"] = asked[0].At
		}
		line := ""
		for _, stage := range stages {
			if !at[stage].IsZero() {
				took[stage] = append(took[stage], at[stage].Sub(a.start))
				line += fmt.Sprintf(" %s %d", stage, at[stage].Sub(a.start).Milliseconds())
			}
		}
		t.Logf("start %d:%s", i, line)
		a.kill()
	}
	lost, invented, twice := 0, 0, 0
	for _, p := range paths {
		asked := len(b.asked(t, began, p))
		switch {
		case delivered[p] && asked == 0:
			invented++
		case !delivered[p]:
			lost++
		case asked > 1:
			twice++
		}
	}
	if lost+invented+twice > 0 {
		t.Errorf("of %d starts %d lost, %d called delivered that the model's server never saw, %d delivered twice", n, lost, invented, twice)
	}
	t.Logf("%d starts with both cores busy, %d lost, %d invented, %d twice; since the window was opened:\n%s", n, lost, invented, twice, table(took))
}

// run takes one start to the end of its turn.
func (a *agent) run() (map[string]time.Time, error) {
	at := map[string]time.Time{}
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	until := func(what string, is func() bool) error {
		for !is() {
			if err := a.look(ctx); err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("never %s", what)
			case <-time.After(20 * time.Millisecond):
			}
		}
		return nil
	}
	if err := until("ready", a.ready); err != nil {
		return at, err
	}
	at["session"], at["ready"] = a.first(orch.SessionStarted), time.Now()
	typed := a.enter("Your task is in the file " + a.copy + " and says how to report.")
	at["typed"], at["verified"], at["submitted"] = typed.Typed, typed.Verified, typed.Submitted
	if err := until("proved by its mark", func() bool { return a.marked() }); err != nil {
		return at, err
	}
	at["prompt"] = a.first(orch.PromptIn)
	err := until("at the end of its turn", func() bool { return a.has(orch.TurnEnded) > 0 })
	at["end"] = a.first(orch.TurnEnded)
	return at, err
}

func (a *agent) first(event string) time.Time {
	for _, e := range a.events {
		if e.Type == event {
			return e.At
		}
	}
	return time.Time{}
}

func (a *agent) marked() bool {
	for _, e := range a.events {
		if e.Type == orch.PromptIn && e.From == "hook" && slices.Contains(e.Marks, a.copy) {
			return true
		}
	}
	return false
}

// asked returns the first request of each conversation whose prompt names the path.
func (b *bench) asked(t *testing.T, since time.Time, path string) []request {
	t.Helper()
	var first []request
	for _, r := range b.requests(t, since) {
		known := slices.ContainsFunc(first, func(f request) bool { return f.Session == r.Session })
		if !known && strings.Contains(r.LastUser, path) {
			first = append(first, r)
		}
	}
	return first
}

// busy keeps n processes computing until the test ends, or this process, however it ends.
func busy(t *testing.T, n int) {
	t.Helper()
	for range n {
		c := exec.Command("/bin/sh", "-c", `while kill -0 "$1"; do i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; done`,
			"busy", fmt.Sprint(os.Getpid()))
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := c.Process.Kill(); err != nil {
				t.Error(err)
			}
			_ = c.Wait() // killed: always an error
		})
	}
}

func table(took map[string][]time.Duration) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "stage\tn\tp50 ms\tp99 ms\tmost ms\t")
	for _, stage := range stages {
		d := slices.Sorted(slices.Values(took[stage]))
		if len(d) == 0 {
			continue
		}
		at := func(p int) int64 { return d[(len(d)-1)*p/100].Milliseconds() }
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t\n", stage, len(d), at(50), at(99), at(100))
	}
	w.Flush()
	return b.String()
}
