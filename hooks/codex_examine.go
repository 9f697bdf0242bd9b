package hooks

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// Tested: see the recorded screens, payloads and logs in testdata.
func (codex) Tested() (oldest, newest string) { return "0.171.0", "0.171.0" }

// Shell: Codex runs a login shell once, whose startup files may make PATH anew, as /etc/profile does on Debian, lets it
// source the person's rc file, and gives PATH and functions to every command. Which shell stands in the system's list of
// users; $SHELL has no say (0.171.0).
func (codex) Shell(env func(string) string, command string) Shell {
	shell := firstShell([]string{userShell(), env("SHELL"), "bash", "zsh", "sh"}, []string{"bash", "zsh", "sh"})
	startup, rc := firstFile(env("HOME"), ".profile"), ""
	switch filepath.Base(shell) {
	case "bash":
		startup = firstFile(env("HOME"), ".bash_profile", ".bash_login", ".profile") // bash reads the first that is there
		if env("BASH_ENV") == "" {
			rc = rcFile(shell, env)
		}
	case "zsh":
		startup, rc = firstFile(env("HOME"), ".zprofile"), rcFile(shell, env)
	}
	return Shell{Argv: []string{shell, "-lc", sourced(rc) + command}, Startup: startup, RC: rc}
}

// userShell is the shell that the system's list of users names for us; "" where that list is elsewhere.
func userShell() string {
	list, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(list)) {
		fields := strings.Split(strings.TrimSpace(line), ":") // name:password:uid:gid:comment:home:shell
		if len(fields) == 7 && fields[2] == strconv.Itoa(os.Getuid()) {
			return fields[6]
		}
	}
	return ""
}

// Faults: with the feature off, the hooks of a launch don't run either (0.171.0).
func (codex) Faults(env func(string) string, _ string) []Fault {
	dir := env("CODEX_HOME")
	if dir == "" {
		dir = filepath.Join(env("HOME"), ".codex")
	}
	path := filepath.Join(dir, "config.toml")
	var set struct {
		Features map[string]any `toml:"features"`
	}
	switch _, err := toml.DecodeFile(path, &set); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return []Fault{{path, "it can't be read: " + strings.TrimPrefix(err.Error(), "toml: ")}}
	case set.Features["hooks"] == false:
		return []Fault{{path, "features.hooks is false: no hook runs"}}
	}
	return nil
}
