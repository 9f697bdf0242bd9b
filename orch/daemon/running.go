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

// Tell records a stage durably, before what it names is begun. It returns an error where that can't be
// done, and then the stage must not be begun.
func (r Running) Tell(ctx context.Context, name string) error {
	_, err := r.loop.put(ctx, ask{stage: &stage{effect: r.ID, name: name}})
	return err
}

// Done hands in the result; with its commit the effect is no longer owed. While the store can't be written
// it tries again until ctx ends; an effect whose result never got in is resumed by the next daemon.
func (r Running) Done(ctx context.Context, what orch.What) error {
	for {
		_, err := r.loop.Do(ctx, orch.Input{At: r.loop.Now(), Effect: r.ID, What: what})
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
