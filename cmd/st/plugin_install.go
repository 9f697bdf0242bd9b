package main

import (
	"fmt"
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

// pluginChanges is what install and uninstall answer.
type pluginChanges struct {
	DryRun  bool            `json:"dry_run"`
	Agents  []pluginChanged `json:"agents"`
	Skipped []skipped       `json:"skipped"`
}

type pluginChanged struct {
	Agent   string   `json:"agent"`
	Folder  string   `json:"folder"`
	Changed []string `json:"changed"` // files
	Diff    string   `json:"diff,omitempty"`
	Kept    []string `json:"kept"`  // files of yours that st has left alone
	Calls   []string `json:"calls"` // what to type in the agent
}

// pluginAct changes the plugin of one agent program.
type pluginAct = func(hooks.Plugin, hooks.PluginSetup, bool) ([]hooks.Change, error)

func pluginInstall(c *call) (int, error) {
	agents, left, err := c.pluggedAgents()
	if err != nil {
		return 0, err
	}
	if len(agents) == 0 {
		return 0, noPlugged(left)
	}
	answer, err := c.changePlugins(agents, left, hooks.InstallPlugin, hooks.PluginEdited, hooks.PluginForeign)
	if err != nil || c.out.json {
		return exitDone, err
	}
	for i, a := range answer.Agents {
		if err := c.out.say("%s: type %s", a.Agent, block(callsOf(agents[i]))); err != nil {
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

// changePlugins works out all changes before it makes the first one, and makes them. Files in one of the states of keeps
// are told to be left alone.
func (c *call) changePlugins(agents []plugged, left []skipped, act pluginAct, keeps ...string) (pluginChanges, error) {
	answer := pluginChanges{DryRun: c.Bool("dry-run"), Skipped: left}
	for _, a := range agents {
		if _, err := act(a.plugin, a.setup, true); err != nil {
			return answer, pluginRefused(a.kind, err)
		}
	}
	for _, a := range agents {
		changed, err := a.change(act, answer.DryRun, keeps)
		if err != nil {
			return answer, pluginRefused(a.kind, err)
		}
		answer.Agents = append(answer.Agents, changed)
		if err := c.sayPlugin(changed, answer.DryRun); err != nil {
			return answer, err
		}
	}
	if c.out.json {
		return answer, c.out.data(answer)
	}
	return answer, c.sayLeft(left)
}

func (a plugged) change(act pluginAct, dry bool, keeps []string) (pluginChanged, error) {
	done := pluginChanged{Agent: a.kind, Folder: a.setup.Folder, Calls: a.plugin.Calls(a.setup)}
	kept, err := a.kept(keeps)
	if err != nil {
		return done, err
	}
	done.Kept = kept
	changes, err := act(a.plugin, a.setup, dry)
	for _, change := range changes {
		done.Changed = append(done.Changed, change.Path)
		if dry {
			done.Diff += unified(change)
		}
	}
	return done, err
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

func (c *call) sayPlugin(a pluginChanged, dry bool) error {
	if c.out.json {
		return nil
	}
	said := fmt.Sprintf("changed %s", strings.Join(a.Changed, ", "))
	switch {
	case len(a.Changed) == 0:
		said = "nothing to do"
	case dry:
		said = fmt.Sprintf("would change %s\n%s", strings.Join(a.Changed, ", "), strings.TrimSuffix(a.Diff, "\n"))
	}
	if err := c.out.say("%s: %s", a.Agent, block(said)); err != nil {
		return err
	}
	for _, path := range a.Kept {
		if err := c.out.say("%s: left alone, it is yours: %s", a.Agent, path); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) sayLeft(left []skipped) error {
	for _, s := range left {
		if err := c.out.say("%s: skipped: %s", s.Agent, s.Why); err != nil {
			return err
		}
	}
	return nil
}
