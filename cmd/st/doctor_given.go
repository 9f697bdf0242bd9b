package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"st/hooks"
	"st/orch"
	"st/tmux"
)

// givenTime is how long a program that a person has described may take to show its input line.
const givenTime = 20 * time.Second

// givenChecks are about a kind that a person has described. Only where that kind is asked for is its program started:
// nothing else tells whether its mark is the right one.
func (d *doctor) givenChecks(name string) []check {
	kind, err := hooks.Fresh(name)
	if err != nil {
		return []check{{"kind", name, func(context.Context) finding { return badKind(err) }}}
	}
	path, err := exec.LookPath(kind.Program())
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return []check{{"program", name, func(context.Context) finding { return d.absent(kind) }}}
	}
	checks := []check{{"program", name, func(context.Context) finding { return fine("%s", path) }}}
	if d.only == name {
		checks = append(checks, check{"start", name, func(ctx context.Context) finding { return d.tryStart(ctx, kind, path, "") }})
	}
	return checks
}

func badKind(err error) finding {
	var e *orch.Error
	if errors.As(err, &e) {
		return fault(e.Next, "%s", e.Message)
	}
	return fault(nil, "%v", err)
}

// tryStart starts the program on a tmux server of its own and waits until its input line is known. It works in a folder of its
// own, or, where what it asks depends on that, in dir.
func (d *doctor) tryStart(ctx context.Context, kind hooks.Kind, path, dir string) finding {
	own, err := os.MkdirTemp("/tmp", "st-doctor-") // short, as a socket's path has to be
	if err != nil {
		return fault(nil, "%v", err)
	}
	defer os.RemoveAll(own) // what stays lies in /tmp
	launch, err := kind.Launch(hooks.Spec{Program: path, Self: d.self, Home: d.home, Scratch: own, Conversation: uuid.NewString()})
	if err != nil {
		return fault(nil, "%v", err)
	}
	var env []string
	for name, value := range launch.Env {
		env = append(env, name+"="+value)
	}
	t := tmux.At(filepath.Join(own, "tmux")).Bare()
	begun := time.Now()
	pane, err := t.NewSession(ctx, "doctor", cmp.Or(dir, own), launch.Argv, env)
	if err != nil {
		return fault(nil, "it can't be started: %v", err)
	}
	id, err := t.Identity(ctx)
	if err != nil {
		return ended(err)
	}
	defer t.KillServer(context.WithoutCancel(ctx), id) //nolint:errcheck // it may have ended with the program
	return awaitLine(ctx, t, pane.ID, kind, begun)
}

// awaitLine looks at a pane until the input line is up, or a dialog that only a person answers.
func awaitLine(ctx context.Context, t *tmux.Tmux, pane string, kind hooks.Kind, begun time.Time) finding {
	row := ""
	var odd error // what a server says that is just ending, or one that is out of order
	for {
		views, err := t.Look(ctx, pane)
		v, ok := views[pane]
		switch {
		case ctx.Err() != nil && odd != nil:
			return fault(nil, "its pane can't be looked at: %v", odd)
		case ctx.Err() != nil && hooks.IsGiven(kind):
			return fault(nil, "no input line within %v; the cursor stands in %q: does mark fit what is before the input there?", givenTime, row)
		case ctx.Err() != nil:
			return fault(nil, "no input line within %v", givenTime)
		case err == nil && !ok || errors.Is(err, tmux.ErrNoServer):
			return ended(nil)
		case err != nil:
			odd = err
			pauseLook(ctx)
			continue
		}
		odd = nil
		look := hooks.View{
			Rows: v.Rows, CursorX: v.CursorX, CursorY: v.CursorY, CursorVisible: v.CursorVisible, Alternate: v.Alternate, Width: v.Width, Height: v.Height,
		}
		switch s := kind.Look(look); s.Name {
		case hooks.Ready:
			return fine("its input line was up after %v, on a tmux server of its own", time.Since(begun).Round(10*time.Millisecond))
		case hooks.Starting, hooks.Strange:
		default:
			return warning([]string{shellWord(kind.Program())}, "it asks first (%s): %s; a start from here waits for the answer", s.Name, s.Detail)
		}
		if v.CursorY < len(v.Rows) {
			row = strings.TrimRight(clean(v.Rows[v.CursorY]), " ")
		}
		pauseLook(ctx)
	}
}

// pauseLook waits until the next look.
func pauseLook(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(50 * time.Millisecond):
	}
}

func ended(err error) finding {
	if err != nil && !errors.Is(err, tmux.ErrNoServer) {
		return fault(nil, "its pane can't be looked at: %v", err)
	}
	return fault(nil, "it ended at once, without an input line")
}
