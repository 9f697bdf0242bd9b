package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"st/orch"
	"st/tmux"
)

// AttachOrder is what a verb sends to say in which pane a worker runs again.
type AttachOrder struct {
	Worker string `json:"worker"`
	Pane   string `json:"pane"` // of the caller's own server
}

// Type is the name on the wire.
func (AttachOrder) Type() string { return orch.WorkerAttach{}.Type() }

// attach finds out what runs in the pane that the caller has named, and gives the order to the loop.
func (d *daemon) attach(ctx context.Context, in orch.Input, body json.RawMessage) (any, error) {
	var o AttachOrder
	if err := json.Unmarshal(body, &o); err != nil {
		return nil, badOrder(err)
	}
	content, err := contentOf(in.By, o)
	if err != nil {
		return nil, err
	}
	in.What = orch.WorkerAttach{Worker: o.Worker}
	if kept, again, err := d.loop.Again(in, content); again {
		return kept, err
	}
	found, err := agentAt(ctx, in.By.Socket, o.Pane)
	if err != nil {
		return nil, err
	}
	in.What = orch.WorkerAttach{Worker: o.Worker, Found: found}
	return d.loop.DoAs(ctx, in, content)
}

// agentAt is the agent program that runs in a pane.
func agentAt(ctx context.Context, socket, pane string) (orch.AgentFound, error) {
	t := tmux.At(socket)
	id, err := t.Identity(ctx)
	var panes []tmux.Pane
	if err == nil {
		panes, err = t.Panes(ctx)
	}
	switch {
	case errors.Is(err, tmux.ErrNotInstalled):
		return orch.AgentFound{}, TmuxFault(err)
	case err != nil && !gone(err):
		return orch.AgentFound{}, err
	case err != nil || !slices.ContainsFunc(panes, func(p tmux.Pane) bool { return p.ID == pane }):
		return orch.AgentFound{}, &orch.Error{
			Code: "pane_not_found", Message: fmt.Sprintf("pane %s: no such pane on the tmux server at %s", pane, socket),
			Next: []string{"tmux list-panes -a", "st agents"},
		}
	}
	list, err := foundAgents(id.String(), panes)
	if err != nil {
		return orch.AgentFound{}, err
	}
	i := slices.IndexFunc(list, func(f orch.AgentFound) bool { return f.Place.Pane == pane })
	if i < 0 {
		return orch.AgentFound{}, &orch.Error{
			Code: "no_agent", Message: fmt.Sprintf("pane %s: no agent runs in it", pane), Next: []string{"st agents"},
		}
	}
	return list[i], nil
}
