package daemon

import (
	"context"
	"slices"

	"st/hooks"
	"st/orch"
	"st/orch/proc"
)

// below ends a caller's chain before a process that serves several agents, and says of which kind that is; "" where
// none stands in it.
func below(chain []orch.Link) ([]orch.Link, string) {
	for n, link := range chain {
		if link.Shared {
			return chain[:n], link.Kind
		}
	}
	return chain, ""
}

// seated makes the caller one below a shared process: what its environment says of its pane and its secret is that
// of whoever started the process, and says nothing of it.
func (c *Callers) seated(ctx context.Context, by orch.Caller, from From) orch.Caller {
	by.Thread, by.Nonce = from.Thread, ""
	if c.Bound == nil || !c.Bound(by.Shared, by.Thread) || by.As != "" {
		by.Seats = c.seats(ctx, by)
	}
	if c.Seat != nil {
		by.Place = c.Seat(by)
	}
	return by
}

// seats finds the agents of a kind in the panes of the server that the caller's environment names.
func (c *Callers) seats(ctx context.Context, by orch.Caller) []orch.Seat {
	if c.Panes == nil || by.Socket == "" {
		return nil
	}
	panes, server, err := c.Panes(ctx, by.Socket)
	if err != nil {
		return nil // a server that can't be asked has nobody who could be told apart
	}
	var seats []orch.Seat
	for _, p := range panes {
		if process, ok := seatIn(p.PID, by.Shared); ok {
			place := p.place()
			place.Server = server
			seats = append(seats, orch.Seat{Process: process, Place: place})
		}
	}
	return seats
}

// seatIn is the topmost process of a kind in a pane.
func seatIn(pid int, kind string) (orch.Process, bool) {
	own, err := proc.Look(pid)
	if err != nil {
		return orch.Process{}, false // it has ended meanwhile
	}
	tree, err := proc.Tree(pid)
	if err != nil {
		return orch.Process{}, false
	}
	tree = slices.Insert(tree, 0, own)
	n := slices.IndexFunc(tree, func(i proc.Info) bool {
		return hooks.KindOf(i.Exe, i.Argv) == kind && hooks.TakesSeat(kind, i.Argv)
	})
	if n < 0 {
		return orch.Process{}, false
	}
	return orch.Process(tree[n].Process), true
}
