package main

import (
	"slices"

	"github.com/urfave/cli/v2"

	"st/hooks"
	"st/orch/daemon"
)

// hooked is one agent program whose settings a verb is about.
type hooked struct {
	kind     string
	settings hooks.Settings
	setup    hooks.Setup
}

// hookedAgents are the agent programs whose settings the call is about.
func (c *call) hookedAgents() ([]hooked, []skipped, error) {
	self, err := daemon.Self()
	if err != nil {
		return nil, nil, err
	}
	return chosen(c, hooks.Installable(), hooks.SettingsOf, func(kind string, s hooks.Settings, named bool) (a hooked, err error) {
		folder, err := s.Folder(homeEnv)
		if err == nil && !named && !present(s.Program(), folder) {
			err = absent(s.Program(), folder)
		}
		return hooked{kind, s, hooks.Setup{Folder: folder, Self: self}}, err
	})
}

// consentFlags are the flags of all consents that some agent program has.
func consentFlags() []cli.Flag {
	var flags []cli.Flag
	var names []string
	for _, kind := range hooks.Installable() {
		settings, err := hooks.SettingsOf(kind)
		if err != nil {
			continue // can't be: it is in the list
		}
		for _, consent := range settings.Consents() {
			if !slices.Contains(names, consent.Flag) {
				names = append(names, consent.Flag)
				flags = append(flags, &cli.BoolFlag{Name: consent.Flag, Usage: consent.About})
			}
		}
	}
	return flags
}
