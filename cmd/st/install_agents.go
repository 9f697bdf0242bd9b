package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"st/orch"
)

// skipped is an agent program that a verb leaves alone.
type skipped struct {
	Agent string `json:"agent"`
	Why   string `json:"why"`
}

func agentFlag(kinds []string) cli.Flag {
	return &cli.StringFlag{Name: "agent", Usage: "only this agent program: `KIND` (" + strings.Join(kinds, ", ") + ")"}
}

func dryRunFlag() cli.Flag {
	return &cli.BoolFlag{Name: "dry-run", Usage: "show what would change in which file, and change nothing"}
}

// chosen are the agent programs that the call is about: the one it names, or those of the kinds that are here. find says
// where the configuration of one is. An error of it that is no refusal leaves the program alone, but for one that was named.
func chosen[P, A any](c *call, kinds []string, lookup func(kind string) (P, error), find func(kind string, p P, named bool) (A, error)) ([]A, []skipped, error) {
	only, err := c.text("agent")
	if err != nil {
		return nil, nil, err
	}
	if only != "" {
		kinds = []string{only}
	}
	var agents []A
	var left []skipped
	for _, kind := range kinds {
		p, err := lookup(kind)
		if err != nil {
			return nil, nil, c.misuse("--agent: %v", err)
		}
		a, err := find(kind, p, only != "")
		var refused *orch.Error
		switch {
		case err == nil:
			agents = append(agents, a)
		case errors.As(err, &refused):
			return nil, nil, err
		case only != "":
			return nil, nil, settingsRefused(kind, err)
		default:
			left = append(left, skipped{kind, err.Error()})
		}
	}
	return agents, left, nil
}

// absent says why an agent program that nobody has named is left alone.
func absent(program, folder string) error {
	return fmt.Errorf("no program %s in PATH and no folder %s", program, folder)
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

// noAgents is the refusal where no agent program is there.
func (c *call) noAgents(kinds []string, left []skipped) error {
	var why []string
	for _, s := range left {
		why = append(why, s.Agent+": "+s.Why)
	}
	return &orch.Error{
		Code: "agent_not_installed", Message: "no agent is installed here: " + strings.Join(why, "; "),
		Hint: "name one to make its folder all the same:", Next: []string{"st " + c.verb.path() + " --agent " + kinds[0]},
	}
}

// takesBack refuses an agent that would take back what a person has installed.
func (c *call) takesBack() error {
	if !isAgent() || c.Bool("dry-run") {
		return nil
	}
	return &orch.Error{
		Code: "refused_agent", Message: "an agent can't take back what a person has installed",
		Hint: "a person types it into a shell of their own:", Next: []string{"st " + c.verb.path()},
	}
}

// settingsRefused says why an agent program's configuration can't be read or changed, and what to type.
func settingsRefused(kind string, err error) *orch.Error {
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
