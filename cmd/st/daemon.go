package main

import (
	"os"

	"st/orch/daemon"
)

var daemonVerb = &verb{
	name: "daemon", hidden: true, about: "be the daemon; whoever needs it starts it",
	raw: runDaemon,
}

func init() { register(daemonVerb) }

func runDaemon([]string) int {
	out := newPrinter(os.Stdout, os.Stderr)
	home, err := daemon.Home(os.Getenv)
	if err != nil {
		return fail(out, err)
	}
	return daemon.Main(home, daemon.Serve(version))
}
