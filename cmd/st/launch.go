package main

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/google/uuid"

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

func unwritable(path string, err error) error {
	return &orch.Error{Code: "store_read_only", Message: path + ": can't be written: " + reason(err)}
}
