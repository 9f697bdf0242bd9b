// Package tmuxtest gives a test a tmux server of its own and a person at a keyboard. Nothing in it reaches the
// user's server, configuration or environment.
package tmuxtest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"st/orch/proc/proctest"
	"st/tmux"
)

// Limit is how long anything is waited for before a test fails.
const Limit = 20 * time.Second

// tick is the pause between two looks; the longer something takes the longer it is, up to slow.
const tick, slow = 10 * time.Millisecond, 100 * time.Millisecond

// Server is a private tmux server. It runs from New until the test ends, with or without sessions.
type Server struct {
	t      testing.TB
	dir    string
	socket string
	config string
	pids   []int // every server started
}

// New starts a server, without any configuration or with the lines given. It is ended, by its process id, when
// the test ends, however it ends. The test is skipped where tmux is not installed.
func New(t testing.TB, config ...string) *Server {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	// Not t.TempDir: a socket's path may have about 100 bytes, and a test's name is part of that folder's.
	dir, err := os.MkdirTemp("", "st-t")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, dir: dir, socket: filepath.Join(dir, "s"), config: "/dev/null"}
	t.Cleanup(func() {
		s.endAll()
		os.RemoveAll(dir) // a process that is just ending may still write there: what stays lies in /tmp
	})
	if len(config) > 0 {
		s.config = filepath.Join(dir, "tmux.conf")
		if err := os.WriteFile(s.config, []byte(strings.Join(config, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.Start()
	return s
}

// Start starts the server anew after Kill; its pane ids begin at %0 again.
func (s *Server) Start() {
	s.t.Helper()
	s.wait("a server starts at "+s.socket, func() (bool, string) {
		c := exec.Command("tmux", "-u", "-S", s.socket, "-f", s.config, "start-server", ";", "set-option", "-s", "exit-empty", "off")
		c.Env = Env(s.dir)
		out, err := proctest.CombinedOutput(c)
		return err == nil, string(out)
	})
	s.pids = append(s.pids, s.PID())
}

// Env is the environment that the server and its panes start from: PATH, a HOME of the test's own and what a
// terminal program needs.
func Env(home string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TERM=xterm-256color", "LANG=C.UTF-8", "SHELL=/bin/sh"}
}

// Tmux is a handle on the server.
func (s *Server) Tmux() *tmux.Tmux { return tmux.At(s.socket) }

// Socket is the path of the server's socket.
func (s *Server) Socket() string { return s.socket }

// Dir is a folder for the test's own use, removed at its end. It is the panes' HOME.
func (s *Server) Dir() string { return s.dir }

// Run runs one tmux command on the server, as a person would, and returns what it printed.
func (s *Server) Run(args ...string) string {
	s.t.Helper()
	out, err := proctest.CombinedOutput(s.command(args...))
	if err != nil {
		s.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

func (s *Server) command(args ...string) *exec.Cmd {
	c := exec.Command("tmux", append([]string{"-u", "-S", s.socket}, args...)...)
	c.Env = Env(s.dir)
	return c
}

// Session opens a detached session of 80×24 and returns its first pane. Without argv the pane runs cat.
func (s *Server) Session(name string, argv ...string) tmux.Pane {
	s.t.Helper()
	if len(argv) == 0 {
		argv = []string{"cat"}
	}
	p, err := s.Tmux().NewSession(s.context(), name, s.dir, argv, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

// PID is the process id of the server that runs now.
func (s *Server) PID() int {
	s.t.Helper()
	pid, err := strconv.Atoi(s.Run("display-message", "-p", "#{pid}"))
	if err != nil {
		s.t.Fatal(err)
	}
	return pid
}

// Identity is that of the server that runs now.
func (s *Server) Identity() tmux.Identity {
	s.t.Helper()
	id, err := s.Tmux().Identity(s.context())
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

// Kill ends the server as a crash would.
func (s *Server) Kill() {
	s.t.Helper()
	pid := s.PID()
	s.end(pid)
	s.pids = slices.DeleteFunc(s.pids, func(p int) bool { return p == pid })
}

func (s *Server) context() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), Limit)
	s.t.Cleanup(cancel)
	return ctx
}

// endAll ends the servers started here, and one that a test has started at the socket itself.
func (s *Server) endAll() {
	out, err := proctest.Output(s.command("display-message", "-p", "#{pid}"))
	if pid, nerr := strconv.Atoi(strings.TrimSpace(string(out))); err == nil && nerr == nil {
		s.pids = append(s.pids, pid)
	}
	for _, pid := range s.pids {
		s.end(pid)
	}
}

// end kills a server and waits until it is gone. tmux detaches itself, so it is no child of the test.
func (s *Server) end(pid int) {
	p, err := os.FindProcess(pid)
	if err != nil {
		return
	}
	if err := p.Kill(); errors.Is(err, os.ErrProcessDone) {
		return
	}
	s.wait("the server ends", func() (bool, string) {
		out, err := proctest.CombinedOutput(s.command("display-message", "-p", "#{pid}"))
		return err != nil || strings.TrimSpace(string(out)) != strconv.Itoa(pid), string(out)
	})
}

// wait polls a condition; when it doesn't come true the test fails with what was seen last.
func (s *Server) wait(what string, is func() (bool, string)) {
	s.t.Helper()
	Wait(s.t, what, is)
}

// Wait polls a condition until it holds and fails the test with what was seen last where it never does.
func Wait(t testing.TB, what string, is func() (ok bool, saw string)) {
	t.Helper()
	for begun := time.Now(); ; {
		ok, saw := is()
		if ok {
			return
		}
		if time.Since(begun) > Limit {
			t.Fatalf("not within %v: %s; seen last:\n%s", Limit, what, saw)
		}
		time.Sleep(min(max(time.Since(begun)/10, tick), slow))
	}
}

// WaitScreen waits until a pane's view fits, and returns it. On failure the screen is shown.
func (s *Server) WaitScreen(pane, what string, is func(tmux.View) bool) tmux.View {
	s.t.Helper()
	var v tmux.View
	s.wait("pane "+pane+": "+what, func() (bool, string) {
		views, err := s.Tmux().Look(s.context(), pane)
		if err != nil {
			return false, err.Error()
		}
		var ok bool
		v, ok = views[pane]
		return ok && is(v), Screen(v)
	})
	return v
}

// WaitText waits until a pane's screen holds a text within one row.
func (s *Server) WaitText(pane, text string) tmux.View {
	s.t.Helper()
	return s.WaitScreen(pane, "shows "+strconv.Quote(text), func(v tmux.View) bool { return strings.Contains(Screen(v), text) })
}

// Screen is a view's text without colours and trailing blanks.
func Screen(v tmux.View) string {
	var b strings.Builder
	for _, row := range v.Rows {
		b.WriteString(strings.TrimRight(Plain(row), " "))
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}

// Plain drops SGR sequences.
func Plain(row string) string {
	for {
		start := strings.Index(row, "\x1b[")
		if start < 0 {
			return row
		}
		end := strings.IndexByte(row[start:], 'm')
		if end < 0 {
			return row[:start]
		}
		row = row[:start] + row[start+end+1:]
	}
}
