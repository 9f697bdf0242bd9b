package tmux_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"st/tmux"
	"st/tmux/tmuxtest"
)

// nasty are names and folders that tmux would expand, cut or take for something else.
var nasty = []string{
	"#{pid}", "#(touch ran)", "a;", ";", `it's "so"`, `back\slash`, "$HOME ${HOME}", "-n", "=x", "@1", "%1", "{last}", "ünï 日本", "a  b", "#[fg=red]", "~", "!",
}

// show is a layout without ids, for a comparison; dot stands for the folder of the test.
func show(l tmux.Layout, dot string) string {
	var b strings.Builder
	for _, s := range l.Sessions {
		fmt.Fprintf(&b, "session %s in %s %s\n", s.Name, s.Dir, s.Group)
		for _, w := range s.Windows {
			name := w.Name
			if w.Auto {
				name = "(by tmux)"
			}
			fmt.Fprintf(&b, "  %d %s active=%v zoomed=%v linked=%v %dx%d %s\n", w.Index, name, w.Active, w.Zoomed, w.Linked, w.Width, w.Height, places(w.Layout))
			for _, p := range w.Panes {
				fmt.Fprintf(&b, "    %v %s %s\n", p.Active, p.Dir, p.Tag)
			}
		}
	}
	return strings.ReplaceAll(b.String(), dot, ".")
}

// places are those of the panes, without their numbers and the sum over all.
func places(layout string) string {
	_, all, _ := strings.Cut(layout, ",")
	return regexp.MustCompile(`(\d+x\d+,\d+,\d+),\d+`).ReplaceAllString(all, "$1")
}

func layout(t *testing.T, s *tmuxtest.Server) tmux.Layout {
	t.Helper()
	l, err := s.Tmux().Layout(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// rebuild builds a layout again, as whoever restores it does.
func rebuild(t *testing.T, s *tmuxtest.Server, l tmux.Layout) {
	t.Helper()
	for _, is := range l.Sessions {
		id := ""
		for _, w := range is.Windows {
			build := func() (tmux.Built, error) { return s.Tmux().BuildWindow(t.Context(), id, w) }
			if id == "" {
				build = func() (tmux.Built, error) { return s.Tmux().BuildSession(t.Context(), is, w) }
			}
			b, err := build()
			if err != nil || b.Loose != nil || b.Index != w.Index || len(b.Panes) != len(w.Panes) {
				t.Fatalf("%q of %q: %+v, %v", w.Name, is.Name, b, err)
			}
			id = b.Session
			if w.Active {
				if err := s.Tmux().SelectWindow(t.Context(), id, b.Window); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// TestLayout: what a server showed is built again on a new one, whatever it was called.
func TestLayout(t *testing.T) {
	s := tmuxtest.New(t, "set -g base-index 1", "set -g renumber-windows on")
	dir := filepath.Join(s.Dir(), "d")
	for i, name := range nasty {
		path := filepath.Join(dir, strings.ReplaceAll(name, "/", ""))
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		w := tmux.WindowLayout{Index: 2*i + 3, Name: name, Panes: []tmux.PaneLayout{{Dir: path, Tag: "m:w" + fmt.Sprint(i)}}}
		if i%8 == 0 {
			if _, err := s.Tmux().BuildSession(t.Context(), tmux.SessionLayout{Name: name}, w); err != nil {
				t.Fatalf("%q: %v", name, err)
			}
			continue
		}
		id := strings.Fields(s.Run("list-sessions", "-F", "#{session_id}"))
		if _, err := s.Tmux().BuildWindow(t.Context(), id[len(id)-1], w); err != nil {
			t.Fatalf("%q: %v", name, err)
		}
	}
	s.Run("new-session", "-d", "-s", "split", "-x", "120", "-y", "40", "-c", dir)
	s.Run("split-window", "-t", "split:", "-h", "-c", s.Dir())
	s.Run("split-window", "-t", "split:", "-v", "-c", dir)
	s.Run("select-pane", "-t", "split:.1")
	s.Run("new-window", "-t", "split:", "-n", "zoom")
	s.Run("split-window", "-t", "split:zoom")
	s.Run("resize-pane", "-Z", "-t", "split:zoom")
	s.Run("select-window", "-t", "split:1")
	before := layout(t, s)
	s.Kill()
	s.Start()
	rebuild(t, s, before)
	after := layout(t, s)
	if a, b := show(before, s.Dir()), show(after, s.Dir()); a != b {
		t.Errorf("it was\n%sand is\n%s", a, b)
	}
	if _, err := os.Stat(filepath.Join(s.Dir(), "ran")); err == nil {
		t.Error("a name was run")
	}
	if before.Server == after.Server || after.Server != s.Identity() {
		t.Errorf("the server is %v", after.Server)
	}
}

// TestBuildNeverDoubles: a session that is there stays as it is, an index that is taken leads to another.
func TestBuildNeverDoubles(t *testing.T) {
	s := tmuxtest.New(t)
	p := s.Session("work")
	w := tmux.WindowLayout{Name: "a", Panes: []tmux.PaneLayout{{Dir: s.Dir()}}}
	if _, err := s.Tmux().BuildSession(t.Context(), tmux.SessionLayout{Name: "work"}, w); !errors.Is(err, tmux.ErrSessionExists) {
		t.Errorf("a second one: %v", err)
	}
	b, err := s.Tmux().BuildWindow(t.Context(), p.Session, w)
	if err != nil || b.Index == 0 {
		t.Errorf("%+v, %v", b, err)
	}
	if err := s.Tmux().BuildGrouped(t.Context(), tmux.SessionLayout{Name: "twin"}, "work"); err != nil {
		t.Error(err)
	}
	if got := layout(t, s).Sessions[1]; got.Group == "" || len(got.Windows) != 2 || !got.Windows[1].Linked {
		t.Errorf("%+v", got)
	}
	w.Panes = append(w.Panes, tmux.PaneLayout{Dir: s.Dir()})
	w.Layout = "nonsense"
	if b, err = s.Tmux().BuildWindow(t.Context(), p.Session, w); err != nil || b.Loose == nil || len(b.Panes) != 2 {
		t.Errorf("panes that can't be placed: %+v, %v", b, err)
	}
	if _, err := s.Tmux().BuildWindow(t.Context(), "$99", w); !errors.Is(err, tmux.ErrNoSession) {
		t.Errorf("no session: %v", err)
	}
}

// TestRespawn: a program takes the place of the shell that was put there for it, and of no other.
func TestRespawn(t *testing.T) {
	s := tmuxtest.New(t)
	first := s.Session("work")
	b, err := s.Tmux().BuildWindow(t.Context(), first.Session, tmux.WindowLayout{Name: "a", Index: 4, Panes: []tmux.PaneLayout{{Dir: s.Dir(), Tag: "m:held"}}})
	if err != nil {
		t.Fatal(err)
	}
	o := tmux.Open{Dir: s.Dir(), Tag: "m:w1", Argv: []string{"/bin/sh", "-c", `printf '%s' "it's; #{pid} $0"; exec cat`, `x'y;`}}
	other := s.Identity()
	other.Start++
	for tag, want := range map[string]error{"m:else": tmux.ErrOtherTag, "m:held": tmux.ErrOtherServer} {
		id := s.Identity()
		if want == tmux.ErrOtherServer {
			id = other
		}
		if _, err := s.Tmux().Respawn(t.Context(), b.Panes[0], id, tag, o); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", tag, err, want)
		}
	}
	p, err := s.Tmux().Respawn(t.Context(), b.Panes[0], s.Identity(), "m:held", o)
	if err != nil || p.Tag != "m:w1" || p.ID != b.Panes[0] {
		t.Fatalf("%+v, %v", p, err)
	}
	s.WaitText(p.ID, `it's; #{pid} x'y;`)
	if _, err := s.Tmux().Respawn(t.Context(), first.ID, s.Identity(), "m:held", o); !errors.Is(err, tmux.ErrOtherTag) {
		t.Errorf("a pane of a person: %v", err)
	}
	if err := s.Tmux().Untag(t.Context(), p.ID, s.Identity(), "m:w1"); err != nil || s.Run("display-message", "-p", "-t", p.ID, "#{@st_agent}") != "" {
		t.Errorf("untagged: %v", err)
	}
}
