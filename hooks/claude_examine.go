package hooks

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"runtime"
)

// Tested: see the recorded screens, payloads and logs in testdata.
func (claude) Tested() (oldest, newest string) { return "2.1.332", "2.1.332" }

// Shell: Claude Code sources the person's rc file once, in a login shell, and gives its functions and aliases to
// every command; PATH stays as Claude itself got it (2.1.332). So only what is called like a program can hide it.
// It takes bash and zsh only: its own setting, then $SHELL, then what it finds.
func (claude) Shell(env func(string) string, command string) Shell {
	shell := firstShell([]string{env("CLAUDE_CODE_SHELL"), env("SHELL"), "zsh", "bash"}, []string{"bash", "zsh"})
	rc := rcFile(shell, env)
	script := sourced(rc) + "export PATH=" + ShellWord(env("PATH")) + "; "
	if filepath.Base(shell) == "bash" {
		script += "shopt -s expand_aliases; " // as each of its commands does
	}
	return Shell{Argv: []string{shell, "-c", "-l", script + command}, Startup: rc, RC: rc}
}

// claudeHookSettings are the settings that decide whether hooks run; nil where a file doesn't say.
type claudeHookSettings struct {
	Disable     *bool `json:"disableAllHooks"`
	ManagedOnly *bool `json:"allowManagedHooksOnly"`
}

// Faults: a person's disableAllHooks holds for the hooks of --settings, too (2.1.332). Of several files the strongest
// that says something counts.
func (claude) Faults(env func(string) string, dir string) []Fault {
	var faults []Fault
	said := false
	for i, path := range claudeSettingsFiles(env, dir) {
		raw, err := readOne(path)
		if err != nil || raw == nil {
			continue // most are not there; one that may not be read has no say with Claude either
		}
		var set claudeHookSettings
		if err := json.Unmarshal(bytes.TrimPrefix(raw, []byte("\ufeff")), &set); err != nil {
			faults = append(faults, Fault{path, "it can't be read as JSON: " + err.Error()})
		}
		if managed := i == 0; managed && set.ManagedOnly != nil && *set.ManagedOnly {
			faults = append(faults, Fault{path, "allowManagedHooksOnly is true: only the hooks of that file run"})
		}
		if set.Disable != nil && !said {
			said = true
			if *set.Disable {
				faults = append(faults, Fault{path, "disableAllHooks is true: no hook runs"})
			}
		}
	}
	return faults
}

// claudeSettingsFiles are the settings that count for an agent in dir, the strongest first.
func claudeSettingsFiles(env func(string) string, dir string) []string {
	managed := "/etc/claude-code"
	if runtime.GOOS == "darwin" {
		managed = "/Library/Application Support/ClaudeCode"
	}
	own := env("CLAUDE_CONFIG_DIR")
	if own == "" {
		own = filepath.Join(env("HOME"), ".claude")
	}
	return []string{
		filepath.Join(managed, "managed-settings.json"),
		filepath.Join(dir, ".claude", "settings.local.json"),
		filepath.Join(dir, ".claude", "settings.json"),
		filepath.Join(own, "settings.json"),
	}
}
