package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"

	"github.com/google/uuid"

	"st/hooks"
	"st/orch/proc"
)

// end ends the server and all that was seen of the program, each process only while it is the very one, and takes away what
// the trial has written.
func (t *trial) end(ctx context.Context) error {
	if t.pane.PID != 0 {
		t.remember()
	}
	if !t.id.IsZero() {
		ctx, cancel := context.WithTimeout(ctx, t.wait.end)
		defer cancel()
		t.t.KillServer(ctx, t.id) //nolint:errcheck // it may have ended by itself
	}
	for _, sig := range []os.Signal{nil, syscall.SIGTERM, syscall.SIGKILL} { // first the end of the terminal has to do
		if sig != nil {
			t.signal(sig)
		}
		awaited(ctx, t.wait.end, func() bool { return len(t.living()) == 0 })
	}
	if left := t.living(); len(left) > 0 {
		return fmt.Errorf("process %d of %s could not be ended", left[0].PID, t.kind.Program())
	}
	kept := t.forget(ctx)
	var err error
	awaited(ctx, t.wait.end, func() bool { // a hook of it may still write there
		err = os.RemoveAll(t.own)
		return err == nil
	})
	return errors.Join(kept, err)
}

// living are those of the program's processes that run.
func (t *trial) living() []proc.Process {
	return slices.DeleteFunc(slices.Clone(t.tree), func(p proc.Process) bool { return !proc.Alive(p) })
}

// forget has the program delete the conversations of the trial, where it keeps them.
func (t *trial) forget(ctx context.Context) error {
	tried, ok := t.kind.(hooks.Tried)
	if !ok {
		return nil
	}
	done := map[string]bool{}
	for _, e := range t.told() {
		if uuid.Validate(e.Conversation) != nil || done[e.Conversation] {
			continue
		}
		done[e.Conversation] = true
		args := tried.Forget(e.Conversation)
		if len(args) == 0 {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, t.wait.quit)
		defer cancel()
		if out, err := probe(ctx, t.env, t.path, args...); err != nil {
			return &leftError{typed(append([]string{t.kind.Program()}, args...)), fmt.Errorf("%s (%w)", headOf(lastLine(out)), err)}
		}
	}
	return nil
}

// leftError says what a trial has left behind, and the line that takes it away.
type leftError struct {
	next string
	err  error
}

func (e *leftError) Error() string {
	return "the empty conversation of this start is left: " + e.err.Error()
}
