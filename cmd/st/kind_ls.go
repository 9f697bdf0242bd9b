package main

import (
	"errors"
	"os"

	"st/hooks"
	"st/orch"
	"st/orch/daemon"
)

var kindLsVerb = &verb{
	noun: "kind", name: "ls", about: "the kinds of agents: built in, and those that you have described",
	help: "A kind of your own is a file ST_HOME/agents/NAME.toml with argv and mark, and what else is known of the program:\n" +
		"st help agents shows all keys. It can be started once st kind trust NAME has been typed, and again after each change.",
	run: kindLs,
}

func init() { register(kindLsVerb) }

// kindInfo is a kind as it is shown.
type kindInfo struct {
	Name    string   `json:"name"`
	BuiltIn bool     `json:"built_in"`
	Trusted bool     `json:"trusted"`
	Argv    []string `json:"argv"` // of one that is described
	Why     string   `json:"why"`  // it can't be started; "" where it can
}

func kindLs(c *call) (int, error) {
	home, err := daemon.Home(os.Getenv)
	if err != nil {
		return 0, err
	}
	var list []kindInfo
	for _, name := range hooks.Names() {
		list = append(list, kindInfo{Name: name, BuiltIn: true, Trusted: true})
	}
	for _, name := range hooks.GivenNames() {
		list = append(list, describedKind(home, name))
	}
	if c.out.json {
		return exitDone, c.out.data(map[string]any{"kinds": list})
	}
	var rows [][]styled
	for _, k := range list {
		from, says := "described", "trusted"
		if k.BuiltIn {
			from, says = "built in", ""
		}
		if k.Why != "" {
			says = k.Why
		}
		rows = append(rows, []styled{plain(k.Name), plain(from), plain(typed(k.Argv)), plain(says)})
	}
	return exitDone, c.out.table([]string{"KIND", "FROM", "RUNS", "STATE"}, rows)
}

// describedKind says how a kind of a file stands.
func describedKind(home, name string) kindInfo {
	k := kindInfo{Name: name}
	if g, _, err := hooks.Describe(home, name); err == nil {
		k.Argv = g.Argv
	}
	_, err := hooks.Fresh(name)
	var e *orch.Error
	switch {
	case err == nil:
		k.Trusted = true
	case errors.As(err, &e):
		k.Why = e.Message
	default:
		k.Why = reason(err)
	}
	return k
}
