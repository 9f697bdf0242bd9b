package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"st/orch"
	"st/orch/daemon"
)

func init() {
	register(&verb{
		name: "status", about: "how the daemon is",
		help: "Exit code 8 says that none runs or that it doesn't answer; status never starts one.",
		run:  showStatus,
	})
}

func showStatus(c *call) (int, error) {
	home, err := daemon.Home(os.Getenv)
	if err != nil {
		return 0, err
	}
	client, err := daemon.Dial(c.ctx, home, c.from())
	if err != nil {
		return 0, err
	}
	var s orch.StatusInfo
	if err := client.Get(c.ctx, "status", nil, &s); err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(s)
	}
	if err := c.out.say("the daemon runs: pid %d, st %s, up %s", s.PID, s.Version, (time.Duration(s.UptimeS) * time.Second).String()); err != nil {
		return 0, err
	}
	return exitDone, c.out.fields([]field{
		{"home", home}, {"servers", strings.Join(s.Servers, ", ")}, {"agents", fmt.Sprint(s.Agents)},
		{"spool", fmt.Sprintf("%d waiting", s.Spool)}, {"store", fmt.Sprintf("%s, %s", s.Store, size(s.StoreB))}, {"memory", size(s.RSS)},
	})
}

// size is a number of bytes for people.
func size(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}
