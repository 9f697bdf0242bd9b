//go:build unix

package daemon

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"st/tmux"
	"st/tmux/tmuxtest"
)

// TestDrivenBy: a terminal that an agent has attached is no person's, nor is the pane of another tmux server at which nobody
// presses keys.
func TestDrivenBy(t *testing.T) {
	inner, outer := tmuxtest.New(t), tmuxtest.New(t)
	inner.Session("main")
	attach := []string{"tmux", "-u", "-S", inner.Socket(), "attach-session", "-t", "=main"}
	agent := agentShell(t)
	for name, c := range map[string]struct {
		env  []string
		argv []string
		want string // "" for a person's
		only string // system
	}{
		"a terminal":             {nil, attach, "", ""},
		"an agent above":         {nil, append([]string{agent, "-c", `"$@"; :`, "sh"}, attach...), "an agent (claude, process ", ""},
		"an agent's environment": {[]string{"CLAUDECODE=1"}, attach, "from the environment of an agent (CLAUDECODE)", "linux"},
		"an agent's secret":      {[]string{"ST_AGENT=0123456789abcdef0123456789abcdef"}, attach, "(ST_AGENT)", "linux"},
	} {
		if c.only != "" && c.only != runtime.GOOS {
			continue
		}
		client := attached(t, inner, func() { terminal(t, append(tmuxtest.Env(inner.Dir()), c.env...), c.argv...) })
		if got := drivenBy(t.Context(), client, nestedMost); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
		inner.Run("detach-client", "-t", client.Name)
	}

	var pane tmux.Pane
	nested := attached(t, inner, func() {
		pane = outer.Session("out", append([]string{"sh", "-c", `env -u TMUX "$@"; :`, "sh"}, attach...)...)
	})
	if runtime.GOOS != "linux" {
		return // which server that is stands in no environment that can be read
	}
	outer.Run("send-keys", "-t", pane.ID, "x")
	if got := drivenBy(t.Context(), nested, nestedMost); !strings.Contains(got, "runs in another tmux: pane "+pane.ID+" is not the active pane of an attached terminal") {
		t.Errorf("keys of a program in another tmux: %q", got)
	}
	tty := terminal(t, tmuxtest.Env(outer.Dir()), "tmux", "-u", "-S", outer.Socket(), "attach-session", "-t", "=out")
	tmuxtest.Wait(t, "a person types through another tmux", func() (bool, string) {
		if _, err := io.WriteString(tty, " "); err != nil {
			t.Fatal(err)
		}
		got := drivenBy(t.Context(), nested, nestedMost)
		return got == "", got
	})
	if got := drivenBy(t.Context(), nested, 0); !strings.Contains(got, "below another tmux") {
		t.Errorf("too deep: %q", got)
	}
}

// agentShell is a shell that looks like an agent's program.
func agentShell(t *testing.T) string {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(sh)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "claude")
	if err := os.WriteFile(path, raw, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func terminal(t *testing.T, env []string, argv ...string) *os.File {
	t.Helper()
	tty, err := tmuxtest.Terminal(env, 80, 24, argv...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	go io.Copy(io.Discard, tty) // a client that isn't read stalls
	return tty
}

// attached is the client that an act attaches to a server that has none.
func attached(t *testing.T, s *tmuxtest.Server, act func()) (client tmux.Client) {
	t.Helper()
	tmuxtest.Wait(t, "nobody is attached", func() (bool, string) {
		out := s.Run("list-clients")
		return out == "", out
	})
	act()
	tmuxtest.Wait(t, "a client is attached", func() (bool, string) {
		clients, err := s.Tmux().AllClients(t.Context())
		if len(clients) != 1 || err != nil {
			return false, s.Run("list-clients")
		}
		client = clients[0]
		return true, ""
	})
	return client
}
