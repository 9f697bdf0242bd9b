package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"st/hooks"
)

var hooksStatusVerb = &verb{
	noun: "hooks", name: "status", about: "which of st's hooks and consents stand in the settings of your agents",
	help:  "current: as this st would write it. Settings that can't be read are told, and the exit code is 0 all the same.",
	flags: func() []cli.Flag { return []cli.Flag{agentFlag(hooks.Installable())} },
	run:   hooksStatus,
}

func init() { register(hooksStatusVerb) }

// hooksAnswer is what status answers.
type hooksAnswer struct {
	Agents  []hooksAgent `json:"agents"`
	Skipped []skipped    `json:"skipped"`
}

type hooksAgent struct {
	Agent  string `json:"agent"`
	Folder string `json:"folder"`
	hooks.Installed
	Error string `json:"error,omitempty"`
}

func hooksStatus(c *call) (int, error) {
	agents, left, err := c.hookedAgents()
	if err != nil {
		return 0, err
	}
	answer := hooksAnswer{Skipped: left}
	for _, a := range agents {
		s := hooksAgent{Agent: a.kind, Folder: a.setup.Folder}
		if s.Installed, err = hooks.LookAt(a.settings, a.setup); err != nil {
			s.Error = settingsRefused(a.kind, err).Message
		}
		answer.Agents = append(answer.Agents, s)
	}
	return exitDone, c.sayHooks(answer)
}

func (c *call) sayHooks(answer hooksAnswer) error {
	for _, s := range answer.Agents {
		if err := c.sayHooksOf(s); err != nil {
			return err
		}
	}
	return c.sayLeft(answer, answer.Skipped)
}

func (c *call) sayHooksOf(s hooksAgent) error {
	switch {
	case c.out.json:
		return nil
	case s.Error != "":
		return c.out.say("%s", s.Error)
	}
	if err := c.out.say("%s: %s in %s", s.Agent, c.hooksState(s), s.Folder); err != nil {
		return err
	}
	var rows [][]styled
	for _, e := range s.Events {
		rows = append(rows, c.eventRow(e))
	}
	if err := c.out.table([]string{"  EVENT", "INSTALLED", "CURRENT", "TRUSTED"}, rows); err != nil {
		return err
	}
	for _, consent := range s.Consents {
		if err := c.out.say("  --%s: %s", consent.Flag, consentState(consent)); err != nil {
			return err
		}
	}
	for _, program := range s.Missing {
		if err := c.out.say("  %s does not exist any more, its hooks do nothing\n  st hooks install --agent %s", program, s.Agent); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) eventRow(e hooks.InstalledEvent) []styled {
	trusted := styled("-")
	if e.Trusted != nil {
		trusted = c.yesNo(*e.Trusted)
	}
	return []styled{"  " + c.out.style(c.out.styles.head, e.Event), c.yesNo(e.Installed), c.yesNo(e.Current), trusted}
}

func (c *call) yesNo(is bool) styled {
	if is {
		return c.out.style(c.out.styles.good, "yes")
	}
	return c.out.style(c.out.styles.warn, "no")
}

// hooksState says in some words how the hooks of an agent program are.
func (c *call) hooksState(s hooksAgent) string {
	installed, current := 0, 0
	for _, e := range s.Events {
		if e.Installed {
			installed++
		}
		if e.Current {
			current++
		}
	}
	switch {
	case installed == 0:
		return "no hooks"
	case current < len(s.Events):
		return fmt.Sprintf("%d of %d hooks are current", current, len(s.Events))
	}
	return fmt.Sprintf("all %d hooks are current", current)
}

func consentState(consent hooks.InstalledConsent) string {
	switch {
	case consent.Given && !consent.Current:
		return "given, but not as this st would write it"
	case consent.Given:
		return "given"
	}
	return "not given"
}
