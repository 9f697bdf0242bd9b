//go:build linux || darwin

package e2e

import (
	"strings"
	"testing"
)

// TestGuard: a Claude in its auto mode, which would ask nobody, and a Codex without a sandbox try to stop the server that they run in.
// Both are refused in the act and told what to do instead; the server lives, and a server of their own they may stop.
func TestGuard(t *testing.T) {
	b := newDesk(t)
	b.allow("auto", "Bash(tmux:*)", "Bash(kill:*)")
	task := "MOCK: bash tmux kill-server\n" +
		"MOCK: bash bash -lc 'tmux kill-server'\n" +
		"MOCK: bash kill -9 $(echo $TMUX | cut -d, -f2)\n" +
		"MOCK: bash tmux -L NAME new-session -d sleep 600 && tmux -L NAME kill-server && echo ended NAME\n" +
		"MOCK: bash st worker done --summary 'tried it'\nMOCK: say done"
	server := b.tmux.Run("display-message", "-p", "#{pid}")
	for kind, args := range map[string][]string{"claude": nil, "codex": {"--arg=-s", "--arg=danger-full-access"}} {
		s, code := b.start(kind, kind, strings.ReplaceAll(task, "NAME", "own-"+kind), args...)
		if code != 0 {
			t.Fatalf("%s: exit code %d, %s\n%s", kind, code, s.Delivery, b.scene())
		}
		b.finishes(kind, "tried it")
		talk := b.log(kind, "Your task is in this file: "+b.copyOf(kind))
		if n := strings.Count(talk, "this would stop the tmux server"); n < 3 {
			t.Errorf("%s: refused %d times\n%s", kind, n, talk)
		}
		if !strings.Contains(talk, "\nended own-"+kind) && !strings.Contains(talk, "ended own-"+kind+"\n") {
			t.Errorf("%s: it could not end a server of its own\n%s", kind, talk)
		}
	}
	if now := b.tmux.Run("display-message", "-p", "#{pid}"); now != server {
		t.Errorf("the server was %s and is %s", server, now)
	}
}
