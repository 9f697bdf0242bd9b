package daemon

import (
	"context"
	"errors"
	"time"

	"st/orch"
	"st/orch/proc"
)

// exitGrace is how long the process that runs an agent may take to tell how it ended. It reaps the agent and
// knows the code; we only see that it is gone.
const exitGrace = time.Second

// exits watches the processes of all live agents, and those of their panes.
func (w *watch) exits(ctx context.Context) {
	watched := map[proc.Process]bool{}
	w.onChange(ctx, func() {
		wanted := map[proc.Process]bool{}
		for _, a := range w.live() {
			for _, p := range []orch.Process{a.Proc, a.Runner} {
				if p.PID == 0 {
					continue
				}
				key := proc.Process(p)
				wanted[key] = true
				if !watched[key] {
					watched[key] = true
					w.watchExit(ctx, key, a)
				}
			}
		}
		for p := range watched {
			if !wanted[p] {
				w.procs.Forget(p)
				delete(watched, p)
			}
		}
	})
}

func (w *watch) watchExit(ctx context.Context, p proc.Process, a orch.Agent) {
	ended := func() { w.running.Go(func() { w.exited(ctx, p, a.ID) }) }
	err := w.procs.Watch(p, ended)
	switch {
	case errors.Is(err, proc.ErrGone):
		ended()
	case err != nil:
		w.log.Printf("agent %s: the end of process %d will not be seen: %v", a.ID, p.PID, err)
	}
}

// exited tells of an agent's end. While its pane's process lives, that one knows more and comes first.
func (w *watch) exited(ctx context.Context, p proc.Process, agent string) {
	var a orch.Agent
	w.state(func(v orch.View) { a, _ = v.Entity("agent/" + agent).(orch.Agent) })
	what := orch.AgentExited{Agent: agent, Code: -1, Why: "exited"}
	grace := time.Duration(0)
	switch {
	case p == proc.Process(a.Runner):
		what.Why = "pane_closed"
	case p != proc.Process(a.Proc):
		return // bound to another process since
	case alive(a.Runner):
		grace = exitGrace
	}
	w.after(ctx, grace, agent, what)
}
