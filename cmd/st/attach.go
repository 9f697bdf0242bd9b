package main

import (
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"st/orch"
	"st/tmux"
)

var attachVerb = &verb{
	name: "attach", args: "[W|SESSION]", max: 1, about: "go to a worker's window, or to a session",
	help: "Inside tmux your own client is switched; outside tmux is attached to in this terminal. A name that is\n" +
		"both means the worker, --session the session. Without any it is the session last used, but the\n" +
		"one you are in.",
	flags: func() []cli.Flag {
		return []cli.Flag{&cli.StringFlag{Name: "session", Usage: "go to this session: `S`"}}
	},
	codes: []int{exitGone, exitRefused},
	run:   attach,
}

func init() { register(attachVerb) }

func attach(c *call) (int, error) {
	session, err := c.text("session")
	if err != nil {
		return 0, err
	}
	if session != "" && c.arg(0) != "" {
		return 0, c.misuse("attach: W and --session exclude each other")
	}
	if isAgent() {
		return 0, &orch.Error{
			Code: "refused_agent", Message: "an agent may not take a person's terminal to another window",
			Hint: "what a window shows is read by:", Next: []string{"st worker read W --screen"},
		}
	}
	g, err := c.goal(session)
	if err != nil {
		return 0, err
	}
	if g.How == "stayed" {
		return exitDone, c.arrived(g)
	}
	if os.Getenv("TMUX") == "" {
		return c.attachHere(g)
	}
	return c.switchTo(g)
}

// ownSocket is of the server that the caller is in, else the one that a plain tmux talks to.
func ownSocket() string {
	if socket, _, ok := tmux.FromEnv(os.Getenv("TMUX")); ok {
		return socket
	}
	return tmux.DefaultSocket(os.Getenv)
}

// switchTo shows the goal on the caller's own client: of those that show the caller's pane, or else its session,
// the one where a key was pressed last.
func (c *call) switchTo(g goal) (int, error) {
	t := tmux.At(g.Server)
	id, err := tmux.At(ownSocket()).Identity(c.ctx)
	if err != nil {
		return 0, err
	}
	attach := typed(t.AttachArgv(tmux.Target{Session: g.target.Session}))
	if id != g.id {
		return 0, &orch.Error{
			Code: "other_server", Message: "it is on another tmux server (" + g.Server + ") than this terminal",
			Hint: "detach from this one first, or use another terminal", Next: []string{attach},
		}
	}
	pane := os.Getenv("TMUX_PANE")
	here, err := sessionOf(c.ctx, t, pane)
	if err != nil {
		return 0, err
	}
	clients, err := t.Clients(c.ctx)
	if err != nil {
		return 0, err
	}
	client, ok := ownClient(clients, pane, here)
	if !ok {
		return 0, &orch.Error{
			Code: "no_client", Message: "no terminal shows this pane, so there is none to switch",
			Hint: "attach to tmux in a terminal first", Next: []string{attach},
		}
	}
	if err := t.Switch(c.ctx, client.Name, g.target, g.id); err != nil {
		return 0, err
	}
	g.How = "switched"
	return exitDone, c.arrived(g)
}

// typed is a command line as somebody types it: the id of a session begins with a dollar.
func typed(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = shellWord(a)
	}
	return strings.Join(words, " ")
}

func ownClient(clients []tmux.Client, pane, session string) (own tmux.Client, ok bool) {
	rank := func(c tmux.Client) int {
		switch {
		case c.Pane == pane:
			return 2
		case c.Session == session:
			return 1
		}
		return 0
	}
	for _, c := range clients {
		if r := rank(c); r > 0 && (!ok || r > rank(own) || r == rank(own) && c.Activity > own.Activity) {
			own, ok = c, true
		}
	}
	return own, ok
}

// attachHere becomes tmux in this terminal.
func (c *call) attachHere(g goal) (int, error) {
	argv := tmux.At(g.Server).AttachArgv(g.target)
	if !term.IsTerminal(int(os.Stdin.Fd())) || !term.IsTerminal(int(os.Stdout.Fd())) {
		return 0, &orch.Error{
			Code: "no_terminal", Message: "this is no terminal, so nothing can be shown in it",
			Hint: "in a terminal, type", Next: []string{"st attach " + shellWord(g.name())},
		}
	}
	path, err := exec.LookPath("tmux")
	if err != nil {
		return 0, err
	}
	g.How = "attached"
	if c.out.json {
		if err := c.arrived(g); err != nil {
			return 0, err
		}
	}
	return 0, syscall.Exec(path, argv, os.Environ())
}

func (c *call) arrived(g goal) error {
	if c.out.json {
		return c.out.data(g)
	}
	if g.How == "stayed" {
		return c.out.say("nothing to do: session %s is the only one here, and you are in it", quoted(g.Session))
	}
	if g.Worker == "" {
		return c.out.say("%s to session %s", g.How, quoted(g.Session))
	}
	return c.out.say("%s to worker %s: window %s of session %s", g.How, g.Worker, g.Window, quoted(g.Session))
}
