package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"st/hooks"
	"st/orch"
	"st/orch/daemon"
)

var restoreVerb = &verb{
	name: "restore", about: "bring back sessions, windows and agents after the tmux server has ended",
	help: "Sessions and windows come back in their order, with names, folders and what was active; agents in their conversations,\n" +
		"with their flags and hooks; everything else as a shell in its folder. What is there already, by whoever has brought it\n" +
		"back, is left as it is: a second restore finds nothing to do, or says which agents are not up yet. Agents get the\n" +
		"environment of who calls; one that was started with --env is named. Where no server runs one is started. restore in\n" +
		"config.toml says what is done without this verb: ask (the next person at a terminal is told), auto, or off. --forget\n" +
		"drops what was lost; agents that may come back are then restarted or stopped one by one. That is a person's to say, as\n" +
		"is what is built again after the store itself was lost.",
	flags: func() []cli.Flag {
		return []cli.Flag{
			&cli.BoolFlag{Name: "dry-run", Usage: "only say what would be done"},
			&cli.BoolFlag{Name: "forget", Usage: "nobody wants it back"},
			&cli.BoolFlag{Name: "yes", Usage: "don't ask before it is forgotten"},
		}
	},
	codes: []int{exitNeedsInput, exitRefused, exitTimedOut},
	run:   restore,
}

func init() { register(restoreVerb) }

func restore(c *call) (int, error) {
	order := daemon.RestoreOrder{DryRun: c.Bool("dry-run"), Forget: c.Bool("forget")}
	if order.Forget && !order.DryRun && !c.Bool("yes") {
		return 0, &orch.Error{Code: "confirm", Message: "what is forgotten of lost sessions and windows can't be had back",
			Next: []string{"st restore --forget --dry-run", "st restore --forget --yes"}}
	}
	client, err := c.connect()
	if err != nil {
		return 0, err
	}
	if order.EnvFile, err = writeEnv(client.Home(), nil); err != nil {
		return 0, err
	}
	if !order.DryRun && !order.Forget {
		c.out.progress("restoring (Ctrl-C ends only the waiting)")
	}
	var info orch.RestoreInfo
	if err := c.orderStart(client, order, &info, order.EnvFile); err != nil {
		return 0, err
	}
	tookNote(client.Home())
	if c.out.json {
		return restoreCode(info), c.out.data(info)
	}
	return restoreCode(info), c.out.restored(info, order)
}

// restoreCode is that of a restore, by the worst that holds of an agent: one could not be started, waits for a person, or
// is not there yet.
func restoreCode(info orch.RestoreInfo) int {
	seen := map[string]bool{}
	for _, w := range info.Windows {
		for _, p := range w.Panes {
			seen[p.What] = true
		}
	}
	switch {
	case info.DryRun:
		return exitDone
	case seen["failed"]:
		return exitFailed
	case seen["waiting"]:
		return exitNeedsInput
	case seen["starting"]:
		return exitTimedOut
	}
	return exitDone
}

func (p *printer) restored(info orch.RestoreInfo, o daemon.RestoreOrder) error {
	if len(info.Windows) == 0 || info.Already && !o.Forget && !worthTelling(info) {
		return p.say("nothing to do: nothing was lost that is not there")
	}
	session := ""
	for _, w := range info.Windows {
		if name := w.Server + w.Session; name != session {
			session = name
			if err := p.say("session %s (%s)", quoted(w.Session), w.Server); err != nil {
				return err
			}
		}
		if err := p.restoredWindow(w, o); err != nil {
			return err
		}
	}
	return nil
}

// worthTelling says that something could not be brought back, or is not there yet.
func worthTelling(info orch.RestoreInfo) bool {
	for _, w := range info.Windows {
		for _, p := range w.Panes {
			if p.What == "failed" || p.What == "gone" || p.What == "waiting" || p.What == "starting" {
				return true
			}
		}
	}
	return false
}

func (p *printer) restoredWindow(w orch.RestoredWindow, o daemon.RestoreOrder) error {
	what := w.What
	switch {
	case o.Forget && o.DryRun:
		what = "would be forgotten"
	case o.Forget:
		what = "forgotten"
	case o.DryRun && what == "restored":
		what = "would be restored"
	}
	line := fmt.Sprintf("  %d %s: %s", w.Index, quoted(w.Name), what)
	if w.Why != "" && !o.Forget {
		line += ": " + w.Why
	}
	if err := p.say("%s", block(clean(line))); err != nil {
		return err
	}
	for _, pane := range w.Panes {
		if err := p.restoredPane(pane, w.Session, o.DryRun); err != nil {
			return err
		}
	}
	return nil
}

func (p *printer) restoredPane(pane orch.RestoredPane, session string, dry bool) error {
	var parts []string
	if pane.Kind != "" {
		who := pane.Kind
		if pane.Worker != "" {
			who += " " + pane.Worker
		}
		parts = append(parts, who)
	}
	does := map[string]string{"back": "is there already", "gone": "does not come back", "failed": "was not resumed"}
	word := pane.What
	if does[word] != "" {
		word = does[word]
	}
	if dry && pane.What == "resumed" {
		word = "would be resumed"
	}
	parts = append(parts, word)
	line := "    " + strings.Join(parts, " ") + " in " + pane.Dir
	if pane.Why != "" {
		line += ": " + pane.Why
	}
	if err := p.say("%s", block(clean(line))); err != nil {
		return err
	}
	if pane.Worker != "" && len(pane.Env) > 0 && pane.What != "failed" {
		return p.say("      without what --env had given: st worker restart %s --env %s=…", pane.Worker, strings.Join(pane.Env, "=… --env "))
	}
	next := map[string]string{"failed": "st worker restart ", "gone": "st worker retry ", "starting": "st worker show "}[pane.What]
	switch {
	case pane.What == "waiting":
		return p.say("      st attach --session %s", shellWord(session))
	case pane.Worker != "" && next != "":
		return p.say("      %s", next+pane.Worker)
	case pane.What == "starting":
		return p.say("      st agents")
	}
	return nil
}

// tellLost tells a person at a terminal, once, that something was lost and how it comes back. Agents and scripts are told
// by the verbs that they ask.
func tellLost(c *call) {
	if c.out.json || !c.out.live || c.verb == restoreVerb || os.Getenv("ST_AGENT") != "" || hooks.Thread(os.Getenv) != "" {
		return
	}
	home, err := daemon.Home(os.Getenv)
	if err != nil {
		return // whatever the verb was, it has said so
	}
	text, err := os.ReadFile(daemon.LostNote(home))
	if err != nil || len(text) == 0 {
		return // mostly there is none
	}
	c.out.note("%s", strings.TrimSpace(string(text)))
	c.out.note("  st restore")
	c.out.note("  st restore --dry-run")
	tookNote(home)
}

// tookNote says that somebody has been told. A note that stays is told once more.
func tookNote(home string) {
	os.Remove(daemon.LostNote(home)) //nolint:errcheck // told twice is no harm
}
