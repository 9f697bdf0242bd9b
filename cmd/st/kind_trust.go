package main

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"st/hooks"
	"st/orch"
	"st/orch/daemon"
)

var kindTrustVerb = &verb{
	noun: "kind", name: "trust", args: "NAME", min: 1, max: 1, about: "let a kind of agent that you have described be started",
	help: "It shows the file and keeps the hash of just that text: after a change it is wanted again. The file, its folder\n" +
		"and what is in them must be yours alone (0600, 0700). A person's verb: an agent is refused.",
	flags: func() []cli.Flag { return []cli.Flag{&cli.BoolFlag{Name: "yes", Usage: "don't ask"}} },
	codes: []int{exitRefused},
	run:   kindTrust,
}

func init() { register(kindTrustVerb) }

func kindTrust(c *call) (int, error) {
	name := c.arg(0)
	if isAgent() {
		return 0, &orch.Error{
			Code: "refused_agent", Message: "an agent can't trust a program in a person's place",
			Hint: "a person types it into a shell of their own:", Next: []string{"st kind trust " + shellWord(name)},
		}
	}
	home, err := daemon.Home(os.Getenv)
	if err != nil {
		return 0, err
	}
	if slices.Contains(hooks.Names(), name) { // a file of that name would never be run
		return 0, noKindFile(home, name)
	}
	g, hash, err := hooks.Describe(home, name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, noKindFile(home, name)
	}
	if err != nil {
		return 0, err
	}
	if !c.Bool("yes") {
		if err := c.confirmKind(name, g); err != nil {
			return 0, err
		}
	} else if !c.out.json {
		for _, line := range careful(g) {
			c.out.note("%s", line)
		}
	}
	if err := hooks.TrustKind(home, name, hash); err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(map[string]any{"kind": describedKind(home, name)})
	}
	return exitDone, c.out.say("kind %s is trusted as it stands: it runs %s", name, typed(g.Argv))
}

func noKindFile(home, name string) error {
	e := &orch.Error{
		Code: "kind_not_found", Message: "kind " + quoted(name) + ": no file describes it",
		Hint: "write " + filepath.Join(home, "agents", "NAME.toml") + " with argv and mark", Next: []string{"st kind ls", "st kind ls --help"},
	}
	if _, err := hooks.Lookup(name); err == nil {
		e.Message, e.Hint = "kind "+quoted(name)+" is built in and needs no trust", ""
	}
	return e
}

// givenSays is what a description says beside the program, a line each.
func givenSays(g hooks.Given) (lines []string) {
	for _, n := range slices.Sorted(maps.Keys(g.Env)) {
		lines = append(lines, "with "+n+"="+shellWord(g.Env[n]))
	}
	if len(g.PassEnv) > 0 {
		lines = append(lines, "with your "+strings.Join(g.PassEnv, ", "))
	}
	lines = append(lines, "its input line begins with "+shellWord(g.Mark))
	if len(g.Submit) > 0 {
		lines = append(lines, "submitted by "+strings.Join(g.Submit, " "))
	}
	if g.TurnEnd == hooks.TurnByMark {
		lines = append(lines, "a turn ends when its input line is back")
	}
	if len(g.Resume) > 0 {
		lines = append(lines, "a conversation is taken up again by "+typed(append([]string{g.Argv[0]}, g.Resume...)))
	}
	if g.Quit != "" {
		lines = append(lines, "it ends by the line "+shellWord(g.Quit))
	}
	return append(lines, careful(g)...)
}

// careful warns of variables by which other code may run.
func careful(g hooks.Given) []string {
	steers := g.Steers()
	if len(steers) == 0 {
		return nil
	}
	return []string{"careful: by " + strings.Join(steers, ", ") + " other code than that of " + shellWord(g.Argv[0]) + " may run"}
}

// confirmKind shows what would be trusted and asks a person at a terminal; nobody else is asked.
func (c *call) confirmKind(name string, g hooks.Given) error {
	says := givenSays(g)
	unasked := &orch.Error{
		Code: "confirm", Message: "kind " + quoted(name) + " would run " + typed(g.Argv) + strings.Join(append([]string{""}, says...), "; "), Hint: "read the file, then:",
		Next: []string{"st kind trust " + shellWord(name) + " --yes"},
	}
	if c.out.json || !c.out.live || !term.IsTerminal(int(os.Stdin.Fd())) {
		return unasked
	}
	c.out.note("kind %s runs %s", name, typed(g.Argv))
	for _, line := range says {
		c.out.note("  %s", line)
	}
	c.out.note("trust it? [y/N]")
	answer, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil && err != io.EOF {
		return err
	}
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return &orch.Error{Code: "confirm", Message: "kind " + quoted(name) + " was not trusted"}
	}
	return nil
}
