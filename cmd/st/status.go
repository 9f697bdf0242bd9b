package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"st/orch"
	"st/orch/daemon"
)

var statusVerb = &verb{
	name: "status", about: "how the daemon is",
	help: "Exit code 8 says that none runs or that it doesn't answer; status never starts one.",
	run:  showStatus,
}

func init() { register(statusVerb) }

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
	login, err := loginIs(c.ctx, home)
	if err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(struct {
			orch.StatusInfo
			Login loginState `json:"login"`
		}{s, login})
	}
	if err := c.out.say("the daemon runs: pid %d, st %s, up %s", s.PID, s.Version, (time.Duration(s.UptimeS) * time.Second).String()); err != nil {
		return 0, err
	}
	return exitDone, c.out.fields([]field{
		{"home", home}, {"servers", strings.Join(s.Servers, ", ")}, {"agents", fmt.Sprint(s.Agents)},
		{"lost", lostLine(s.Lost)}, {"gates", strings.Join(s.Gates, ", ")}, {"at login", login.Path},
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

// lostLine says what was lost and how it comes back.
func lostLine(list []orch.LostInfo) string {
	if len(list) == 0 {
		return ""
	}
	n := 0
	var names []string
	for _, l := range list {
		n += l.Windows
		names = append(names, l.Sessions...)
	}
	return fmt.Sprintf("%s of %s, with a tmux server that has ended; st restore brings them back", some(n, "window"), strings.Join(names, ", "))
}
