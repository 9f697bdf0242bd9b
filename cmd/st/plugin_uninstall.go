package main

import (
	"github.com/urfave/cli/v2"

	"st/hooks"
	"st/orch"
)

var pluginUninstallVerb = &verb{
	noun: "plugin", name: "uninstall", about: "take st's plugin and skills out of the configuration of your agents",
	help: "Every file that st plugin install has written goes, with the folders that were made for them, and nothing else.\n" +
		"A file that you have changed since stays and is named.",
	flags: func() []cli.Flag { return append(pluginFlags(), dryRunFlag()) },
	codes: []int{exitRefused},
	run:   pluginUninstall,
}

func init() { register(pluginUninstallVerb) }

func pluginUninstall(c *call) (int, error) {
	if isAgent() && !c.Bool("dry-run") {
		return 0, &orch.Error{
			Code: "refused_agent", Message: "an agent can't take back what a person has installed",
			Hint: "a person types it into a shell of their own:", Next: []string{"st plugin uninstall"},
		}
	}
	agents, left, err := c.pluggedAgents()
	if err != nil {
		return 0, err
	}
	_, err = c.changePlugins(agents, left, hooks.UninstallPlugin, hooks.PluginEdited)
	return exitDone, err
}
