package daemon

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"st/orch"
	"st/orch/journal"
)

// Running is an effect that is being carried out.
type Running struct {
	orch.Effect
	// Resumed says that an earlier daemon started it and never learned how it ended: look before doing
	// anything twice. Stage is what it last told by then.
	Resumed bool
	Stage   string
	loop    *Loop
}

// Tell records a stage durably, before what it names is begun. While the store can't be written it tries
// again until ctx ends. After an error the stage must not be begun: the effect returns, and the next daemon
// takes it up.
func (r Running) Tell(ctx context.Context, name string) error {
	return patient(ctx, func() error {
		_, err := r.loop.put(ctx, ask{stage: &stage{effect: r.ID, name: name}})
		return err
	})
}

// Done hands in the result; with its commit the effect is no longer owed. While the store can't be written
// it tries again until ctx ends; an effect whose result never got in is resumed by the next daemon. A
// refusal by Step is returned, but settles the effect all the same.
func (r Running) Done(ctx context.Context, what orch.What) error {
	at := r.loop.Now()
	return patient(ctx, func() error {
		_, err := r.loop.Do(ctx, orch.Input{At: at, Effect: r.ID, What: what})
		return err
	})
}

// patient repeats what fails because the store can't be written.
func patient(ctx context.Context, f func() error) error {
	for {
		err := f()
		var store *StoreError
		if !errors.As(err, &store) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(retryEvery):
		}
	}
}

// start runs an effect that is marked as started.
func (l *Loop) start(e journal.Effect, resumed bool) {
	l.effects.Add(1)
	go func() {
		defer l.effects.Done()
		defer func() {
			if p := recover(); p != nil {
				l.Log(fmt.Sprintf("effect %d, %s: panic: %v\n%s", e.ID, e.Do.Type(), p, debug.Stack()))
			}
		}()
		l.Effect(l.ctx, Running{Effect: e.Effect, Resumed: resumed, Stage: e.Stage, loop: l})
	}()
}
