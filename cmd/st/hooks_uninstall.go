package main

import (
	"github.com/urfave/cli/v2"

	"st/orch"
)

var hooksUninstallVerb = &verb{
	noun: "hooks", name: "uninstall", about: "take st's hooks and consents out of the settings of your agents",
	help: "Everything that st hooks install has written goes, and nothing else: where nobody else changed a file since,\n" +
		"its very first bytes are back.",
	flags: func() []cli.Flag { return []cli.Flag{agentFlag(), dryRunFlag()} },
	codes: []int{exitRefused},
	run:   hooksUninstall,
}

func init() { register(hooksUninstallVerb) }

func hooksUninstall(c *call) (int, error) {
	if isAgent() && !c.Bool("dry-run") {
		return 0, &orch.Error{
			Code: "refused_agent", Message: "an agent can't take back what a person has installed",
			Hint: "a person types it into a shell of their own:", Next: []string{"st hooks uninstall"},
		}
	}
	agents, left, err := c.hookedAgents()
	if err != nil {
		return 0, err
	}
	return c.applySettings(agents, left, func(a hooked) planner { return a.settings.Uninstall })
}
