package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"st/hooks"
	"st/orch"
	"st/orch/daemon"
	"st/orch/proc"
	"st/tmux"
)

// sight is one look at the program's pane.
type sight struct {
	tmux.View
	hooks.Screen
	ended bool
}

// look looks at the pane, and keeps which processes are the program's.
func (t *trial) look(ctx context.Context) (sight, error) {
	views, err := t.t.Look(ctx, t.pane.ID)
	if err != nil {
		return sight{}, err
	}
	v, ok := views[t.pane.ID]
	s := sight{View: v, ended: !ok || v.Dead}
	if s.ended {
		return s, nil
	}
	t.remember()
	s.Screen = t.kind.Look(hooks.View{
		Rows: v.Rows, CursorX: v.CursorX, CursorY: v.CursorY, CursorVisible: v.CursorVisible, Alternate: v.Alternate, Width: v.Width, Height: v.Height,
	})
	return s, nil
}

// remember adds the processes that run now. Some of a program's outlive its terminal.
func (t *trial) remember() {
	tree, err := proc.Tree(t.pane.PID)
	if err != nil {
		return // a system that tells none: the end of the server has to do
	}
	if self, err := proc.Look(t.pane.PID); err == nil {
		tree = append(tree, self)
	}
	for _, p := range tree {
		if !slices.Contains(t.tree, p.Process) {
			t.tree = append(t.tree, p.Process)
		}
	}
}

// awaitLine looks at the pane until the input line is up, or a dialog that only a person answers.
func (t *trial) awaitLine(ctx context.Context) finding {
	ctx, cancel := context.WithTimeout(ctx, t.wait.line)
	defer cancel()
	row, last := "", ""
	var since time.Time // when the line was seen that stands, zero for none
	for {
		s, err := t.look(ctx)
		if err == nil && s.Name == hooks.Ready && since.IsZero() {
			since = time.Now()
		} else if err == nil && s.Name != hooks.Ready {
			since = time.Time{}
		}
		switch {
		case ctx.Err() != nil && err != nil && !errors.Is(err, context.DeadlineExceeded):
			return fault(nil, "its pane can't be looked at: %v", err)
		case ctx.Err() != nil && hooks.IsGiven(t.kind):
			return fault(nil, "no input line within %v; the cursor stands in %q: does mark fit what is before the input there?", t.wait.line, row)
		case ctx.Err() != nil:
			return fault([]string{shellWord(t.kind.Program())}, "no input line within %v; it shows %q", t.wait.line, headOf(last))
		case err != nil: // a server that is just ending, or out of order
		case s.ended:
			return fault([]string{shellWord(t.kind.Program())}, "it ended at once, without an input line%s", t.lastWords(ctx))
		case s.Name == hooks.Ready && hooks.IsMute(t.kind) && time.Since(since) < t.wait.steady:
		case s.Name == hooks.Ready:
			return fine("its input line was up after %v, on a tmux server of its own", since.Sub(t.begun).Round(10*time.Millisecond))
		case s.Name != hooks.Starting && s.Name != hooks.Strange:
			return t.asksFirst(s.Screen)
		default:
			last = lastShown(s.Rows)
			if s.CursorY < len(s.Rows) {
				row = strings.TrimRight(clean(s.Rows[s.CursorY]), " ")
			}
		}
		pauseLook(ctx)
	}
}

// lastWords is what a program said last before it ended, "" for nothing. tmux writes a line of its own below, for which the
// first may have left the screen.
func (t *trial) lastWords(ctx context.Context) string {
	out, err := t.t.Run(ctx, tmux.Cmd{"capture-pane", "-p", "-S", "-100", "-t", t.pane.ID})
	if last := lastShown(strings.Split(out, "\n")); err == nil && last != "" {
		return ": " + headOf(last)
	}
	return ""
}

// lastShown is the last row with anything in it but tmux's own word on a pane whose program has ended.
func lastShown(rows []string) string {
	for _, row := range slices.Backward(rows) {
		if text := strings.TrimSpace(clean(row)); text != "" && !strings.HasPrefix(text, "Pane is dead") {
			return text
		}
	}
	return ""
}

// asksFirst names a screen that a person has to answer, and how.
func (t *trial) asksFirst(s hooks.Screen) finding {
	program := []string{shellWord(t.kind.Program())}
	about := s.Name
	if s.Detail != "" {
		about += ": " + s.Detail
	}
	switch s.Name {
	case hooks.Login:
		return fault(program, "it is not signed in (%s): start it once by hand and sign in, or give it its key; no start from here gets further", about)
	case hooks.Trust:
		return warning(program, "it asks first whether it may trust %s (%s): start it here once by hand and answer; a start from here waits for that", t.dir, about)
	}
	return warning(program, "it asks first (%s): start it here once by hand and answer; a start from here waits for that", about)
}

// awaitHook waits until a hook has told of an event.
func (t *trial) awaitHook(ctx context.Context, event, came, missing string) finding {
	ctx, cancel := context.WithTimeout(ctx, t.wait.hear)
	defer cancel()
	for {
		told := t.told()
		if slices.ContainsFunc(told, func(e orch.AgentEvent) bool { return e.Type == event }) {
			return fine("%s", came)
		}
		if ctx.Err() != nil {
			if len(told) > 0 {
				missing += "; one has told of " + told[0].Type
			}
			return fault([]string{"st hooks status --agent " + t.kind.Name()}, "%s within %v: no start would be proved", missing, t.wait.hear)
		}
		pauseLook(ctx)
	}
}

// told are the events that the program's hooks have told of: without a daemon they stay as files.
func (t *trial) told() (events []orch.AgentEvent) {
	files, err := filepath.Glob(filepath.Join(daemon.SpoolDir(t.homeOfOwn()), "[0-9]*.json"))
	if err != nil {
		return nil
	}
	for _, f := range files {
		var r daemon.Request
		var body hookBody
		raw, err := os.ReadFile(f)
		if err != nil || json.Unmarshal(raw, &r) != nil || json.Unmarshal(r.Body, &body) != nil || body.Kind != t.kind.Name() {
			continue
		}
		if e, err := t.kind.Decode(body.Payload); err == nil {
			events = append(events, e)
		}
	}
	return events
}

// quit asks the program to end itself.
func (t *trial) quit(ctx context.Context) finding {
	ctx, cancel := context.WithTimeout(ctx, t.wait.quit)
	defer cancel()
	if t.ends.Line == "" && len(t.ends.Keys) == 0 {
		t.signal(syscall.SIGTERM)
		return t.awaitEnd(ctx, "a signal")
	}
	asked, err := daemon.AskToQuit(ctx, t.t, t.pane.ID, t.id, "", t.kind, t.ends)
	if err != nil {
		return fault(nil, "it could not be asked to quit: %v", err)
	}
	if !asked {
		return fault(nil, "it could not be asked to quit: its input line did not stay free")
	}
	return t.awaitEnd(ctx, strings.Join(append(t.ends.Keys, t.ends.Line), " "))
}

// awaitEnd waits until the program has ended.
func (t *trial) awaitEnd(ctx context.Context, by string) finding {
	begun := time.Now()
	for {
		s, err := t.look(ctx)
		switch {
		case err == nil && s.ended:
			return fine("it was asked to by %s, and has ended after %v", strings.TrimSpace(by), time.Since(begun).Round(10*time.Millisecond))
		case ctx.Err() != nil:
			return fault(nil, "it was asked to quit by %s, has not ended within %v, and was killed", strings.TrimSpace(by), t.wait.quit)
		}
		pauseLook(ctx)
	}
}

// signal signals all that were seen of the program and run.
func (t *trial) signal(sig os.Signal) {
	for _, p := range t.living() {
		proc.Signal(p, sig) //nolint:errcheck // it may have ended meanwhile
	}
}

// awaited waits for a condition, at most so long.
func awaited(ctx context.Context, limit time.Duration, is func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for !is() {
		if ctx.Err() != nil {
			return false
		}
		pauseLook(ctx)
	}
	return true
}

// pauseLook waits until the next look.
func pauseLook(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(50 * time.Millisecond):
	}
}
