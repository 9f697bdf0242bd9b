package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/BurntSushi/toml"

	"st/orch"
)

// config is config.toml: what a person allows beyond the rule.
type config struct {
	AgentsMay agentsMay `toml:"agents_may"`
	// PassEnv names further variables of the caller that a worker's environment takes over.
	PassEnv []string `toml:"pass_env"`
}

type agentsMay struct {
	Args    []string `toml:"args"`
	Env     bool     `toml:"env"`
	Verbs   []string `toml:"verbs"`
	DemoRun bool     `toml:"demo_run"`
}

// may is what the configuration lets agents ask.
func (c config) may() orch.May {
	return orch.May{Args: c.AgentsMay.Args, Env: c.AgentsMay.Env, Verbs: c.AgentsMay.Verbs, DemoRun: c.AgentsMay.DemoRun}
}

// readConfig reads config.toml of that home. A missing file is the empty configuration. A key that nobody
// reads is refused by its name: a person who mistypes a rule must not believe that it holds.
func readConfig(home string) (config, error) {
	var c config
	path := filepath.Join(home, "config.toml")
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, configBad(path, err.Error())
	}
	meta, err := toml.Decode(string(raw), &c)
	if err != nil {
		return config{}, configBad(path, err.Error())
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		var names []string
		for _, k := range unknown {
			names = append(names, k.String())
		}
		sort.Strings(names)
		return config{}, configBad(path, fmt.Sprintf("unknown key %s", strings.Join(names, ", ")))
	}
	for _, verb := range c.AgentsMay.Verbs {
		if verb != orch.KeyVerb {
			return config{}, configBad(path, fmt.Sprintf("agents_may verbs: %q is not %q, the one that can be allowed", verb, orch.KeyVerb))
		}
	}
	return c, nil
}

// PassEnv returns the names of the variables that, by config.toml of that home, an agent gets from the shell of
// whoever starts it; those that end in * are prefixes. A configuration that can't be read is an *orch.Error.
func PassEnv(home string) ([]string, error) {
	c, err := readConfig(home)
	return c.PassEnv, err
}

func configBad(path, what string) *orch.Error {
	return &orch.Error{
		Code:    "config_bad",
		Message: fmt.Sprintf("%s: %s", path, strings.TrimPrefix(what, "toml: ")),
		Hint:    "the keys are [agents_may] args, env, demo_run, verbs, and pass_env",
	}
}
