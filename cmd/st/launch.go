package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"st/hooks"
	"st/orch"
	"st/orch/daemon"
)

// passed are the variables of a caller's shell that every agent gets; a name that ends in * is a prefix. A
// pane would else get those of whoever started the multiplexer's server. TERM is the pane's own.
var passed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "XDG_*", "TMPDIR", "EDITOR", "VISUAL",
	"SSH_AUTH_SOCK", "ST_HOME", "COLORTERM",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR",
}

// writeEnv writes the agent's whole environment into a file that only we can read, so that no value of it
// stands in an argument list or in the store.
func writeEnv(home string, extra []string) (string, error) {
	more, err := daemon.PassEnv(home)
	if err != nil {
		return "", err
	}
	env := environment(os.Environ(), extra, more)
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

// environment picks from a caller's environment what an agent needs and what the configuration names, and adds
// what was given by --env.
func environment(have, extra, more []string) []string {
	names := slices.Concat(passed, hooks.PassEnv(), more)
	var env []string
	for _, pair := range have {
		name, _, _ := strings.Cut(pair, "=")
		if matches(names, name) && !given(extra, name) {
			env = append(env, withSelf(pair))
		}
	}
	return append(env, extra...)
}

func matches(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		prefix, any := strings.CutSuffix(n, "*")
		return n == name || any && strings.HasPrefix(name, prefix)
	})
}

func given(pairs []string, name string) bool {
	return slices.ContainsFunc(pairs, func(p string) bool { return strings.HasPrefix(p, name+"=") })
}

// withSelf makes sure that st in the agent's shell is this st: the name also belongs to a terminal emulator.
func withSelf(pair string) string {
	path, ok := strings.CutPrefix(pair, "PATH=")
	if !ok {
		return pair
	}
	self, err := os.Executable()
	if err != nil || isSelf(self) {
		return pair
	}
	return "PATH=" + filepath.Dir(self) + string(filepath.ListSeparator) + path
}

// isSelf tells whether the st that PATH finds is the program that runs.
func isSelf(self string) bool {
	found, err := exec.LookPath("st")
	if err != nil {
		return false
	}
	a, err1 := os.Stat(found)
	b, err2 := os.Stat(self)
	return err1 == nil && err2 == nil && os.SameFile(a, b)
}
