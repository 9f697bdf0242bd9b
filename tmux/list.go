package tmux

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// TagOption is the pane option that says whose a pane is. Tags are whatever Open was given.
const TagOption = "@st_agent"

// Pane is what can be told of a pane without reading its screen.
type Pane struct {
	ID          string // "%3"
	PID         int    // of the process that tmux started in it
	Window      string // "@2"
	WindowName  string // as tmux shows it: with a backslash before a backslash and before the $ of a variable
	Session     string // "$1"
	SessionName string
	Dead        bool // its process has ended, and remain-on-exit keeps it
	Active      bool // the active pane of its window, and that the current window of its session
	Tag         string
	Command     string // name of its foreground process, as far as tmux can tell
	Path        string // current folder of its foreground process, or the one it started in; may be empty
}

// currentDir is the folder a pane is in. A pane that was made a moment ago has no foreground process yet, and no folder of
// such: then it is the one it was made with, which tmux 3.2 does not tell.
const currentDir = "#{?pane_current_path,#{pane_current_path},#{pane_start_path}}"

// Rows are told by a word in front: a folder's name may hold a line break, and must not be able to look like
// a row of its own.
const paneFields = "\t#{pane_id}\t#{pane_pid}\t#{window_id}\t#{session_id}\t#{pane_dead}" +
	"\t#{&&:#{pane_active},#{window_active}}\t#{session_name}\t#{window_name}\t#{" + TagOption + "}\t#{pane_current_command}\t" + currentDir

// Panes lists every pane of the server. One that is linked into several sessions is listed once, in the first.
func (t *Tmux) Panes(ctx context.Context) ([]Pane, error) {
	mark := nonce()
	out, err := t.ask(ctx, Cmd{"list-panes", "-a", "-F", mark + paneFields})
	if err != nil {
		return nil, err
	}
	var panes []Pane
	seen := map[string]bool{}
	for _, row := range rows(out, mark) {
		p, err := parsePane(row)
		if err != nil {
			return nil, err
		}
		if !seen[p.ID] {
			seen[p.ID] = true
			panes = append(panes, p)
		}
	}
	return panes, nil
}

// rows are the parts of an answer that a list gave.
func rows(out, mark string) []string {
	var rows []string
	for _, p := range parts(out, mark) {
		if row, ok := strings.CutPrefix(p, "\t"); ok {
			rows = append(rows, row)
		}
	}
	return rows
}

// parts cuts what tmux printed at the lines that begin with the mark, which is left out.
func parts(out, mark string) []string {
	parts := strings.Split("\n"+out, "\n"+mark)[1:]
	for i, p := range parts {
		parts[i] = strings.TrimSuffix(p, "\n")
	}
	return parts
}

func parsePane(row string) (Pane, error) {
	f := strings.SplitN(row, "\t", 11)
	if len(f) != 11 {
		return Pane{}, fmt.Errorf("tmux list-panes: unreadable row %q", row)
	}
	pid, err := strconv.Atoi(f[1])
	if err != nil {
		return Pane{}, fmt.Errorf("tmux list-panes: unreadable row %q", row)
	}
	return Pane{
		ID: f[0], PID: pid, Window: f[2], Session: f[3], Dead: f[4] == "1", Active: f[5] == "1",
		SessionName: f[6], WindowName: f[7], Tag: f[8], Command: f[9], Path: f[10],
	}, nil
}

// Session is a session of the server.
type Session struct {
	ID       string // "$1"
	Name     string
	Windows  int       // how many
	Attached int       // clients
	Activity time.Time // the last key at one of them, or its making; to the second
}

const sessionFields = "\t#{session_id}\t#{session_windows}\t#{session_attached}\t#{session_activity}\t#{session_name}"

// Sessions lists the server's sessions.
func (t *Tmux) Sessions(ctx context.Context) ([]Session, error) {
	mark := nonce()
	out, err := t.ask(ctx, Cmd{"list-sessions", "-F", mark + sessionFields})
	if err != nil {
		return nil, err
	}
	var sessions []Session
	for _, row := range rows(out, mark) {
		s, err := parseSession(row)
		if err != nil {
			return nil, err
		}
		sessions = append(sessions, s)
	}
	return sessions, nil
}

func parseSession(row string) (Session, error) {
	f := strings.SplitN(row, "\t", 5)
	if len(f) != 5 {
		return Session{}, fmt.Errorf("tmux list-sessions: unreadable row %q", row)
	}
	var n [3]int64
	for i := range n {
		var err error
		if n[i], err = strconv.ParseInt(f[i+1], 10, 64); err != nil {
			return Session{}, fmt.Errorf("tmux list-sessions: unreadable row %q", row)
		}
	}
	return Session{ID: f[0], Name: f[4], Windows: int(n[0]), Attached: int(n[1]), Activity: time.Unix(n[2], 0)}, nil
}

// SessionsOf returns the ids of the sessions in which a pane is: several, where its window is linked or its session has a
// group.
func (t *Tmux) SessionsOf(ctx context.Context, pane string) (map[string]bool, error) {
	out, err := t.ask(ctx, Cmd{"list-panes", "-a", "-F", "#{pane_id} #{session_id}"})
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for row := range strings.Lines(out) {
		if id, session, ok := strings.Cut(strings.TrimSpace(row), " "); ok && id == pane {
			ids[session] = true
		}
	}
	return ids, nil
}

// FindSession returns the session of exactly that name. It reads the list: tmux's own -t takes prefixes and
// patterns too, so that "s1" may hit "s10". ErrNoSession where there is none.
func (t *Tmux) FindSession(ctx context.Context, name string) (Session, error) {
	sessions, err := t.Sessions(ctx)
	if err != nil {
		return Session{}, err
	}
	for _, s := range sessions {
		if s.Name == name {
			return s, nil
		}
	}
	return Session{}, fmt.Errorf("session %q: %w", name, ErrNoSession)
}
