package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"st/orch"
	"st/tmux"
)

func init() {
	register(&verb{
		name: "attach", args: "[W|SESSION]", max: 1, about: "go to a worker's window, or to a session",
		help: "Inside tmux your own client is switched; outside tmux is attached to in this terminal. A name that is\n" +
			"both means the worker, --session the session. Without any it is the session last used.",
		flags: []cli.Flag{&cli.StringFlag{Name: "session", Usage: "go to this session: `S`"}},
		codes: []int{exitGone},
		run:   attach,
	})
}

// goal is where to go.
type goal struct {
	Worker  string      `json:"worker"` // id, "" for a session
	Session string      `json:"session"`
	Window  string      `json:"window"`
	Pane    string      `json:"pane"`
	Server  string      `json:"server"` // socket
	How     string      `json:"how"`    // switched, attached
	target  tmux.Target // by ids
	id      tmux.Identity
}

// name is what means the goal for st attach.
func (g goal) name() string {
	if g.Worker != "" {
		return g.Worker
	}
	return g.Session
}

func attach(c *call) (int, error) {
	session, err := c.text("session")
	if err != nil {
		return 0, err
	}
	if session != "" && c.arg(0) != "" {
		return 0, c.misuse("attach: W and --session exclude each other")
	}
	g, err := c.goal(session)
	if err != nil {
		return 0, err
	}
	if os.Getenv("TMUX") == "" {
		return c.attachHere(g)
	}
	return c.switchTo(g)
}

// goal finds what is meant: a worker before a session.
func (c *call) goal(session string) (goal, error) {
	name := c.arg(0)
	var sessions []orch.SessionInfo
	if err := c.get("sessions", nil, &sessions); err != nil {
		return goal{}, err
	}
	if session != "" {
		return c.session(sessions, session)
	}
	if name == "" {
		return c.lastUsed()
	}
	var w orch.WorkerInfo
	err := c.get("worker", orch.WorkerArgs{Worker: name}, &w)
	same := slices.ContainsFunc(sessions, func(s orch.SessionInfo) bool { return s.Name == name })
	var e *orch.Error
	switch {
	case err == nil:
		if same {
			c.out.note("a session is called %s too; for that one: st attach --session %s", quoted(name), shellWord(name))
		}
		return c.window(w)
	case !errors.As(err, &e) || e.Code != "worker_not_found" && e.Code != "no_run":
		return goal{}, err
	case same:
		return c.session(sessions, name)
	}
	return goal{}, c.nowhere(name, sessions)
}

// nowhere refuses a name that is neither, and lists both.
func (c *call) nowhere(name string, sessions []orch.SessionInfo) error {
	var workers []orch.WorkerInfo
	if err := c.get("workers", orch.ListArgs{All: true}, &workers); err != nil {
		return err
	}
	e := &orch.Error{
		Code: "worker_not_found", Message: "attach " + quoted(name) + ": no worker and no session is called so",
		Next: []string{"st worker ls", "st ls"},
	}
	var live, open []string
	for _, w := range workers {
		if w.Status != "gone" {
			live = append(live, w.ID+" "+quoted(w.Name))
		}
	}
	for _, s := range sessions {
		open = append(open, quoted(s.Name))
	}
	e.Hint = "workers: " + orNone(live) + "; sessions: " + orNone(open)
	return e
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// window is a worker's window, as it stands now: it may have been moved to another session.
func (c *call) window(w orch.WorkerInfo) (goal, error) {
	closed := &orch.Error{
		Code: "agent_exited", Message: fmt.Sprintf("worker %s: its window is closed", named(w)), Next: []string{"st worker read " + w.ID},
	}
	want, err := tmux.ParseIdentity(w.Server)
	if err != nil || w.Pane == "" {
		if w.Status != "gone" {
			closed.Code, closed.Message = "not_ready", fmt.Sprintf("worker %s has no window yet", named(w))
		}
		return goal{}, closed
	}
	t := tmux.At(want.Socket)
	if is, err := t.Identity(c.ctx); errors.Is(err, tmux.ErrNoServer) || err == nil && is != want {
		return goal{}, closed
	} else if err != nil {
		return goal{}, err
	}
	panes, err := t.Panes(c.ctx)
	i := slices.IndexFunc(panes, func(p tmux.Pane) bool { return p.ID == w.Pane })
	if err != nil || i < 0 || w.Status == "gone" {
		return goal{}, errors.Join(err, closed)
	}
	p := panes[i]
	return goal{
		Worker: w.ID, Session: p.SessionName, Window: p.Window, Pane: p.ID, Server: want.Socket, id: want,
		target: tmux.Target{Session: p.Session, Window: p.Window, Pane: p.ID},
	}, nil
}

// session is a session by its name, on the caller's own server before any other.
func (c *call) session(sessions []orch.SessionInfo, name string) (goal, error) {
	for _, info := range sessions {
		if info.Name != name {
			continue
		}
		s, err := tmux.At(info.Server).FindSession(c.ctx, name)
		if err != nil {
			return goal{}, err
		}
		return c.to(info.Server, s)
	}
	return goal{}, &orch.Error{
		Code: "session_not_found", Message: "session " + quoted(name) + ": no such session",
		Next: []string{"tmux new-session -d -s " + shellWord(name), "st ls"},
	}
}

func (c *call) to(socket string, s tmux.Session) (goal, error) {
	id, err := tmux.At(socket).Identity(c.ctx)
	return goal{Session: s.Name, Server: socket, target: tmux.Target{Session: s.ID}, id: id}, err
}

// lastUsed is the session in which something happened last, but the one we are in.
func (c *call) lastUsed() (goal, error) {
	t := tmux.At(ownSocket())
	sessions, err := t.Sessions(c.ctx)
	if err != nil && !errors.Is(err, tmux.ErrNoServer) {
		return goal{}, err
	}
	here := ""
	if os.Getenv("TMUX") != "" {
		if here, err = sessionOf(c.ctx, t, os.Getenv("TMUX_PANE")); err != nil {
			return goal{}, err
		}
	}
	var last *tmux.Session
	for i, s := range sessions {
		if s.ID != here && (last == nil || s.Activity.After(last.Activity)) {
			last = &sessions[i]
		}
	}
	if last == nil {
		return goal{}, &orch.Error{
			Code: "session_not_found", Message: "there is no session to go to", Next: []string{"tmux new-session -s work", "st ls"},
		}
	}
	return c.to(t.Socket(), *last)
}

func sessionOf(ctx context.Context, t *tmux.Tmux, pane string) (string, error) {
	panes, err := t.Panes(ctx)
	for _, p := range panes {
		if p.ID == pane {
			return p.Session, nil
		}
	}
	return "", err
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
	if g.Worker == "" {
		return c.out.say("%s to session %s", g.How, quoted(g.Session))
	}
	return c.out.say("%s to worker %s: window %s of session %s", g.How, g.Worker, g.Window, quoted(g.Session))
}
