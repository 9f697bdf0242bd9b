package daemon

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"st/hooks"
	"st/orch"
	"st/orch/proc"
)

// below ends a caller's chain before a process that serves several agents, and returns that; zero where none stands
// in it.
func below(chain []orch.Link) ([]orch.Link, orch.Link) {
	for n, link := range chain {
		if link.Shared {
			return chain[:n], link
		}
	}
	return chain, orch.Link{}
}

// seated makes the caller one below a shared process: what its environment says of its pane and its secret is that
// of whoever started the process, and says nothing of it.
func (c *Callers) seated(ctx context.Context, by orch.Caller, above proc.Process, from From) orch.Caller {
	by.Thread, by.Nonce = from.Thread, ""
	if c.Bound == nil || !c.Bound(by.Shared, by.Thread) || by.As != "" {
		by.Seats = c.seats(ctx, by, above)
	}
	if c.Seat != nil {
		by.Place = c.Seat(by)
	}
	return by
}

// seats finds the agents of a kind on this machine that the shared process above the caller may serve, those in panes of
// the server that the caller's environment names with their place. One elsewhere may be the caller as well, and so has a
// seat, too.
func (c *Callers) seats(ctx context.Context, by orch.Caller, above proc.Process) []orch.Seat {
	if c.Panes == nil || by.Socket == "" {
		return nil
	}
	panes, server, err := c.Panes(ctx, by.Socket)
	if err != nil {
		return nil // a server that can't be asked has nobody who could be told apart
	}
	all, err := proc.Tree(1)
	if err != nil {
		return nil
	}
	folder := folderOf(by.Shared, above.PID)
	places := map[int]orch.Place{}
	for _, p := range panes {
		places[p.PID] = p.place()
	}
	var seats []orch.Seat
	for _, top := range topmost(all, by.Shared) {
		if its := folderOf(by.Shared, top[0].PID); folder != "" && its != "" && its != folder {
			continue
		}
		seat := orch.Seat{Process: orch.Process(top[0].Process), Thread: hooks.Resumed(by.Shared, top[0].Argv)}
		for _, p := range top {
			if place, ok := places[p.PID]; ok {
				place.Server = server
				seat.Place = place
				break
			}
		}
		seats = append(seats, seat)
	}
	return seats
}

// folderOf is where an agent that runs keeps its settings, and what it shares with others of its kind; "" where that can't
// be told.
func folderOf(kind string, pid int) string {
	s, err := hooks.SettingsOf(kind)
	env := environOf(pid)
	if err != nil || env == nil {
		return ""
	}
	folder, err := s.Folder(func(name string) string {
		for _, kv := range slices.Backward(env) {
			if value, ok := strings.CutPrefix(kv, name+"="); ok {
				return value
			}
		}
		return ""
	})
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		return real
	}
	return folder
}

// topmost are the processes of a kind that take a seat and have no other of that kind above them, each with its
// ancestry.
func topmost(all []proc.Info, kind string) (tops [][]proc.Info) {
	byPID := map[int]proc.Info{}
	for _, p := range all {
		byPID[p.PID] = p
	}
	sits := func(p proc.Info) bool { return hooks.KindOf(p.Exe, p.Argv) == kind && hooks.TakesSeat(kind, p.Argv) }
	for _, p := range all {
		if !sits(p) {
			continue
		}
		chain := []proc.Info{p}
		below := false
		for up, ok := byPID[p.PPID]; ok; up, ok = byPID[up.PPID] {
			below = below || sits(up)
			chain = append(chain, up)
		}
		if !below {
			tops = append(tops, chain)
		}
	}
	return tops
}
