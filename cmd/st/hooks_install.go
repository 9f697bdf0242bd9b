package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"st/hooks"
	"st/orch"
)

var hooksInstallVerb = &verb{
	noun: "hooks", name: "install", about: "put st's hooks into the settings of your agents",
	help: "So that st sees agents that you start by hand. Workers need none of it: they get their hooks at their\n" +
		"start. Every byte that is not ours stays; entries of an older st are brought up to date. Without --agent it\n" +
		"is done for all agents that are there. Each further consent is a flag of its own, and only a person gives it.",
	flags: func() []cli.Flag {
		return append([]cli.Flag{agentFlag(hooks.Installable()), dryRunFlag()}, consentFlags()...)
	},
	codes: []int{exitRefused},
	run:   hooksInstall,
}

func init() { register(hooksInstallVerb) }

// settingsChanged is what was done to the settings of one agent program.
type settingsChanged struct {
	FileChanges
	Consents []settingConsent `json:"consents"`
	Next     []string         `json:"next"`
}

type settingConsent struct {
	Flag  string `json:"flag"`
	Means string `json:"means"`
}

func hooksInstall(c *call) (int, error) {
	agents, left, err := c.hookedAgents()
	if err != nil {
		return 0, err
	}
	if len(agents) == 0 {
		return 0, c.noAgents(hooks.Installable(), left)
	}
	given, err := c.consents(agents)
	if err == nil {
		err = c.checkAges(agents)
	}
	if err != nil {
		return 0, err
	}
	for i := range agents {
		agents[i].setup.Given = given
	}
	return c.applySettings(agents, left, func(a hooked) planner { return a.settings.Install })
}

// consents are the flags that were given; one that no chosen agent has is a wrong use.
func (c *call) consents(agents []hooked) ([]string, error) {
	var given []string
	for _, f := range consentFlags() {
		name := f.Names()[0]
		if !c.Bool(name) {
			continue
		}
		has := false
		for _, a := range agents {
			has = has || len(consentsOf(a, []string{name})) > 0
		}
		if !has {
			return nil, c.misuse("--%s concerns none of the agents that this is about", name)
		}
		given = append(given, name)
	}
	if len(given) > 0 && isAgent() {
		return nil, &orch.Error{
			Code: "refused_agent", Message: "--" + strings.Join(given, ", --") + ": an agent can't consent in a person's place",
			Hint: "a person types it into a shell of their own:", Next: []string{"st hooks install --" + strings.Join(given, " --")},
		}
	}
	return given, nil
}
