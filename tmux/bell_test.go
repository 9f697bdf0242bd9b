package tmux_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"st/tmux"
	"st/tmux/tmuxtest"
)

func hang(t *testing.T, s *tmuxtest.Server, hash string) *tmux.Bell {
	t.Helper()
	b, err := s.Tmux().Bell(t.Context(), hash, tmux.Changes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// rung waits for a ring; false when the bell was taken down.
func rung(t *testing.T, b *tmux.Bell, what string) bool {
	t.Helper()
	select {
	case _, ok := <-b.C:
		return ok
	case <-time.After(tmuxtest.Limit):
		t.Fatalf("no ring: %s", what)
		return false
	}
}

func TestBellRings(t *testing.T) {
	s := tmuxtest.New(t, "set-hook -g pane-exited 'set -g @mine exited'")
	s.Session("main")
	b := hang(t, s, "hash")
	other := hang(t, s, "another")
	for what, end := range map[string][]string{
		"kill-pane":    {"kill-pane", "-t", "victim"},
		"kill-window":  {"kill-window", "-t", "victim"},
		"kill-session": {"kill-session", "-t", "victim"},
		"exit":         {"send-keys", "-t", "victim", "C-d"},
	} {
		s.WaitText(s.Session("victim", "sh", "-c", "echo up; exec cat").ID, "up")
		s.Run(end...)
		for _, bell := range []*tmux.Bell{b, other} {
			if !rung(t, bell, what) {
				t.Errorf("taken down by %s", what)
			}
		}
		waitGone(t, s, b)
		waitGone(t, s, other)
	}
	if got := s.Run("show-options", "-gv", "@mine"); got != "exited" {
		t.Errorf("the person's hook did %q", got)
	}
	// With remain-on-exit nothing is promised: tmux 3.3a may lose the exit status, and then tells of no death.
	if clients := s.Run("list-clients"); clients != "" {
		t.Errorf("the bell shows as a client: %s", clients)
	}
}

// waitGone takes rings until the victim is no longer listed, as a daemon does.
func waitGone(t *testing.T, s *tmuxtest.Server, b *tmux.Bell) {
	t.Helper()
	tmuxtest.Wait(t, "the victim is gone and the bell still", func() (bool, string) {
		sessions := s.Run("list-sessions", "-F", "#{session_name}")
		select {
		case <-b.C:
			return false, "ringing; " + sessions
		case <-time.After(30 * time.Millisecond): // one end may ring several times
			return !strings.Contains(sessions, "victim"), sessions
		}
	})
}

func TestBellCloseLeavesOthersHooks(t *testing.T) {
	s := tmuxtest.New(t, "set-hook -g pane-exited 'set -g @mine exited'")
	s.Session("main")
	hooks := func() string { return s.Run("show-hooks", "-g") + s.Run("show-hooks", "-gw") }
	before := hooks()
	b := hang(t, s, "hash")
	if hooks() == before {
		t.Fatal("no hook was set")
	}
	// One that takes the place keeps it when the first is closed.
	second := hang(t, s, "hash")
	during := hooks()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	for rung(t, b, "closed") { // one ring may still have been on its way
	}
	if after := hooks(); after != during {
		t.Errorf("closing the first changed\n%s\nto\n%s", during, after)
	}
	s.Session("victim")
	s.Run("kill-session", "-t", "victim")
	if !rung(t, second, "kill-session") {
		t.Error("the second was taken down")
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if after := hooks(); after != before {
		t.Errorf("hooks were\n%s\nand are\n%s", before, after)
	}
}

func TestBellEndsWithTheServer(t *testing.T) {
	for what, end := range map[string]func(*tmuxtest.Server){
		"crash":       func(s *tmuxtest.Server) { s.Kill() },
		"kill-server": func(s *tmuxtest.Server) { s.Run("kill-server") },
		"new server":  func(s *tmuxtest.Server) { s.Kill(); s.Start(); s.Session("main") },
	} {
		t.Run(what, func(t *testing.T) {
			s := tmuxtest.New(t)
			s.Session("main")
			b := hang(t, s, "hash")
			end(s)
			for rung(t, b, what) {
			}
		})
	}
	s := tmuxtest.New(t)
	s.Kill()
	if _, err := s.Tmux().Bell(t.Context(), "hash", tmux.Changes); !errors.Is(err, tmux.ErrNoServer) {
		t.Errorf("without a server: %v", err)
	}
}

func TestBellLosesNoRing(t *testing.T) {
	s := tmuxtest.New(t)
	s.Session("main")
	b := hang(t, s, "hash")
	for range 6 {
		s.Session("victim")
		s.Run("kill-session", "-t", "victim")
		rung(t, b, "kill-session")
		waitGone(t, s, b)
	}
}
