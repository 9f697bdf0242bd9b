package main

import (
	"os"

	"github.com/urfave/cli/v2"

	"st/orch"
	"st/orch/daemon"
)

var upVerb = &verb{
	name: "up", about: "start the daemon",
	help: "Any verb that needs the daemon starts it; up only makes sure that it is there. With --at-login it is there after each\n" +
		"login too, so that what a reboot has ended can be restored: a systemd user unit, on macOS a launchd agent, is written,\n" +
		"named and enabled. --no-login takes it away; the daemon stays as it is.",
	flags: func() []cli.Flag {
		return []cli.Flag{
			&cli.BoolFlag{Name: "at-login", Usage: "start it at each login too"}, &cli.BoolFlag{Name: "no-login", Usage: "no longer start it at a login"},
		}
	},
	codes: []int{exitRefused},
	run:   up,
}

func init() { register(upVerb) }

func up(c *call) (int, error) {
	home, err := daemon.Home(os.Getenv)
	if err != nil {
		return 0, err
	}
	if c.Bool("no-login") || c.Bool("at-login") {
		if err := c.atLogin(home); err != nil || c.Bool("no-login") {
			return exitDone, err
		}
	}
	_, err = daemon.Dial(c.ctx, home, c.from())
	already := err == nil
	var s orch.StatusInfo
	if err := c.get("status", nil, &s); err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(struct {
			orch.StatusInfo
			Already bool `json:"already"`
		}{s, already})
	}
	if already {
		return exitDone, c.out.say("nothing to do: the daemon runs (pid %d)", s.PID)
	}
	return exitDone, c.out.say("the daemon runs now (pid %d, %s)", s.PID, home)
}

// atLogin makes or takes away what starts the daemon at a login.
func (c *call) atLogin(home string) error {
	if c.Bool("no-login") && c.Bool("at-login") {
		return c.misuse("--at-login and --no-login exclude each other")
	}
	if isAgent() {
		return &orch.Error{Code: "refused_agent", Message: "what starts at a login is a person's to say", Hint: "a person types it into a shell of their own:", Next: []string{"st up --at-login"}}
	}
	s, err := loginOf(home)
	if err != nil {
		return err
	}
	if c.Bool("no-login") {
		changed, err := s.remove(c.ctx)
		return c.loginSaid(s, changed, err, "removed %s; the daemon stays as it is", "nothing to do: there is no %s")
	}
	changed, err := s.put(c.ctx)
	if c.out.json && err == nil {
		return nil // the daemon's own answer follows
	}
	return c.loginSaid(s, changed, err, "wrote %s and enabled it: the daemon starts at each login", "nothing to do for the login: %s is enabled")
}

func (c *call) loginSaid(s *loginService, changed bool, err error, done, already string) error {
	switch {
	case err != nil:
		return err
	case c.out.json:
		return c.out.data(map[string]any{"path": s.path, "already": !changed})
	case changed:
		return c.out.say(done, s.path)
	}
	return c.out.say(already, s.path)
}

// loginOf is the service for a home, refused where this system has no kind of it.
func loginOf(home string) (*loginService, error) {
	self, err := daemon.Self()
	if err != nil {
		return nil, err
	}
	s, err := loginHere(home, self, os.Getenv)
	if err == nil && s == nil {
		err = &orch.Error{Code: "refused", Message: "this system has no login service that st knows", Next: []string{"st up"}}
	}
	return s, err
}
