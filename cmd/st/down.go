package main

import (
	"context"
	"errors"
	"os"
	"time"

	"st/orch/daemon"
)

var downVerb = &verb{
	name: "down", about: "stop the daemon; agents and windows stay as they are",
	run: down,
}

func init() { register(downVerb) }

// downTime is how long a daemon may take to end after it has agreed to.
const downTime = 15 * time.Second

func down(c *call) (int, error) {
	home, err := daemon.Home(os.Getenv)
	if err != nil {
		return 0, err
	}
	client, err := daemon.Dial(c.ctx, home, c.from())
	if errors.Is(err, daemon.ErrNone) {
		return exitDone, c.downSaid(0)
	}
	if err != nil {
		return 0, err
	}
	pid, err := client.Stop(c.ctx)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(c.ctx, downTime)
	defer cancel()
	if err := client.AwaitStop(ctx); err != nil {
		return 0, err
	}
	return exitDone, c.downSaid(pid)
}

func (c *call) downSaid(pid int) error {
	switch {
	case c.out.json:
		return c.out.data(map[string]any{"pid": pid, "already": pid == 0})
	case pid == 0:
		return c.out.say("nothing to do: no daemon runs")
	}
	return c.out.say("the daemon has ended (pid %d); agents and windows stay as they are", pid)
}
