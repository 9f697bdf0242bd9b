package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"st/orch"
)

// config is config.toml: what a person allows beyond the rule, and what holds for all runs.
type config struct {
	AgentsMay agentsMay `toml:"agents_may"`
	// PassEnv names further variables of the caller that a worker's environment takes over.
	PassEnv []string `toml:"pass_env"`
	// MaxWorkers is how many unsettled workers may have a window; 0 = any number.
	MaxWorkers int `toml:"max_workers"`
	// MaxDepth and MaxChain are how many levels of workers may stand below a run's coordinator, and below one another in all.
	MaxDepth int    `toml:"max_depth"`
	MaxChain int    `toml:"max_chain"`
	Limits   limits `toml:"limits"`
	// Restore is what is done after a server has ended: auto, ask or off.
	Restore string `toml:"restore"`
	// Notify is a program with its arguments that is told of each new gate, as JSON on its standard input; none = nobody.
	Notify []string `toml:"notify"`
	// Worktrees is the folder in which worktrees are made; "" = beside each repository.
	Worktrees string `toml:"worktrees"`
}

type limits struct {
	Git      duration `toml:"git"`   // how long git may take to make a worktree or to move files, its hooks included
	Setup    duration `toml:"setup"` // how long what makes a worktree ready may take
	Check    duration `toml:"check"` // and what checks an attempt
	Silence  duration `toml:"silence"`
	Reminder duration `toml:"reminder"`
}

// duration is written as "30m" and is not negative.
type duration time.Duration

func (d *duration) UnmarshalText(text []byte) error {
	value, err := time.ParseDuration(string(text))
	if err == nil && value < 0 {
		err = fmt.Errorf("%q is negative", text)
	}
	*d = duration(value)
	return err
}

func defaultConfig() config {
	l := orch.DefaultLimits()
	return config{MaxWorkers: l.MaxWorkers, MaxDepth: l.MaxDepth, MaxChain: l.MaxChain, Restore: restoreAsk,
		Limits: limits{Silence: duration(l.Silence), Reminder: duration(l.Reminder),
			Git: duration(5 * time.Minute), Setup: duration(30 * time.Minute), Check: duration(30 * time.Minute)}}
}

// configured is what the mind has to know of the configuration.
func (c config) configured() orch.Configured {
	return orch.Configured{MaxWorkers: c.MaxWorkers, MaxDepth: c.MaxDepth, MaxChain: c.MaxChain, Silence: time.Duration(c.Limits.Silence), Reminder: time.Duration(c.Limits.Reminder)}
}

type agentsMay struct {
	Args    []string `toml:"args"`
	Env     bool     `toml:"env"`
	Verbs   []string `toml:"verbs"`
	DemoRun bool     `toml:"demo_run"`
	Kinds   bool     `toml:"kinds"`
	Setup   bool     `toml:"setup"`
	Check   bool     `toml:"check"`
}

// may is what the configuration lets agents ask.
func (c config) may() orch.May {
	return orch.May{Args: c.AgentsMay.Args, Env: c.AgentsMay.Env, Verbs: c.AgentsMay.Verbs, DemoRun: c.AgentsMay.DemoRun, Kinds: c.AgentsMay.Kinds, Setup: c.AgentsMay.Setup, Check: c.AgentsMay.Check}
}

// readConfig reads config.toml of that home. A missing file is the empty configuration. A key that nobody
// reads is refused by its name: a person who mistypes a rule must not believe that it holds.
func readConfig(home string) (config, error) {
	c := defaultConfig()
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
	if len(c.Notify) > 0 && c.Notify[0] == "" {
		return config{}, configBad(path, "notify: its first word is empty, and should name a program")
	}
	if !slices.Contains([]string{restoreAuto, restoreAsk, restoreOff}, c.Restore) {
		return config{}, configBad(path, fmt.Sprintf("restore: %q is none of auto, ask, off", c.Restore))
	}
	if c.MaxWorkers < 0 {
		return config{}, configBad(path, fmt.Sprintf("max_workers: %d is negative", c.MaxWorkers))
	}
	for name, most := range map[string]int{"max_depth": c.MaxDepth, "max_chain": c.MaxChain} {
		if most < 1 {
			return config{}, configBad(path, fmt.Sprintf("%s: %d leaves no level of workers at all", name, most))
		}
	}
	if err := c.place(); err != nil {
		return config{}, configBad(path, err.Error())
	}
	return c, nil
}

// place makes the folder of worktrees an absolute path.
func (c *config) place() error {
	if rest, ok := strings.CutPrefix(c.Worktrees, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return fmt.Errorf("worktrees: %w", err)
		}
		c.Worktrees = filepath.Join(home, rest)
	}
	if c.Worktrees != "" && !filepath.IsAbs(c.Worktrees) {
		return fmt.Errorf("worktrees: %q is no absolute path", c.Worktrees)
	}
	return nil
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
		Hint:    "the keys are pass_env, max_workers, max_depth, max_chain, notify, restore, worktrees, [agents_may] args, env, demo_run, kinds, setup, check, verbs, and [limits] silence, reminder, git, setup, check",
		Next:    []string{"st help config", "st doctor"},
	}
}

// ConfigKeys are all keys of config.toml, those in a table as "table.key".
func ConfigKeys() []string { return keysOf(reflect.TypeFor[config](), "") }

func keysOf(t reflect.Type, table string) (keys []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name := table + f.Tag.Get("toml")
		if f.Type.Kind() == reflect.Struct {
			keys = append(keys, keysOf(f.Type, name+".")...)
		} else {
			keys = append(keys, name)
		}
	}
	return keys
}
