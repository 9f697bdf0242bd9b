//go:build unix

package tmux

import (
	"errors"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestNoAnswer: a server that a signal has stopped is told of, and nobody waits for it for ever.
func TestNoAnswer(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	limit, pipe := answerLimit, pipeLimit
	t.Cleanup(func() { answerLimit, pipeLimit = limit, pipe })
	socket := filepath.Join(t.TempDir(), "s")
	tm := At(socket)
	if _, err := tm.Bare().NewSession(t.Context(), "main", "/", []string{"cat"}, nil); err != nil {
		t.Fatal(err)
	}
	id, err := tm.Identity(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(int(id.PID), syscall.SIGKILL) })
	if err := syscall.Kill(int(id.PID), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	answerLimit, pipeLimit = 200*time.Millisecond, 200*time.Millisecond
	if _, err := tm.Panes(t.Context()); !errors.Is(err, ErrNoAnswer) || err.Error() != "tmux list-panes: the tmux server does not answer" {
		t.Errorf("panes: %v", err)
	}
	if _, err := tm.Look(t.Context(), "%0"); !errors.Is(err, ErrNoAnswer) {
		t.Errorf("a look: %v", err)
	}
}
