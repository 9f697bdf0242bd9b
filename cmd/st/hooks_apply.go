package main

import (
	"slices"

	"st/hooks"
)

type planner = func(hooks.Setup) (hooks.Texts, error)

// applySettings changes the settings, and says before what consents mean.
func (c *call) applySettings(agents []hooked, left []skipped, plan func(hooked) planner) (int, error) {
	answer := installs[settingsChanged]{DryRun: c.Bool("dry-run"), Skipped: left}
	act := func(a hooked, dry bool) ([]hooks.Change, error) {
		changes, err := hooks.Apply(a.settings, a.setup, dry, plan(a))
		if err != nil {
			return nil, settingsRefused(a.kind, err)
		}
		return changes, nil
	}
	if err := rehearse(agents, act); err != nil {
		return 0, err
	}
	if err := c.sayConsents(agents); err != nil {
		return 0, err
	}
	for _, a := range agents {
		changes, err := act(a, answer.DryRun)
		if err != nil {
			return 0, err
		}
		s := settingsChanged{FileChanges: FileChanges{Agent: a.kind, Folder: a.setup.Folder}, Consents: consentsOf(a, a.setup.Given)}
		s.take(changes, answer.DryRun)
		answer.Agents = append(answer.Agents, s)
		if err := c.sayChanged(s.FileChanges, answer.DryRun); err != nil {
			return 0, err
		}
	}
	return exitDone, c.sayLeft(answer, left)
}

// consentsOf are those of the given consents that concern an agent program.
func consentsOf(a hooked, given []string) []settingConsent {
	var all []settingConsent
	for _, consent := range a.settings.Consents() {
		if slices.Contains(given, consent.Flag) {
			all = append(all, settingConsent{consent.Flag, consent.Means})
		}
	}
	return all
}

// sayConsents says what is being consented to, before it is.
func (c *call) sayConsents(agents []hooked) error {
	if c.out.json {
		return nil
	}
	for _, a := range agents {
		for _, consent := range consentsOf(a, a.setup.Given) {
			if err := c.out.say("%s: --%s means: %s", a.kind, consent.Flag, consent.Means); err != nil {
				return err
			}
		}
	}
	return nil
}
