package main

import (
	"github.com/urfave/cli/v2"

	"st/hooks"
)

var hooksUninstallVerb = &verb{
	noun: "hooks", name: "uninstall", about: "take st's hooks and consents out of the settings of your agents",
	help: "Everything that st hooks install has written goes, and nothing else: where nobody else changed a file since,\n" +
		"its very first bytes are back.",
	flags: func() []cli.Flag { return []cli.Flag{agentFlag(hooks.Installable()), dryRunFlag()} },
	codes: []int{exitRefused},
	run:   hooksUninstall,
}

func init() { register(hooksUninstallVerb) }

func hooksUninstall(c *call) (int, error) {
	if err := c.takesBack(); err != nil {
		return 0, err
	}
	agents, left, err := c.hookedAgents()
	if err != nil {
		return 0, err
	}
	return c.applySettings(agents, left, func(a hooked) planner { return a.settings.Uninstall })
}
