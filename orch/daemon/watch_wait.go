package daemon

import (
	"context"
	"encoding/json"
	"errors"

	"st/hooks"
	"st/orch"
	"st/orch/proc"
)

// waitBegan notes the wait of an agent, or its watching of a start, before it is answered, so that nothing that it will
// tell is told beside it.
func (d *daemon) waitBegan(ctx context.Context, by orch.Caller, name string, raw json.RawMessage) error {
	if !ofAgent(by) {
		return nil
	}
	began, waits, err := d.waitedFor(name, raw)
	if err != nil || !waits {
		return err
	}
	began.Deaf = deafKinds()
	_, err = d.loop.Do(ctx, orch.Input{At: d.loop.Now(), By: by, What: began})
	var store *StoreError
	if errors.As(err, &store) { // the wait itself needs no store
		d.log.Printf("wait-began: %v", err)
		return nil
	}
	return err
}

// deafKinds are the kinds whose agents hear nothing of a command that outlives their turn.
func deafKinds() map[string]bool {
	deaf := map[string]bool{}
	for _, kind := range hooks.Names() {
		if hooks.IsDeaf(kind) {
			deaf[kind] = true
		}
	}
	return deaf
}

// waitedFor says of what a view tells; false where it is none that is waited for.
func (d *daemon) waitedFor(name string, raw json.RawMessage) (began orch.WaitBegan, waits bool, err error) {
	switch name {
	case "wait":
		began.Args, err = arguments[orch.WaitArgs](raw)
		return began, true, err
	case "question":
		question, err := arguments[orch.MessageArgs](raw)
		began.For = question.Message
		return began, true, err
	case "gate":
		gate, err := arguments[orch.GateArgs](raw)
		began.For = gate.Gate
		return began, began.For != "", err
	case "mailbox":
		args, err := arguments[orch.MailboxArgs](raw)
		return orch.WaitBegan{For: orch.Mailbox, Types: args.Types}, true, err
	case "start":
		start, err := arguments[orch.StartArgs](raw)
		d.loop.Read(func(v orch.View) {
			if o, ok := v.Entity("dispatch/" + start.Dispatch).(orch.Dispatch); ok {
				began.Args.Workers = []string{o.Worker}
			}
		})
		return began, len(began.Args.Workers) > 0, err
	}
	return began, false, nil
}

// ofAgent says that a caller may be an agent.
func ofAgent(by orch.Caller) bool {
	for _, l := range by.Chain {
		if l.Kind != "" {
			return true
		}
	}
	return by.Shared != "" || by.Nonce != ""
}

// waits watches the processes of the agents' waits: until one has ended, it has not told all. A connection that breaks
// says nothing, the next daemon is asked again.
func (w *watch) waits(ctx context.Context) {
	watched := map[proc.Process]bool{}
	w.onChange(ctx, func() {
		open := map[proc.Process]bool{}
		w.state(func(v orch.View) {
			for _, o := range orch.Waits(v) {
				open[proc.Process(o.Process)] = true
			}
		})
		for p := range open {
			if !watched[p] {
				watched[p] = true
				w.watchWait(ctx, p)
			}
		}
		for p := range watched {
			if !open[p] {
				w.procs.Forget(p)
				delete(watched, p)
			}
		}
	})
}

func (w *watch) watchWait(ctx context.Context, p proc.Process) {
	over := func() {
		w.running.Go(func() { w.report(orch.WaitOver{}, patient(ctx, func() error { return w.waitOver(ctx, p) })) })
	}
	err := w.procs.Watch(p, over)
	switch {
	case errors.Is(err, proc.ErrGone):
		over()
	case err != nil:
		w.log.Printf("the end of the wait of process %d will not be seen: %v", p.PID, err)
		over() // what it tells may be told a second time; the other way it would be kept from its agent
	}
}

func (w *watch) waitOver(ctx context.Context, p proc.Process) error {
	_, err := w.do(ctx, orch.Input{At: w.now(), What: orch.WaitOver{Process: orch.Process(p)}})
	return err
}
