package daemon

import (
	"context"
	"slices"
	"syscall"

	"st/orch"
	"st/tmux"
)

// hungUp is the exit code of a program that its terminal's end has ended.
const hungUp = 128 + int(syscall.SIGHUP)

// exitOf says of an agent's end what its server says of it. A pane is closed with its server too, and then the agent may
// come back; and one in which another program was started is not closed. Where an agent has ended by itself that is all.
func exitOf(ctx context.Context, state func(func(orch.View)), e orch.AgentExited) orch.AgentExited {
	if e.Why != "pane_closed" && e.Code != -1 && e.Code != hungUp || e.Why == "server_gone" {
		return e
	}
	var a orch.Agent
	state(func(v orch.View) { a, _ = v.Entity("agent/" + e.Agent).(orch.Agent) })
	if a.Place.Server == "" || a.Place.Pane == "" {
		return e
	}
	t, _, err := server(ctx, a.Place)
	if gone(err) {
		e.Why = "server_gone"
		return e
	}
	if err != nil || e.Why != "pane_closed" {
		return e
	}
	panes, err := t.Panes(ctx)
	if err == nil && slices.ContainsFunc(panes, func(p tmux.Pane) bool { return p.ID == a.Place.Pane && p.PID != a.Runner.PID }) {
		e.Why = "exited"
	}
	return e
}
