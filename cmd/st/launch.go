package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"st/hooks"
	"st/orch"
	"st/orch/daemon"
)

// writeEnv writes the agent's whole environment into a file that only we can read, so that no value of it
// stands in an argument list or in the store.
func writeEnv(home string, extra []string) (string, error) {
	more, err := daemon.PassEnv(home)
	if err != nil {
		return "", err
	}
	env := daemon.Environment(os.Environ(), extra, more)
	raw, err := json.Marshal(map[string][]string{"env": env})
	if err != nil {
		return "", err
	}
	dir := daemon.LaunchDir(home)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", unwritable(dir, err)
	}
	path := filepath.Join(dir, uuid.NewString()+".json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		return "", unwritable(path, err)
	}
	return path, nil
}

// dropEnv removes the environment of a start that was refused. Where no answer came, because somebody pressed
// Ctrl-C or the daemon went away, the order may have been taken and the file is still needed: the daemon removes it.
func dropEnv(path string, why error) error {
	var e *orch.Error
	if !errors.As(why, &e) || e.Code == "daemon_unreachable" {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// orderStart gives an order to start agents, whose environments are in files. These go where the order is refused.
func (c *call) orderStart(client *daemon.Client, order orch.What, answer any, envFiles ...string) error {
	why := c.order(client, order, answer)
	if why == nil {
		return nil
	}
	err := why
	for _, path := range envFiles {
		err = errors.Join(err, dropEnv(path, why))
	}
	return err
}

// launchAgain fills in what the new start of a worker's agent takes from its caller: where the program of its kind is, as find
// tells, and the environment.
func (c *call) launchAgain(client *daemon.Client, worker string, find func(hooks.Kind) (string, error), start *daemon.StartOrder) error {
	kind, err := c.kindOf(client, worker)
	if err != nil {
		return err
	}
	if start.Program, err = find(kind); err != nil && !c.taken() {
		return err
	}
	start.EnvFile, err = writeEnv(client.Home(), c.StringSlice("env"))
	return err
}

// kindOf is the kind of the agent that is to be started again: a worker's, or that in a pane.
func (c *call) kindOf(client *daemon.Client, target string) (hooks.Kind, error) {
	view := "retry"
	if strings.HasPrefix(target, "%") {
		view = "pane-agent"
	}
	var is struct{ Kind string }
	if err := client.Get(c.ctx, view, orch.WorkerArgs{Worker: target}, &is); err != nil {
		return nil, err
	}
	return hooks.Lookup(is.Kind)
}

func unwritable(path string, err error) error {
	return &orch.Error{Code: "store_read_only", Message: path + ": can't be written: " + reason(err)}
}
