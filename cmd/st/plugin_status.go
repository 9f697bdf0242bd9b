package main

import (
	"fmt"
	"slices"
	"strings"

	"st/hooks"
)

var pluginStatusVerb = &verb{
	noun: "plugin", name: "status", about: "whether st's plugin and skills stand in the configuration of your agents",
	help: "current: as this st would write it; outdated: as another st wrote it; edited: you have changed it. A configuration\n" +
		"that can't be read is told, and the exit code is 0 all the same.",
	flags: pluginFlags,
	run:   pluginStatus,
}

func init() { register(pluginStatusVerb) }

// What a plugin as a whole is, beside current, outdated and edited.
const (
	pluginNone    = "none"
	pluginPartly  = "partly"  // some of its files are missing
	pluginStrange = "unknown" // it can't be read
)

// pluginAnswer is what status answers.
type pluginAnswer struct {
	Agents  []pluginShown `json:"agents"`
	Skipped []skipped     `json:"skipped"`
}

type pluginShown struct {
	Agent   string              `json:"agent"`
	Folder  string              `json:"folder"`
	State   string              `json:"state"`
	Version string              `json:"version"` // of the st that wrote it, "" for none
	Wants   string              `json:"wants"`   // of this st
	Files   []hooks.PluginState `json:"files"`
	Calls   []string            `json:"calls"`
	Error   string              `json:"error,omitempty"`
}

func pluginStatus(c *call) (int, error) {
	agents, left, err := c.pluggedAgents()
	if err != nil {
		return 0, err
	}
	answer := pluginAnswer{Skipped: left}
	for _, a := range agents {
		answer.Agents = append(answer.Agents, a.look())
	}
	for _, s := range answer.Agents {
		if err := c.sayPluginState(s); err != nil {
			return 0, err
		}
	}
	return exitDone, c.sayLeft(answer, left)
}

func (a plugged) look() pluginShown {
	s := pluginShown{Agent: a.kind, Folder: a.setup.Folder, Wants: a.setup.Version, Calls: a.plugin.Calls(a.setup)}
	var err error
	if s.Files, s.Version, err = hooks.LookAtPlugin(a.plugin, a.setup); err != nil {
		s.State, s.Error = pluginStrange, settingsRefused(a.kind, err).Message
		return s
	}
	s.State = stateOfPlugin(s.Files)
	return s
}

// stateOfPlugin is what the files are as a whole: the first that holds.
func stateOfPlugin(files []hooks.PluginState) string {
	needed, missing := 0, 0
	have := map[string]bool{}
	for _, f := range files {
		if !f.Needed && f.State == hooks.PluginForeign {
			continue
		}
		have[f.State] = true
		if f.Needed {
			needed++
		}
		if f.Needed && f.State == hooks.PluginMissing {
			missing++
		}
	}
	switch {
	case missing == needed:
		return pluginNone
	case missing > 0:
		return pluginPartly
	case have[hooks.PluginEdited] || have[hooks.PluginForeign]:
		return hooks.PluginEdited
	case have[hooks.PluginOutdated] || have[hooks.PluginStale] || have[hooks.PluginMissing]:
		return hooks.PluginOutdated
	}
	return hooks.PluginCurrent
}

func (c *call) sayPluginState(s pluginShown) error {
	switch {
	case c.out.json:
		return nil
	case s.Error != "":
		return c.out.say("%s", s.Error)
	}
	if err := c.out.say("%s: %s", s.Agent, block(pluginWords(s))); err != nil {
		return err
	}
	for _, f := range s.Files {
		if s.State == pluginNone && f.State == hooks.PluginMissing || f.State == hooks.PluginCurrent {
			continue
		}
		if err := c.out.say("  %s: %s", f.State, f.Path); err != nil {
			return err
		}
	}
	if slices.Contains([]string{pluginNone, pluginPartly, hooks.PluginOutdated}, s.State) {
		local := ""
		if c.Bool("local") {
			local = " --local"
		}
		return c.out.say("  st plugin install --agent %s%s", s.Agent, local)
	}
	return nil
}

// pluginWords says in some words what is there.
func pluginWords(s pluginShown) string {
	switch s.State {
	case pluginNone:
		return "not installed in " + s.Folder
	case hooks.PluginOutdated:
		return fmt.Sprintf("outdated in %s: written by st %s, this is %s", s.Folder, s.Version, s.Wants)
	}
	return fmt.Sprintf("%s (st %s) in %s: %s", s.State, s.Version, s.Folder, strings.Join(s.Calls, ", "))
}
