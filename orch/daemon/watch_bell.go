package daemon

import (
	"context"
	"errors"
	"time"

	"st/orch"
	"st/tmux"
)

// closeGrace is how long the process that ran in a pane may take to tell its exit code after the pane is seen
// to be gone.
const closeGrace = 300 * time.Millisecond

// bellPause is how long a bell that could not be hung, or fell off at once, is left alone.
const bellPause = time.Second

// bells keeps a bell on every server in which an agent lives.
func (w *watch) bells(ctx context.Context) {
	hung := map[string]context.CancelFunc{}
	w.onChange(ctx, func() {
		wanted := w.servers()
		for server, take := range hung {
			if !wanted[server] {
				take()
				delete(hung, server)
				w.running.Go(func() { w.layoutOver(ctx, server) })
			}
		}
		for server := range wanted {
			if hung[server] == nil {
				ctx, cancel := context.WithCancel(ctx)
				hung[server] = cancel
				w.running.Go(func() { w.attend(ctx, server) })
			}
		}
	})
	for _, take := range hung {
		take()
	}
}

// attend watches one server until ctx is done or the server is gone. A bell that falls off is hung again;
// what closed meanwhile is seen by a look at the panes.
func (w *watch) attend(ctx context.Context, server string) {
	for ctx.Err() == nil {
		began := time.Now()
		err := w.listen(ctx, server)
		switch {
		case ctx.Err() != nil:
			return
		case gone(err):
			w.serverGone(ctx, server)
			return
		case err != nil:
			w.log.Printf("bell: %v", err)
		}
		if time.Since(began) < bellPause {
			select {
			case <-ctx.Done():
			case <-time.After(bellPause):
			}
		}
	}
}

// listen hangs a bell and looks at the panes each time it rings. It returns when the bell has ended.
func (w *watch) listen(ctx context.Context, server string) (err error) {
	t, _, err := serverOf(ctx, server)
	if err != nil {
		return err
	}
	bell, err := t.Bell(ctx, w.mark, tmux.Changes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bell.Close()) }()
	look := time.NewTimer(0)
	defer look.Stop()
	for rung := true; ; {
		if rung {
			if err := w.closedPanes(ctx, t, server, closeGrace); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
			rung = false
			if err := w.layout(ctx, t, server); err != nil {
				return err
			}
		case _, rung = <-bell.C:
			if !rung {
				_, _, err := serverOf(ctx, server)
				return err
			}
			look.Reset(layoutPause)
		}
	}
}

// closedPanes tells of agents whose pane is gone, and of those whose pane stands elsewhere by now. Whoever ran in a pane
// gets a moment to tell its end first, with the exit code.
func (w *watch) closedPanes(ctx context.Context, t *tmux.Tmux, server string, grace time.Duration) error {
	agents := w.on(server) // before the panes: what opens meanwhile is not missed
	panes, err := t.Panes(ctx)
	if err != nil {
		return err
	}
	there := map[string]tmux.Pane{}
	for _, p := range panes {
		there[p.ID] = p
	}
	for _, a := range agents {
		if p, ok := there[a.Place.Pane]; ok {
			w.moved(ctx, a, p)
			continue
		}
		w.running.Go(func() {
			w.after(ctx, grace, a.ID, orch.AgentExited{Agent: a.ID, Code: -1, Why: "pane_closed"})
		})
	}
	return nil
}

// moved tells of an agent whose pane stands elsewhere than is known.
func (w *watch) moved(ctx context.Context, a orch.Agent, p tmux.Pane) {
	now := placeOf(a.Place.Server, p)
	now.Dir = a.Place.Dir
	if now != a.Place {
		w.tell(ctx, orch.AgentMoved{Agent: a.ID, Place: now})
	}
}

// after tells of an agent's end after a while, unless somebody has by then.
func (w *watch) after(ctx context.Context, d time.Duration, agent string, what orch.AgentExited) {
	if d > 0 {
		select {
		case <-ctx.Done():
			return
		case <-time.After(d):
		}
	}
	w.ended(ctx, agent, what)
}

// ended tells of an agent's end. An end is seen once only: while the store can't be written it is told again,
// beside whoever saw it.
func (w *watch) ended(ctx context.Context, agent string, what orch.AgentExited) {
	what = exitOf(ctx, w.state, what)
	try := func() error {
		if !w.lives(agent) {
			return nil
		}
		_, err := w.do(ctx, orch.Input{At: w.now(), What: what})
		return err
	}
	err := try()
	var store *StoreError
	if !errors.As(err, &store) {
		w.report(what, err)
		return
	}
	w.running.Go(func() { w.report(what, patient(ctx, try)) })
}

// serverGone tells of all agents of a server that has ended.
func (w *watch) serverGone(ctx context.Context, server string) {
	for _, a := range w.on(server) {
		w.ended(ctx, a.ID, orch.AgentExited{Agent: a.ID, Code: -1, Why: "server_gone"})
	}
	w.layoutOver(ctx, server)
}
