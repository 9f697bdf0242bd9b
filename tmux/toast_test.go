package tmux_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"st/tmux/tmuxtest"
)

// TestToast: a line from an agent is shown as it stands, on each person's terminal, and rings the bell there; nothing in
// it runs, and a program in control mode gets none.
func TestToast(t *testing.T) {
	s := tmuxtest.New(t)
	s.Session("main", "cat")
	p := s.Attach("main", 200, 24)
	ran := filepath.Join(s.Dir(), "ran")
	line := "st: gate g1: #(touch " + ran + ") #{pane_id} %H 100% $HOME ; \x1b[31mx\ny #[fg=red]now?;"
	n, err := s.Tmux().Toast(context.Background(), line, 3*time.Second)
	if n != 1 || err != nil {
		t.Fatalf("shown on %d: %v", n, err)
	}
	want := "st: gate g1: #(touch " + ran + ") #{pane_id} %H 100% $HOME ; [31mx y # [fg=red]now?;"
	tmuxtest.Wait(t, "the line and the bell", func() (bool, string) {
		seen := p.Seen()
		return strings.Contains(seen, want) && strings.Contains(seen, "\a"), seen
	})
	if _, err := os.Stat(ran); err == nil {
		t.Error("a command in it was run")
	}
}

// TestUserOption: a status line shows the value as it stands, and nothing in it runs.
func TestUserOption(t *testing.T) {
	s := tmuxtest.New(t)
	s.Session("main", "cat")
	s.Run("set-option", "-g", "status-right", "<#{@st_gate}>")
	p := s.Attach("main", 100, 24)
	for _, value := range []string{"g1 g2", "", "g3"} {
		if err := s.Tmux().SetUserOption(context.Background(), "@st_gate", value); err != nil {
			t.Fatal(err)
		}
		tmuxtest.Wait(t, "the status line shows it at once", func() (bool, string) {
			seen := p.Seen()
			return strings.Contains(seen[max(len(seen)-400, 0):], "<"+value+">"), seen
		})
	}
	if err := s.Tmux().SetUserOption(context.Background(), "@st_never", ""); err != nil {
		t.Errorf("what is not set can be unset: %v", err)
	}
}
