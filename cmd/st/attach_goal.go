package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"st/orch"
	"st/tmux"
)

// goal is where to go.
type goal struct {
	Worker  string      `json:"worker"` // id, "" for a session
	Session string      `json:"session"`
	Window  string      `json:"window"`
	Pane    string      `json:"pane"`
	Server  string      `json:"server"` // socket
	How     string      `json:"how"`    // switched, attached, stayed
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
		if !gone(w) {
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
		if !gone(w) {
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
	if err != nil || i < 0 || gone(w) {
		return goal{}, errors.Join(err, closed)
	}
	p := panes[i]
	return goal{
		Worker: w.ID, Session: p.SessionName, Window: p.Window, Pane: p.ID, Server: want.Socket, id: want,
		target: tmux.Target{Session: p.Session, Window: p.Window, Pane: p.ID},
	}, nil
}

// gone says that a worker's agent has ended, whether it may come back or not.
func gone(w orch.WorkerInfo) bool { return w.Status == "gone" || w.Status == "gone_resumable" }

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

// lastUsed is the session in which something happened last, but the one we are in; that one where there is no other.
func (c *call) lastUsed() (goal, error) {
	t := tmux.At(ownSocket())
	sessions, err := t.Sessions(c.ctx)
	if err != nil && !errors.Is(err, tmux.ErrNoServer) {
		return goal{}, err
	}
	here := "" // its id
	if os.Getenv("TMUX") != "" {
		if here, err = sessionOf(c.ctx, t, os.Getenv("TMUX_PANE")); err != nil {
			return goal{}, err
		}
	}
	var last *tmux.Session
	var own *tmux.Session
	for i, s := range sessions {
		if s.ID == here {
			own = &sessions[i]
		} else if last == nil || s.Activity.After(last.Activity) {
			last = &sessions[i]
		}
	}
	if last == nil && own != nil {
		g, err := c.to(t.Socket(), *own)
		g.How = "stayed"
		return g, err
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
