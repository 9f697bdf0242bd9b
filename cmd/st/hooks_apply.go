package main

import (
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"st/hooks"
	"st/orch"
)

type planner = func(hooks.Setup) (hooks.Texts, error)

// applySettings works out all changes before it makes the first one, says what consents mean, and makes them.
func (c *call) applySettings(agents []hooked, left []skipped, plan func(hooked) planner) (int, error) {
	answer := settingsAnswer{DryRun: c.Bool("dry-run"), Skipped: left}
	for _, a := range agents {
		if _, err := hooks.Plan(a.settings, a.setup, plan(a)); err != nil {
			return 0, settingsRefused(a.kind, err)
		}
	}
	if err := c.sayConsents(agents); err != nil {
		return 0, err
	}
	for _, a := range agents {
		changes, err := hooks.Apply(a.settings, a.setup, answer.DryRun, plan(a))
		if err != nil {
			return 0, settingsRefused(a.kind, err)
		}
		s := settingsAgent{Agent: a.kind, Folder: a.setup.Folder, Consents: consentsOf(a, a.setup.Given)}
		for _, change := range changes {
			s.Changed = append(s.Changed, change.Path)
			if answer.DryRun {
				s.Diff += unified(change)
			}
		}
		answer.Agents = append(answer.Agents, s)
		if err := c.sayChanged(s, answer.DryRun); err != nil {
			return 0, err
		}
	}
	return c.saySkipped(answer)
}

func noAgents(left []skipped) error {
	var why []string
	for _, s := range left {
		why = append(why, s.Agent+": "+s.Why)
	}
	return &orch.Error{
		Code: "agent_not_installed", Message: "no agent is installed here: " + strings.Join(why, "; "),
		Hint: "name one to make its folder all the same:", Next: []string{"st hooks install --agent " + hooks.Installable()[0]},
	}
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

func (c *call) sayChanged(s settingsAgent, dry bool) error {
	switch {
	case c.out.json:
		return nil
	case len(s.Changed) == 0:
		return c.out.say("%s: nothing to do", s.Agent)
	case dry:
		return c.out.say("%s: would change %s\n%s", s.Agent, strings.Join(s.Changed, ", "), block(strings.TrimSuffix(s.Diff, "\n")))
	}
	return c.out.say("%s: changed %s", s.Agent, strings.Join(s.Changed, ", "))
}

func (c *call) saySkipped(answer settingsAnswer) (int, error) {
	if c.out.json {
		return exitDone, c.out.data(answer)
	}
	for _, s := range answer.Skipped {
		if err := c.out.say("%s: skipped: %s", s.Agent, s.Why); err != nil {
			return 0, err
		}
	}
	return exitDone, nil
}

// unified is a change as a unified diff.
func unified(c hooks.Change) string {
	from, to := c.Path, c.Path
	if c.Old == nil {
		from = "/dev/null"
	}
	if c.New == nil {
		to = "/dev/null"
	}
	text := string(diff.Diff(from, c.Old, to, c.New))
	_, text, _ = strings.Cut(text, "\n") // the line with the command
	return text
}
