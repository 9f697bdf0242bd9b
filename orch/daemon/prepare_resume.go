package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"st/orch"
	"st/tmux"
)

// RestartOrder is what a verb sends to have a worker's conversation taken up in a new window.
type RestartOrder struct {
	Worker string     `json:"worker"`
	Yes    bool       `json:"yes,omitempty"`
	Start  StartOrder `json:"start"` // its place, environment and program
}

// Type is the name on the wire.
func (RestartOrder) Type() string { return orch.WorkerRestart{}.Type() }

// restart takes up a worker's conversation in a new window: the worker's own session, where that is there.
func (d *daemon) restart(ctx context.Context, in orch.Input, body json.RawMessage) (any, error) {
	var o RestartOrder
	if err := json.Unmarshal(body, &o); err != nil {
		return nil, badOrder(err)
	}
	in.What = orch.WorkerRestart{}
	asked := RestartOrder{Worker: o.Worker, Yes: o.Yes, Start: o.Start.asked().(StartOrder)}
	return d.launch(ctx, in, asked, o.Start.EnvFile, func() (orch.What, error) {
		if isPane(o.Worker) {
			return d.prepareFoundRestart(ctx, in.By, o)
		}
		was, err := d.retryOf(in.By, o.Worker)
		if err != nil {
			return nil, err
		}
		s := o.Start
		s.Kind, s.Dir, s.Model, s.Args, s.Spec = was.Kind, was.Dir, was.Model, was.Args, ""
		by := in.By
		if s.Session == "" {
			by.Place = d.placeOfWorker(ctx, in.By, o.Worker)
		}
		start, err := d.doer.prepareStart(ctx, by, s)
		var refusal *orch.Error
		if errors.As(err, &refusal) && refusal.Code == "not_in_tmux" {
			refusal.Next = []string{"st restore", "tmux new-session -d -s work"}
		}
		return orch.WorkerRestart{Worker: o.Worker, Yes: o.Yes, Start: start}, err
	})
}

// isPane says that an agent is named by its pane.
func isPane(target string) bool { return strings.HasPrefix(target, "%") }

// prepareFoundRestart finds the agent in a pane that is to be started again, and how.
func (d *daemon) prepareFoundRestart(ctx context.Context, by orch.Caller, o RestartOrder) (orch.What, error) {
	f, err := d.agentIn(ctx, by, o.Worker)
	if err != nil {
		return nil, err
	}
	s := o.Start
	s.Kind, s.Dir, s.Model, s.Args, s.Spec = f.Kind, f.Place.Dir, "", nil, ""
	if s.Session == "" {
		by.Place = f.Place
	}
	start, err := d.doer.prepareStart(ctx, by, s)
	start.Name = f.Place.WindowName
	return orch.WorkerRestart{Worker: o.Worker, Yes: o.Yes, Found: &f, Start: start}, err
}

// paneAgent tells of the agent in a pane.
func (d *daemon) paneAgent(ctx context.Context, by orch.Caller, raw json.RawMessage) (any, error) {
	args, err := arguments[orch.WorkerArgs](raw)
	if err != nil {
		return nil, err
	}
	return d.agentIn(ctx, by, args.Worker)
}

// agentIn is the one agent in a pane of the caller's server.
func (d *daemon) agentIn(ctx context.Context, by orch.Caller, pane string) (orch.PaneAgent, error) {
	o, err := d.doer.prepareAdopt(ctx, by, orch.WorkerAdopt{Target: pane})
	if err != nil {
		return orch.PaneAgent{}, err
	}
	if len(o.Found) != 1 {
		return orch.PaneAgent{}, &orch.Error{Code: "agent_not_found", Message: fmt.Sprintf("%d agents run in %s, not one", len(o.Found), pane), Next: []string{"st agents"}}
	}
	return o.Found[0], nil
}

// placeOfWorker is the session in which a worker was, where that is there; after the end of its server the one of the same
// name at the same socket; else the caller's own.
func (d *daemon) placeOfWorker(ctx context.Context, by orch.Caller, worker string) orch.Place {
	var was orch.Place
	d.loop.Read(func(v orch.View) { was = orch.PlaceOfWorker(v, by, worker) })
	id, err := tmux.ParseIdentity(was.Server)
	if err != nil {
		return by.Place
	}
	sessions, err := tmux.At(id.Socket).Sessions(ctx)
	if err != nil {
		return by.Place
	}
	is, err := tmux.At(id.Socket).Identity(ctx)
	if err != nil {
		return by.Place
	}
	for _, s := range sessions {
		if is == id && s.ID == was.Session || is != id && s.Name == was.SessionName {
			return orch.Place{Server: is.String(), Session: s.ID, SessionName: s.Name}
		}
	}
	return by.Place
}
