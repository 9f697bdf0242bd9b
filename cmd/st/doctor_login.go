package main

import (
	"context"
	"os"

	"st/orch/daemon"
)

// checkLogin looks at what starts the daemon at a login. That nobody wants it is no fault.
func (d *doctor) checkLogin(ctx context.Context) finding {
	is, err := loginIs(ctx, d.home)
	again := []string{"st up --at-login"}
	switch {
	case err != nil:
		return refusal(err)
	case is.Path == "":
		return fine("the daemon is not started at a login; st up --at-login does that")
	case !is.Current:
		return warning(again, "%s starts another st than this, or for another home", is.Path)
	case !is.Enabled:
		return warning(again, "%s is there and not enabled", is.Path)
	}
	return fine("%s is enabled", is.Path)
}

// loginIs is how the service of a home stands; nothing where the system has no kind of it.
func loginIs(ctx context.Context, home string) (loginState, error) {
	self, err := daemon.Self()
	if err != nil {
		return loginState{}, err
	}
	s, err := loginHere(home, self, os.Getenv)
	if err != nil || s == nil {
		return loginState{}, err
	}
	return s.state(ctx)
}
