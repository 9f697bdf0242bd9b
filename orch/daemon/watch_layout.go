package daemon

import (
	"context"
	"time"

	"st/orch"
	"st/tmux"
)

// layoutPause is how long after a ring a server's layout is noted: what rings once mostly rings again.
const layoutPause = 300 * time.Millisecond

// layout notes what a server shows.
func (w *watch) layout(ctx context.Context, t *tmux.Tmux, server string) error {
	is, err := t.Layout(ctx)
	if err != nil {
		return err
	}
	if is.Server.String() == server {
		w.layouts.keep(is)
	}
	return nil
}

// layoutOver decides on what a server showed that is no longer watched: where it has ended, and somebody may come back
// of it, or the store no longer knows who, that was lost; else nobody wants it back.
func (w *watch) layoutOver(ctx context.Context, server string) {
	_, _, err := serverOf(ctx, server)
	switch {
	case gone(err) && (w.missed(server) || w.layouts.asksOf(server)):
		w.layouts.lose(server)
	case err == nil || gone(err):
		if !w.servers()[server] {
			w.layouts.forget(server)
		}
	case ctx.Err() == nil:
		w.log.Printf("layout of %s: %v", server, err)
	}
}

// missed says that an agent of a server that has ended may come back, or was about to come back there.
func (w *watch) missed(server string) (yes bool) {
	w.state(func(v orch.View) {
		v.Each(orch.ResumableAgents, func(e orch.Entity) bool {
			a, ok := e.(orch.Agent)
			next, _ := v.Entity("agent/" + a.Restart).(orch.Agent)
			yes = ok && (a.Place.Server == server || next.Place.Server == server)
			return !yes
		})
	})
	return yes
}

// layoutsOver decides on what servers showed that have ended while no daemon ran.
func (w *watch) layoutsOver(ctx context.Context) {
	watched := w.servers()
	for _, f := range w.layouts.all() {
		if f.Now != nil && !watched[f.Now.Server.String()] {
			w.layoutOver(ctx, f.Now.Server.String())
		}
	}
}
