package main

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"st/hooks"
	"st/orch/daemon"
	"st/orch/proc"
	"st/tmux"
)

// hookPlace is where a hook runs. Nothing is asked before an answer needs it.
func hookPlace(agent bool, home string, env func(string) string) hooks.Place {
	place := hooks.Place{
		Agent: agent, Env: env, Server: hooks.Server{Usual: tmux.DefaultSocket(env)},
		Scope:     func() (*hooks.Scoped, error) { return hooks.ReadScoped(env) },
		Reach:     func() error { return reach(home, env) },
		Temporary: temporary(env),
	}
	socket, pid, ok := tmux.FromEnv(env("TMUX"))
	if !ok {
		return place
	}
	place.Server.Socket, place.Server.PID = socket, pid
	place.Server.Sessions = func() ([]hooks.Session, error) { return hookSessions(socket, env("TMUX_PANE")) }
	place.Server.Command = func() string {
		info, err := proc.Look(pid)
		if err != nil {
			return ""
		}
		return strings.Join(info.Argv, " ")
	}
	return place
}

// temporary are the folders for temporary files that there are.
func temporary(env func(string) string) []string {
	list := []string{"/tmp", "/var/tmp", "/dev/shm"}
	if dir := env("TMPDIR"); filepath.IsAbs(dir) && filepath.Clean(dir) != "/" {
		list = append(list, dir)
	}
	return list
}

// reachTime is how long a scoped edit waits for the daemon.
const reachTime = 5 * time.Second

// reach says why the daemon can't be reached. It is not started: who has stopped it wants nothing to be edited unseen.
func reach(home string, env func(string) string) error {
	ctx, cancel := context.WithTimeout(context.Background(), reachTime)
	defer cancel()
	_, err := daemon.Connect(ctx, home, daemon.FromEnv(env), false)
	return err
}

// sessionsTime is how long a hook waits for tmux, much less than an agent waits for its hook.
const sessionsTime = 2 * time.Second

// hookSessions lists the sessions of a server, and says in which of them the agent's pane is.
func hookSessions(socket, pane string) ([]hooks.Session, error) {
	ctx, cancel := context.WithTimeout(context.Background(), sessionsTime)
	defer cancel()
	server := tmux.At(socket)
	sessions, err := server.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	own, err := server.SessionsOf(ctx, pane)
	if err != nil {
		return nil, err
	}
	var all []hooks.Session
	for _, s := range sessions {
		all = append(all, hooks.Session{ID: s.ID, Name: s.Name, Own: own[s.ID]})
	}
	return all, nil
}
