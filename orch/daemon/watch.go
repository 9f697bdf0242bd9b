package daemon

import (
	"context"
	"errors"
	"log"
	"sync"
	"time"

	"st/orch"
	"st/orch/proc"
	"st/tmux"
)

// watch finds out what no hook tells: what stands on screens, which panes close, which processes end, what
// agents write into their own logs. Each of them sleeps until something happens: while all agents are
// settled nothing is asked and no process is started.
type watch struct {
	mark      string
	state     func(func(orch.View))
	subscribe func() (<-chan uint64, func())
	do        func(context.Context, orch.Input) (any, error)
	now       func() time.Time
	log       *log.Logger
	procs     *proc.Watcher
	layouts   *layouts
	came      func(ctx context.Context, socket string) // a server has come at which somebody is awaited
	running   sync.WaitGroup
}

func newWatch(d *daemon) (*watch, error) {
	procs, err := proc.NewWatcher()
	if err != nil {
		return nil, err
	}
	return &watch{
		mark: d.doer.mark, state: d.loop.Read, subscribe: d.loop.Subscribe, do: d.loop.Do, now: d.loop.Now,
		log: d.log, procs: procs, layouts: d.layouts, came: d.restorer.came,
	}, nil
}

// close waits until everything has ended. run's ctx must have ended, or run not been called.
func (w *watch) close() {
	w.running.Wait()
	if err := w.procs.Close(); err != nil {
		w.log.Printf("watch: %v", err)
	}
}

// run watches until ctx is done.
func (w *watch) run(ctx context.Context) {
	w.running.Go(func() { w.exits(ctx) })
	w.running.Go(func() { w.bells(ctx) })
	w.running.Go(func() { w.returns(ctx) })
	w.running.Go(func() { w.screens(ctx) })
	w.running.Go(func() { w.logs(ctx) })
	w.running.Go(func() { w.waits(ctx) })
	w.running.Go(func() { w.gates(ctx) })
}

// onChange calls f at once and after each change of the state, until ctx is done.
func (w *watch) onChange(ctx context.Context, f func()) {
	changed, end := w.subscribe()
	defer end()
	for {
		f()
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}

// tell brings in a fact that we found.
func (w *watch) tell(ctx context.Context, what orch.What) {
	_, err := w.do(ctx, orch.Input{At: w.now(), What: what})
	w.report(what, err)
}

// report notes a fact that was not taken. That the daemon ends is no reason: the next one looks for itself.
func (w *watch) report(what orch.What, err error) {
	if err != nil && !errors.Is(err, ErrStopped) && !errors.Is(err, context.Canceled) {
		w.log.Printf("%s: %v", what.Type(), err)
	}
}

// live lists the agents whose process is not known to have ended.
func (w *watch) live() (list []orch.Agent) {
	w.state(func(v orch.View) { list = orch.Live(v) })
	return list
}

// lives reports whether an agent is not known to have ended.
func (w *watch) lives(agent string) (yes bool) {
	w.state(func(v orch.View) {
		a, ok := v.Entity("agent/" + agent).(orch.Agent)
		yes = ok && a.Gone == ""
	})
	return yes
}

// inventory compares the agents that should live with what is there, after a time in which nobody watched.
func (w *watch) inventory(ctx context.Context) {
	for server := range w.servers() {
		t, _, err := serverOf(ctx, server)
		if gone(err) {
			w.serverGone(ctx, server)
			continue
		}
		if err == nil {
			err = w.closedPanes(ctx, t, server, 0)
		}
		if err != nil {
			w.log.Printf("inventory: %v", err)
		}
	}
	for _, a := range w.live() {
		if a.Proc.PID != 0 && !alive(a.Proc) {
			w.ended(ctx, a.ID, orch.AgentExited{Agent: a.ID, Code: -1, Why: "exited"})
		}
	}
}

// servers are those in which live agents have a pane.
func (w *watch) servers() map[string]bool {
	servers := map[string]bool{}
	for _, a := range w.live() {
		if a.Place.Server != "" && a.Place.Pane != "" {
			servers[a.Place.Server] = true
		}
	}
	return servers
}

// on lists the live agents that have a pane on a server.
func (w *watch) on(server string) (list []orch.Agent) {
	for _, a := range w.live() {
		if a.Place.Server == server && a.Place.Pane != "" {
			list = append(list, a)
		}
	}
	return list
}

func serverOf(ctx context.Context, identity string) (*tmux.Tmux, tmux.Identity, error) {
	return server(ctx, orch.Place{Server: identity})
}
