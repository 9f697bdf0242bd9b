package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"st/hooks"
)

var pluginInstallVerb = &verb{
	noun: "plugin", name: "install", about: "let your agents know by themselves how to use st",
	help: "Puts a plugin, or skills, into the configuration of your agents, so that one sentence is enough: what to type in\n" +
		"each is said at the end. What is written only tells the agent to load st skills get NAME, so it never differs from\n" +
		"the program. No settings file is touched. What you have changed yourself is never written over. Run it again\n" +
		"after st was updated or moved. So that the agent's commands need no asking: st hooks install --allow.",
	flags: func() []cli.Flag { return append(pluginFlags(), dryRunFlag()) },
	run:   pluginInstall,
}

func init() { register(pluginInstallVerb) }

// pluginChanged is what was done to the plugin of one agent program.
type pluginChanged struct {
	FileChanges
	Kept  []string `json:"kept"`  // files of yours that st has left alone
	Calls []string `json:"calls"` // what to type in the agent
}

// pluginAct changes the plugin of one agent program.
type pluginAct = func(hooks.Plugin, hooks.PluginSetup, bool) ([]hooks.Change, error)

func pluginInstall(c *call) (int, error) {
	agents, left, err := c.pluggedAgents()
	if err != nil {
		return 0, err
	}
	if len(agents) == 0 {
		return 0, c.noAgents(hooks.Pluggable(), left)
	}
	answer, err := c.changePlugins(agents, left, hooks.InstallPlugin, hooks.PluginEdited, hooks.PluginForeign)
	if err != nil || c.out.json {
		return exitDone, err
	}
	for i, a := range answer.Agents {
		how := block("its model finds the guides where they fit")
		if calls := callsOf(agents[i]); calls != "" {
			how = "type " + block(calls)
		}
		if err := c.out.say("%s: %s", a.Agent, how); err != nil {
			return 0, err
		}
	}
	if c.Bool("dry-run") {
		return exitDone, nil
	}
	return exitDone, c.out.say("agents that run already know it after a restart")
}

// callsOf is what to type in an agent: the guides that a person calls, with what stands behind.
func callsOf(a plugged) string {
	var said []string
	for i, call := range a.plugin.Calls(a.setup) {
		if hint := a.setup.Guides[i].Hint; hint != "" {
			said = append(said, call+" "+strings.ToUpper(strings.ReplaceAll(hint, " ", "-")))
		}
	}
	return strings.Join(said, ", ")
}

// changePlugins changes the plugins. Files in one of the states of keeps are told to be left alone.
func (c *call) changePlugins(agents []plugged, left []skipped, do pluginAct, keeps ...string) (installs[pluginChanged], error) {
	answer := installs[pluginChanged]{DryRun: c.Bool("dry-run"), Skipped: left}
	act := func(a plugged, dry bool) ([]hooks.Change, error) {
		changes, err := do(a.plugin, a.setup, dry)
		return changes, pluginRefused(a.kind, err)
	}
	if err := rehearse(agents, act); err != nil {
		return answer, err
	}
	for _, a := range agents {
		kept, err := a.kept(keeps)
		if err != nil {
			return answer, pluginRefused(a.kind, err)
		}
		changes, err := act(a, answer.DryRun)
		if err != nil {
			return answer, err
		}
		p := pluginChanged{FileChanges{Agent: a.kind, Folder: a.setup.Folder}, kept, a.plugin.Calls(a.setup)}
		p.take(changes, answer.DryRun)
		answer.Agents = append(answer.Agents, p)
		if err := c.sayPlugin(p, answer.DryRun); err != nil {
			return answer, err
		}
	}
	return answer, c.sayLeft(answer, left)
}

// kept are the files of the person where st has its own.
func (a plugged) kept(states []string) ([]string, error) {
	files, _, err := hooks.LookAtPlugin(a.plugin, a.setup)
	var kept []string
	for _, f := range files {
		if slices.Contains(states, f.State) {
			kept = append(kept, f.Path)
		}
	}
	return kept, err
}

func (c *call) sayPlugin(p pluginChanged, dry bool) error {
	if err := c.sayChanged(p.FileChanges, dry); err != nil || c.out.json {
		return err
	}
	for _, path := range p.Kept {
		if err := c.out.say("%s: left alone, it is yours: %s", p.Agent, path); err != nil {
			return err
		}
	}
	return nil
}
