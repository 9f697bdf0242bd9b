package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"st/hooks"
	"st/orch"
	"st/orch/daemon"
	"st/orch/proc"
)

// hooked is one agent program whose settings a verb is about.
type hooked struct {
	kind     string
	settings hooks.Settings
	setup    hooks.Setup
}

// skipped is an agent program that a verb leaves alone.
type skipped struct {
	Agent string `json:"agent"`
	Why   string `json:"why"`
}

func agentFlag() cli.Flag {
	return &cli.StringFlag{Name: "agent", Usage: "only this agent program: `KIND` (" + strings.Join(hooks.Installable(), ", ") + ")"}
}

func dryRunFlag() cli.Flag {
	return &cli.BoolFlag{Name: "dry-run", Usage: "show what would change in which file, and change nothing"}
}

// hookedAgents are the agent programs that the call is about: the one it names, or all that are installed or
// have settings.
func (c *call) hookedAgents() ([]hooked, []skipped, error) {
	only, err := c.text("agent")
	if err != nil {
		return nil, nil, err
	}
	self, err := daemon.Self()
	if err != nil {
		return nil, nil, err
	}
	kinds := hooks.Installable()
	if only != "" {
		kinds = []string{only}
	}
	var agents []hooked
	var left []skipped
	for _, kind := range kinds {
		settings, err := hooks.SettingsOf(kind)
		if err != nil {
			return nil, nil, c.misuse("--agent: %v", err)
		}
		folder, err := settings.Folder(homeEnv)
		switch {
		case err != nil && only != "":
			return nil, nil, settingsRefused(kind, err)
		case err != nil:
			left = append(left, skipped{kind, err.Error()})
		case only == "" && !present(settings.Program(), folder):
			left = append(left, skipped{kind, fmt.Sprintf("no program %s in PATH and no folder %s", settings.Program(), folder)})
		default:
			agents = append(agents, hooked{kind, settings, hooks.Setup{Folder: folder, Self: self}})
		}
	}
	return agents, left, nil
}

// homeEnv is the environment, with a HOME where the system names it otherwise.
func homeEnv(name string) string {
	value := os.Getenv(name)
	if name == "HOME" && value == "" {
		value, _ = os.UserHomeDir() // "" is told as HOME not being set
	}
	return value
}

func present(program, folder string) bool {
	if _, err := exec.LookPath(program); err == nil {
		return true
	}
	info, err := os.Stat(folder)
	return err == nil && info.IsDir()
}

// consentFlags are the flags of all consents that some agent program has.
func consentFlags() []cli.Flag {
	var flags []cli.Flag
	var names []string
	for _, kind := range hooks.Installable() {
		settings, err := hooks.SettingsOf(kind)
		if err != nil {
			continue // can't be: it is in the list
		}
		for _, consent := range settings.Consents() {
			if !slices.Contains(names, consent.Flag) {
				names = append(names, consent.Flag)
				flags = append(flags, &cli.BoolFlag{Name: consent.Flag, Usage: consent.About})
			}
		}
	}
	return flags
}

// isAgent tells whether an agent program asks, not a person. Its environment tells where a sandbox hides the processes
// above, or where they are those of another agent's shared process.
func isAgent() bool {
	if os.Getenv("ST_AGENT") != "" || hooks.Thread(os.Getenv) != "" {
		return true
	}
	chain, err := proc.Chain(os.Getpid())
	if err != nil {
		return false // a system that tells no ancestry
	}
	return slices.ContainsFunc(chain, func(i proc.Info) bool { return hooks.KindOf(i.Exe, i.Argv) != "" })
}

// settingsRefused says why an agent program's settings can't be read or changed, and what to type.
func settingsRefused(kind string, err error) error {
	e := &orch.Error{Code: "settings_refused", Message: kind + ": " + err.Error()}
	var at *fs.PathError
	if errors.As(err, &at) {
		e.Message = kind + ": " + at.Path + ": " + reason(at)
		if errors.Is(at, fs.ErrPermission) {
			e.Hint = "nothing was changed; make it writable for you, then once more:"
			e.Next = []string{"ls -ld " + shellWord(filepath.Dir(at.Path)) + " " + shellWord(at.Path), "chmod u+rw " + shellWord(at.Path)}
		}
	}
	return e
}
