package main

import (
	"context"
	"strings"

	"st/hooks"
)

// checkHooks looks at the hooks in the person's own settings. An agent that st starts brings its own; by these st sees
// the agents that nobody started through it, such as the one that a person asks to coordinate.
func (p *patient) checkHooks(context.Context) finding {
	name := p.kind.Name()
	install := "st hooks install --agent " + name
	in, err := p.installed()
	if err != nil {
		return fault([]string{"st hooks status --agent " + name}, "%v", err)
	}
	old, missing, untrusted := sortEvents(in.Events)
	switch {
	case len(in.Missing) > 0:
		return fault([]string{install}, "they call %s, which is not there any more", strings.Join(in.Missing, ", "))
	case len(missing) == len(in.Events) && hooks.IsUnheard(p.kind) && p.only == name:
		return fault([]string{install + " --" + allowing}, "none is installed: nothing is heard of its agents, and no start is proved")
	case len(missing) == len(in.Events):
		return warning([]string{install}, "none is installed: agents that st did not start are not seen")
	case len(old)+len(missing) > 0:
		return warning([]string{install}, "not as this st wants them: %s", strings.Join(append(missing, old...), ", "))
	case len(untrusted) > 0:
		return warning([]string{install + trusting(in.Consents)}, "installed but not trusted, so they don't run: %s", strings.Join(untrusted, ", "))
	}
	return fine("all %d are installed as this st wants them", len(in.Events))
}

// installed is what stands in the settings that an agent started from here would read.
func (p *patient) installed() (hooks.Installed, error) {
	settings, err := hooks.SettingsOf(p.kind.Name())
	if err != nil {
		return hooks.Installed{}, err
	}
	folder, err := settings.Folder(p.lookup)
	if err != nil {
		return hooks.Installed{}, err
	}
	return hooks.LookAt(settings, hooks.Setup{Folder: folder, Self: p.self})
}

// sortEvents names the events whose hooks are not as they should be.
func sortEvents(events []hooks.InstalledEvent) (old, missing, untrusted []string) {
	for _, e := range events {
		switch {
		case !e.Installed:
			missing = append(missing, e.Event)
		case !e.Current:
			old = append(old, e.Event)
		case e.Trusted != nil && !*e.Trusted:
			untrusted = append(untrusted, e.Event)
		}
	}
	return old, missing, untrusted
}

// allowing is the consent that every kind has; the others are about trust.
const allowing = "allow"

// trusting are the flags of consents that are not in force, without the one that has nothing to do with hooks.
func trusting(consents []hooks.InstalledConsent) (flags string) {
	for _, c := range consents {
		if c.Flag != allowing && !(c.Given && c.Current) {
			flags += " --" + c.Flag
		}
	}
	return flags
}

// checkConsents: what a person has not allowed is no fault, agents ask then. What an older st was allowed may be.
func (p *patient) checkConsents(context.Context) finding {
	in, err := p.installed()
	if err != nil {
		return warning([]string{"st hooks status --agent " + p.kind.Name()}, "%v", err)
	}
	var said []string
	for _, c := range in.Consents {
		switch {
		case c.Given && !c.Current:
			return warning([]string{"st hooks install --agent " + p.kind.Name() + " --" + c.Flag}, "--%s was given, but to another st", c.Flag)
		case c.Given:
			said = append(said, "--"+c.Flag+" is given")
		default:
			said = append(said, "--"+c.Flag+" is not given")
		}
	}
	return fine("%s", strings.Join(said, ", "))
}
