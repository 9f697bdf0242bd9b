package demo

import (
	"errors"
	"path/filepath"
	"strings"
)

// Sessions is the folder in which each agent says in a file, named by its process, which conversation it runs.
func Sessions(env []string) (string, error) {
	dir, err := stateFolder(env)
	return filepath.Join(dir, "sessions"), err
}

// stateFolder is the folder for what an agent keeps that has no settings of its own.
func stateFolder(env []string) (string, error) {
	if dir := lookup(env, "XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "st", "demo"), nil
	}
	home := lookup(env, "HOME")
	if home == "" {
		return "", errors.New("HOME is not set, and there is no --settings beside which the transcript could lie")
	}
	return filepath.Join(home, ".local", "state", "st", "demo"), nil
}

// lookup finds a variable; the last one counts.
func lookup(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(env[i], name+"="); ok {
			return value
		}
	}
	return ""
}
