package hooks

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/tailscale/hujson"
)

// Tested: see the recorded screens, payloads and logs in testdata.
func (gemini) Tested() (oldest, newest string) { return "0.61.0", "0.61.0" }

// Shell: Gemini runs each command in a bash that reads no file of the person's (0.61.0).
func (gemini) Shell(env func(string) string, command string) Shell {
	shell := firstShell([]string{"bash"}, []string{"bash"})
	return Shell{Argv: []string{shell, "-c", command}, Startup: rcFile(shell, env)}
}

// geminiHookSettings are the settings that decide whether hooks run.
type geminiHookSettings struct {
	Hooks struct {
		Enabled  *bool    `json:"enabled"`
		Disabled []string `json:"disabled"`
	} `json:"hooksConfig"`
}

// Faults: of several files the strongest that says something about all hooks counts, and each may name single ones. A folder
// that is not trusted runs none; that is asked at the start, which says so.
func (gemini) Faults(env func(string) string, dir string) []Fault {
	var faults []Fault
	said := false
	for _, path := range geminiSettingsFiles(env, dir) {
		raw, err := readOne(path)
		if err != nil || raw == nil {
			continue // most are not there
		}
		var set geminiHookSettings
		plain, err := hujson.Standardize(raw)
		if err == nil {
			err = json.Unmarshal(plain, &set)
		}
		if err != nil {
			faults = append(faults, Fault{path, fmt.Sprintf("it can't be read as JSON: %v", err)})
			continue
		}
		if set.Hooks.Enabled != nil && !said {
			said = true
			if !*set.Hooks.Enabled {
				faults = append(faults, Fault{path, "hooksConfig.enabled is false: no hook runs"})
			}
		}
		if slices.ContainsFunc(set.Hooks.Disabled, func(c string) bool { return hookProgram(c, "gemini", "st") != "" }) {
			faults = append(faults, Fault{path, "hooksConfig.disabled names the hooks of st: they don't run"})
		}
	}
	return faults
}

// geminiSettingsFiles are the settings that count for an agent in dir, the strongest first.
func geminiSettingsFiles(env func(string) string, dir string) []string {
	system := env("GEMINI_CLI_SYSTEM_SETTINGS_PATH")
	if system == "" {
		system = "/etc/gemini-cli/settings.json"
		if runtime.GOOS == "darwin" {
			system = "/Library/Application Support/GeminiCli/settings.json"
		}
	}
	files := []string{system, filepath.Join(dir, ".gemini", "settings.json")}
	if own, err := (geminiInstall{}).Folder(env); err == nil {
		files = append(files, filepath.Join(own, "settings.json"))
	}
	return files
}
