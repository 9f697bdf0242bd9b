package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"st/hooks"
	"st/orch"
	"st/tmux"
	"st/tmux/tmuxtest"
)

// agent is a real Claude in a pane, with what is known of it.
type agent struct {
	t       *testing.T
	b       *bench
	kind    hooks.Kind
	tm      *tmux.Tmux
	server  tmux.Identity
	pane    tmux.Pane
	copy    string // the task copy it may read
	called  string // path of what its st was called with
	dialogs int    // looks at which a dialog stood on the screen
	start   time.Time

	mu     sync.Mutex
	events []seen
	hooks  tail
	log    tail
	screen hooks.Screen
	view   tmux.View
	turn   bool
	shown  bool      // the screen has shown this turn running
	since  time.Time // since when the screen contradicts turn; zero while it doesn't
	wrong  []string  // each stretch in which the state was not the truth for too long
	trace  []string
}

const tag = "e2e"

// newAgent starts Claude in a new window, with a launch's own settings and this test binary as hook command.
func newAgent(t *testing.T, b *bench, s *tmuxtest.Server, session tmux.Pane, name, task string, args ...string) *agent {
	t.Helper()
	kind, err := hooks.Lookup("claude")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	scratch := filepath.Join(s.Dir(), name)
	if err := os.Mkdir(scratch, 0o700); err != nil {
		t.Fatal(err)
	}
	a := &agent{t: t, b: b, kind: kind, tm: s.Tmux(), server: s.Identity(), copy: filepath.Join(scratch, "d1.md")}
	a.hooks.path = filepath.Join(scratch, "hooks.jsonl")
	if err := os.WriteFile(a.copy, []byte(task), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := kind.Launch(hooks.Spec{
		Program: filepath.Join(b.home, "bin", kind.Program()), Self: self, Home: scratch,
		Agent: "a1", Dispatch: "d1", Copy: a.copy, Scratch: scratch, Args: args,
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range l.Files {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// The st that the agent's shell finds writes down how it was called, NUL after each word.
	a.called = filepath.Join(scratch, "called")
	bin := filepath.Join(scratch, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\nprintf '%s\\0' \"$@\" >> '" + a.called + "'\n"
	if err := os.WriteFile(filepath.Join(bin, "st"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{dumpFile: a.hooks.path, "BENCH_PATH": bin}
	maps.Copy(env, l.Env)
	var list []string
	for k, v := range env {
		list = append(list, k+"="+v)
	}
	a.start = time.Now()
	a.pane, err = a.tm.Open(t.Context(), tmux.Open{
		Session: session.Session, Name: name, Dir: b.project, Tag: tag, Argv: l.Argv, Env: list,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.kill)
	return a
}

// kill closes the pane, where it isn't closed yet.
func (a *agent) kill() {
	err := a.tm.Kill(context.Background(), a.pane.ID, a.server, tag)
	if err != nil && !errors.Is(err, tmux.ErrNoPane) {
		a.t.Error(err)
	}
}

func toHooks(v tmux.View) hooks.View {
	return hooks.View{
		Rows: v.Rows, CursorX: v.CursorX, CursorY: v.CursorY, CursorVisible: v.CursorVisible,
		Alternate: v.Alternate, Width: v.Width, Height: v.Height,
	}
}

// look takes in everything new: hook calls, lines of the transcript, the screen.
func (a *agent) look(ctx context.Context) error {
	lines, err := a.hooks.lines()
	if err != nil {
		return err
	}
	for _, line := range lines {
		var c call
		if err := json.Unmarshal(line, &c); err != nil {
			return fmt.Errorf("hook line %s: %w", line, err)
		}
		e, err := a.kind.Decode(c.Call)
		if err != nil {
			return err
		}
		a.take(seen{e, c.At, "hook"})
	}
	// A queue of hook calls is read before the transcript, which is written later for the same thing.
	if lines, err = a.log.lines(); err != nil {
		return err
	}
	for _, line := range lines {
		if e, ok := a.kind.Line(line); ok {
			a.take(seen{e, time.Now(), "transcript"})
		}
	}
	views, err := a.tm.Look(ctx, a.pane.ID)
	if err != nil {
		return err
	}
	v, ok := views[a.pane.ID]
	if !ok {
		return fmt.Errorf("%s: %w", a.pane.ID, tmux.ErrNoPane)
	}
	a.see(v)
	return nil
}

func (a *agent) take(e seen) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.events = append(a.events, e)
	a.trace = append(a.trace, fmt.Sprintf("%6.2f %s %s %s%s", e.At.Sub(a.start).Seconds(), e.From, e.Type, e.Tool, e.Reason))
	if e.Transcript != "" && e.Subagent == "" {
		a.log.path = e.Transcript // it may be another after /clear
	}
	if e.Subagent != "" {
		return
	}
	switch e.Type {
	case orch.PromptIn:
		a.turn, a.shown, a.since = true, false, time.Time{}
	case orch.ToolStarted, orch.ToolEnded:
		a.turn, a.since = true, time.Time{}
	case orch.TurnEnded, orch.TurnFailed, orch.Interrupted, orch.SessionEnded:
		a.turn, a.since = false, time.Time{}
	}
}

// How long the screen must contradict what was told last before it is believed: a turn that it shows, none
// where it has shown one, none where it has never shown one. A loaded machine draws late.
const (
	contradicted = time.Second
	neverShown   = 10 * time.Second
)

func (a *agent) see(v tmux.View) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.view, a.screen = v, a.kind.Look(toHooks(v))
	if a.screen.Name == hooks.Permission || a.screen.Name == hooks.Question {
		a.dialogs++
	}
	if a.screen.Name != hooks.Ready || a.screen.Working == a.turn {
		a.shown = a.shown || a.screen.Working
		a.since = time.Time{}
		return
	}
	now, patience := time.Now(), contradicted
	if a.turn && !a.shown {
		patience = neverShown
	}
	if a.since.IsZero() {
		a.since = now
	} else if now.Sub(a.since) > patience {
		a.turn, a.shown, a.since = a.screen.Working, a.screen.Working, time.Time{}
		a.trace = append(a.trace, fmt.Sprintf("%6.2f screen: turn %v", now.Sub(a.start).Seconds(), a.turn))
	}
}

// status is what follows from hooks, transcript and screen, in the words that Claude's own file uses.
func (a *agent) status() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch a.screen.Name {
	case hooks.Permission, hooks.Question:
		return "waiting"
	}
	if a.turn {
		return "busy"
	}
	return "idle"
}

// truth is Claude's own word about itself, in a file that it documents nowhere: good enough to be compared with.
func (a *agent) truth() string {
	text, err := os.ReadFile(filepath.Join(a.b.home, ".claude", "sessions", fmt.Sprintf("%d.json", a.view.PanePID)))
	if err != nil {
		return ""
	}
	var s struct {
		Status string `json:"status"`
	}
	if json.Unmarshal(text, &s) != nil {
		return "" // being written
	}
	return s.Status
}

// tolerance is how long the state may lag behind.
const tolerance = 2 * time.Second

// follow looks every 100 ms until the context ends and notes when the state was not the truth for too long.
func (a *agent) follow(ctx context.Context) error {
	var since time.Time
	for {
		if err := a.look(ctx); err != nil {
			if ctx.Err() != nil || errors.Is(err, tmux.ErrNoPane) && a.has(orch.SessionEnded) > 0 {
				return nil
			}
			return err
		}
		is, should := a.status(), a.truth()
		switch {
		case is == should || should == "":
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		case time.Since(since) > tolerance:
			a.mu.Lock()
			a.wrong = append(a.wrong, fmt.Sprintf("%.2f s after the start, for %.1f s: %s, and Claude says %s",
				since.Sub(a.start).Seconds(), time.Since(since).Seconds(), is, should))
			a.mu.Unlock()
			since = time.Now()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// watched runs f while the agent is followed, and fails for every wrong stretch.
func (a *agent) watched(f func()) {
	a.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.follow(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			a.t.Error(err)
		}
		for _, w := range a.wrong {
			a.t.Error(w)
		}
		if a.t.Failed() {
			a.t.Logf("events:\n%s\nscreen:\n%s", strings.Join(a.trace, "\n"), tmuxtest.Screen(a.view))
		}
	}()
	f()
}

// has reports how many events of a type have come.
func (a *agent) has(event string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for _, e := range a.events {
		if e.Type == event && e.Subagent == "" {
			n++
		}
	}
	return n
}

func (a *agent) on() hooks.Screen {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.screen
}

// wait polls a condition, for as long as limit.
func (a *agent) wait(limit time.Duration, what string, is func() bool) {
	a.t.Helper()
	end := time.Now().Add(limit)
	for !is() {
		if time.Now().After(end) {
			a.t.Fatalf("after %v still not: %s; state %s, Claude says %s", limit, what, a.status(), a.truth())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (a *agent) ready() bool {
	s := a.on()
	return a.has(orch.SessionStarted) > 0 && s.Name == hooks.Ready && s.Draft == "" && !s.Popup
}

// say types a line and waits for the hook that proves it went in.
func (a *agent) say(text string) tmux.Typed {
	a.t.Helper()
	before := a.has(orch.PromptIn)
	typed := a.enter(text)
	a.wait(15*time.Second, "the prompt is proved by a hook: "+text, func() bool { return a.has(orch.PromptIn) > before })
	return typed
}

// enter types a line and submits it. Where the line was pasted and the screen was too slow to show it, the same
// typing is taken up again, as its stage says: it looks first, and pastes only into an empty line.
func (a *agent) enter(text string) tmux.Typed {
	a.t.Helper()
	o := tmux.Typing{
		Server: a.server, Tag: tag, Text: text,
		Read: func(v tmux.View) (string, bool, string) {
			s := a.kind.Look(toHooks(v))
			return s.Draft, s.Name == hooks.Ready && !s.Popup, s.Name
		},
	}
	for try := 1; ; try++ {
		typed, err := a.tm.Type(a.t.Context(), a.pane.ID, o)
		if err != nil {
			a.t.Fatal(err)
		}
		if typed.Outcome == tmux.Submitted {
			return typed
		}
		if try == 5 || !typed.Stands {
			a.t.Fatalf("%q is %s: %s\n%s", text, typed.Outcome, typed.Why, tmuxtest.Screen(a.view))
		}
		a.t.Logf("%q is %s: %s; once more", text, typed.Outcome, typed.Why)
		o.Resume = tmux.StagePasting
	}
}

func (a *agent) press(keys ...string) {
	a.t.Helper()
	if err := a.tm.Keys(a.t.Context(), a.pane.ID, keys...); err != nil {
		a.t.Fatal(err)
	}
}

// hold stays for a while and lets follow find what is wrong in it.
func hold(d time.Duration) { time.Sleep(d) }
