package main

import (
	"github.com/urfave/cli/v2"

	"st/hooks"
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
	if err := c.takesBack(); err != nil {
		return 0, err
	}
	agents, left, err := c.pluggedAgents()
	if err != nil {
		return 0, err
	}
	_, err = c.changePlugins(agents, left, hooks.UninstallPlugin, hooks.PluginEdited)
	return exitDone, err
}
