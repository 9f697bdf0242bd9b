package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"st/orch"
	"st/orch/daemon"
)

// seenDaemon is how the daemon is: asked once, for all checks.
type seenDaemon struct {
	err    error // why it can't be asked; daemon.ErrNone where none runs
	held   bool  // somebody has the home's lock
	holder int   // who, 0 where that can't be told
	status orch.StatusInfo
	live   []string // ids of live agents
}

// daemonTime is less than a check has: what depends on the daemon is still to be said.
const daemonTime = checkTime / 2

func (d *doctor) seeDaemon() (seen seenDaemon) {
	ctx, cancel := context.WithTimeout(d.call.ctx, daemonTime)
	defer cancel()
	held, holder, err := daemon.LockHeld(d.home)
	if err != nil {
		return seenDaemon{err: err}
	}
	seen.held, seen.holder = held, holder
	client, err := daemon.Dial(ctx, d.home, d.call.from())
	if err == nil {
		err = client.Get(ctx, "status", nil, &seen.status)
	}
	var agents []orch.AgentInfo
	if err == nil {
		err = client.Get(ctx, "agents", orch.ListArgs{}, &agents)
	}
	for _, a := range agents {
		seen.live = append(seen.live, a.ID)
	}
	seen.err = err
	return seen
}

func (d *doctor) checkDaemon(context.Context) finding {
	seen := d.seen()
	switch {
	case d.boxed():
		return unseen()
	case errors.Is(seen.err, daemon.ErrNone) && seen.held:
		return fault([]string{fmt.Sprintf("kill %d", seen.holder), "st up"}, "process %d has the lock of %s and does not listen", seen.holder, d.home)
	case errors.Is(seen.err, daemon.ErrNone):
		return warning([]string{"st up"}, "none runs; the next verb starts one, until then what agents tell waits in the spool")
	case errors.Is(seen.err, context.DeadlineExceeded):
		return fault([]string{"st status"}, "process %d does not answer within %v", seen.holder, daemonTime)
	case seen.err != nil:
		return refusal(seen.err)
	case seen.status.Version != version:
		return warning([]string{"st down", "st up"}, "pid %d is st %s and this is st %s; windows and agents stay as they are", seen.status.PID, seen.status.Version, version)
	}
	up := time.Duration(seen.status.UptimeS) * time.Second
	return fine("pid %d, st %s, up %s, %s, at %s", seen.status.PID, seen.status.Version, up, some(seen.status.Agents, "agent"), daemon.SocketPath(d.home))
}
