package tmux_test

import (
	"errors"
	"testing"

	"st/tmux"
	"st/tmux/tmuxtest"
)

// deadPane waits until a pane's process has ended, and the pane is still there.
func deadPane(t *testing.T, s *tmuxtest.Server, id string) {
	t.Helper()
	tmuxtest.Wait(t, "a dead pane", func() (bool, string) {
		saw := s.Run("list-panes", "-a", "-F", "#{pane_id} #{pane_dead}")
		return saw == id+" 1\n" || saw == id+" 1", saw
	})
}

func TestStayKeepsTheLastPaneOfAServer(t *testing.T) {
	s := tmuxtest.New(t)
	s.Run("set-option", "-s", "exit-empty", "on")
	p := s.Session("main", "sh", "-c", "read line")
	id := s.Identity()
	other := id
	other.Start++
	if err := s.Tmux().Stay(t.Context(), p.ID, other); !errors.Is(err, tmux.ErrOtherServer) {
		t.Errorf("of another server: %v", err)
	}
	if err := s.Tmux().Stay(t.Context(), "%77", id); !errors.Is(err, tmux.ErrNoPane) {
		t.Errorf("a pane that is not there: %v", err)
	}
	if err := s.Tmux().Stay(t.Context(), p.ID, id); err != nil {
		t.Fatal(err)
	}
	s.Run("send-keys", "-t", p.ID, "Enter")
	deadPane(t, s, p.ID)
	if err := s.Tmux().Leave(t.Context(), p.ID, other); err != nil {
		t.Errorf("leave of another server: %v", err)
	}
	deadPane(t, s, p.ID)
	s.Session("next")
	if err := s.Tmux().Leave(t.Context(), p.ID, id); err != nil {
		t.Fatal(err)
	}
	if list := s.Run("list-panes", "-a", "-F", "#{session_name}"); list != "next\n" && list != "next" {
		t.Errorf("afterwards there is %q", list)
	}
	if err := s.Tmux().Leave(t.Context(), p.ID, id); err != nil {
		t.Errorf("once more: %v", err)
	}
}

func TestLeaveGivesALivePaneBackAsItWas(t *testing.T) {
	s := tmuxtest.New(t)
	s.Session("other")
	p := s.Session("main", "sh", "-c", "read line")
	id := s.Identity()
	for _, f := range []func() error{
		func() error { return s.Tmux().Stay(t.Context(), p.ID, id) },
		func() error { return s.Tmux().Leave(t.Context(), p.ID, id) },
	} {
		if err := f(); err != nil {
			t.Fatal(err)
		}
	}
	s.Run("send-keys", "-t", p.ID, "Enter")
	tmuxtest.Wait(t, "the end of its session", func() (bool, string) {
		saw := s.Run("list-sessions", "-F", "#{session_name}")
		return saw == "other\n" || saw == "other", saw
	})
}

// Who has set that panes stay keeps them: Leave closes only what Stay has kept.
func TestStayLeavesAPersonsOwnSettingAlone(t *testing.T) {
	s := tmuxtest.New(t, "set -g remain-on-exit on")
	p := s.Session("main", "sh", "-c", "read line")
	id := s.Identity()
	if err := s.Tmux().Stay(t.Context(), p.ID, id); err != nil {
		t.Fatal(err)
	}
	s.Run("send-keys", "-t", p.ID, "Enter")
	deadPane(t, s, p.ID)
	if err := s.Tmux().Leave(t.Context(), p.ID, id); err != nil {
		t.Fatal(err)
	}
	deadPane(t, s, p.ID)
}
