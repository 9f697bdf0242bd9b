package daemon

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"st/hooks"
	"st/orch"
	"st/orch/proc"
	"st/tmux"
)

// adopt finds out which agent is meant that is to become a worker, and gives the order to the loop.
func (d *daemon) adopt(ctx context.Context, in orch.Input, body json.RawMessage) (any, error) {
	var o orch.WorkerAdopt
	if err := json.Unmarshal(body, &o); err != nil {
		return nil, badOrder(err)
	}
	in.What = o
	asked := orch.WorkerAdopt{Target: o.Target, Name: o.Name, Task: o.Task}
	return d.launch(ctx, in, asked, "", func() (orch.What, error) { return d.doer.prepareAdopt(ctx, in.By, asked) })
}

// prepareAdopt finds the agents that an order to adopt means, and what they are like.
func (d *doer) prepareAdopt(ctx context.Context, by orch.Caller, o orch.WorkerAdopt) (orch.WorkerAdopt, error) {
	if err := d.checkTmux(ctx); err != nil {
		return o, err
	}
	panes, err := d.panesNamed(ctx, by, o.Target)
	if err != nil {
		return o, err
	}
	for _, p := range panes {
		o.Found = append(o.Found, p.agents()...)
	}
	o.May, o.Command = d.config.may(), d.self
	if len(o.Found) != 1 {
		return o, nil // which is refused
	}
	f := o.Found[0]
	kind, err := hooks.Lookup(f.Kind)
	if err != nil {
		return o, err
	}
	if env := environOf(f.Process.PID); len(env) > 0 {
		o.Command = d.command(env)
	}
	o.Runs = kind.Runs(d.textOf(o.Task))
	o.CopyDir = d.filesFor(kind, f)
	return o, nil
}

// filesFor is the folder of what an agent of a kind is to read that was not started by us.
func (d *doer) filesFor(kind hooks.Kind, f orch.PaneAgent) string {
	in := hooks.ReadsIn(kind, cmp.Or(d.logOf(f.Process), f.Log))
	if hooks.ReadsBelow(kind) {
		in = f.Place.Dir
	}
	if filepath.IsAbs(in) && plainPath().MatchString(in) {
		return filepath.Join(in, ownDir, d.mark)
	}
	return copyDir(d.home)
}

// logOf is the path of the own log of the agent that is a process, "" where none is known.
func (d *doer) logOf(p orch.Process) (path string) {
	d.state(func(v orch.View) {
		v.Each(orch.AtProcess(p), func(e orch.Entity) bool {
			if a, ok := e.(orch.Agent); ok && a.Proc == p && a.Gone == "" {
				path = a.Transcript
			}
			return path == ""
		})
	})
	return path
}

// ownDir is the folder, below that in which an agent works, of the files that it is to read, where it may read no other
// without asking.
const ownDir = ".st"

// foundPane is a pane of a server that is known.
type foundPane struct {
	tmux.Pane
	server string
}

// agents are the agent programs in a pane that run below no other.
func (p foundPane) agents() (found []orch.PaneAgent) {
	if p.Dead {
		return nil
	}
	top, err := proc.Look(p.PID)
	if err != nil {
		return nil // it has ended meanwhile
	}
	tree, err := proc.Tree(p.PID)
	if err != nil {
		return nil
	}
	tree = append([]proc.Info{top}, tree...)
	kinds := map[int]string{}
	for _, info := range tree {
		kinds[info.PID] = hooks.KindOf(info.Exe, info.Argv)
	}
	for _, info := range tree {
		link := linkOf(info)
		if link.Kind == "" || link.Shared || inside(tree, info, kinds) {
			continue
		}
		f := orch.PaneAgent{
			Process: link.Process, Kind: link.Kind, Place: placeOf(p.server, p.Pane), Lifts: link.Lifts, Mate: hooks.IsMate(link.Kind, info.Argv),
			Model: link.Model, Flags: link.Flags, Last: hooks.TakeUpLast(link.Kind),
		}
		env := environOf(info.PID)
		f.Conversation, f.Log = hooks.TalkOf(link.Kind, info.PID, info.Argv, func(name string) string { return lastOf(env, name) })
		found = append(found, f)
	}
	return found
}

// inside tells that a process runs below an agent's.
func inside(tree []proc.Info, p proc.Info, kinds map[int]string) bool {
	for range tree { // no further up than there are processes
		i := slices.IndexFunc(tree, func(o proc.Info) bool { return o.PID == p.PPID })
		if i < 0 {
			return false
		}
		if p = tree[i]; kinds[p.PID] != "" {
			return true
		}
	}
	return false
}

// panesNamed are the panes that a target means: "%3" and "@2" on the caller's server, "session:window" and a window's name on
// any server that is known, an agent's id or name wherever it sits.
func (d *doer) panesNamed(ctx context.Context, by orch.Caller, target string) ([]foundPane, error) {
	all, err := d.knownPanes(ctx, by)
	if err != nil {
		return nil, err
	}
	var places []orch.Place
	d.state(func(v orch.View) { places = orch.KnownAgents(v, target) })
	home := all[:0:0]
	for _, p := range all {
		if id, err := tmux.ParseIdentity(p.server); err == nil && id.Socket == by.Socket {
			home = append(home, p)
		}
	}
	session, window, split := strings.Cut(target, ":")
	var found []foundPane
	switch {
	case strings.HasPrefix(target, "%"):
		found = picked(home, func(p foundPane) bool { return p.ID == target })
	case strings.HasPrefix(target, "@"):
		found = picked(home, func(p foundPane) bool { return p.Window == target })
	case len(places) > 0:
		found = picked(all, func(p foundPane) bool {
			return slices.ContainsFunc(places, func(o orch.Place) bool { return o.Server == p.server && o.Pane == p.ID })
		})
	case split:
		found = picked(all, func(p foundPane) bool { return p.SessionName == session && p.called(window) })
	default:
		found = picked(all, func(p foundPane) bool { return p.called(target) })
	}
	if len(found) == 0 {
		return nil, noPane(target)
	}
	return found, nil
}

func noPane(target string) error {
	return &orch.Error{
		Code: "agent_not_found", Message: fmt.Sprintf("%q: no pane, window or agent is called so", target),
		Hint: "a pane is %3, a window @2 or session:window, an agent a4 or its name",
		Next: []string{"st agents", "tmux list-panes -a"},
	}
}

func picked(all []foundPane, fits func(foundPane) bool) (list []foundPane) {
	for _, p := range all {
		if fits(p) {
			list = append(list, p)
		}
	}
	return list
}

// called tells whether the pane's window has that name, or in its session that id.
func (p foundPane) called(window string) bool {
	return p.Window == window || p.WindowName == window || strings.NewReplacer(`\\`, `\`, `\$`, `$`).Replace(p.WindowName) == window
}

// knownPanes lists the panes of the caller's server and of all in which agents live. A server that doesn't run has none.
func (d *doer) knownPanes(ctx context.Context, by orch.Caller) (list []foundPane, err error) {
	sockets := agentSockets(d.state)
	if by.Socket != "" && !slices.Contains(sockets, by.Socket) {
		sockets = append([]string{by.Socket}, sockets...)
	}
	for _, socket := range sockets {
		t := tmux.At(socket)
		id, err := t.Identity(ctx)
		if errors.Is(err, tmux.ErrNoServer) {
			continue
		}
		if err != nil {
			return nil, err
		}
		panes, err := t.Panes(ctx)
		if err != nil && !gone(err) {
			return nil, err
		}
		for _, p := range panes {
			list = append(list, foundPane{p, id.String()})
		}
	}
	return list, nil
}
