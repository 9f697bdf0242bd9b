package daemon

import (
	"context"
	"errors"

	"st/orch"
	"st/tmux"
)

// addRising adds to what a restore has done the agents that an earlier one has started, or somebody else, and that are not there
// yet: to whoever asks again, nothing to do would say that all is well.
func (r *restorer) addRising(ctx context.Context, info *orch.RestoreInfo) {
	told := map[string]bool{}
	for _, w := range info.Windows {
		for _, p := range w.Panes {
			told[p.Agent] = true
		}
	}
	var windows []orch.RestoredWindow
	for _, i := range r.rising() {
		if told[i.Agent.ID] {
			continue
		}
		p := orch.RestoredPane{Pane: i.Agent.Pane, Dir: i.Agent.Dir, Kind: i.Agent.Kind, Worker: i.Worker.ID, From: i.From, Agent: i.Agent.ID, Env: []string{}}
		p.What, p.Why = fateOf(i)
		w := r.windowOf(ctx, i.Agent)
		w.What, w.Why, w.Panes = left, beingStarted, []orch.RestoredPane{p}
		windows = append(windows, w)
	}
	if !info.DryRun {
		var panes []*orch.RestoredPane
		for i := range windows {
			panes = append(panes, &windows[i].Panes[0])
		}
		r.await(ctx, panes)
	}
	info.Windows = append(info.Windows, windows...)
}

// windowOf is the window in which an agent sits, as far as it is known.
func (r *restorer) windowOf(ctx context.Context, a orch.AgentInfo) orch.RestoredWindow {
	out := orch.RestoredWindow{Session: a.Session, Window: a.Window, Name: a.Name}
	id, err := tmux.ParseIdentity(a.Server)
	if err != nil {
		return out
	}
	if out.Server = id.Socket; a.Window == "" {
		return out // it is not open yet
	}
	layout, err := tmux.At(id.Socket).Layout(ctx)
	if err != nil && !errors.Is(err, tmux.ErrNoServer) && ctx.Err() == nil {
		r.d.log.Printf("restore: %v", err)
	}
	for _, s := range layout.Sessions {
		for _, w := range s.Windows {
			if w.ID == a.Window && layout.Server == id && !w.Linked {
				out.Session, out.Index, out.Name = s.Name, w.Index, w.Name
			}
		}
	}
	return out
}

// rising are the agents that take up a conversation and do not have it yet.
func (r *restorer) rising() (list []orch.ResumeInfo) {
	r.d.loop.Read(func(v orch.View) { list = orch.Rising(v) })
	return list
}
