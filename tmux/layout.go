package tmux

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Layout is all that one server shows, as far as it can be built again. It holds names and folders, and nothing that
// could be run.
type Layout struct {
	Server   Identity        `json:"server"`
	Sessions []SessionLayout `json:"sessions"` // by name
}

// SessionLayout is a session.
type SessionLayout struct {
	ID      string         `json:"id"`
	Name    string         `json:"name"`
	Group   string         `json:"group,omitempty"` // sessions of one group have the same windows
	Dir     string         `json:"dir"`
	Windows []WindowLayout `json:"windows"` // by index
}

// WindowLayout is a window of a session.
type WindowLayout struct {
	ID     string `json:"id"`
	Index  int    `json:"index"`          // in its session, as tmux counts
	Name   string `json:"name"`           // as it was given
	Auto   bool   `json:"auto,omitempty"` // tmux names it, by what runs in it
	Active bool   `json:"active,omitempty"`
	Zoomed bool   `json:"zoomed,omitempty"`
	// Linked says that a session before this one has the window too. Its panes stand there.
	Linked bool         `json:"linked,omitempty"`
	Layout string       `json:"layout"`         // the panes' places, in tmux's own words
	Width  int          `json:"width"`          // columns
	Height int          `json:"height"`         // rows
	Mark   string       `json:"mark,omitempty"` // by whoever has built it, for BuiltOption
	Panes  []PaneLayout `json:"panes"`          // by index
}

// PaneLayout is a pane of a window.
type PaneLayout struct {
	ID      string `json:"id"`
	Active  bool   `json:"active,omitempty"`
	Dir     string `json:"dir"` // as Pane.Path
	Tag     string `json:"tag,omitempty"`
	Command string `json:"command,omitempty"` // name of its foreground process
}

// BuiltOption is the window option that says which window was built again.
const BuiltOption = "@st_built"

// What may hold any character stands at the end; two such are divided by the mark.
const layoutFields = "\t#{socket_path}\t#{pid}\t#{start_time}\t#{session_id}\t#{window_id}\t#{window_index}\t#{window_active}\t#{window_zoomed_flag}" +
	"\t#{automatic-rename}\t#{window_width}\t#{window_height}\t#{pane_id}\t#{pane_active}\t#{window_layout}" +
	"\t#{session_group}\t#{session_name}\t#{window_name}\t#{" + TagOption + "}\t#{" + BuiltOption + "}\t#{pane_current_command}\t#{session_path}"

const layoutColumns = 21

// Layout reads what the server shows, in one call.
func (t *Tmux) Layout(ctx context.Context) (Layout, error) {
	mark := nonce()
	out, err := t.ask(ctx, Cmd{"list-panes", "-a", "-F", mark + layoutFields + mark + currentDir})
	if err != nil {
		return Layout{}, err
	}
	var l Layout
	seen := map[string]string{} // by window: the session that has it first
	for _, row := range rows(out, mark) {
		if err := l.add(row, mark, seen); err != nil {
			return Layout{}, err
		}
	}
	return l, nil
}

// add takes one pane. tmux lists them by session, window and index.
func (l *Layout) add(row, mark string, seen map[string]string) error {
	head, path, ok := strings.Cut(row, mark)
	f := strings.SplitN(head, "\t", layoutColumns)
	if !ok || len(f) != layoutColumns {
		return fmt.Errorf("tmux list-panes: unreadable row %q", row)
	}
	var n [5]int64
	for i, at := range []int{1, 2, 5, 9, 10} {
		var err error
		if n[i], err = strconv.ParseInt(f[at], 10, 64); err != nil {
			return fmt.Errorf("tmux list-panes: unreadable row %q", row)
		}
	}
	l.Server = Identity{Socket: f[0], PID: n[0], Start: n[1]}
	s := l.session(SessionLayout{ID: f[3], Name: unescaped(f[15]), Group: f[14], Dir: f[20]})
	if seen[f[4]] == "" {
		seen[f[4]] = s.ID
	}
	w := s.window(WindowLayout{
		ID: f[4], Index: int(n[2]), Name: unescaped(f[16]), Auto: f[8] == "1", Active: f[6] == "1", Zoomed: f[7] == "1",
		Linked: seen[f[4]] != s.ID, Layout: f[13], Width: int(n[3]), Height: int(n[4]), Mark: f[18],
	})
	if !w.Linked {
		w.Panes = append(w.Panes, PaneLayout{ID: f[11], Active: f[12] == "1", Tag: f[17], Command: f[19], Dir: path})
	}
	return nil
}

// session is the session to which the next pane belongs.
func (l *Layout) session(s SessionLayout) *SessionLayout {
	if n := len(l.Sessions); n == 0 || l.Sessions[n-1].ID != s.ID {
		l.Sessions = append(l.Sessions, s)
	}
	return &l.Sessions[len(l.Sessions)-1]
}

// window is the window to which the next pane belongs. One that is linked twice into a session is two.
func (s *SessionLayout) window(w WindowLayout) *WindowLayout {
	if n := len(s.Windows); n == 0 || s.Windows[n-1].Index != w.Index {
		s.Windows = append(s.Windows, w)
	}
	return &s.Windows[len(s.Windows)-1]
}

// unescaped is a name as it was given. tmux keeps it with a backslash before a backslash and before the $ of a variable.
func unescaped(name string) string {
	return strings.NewReplacer(`\\`, `\`, `\$`, `$`).Replace(name)
}
