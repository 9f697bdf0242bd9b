//go:build linux || darwin

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"st/orch"
	"st/orch/daemon"
	"st/orch/proc"
)

// runner is a `st pane-run` on a terminal of its own.
type runner struct {
	*edge
	cmd  *exec.Cmd
	tty  *os.File
	done chan error
	over chan bool // nobody reads the terminal any more
	hung atomic.Bool

	mu     sync.Mutex
	screen bytes.Buffer
}

// newRunner runs a shell script as the agent, with env as its environment.
func newRunner(t *testing.T, e *edge, script string, env ...string) *runner {
	t.Helper()
	return runSpec(t, e, daemon.PaneSpec{
		Agent: "a1", Nonce: "secret", Home: e.home, Dir: "/", Self: e.st,
		Argv: []string{"/bin/sh", "-c", script}, Env: env,
	})
}

func runSpec(t *testing.T, e *edge, spec daemon.PaneSpec) *runner {
	t.Helper()
	file := filepath.Join(e.home, "pane.json")
	ok(t, daemon.WritePaneSpec(file, spec))
	r := &runner{edge: e, cmd: exec.Command(e.st, "pane-run", file), done: make(chan error, 1), over: make(chan bool)}
	r.cmd.Env = append(os.Environ(), "OF_THE_PANE=1")
	tty, err := pty.Start(r.cmd)
	ok(t, err)
	r.tty = tty
	go r.read()
	go func() { r.done <- r.cmd.Wait() }()
	t.Cleanup(func() { r.hangUp(t) })
	return r
}

// read collects what is shown until hangUp. It never blocks in a read, which would keep the terminal open.
func (r *runner) read() {
	defer close(r.over)
	fds := []unix.PollFd{{Fd: int32(r.tty.Fd()), Events: unix.POLLIN}}
	buf := make([]byte, 4096)
	for !r.hung.Load() {
		n, err := unix.Poll(fds, 20)
		if n == 0 || err != nil {
			continue
		}
		if n, err = r.tty.Read(buf); err != nil {
			return
		}
		r.mu.Lock()
		r.screen.Write(buf[:n])
		r.mu.Unlock()
	}
}

// hangUp closes the terminal.
func (r *runner) hangUp(t *testing.T) {
	t.Helper()
	if r.hung.Swap(true) {
		return
	}
	<-r.over
	ok(t, r.tty.Close())
}

func (r *runner) seen() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.screen.String()
}

func (r *runner) waitScreen(t *testing.T, text string) {
	t.Helper()
	eventually(t, func() bool { return strings.Contains(r.seen(), text) }, func() string {
		return fmt.Sprintf("%q on the screen; there is %q", text, r.seen())
	})
}

func eventually(t *testing.T, holds func() bool, what func() string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("not in time: %s", what())
}

func (r *runner) keys(t *testing.T, text string) {
	t.Helper()
	_, err := r.tty.WriteString(text)
	ok(t, err)
}

// exit waits for the end of the pane's process.
func (r *runner) exit(t *testing.T) int {
	t.Helper()
	select {
	case <-r.done:
		return r.cmd.ProcessState.ExitCode()
	case <-time.After(20 * time.Second):
		t.Fatalf("pane-run still runs; screen %q", r.seen())
		return 0
	}
}

// exited waits until the daemon knows of the end.
func (r *runner) exited(t *testing.T) orch.AgentExited {
	t.Helper()
	var e orch.AgentExited
	eventually(t, func() bool {
		for _, in := range r.arrived() {
			if in.name == "agent-exited" {
				ok(t, json.Unmarshal([]byte(in.body), &e))
				return true
			}
		}
		return false
	}, func() string { return fmt.Sprintf("the end is told; %+v, screen %q", r.arrived(), r.seen()) })
	return e
}

func TestPaneRunsInTheForeground(t *testing.T) {
	e := newEdge(t)
	e.serve(t, nil)
	// Only a member of the foreground group may read from the terminal.
	r := newRunner(t, e, `echo "env:$(env | grep -v -e ^PWD= -e ^_= -e ^SHLVL= -e ^OLDPWD= | tr '\n' ' ')"; echo pid:$$.; read line; echo "got $line"`,
		"ONLY=this", "PATH="+os.Getenv("PATH"))
	r.waitScreen(t, "pid:")
	r.keys(t, "hello\r")
	if code := r.exit(t); code != 0 {
		t.Errorf("exit code %d; screen %q", code, r.seen())
	}
	r.waitScreen(t, "got hello")
	if s := r.seen(); !strings.Contains(s, "ONLY=this") || strings.Contains(s, "OF_THE_PANE") {
		t.Errorf("environment: %q", s)
	}
	got := r.arrived()
	if len(got) != 2 || got[0].name != "agent-started" || got[1].name != "agent-exited" || got[0].by.Nonce != "secret" {
		t.Fatalf("told: %+v", got)
	}
	var started orch.AgentStarted
	ok(t, json.Unmarshal([]byte(got[0].body), &started))
	if started.Agent != "a1" || started.Proc.Start == 0 || !strings.Contains(r.seen(), fmt.Sprintf("pid:%d.", started.Proc.PID)) {
		t.Errorf("started %+v, screen %q", started, r.seen())
	}
	if end := r.exited(t); end != (orch.AgentExited{Agent: "a1", Why: "exited"}) {
		t.Errorf("exited %+v", end)
	}
	if _, err := os.Stat(filepath.Join(e.home, "pane.json")); !os.IsNotExist(err) {
		t.Errorf("the spec is still there: %v", err)
	}
}

func TestPaneIsHeldAfterAnError(t *testing.T) {
	e := newEdge(t)
	e.serve(t, nil)
	r := newRunner(t, e, `stty raw -echo; echo ready; head -c 1 >/dev/null; exit 7`)
	r.waitScreen(t, "ready")
	r.keys(t, "x\r\rtyped ahead\r") // meant for the agent: it must not close the window
	r.waitScreen(t, "st: sh ended with exit code 7; press Enter to close this window")
	if end := r.exited(t); end.Code != 7 || end.Why != "exited" {
		t.Errorf("exited %+v", end)
	}
	r.keys(t, "\x03") // Ctrl-C
	select {
	case <-r.done:
		t.Fatalf("it did not wait for Enter; screen %q", r.seen())
	case <-time.After(100 * time.Millisecond): // what must not come can't be waited for
	}
	r.keys(t, "\r")
	if code := r.exit(t); code != 7 {
		t.Errorf("exit code %d, want 7", code)
	}
}

func TestPaneOfAProgramThatDoesNotStart(t *testing.T) {
	e := newEdge(t)
	e.serve(t, nil)
	plain := filepath.Join(e.home, "plain")
	ok(t, os.WriteFile(plain, []byte("no program"), 0o600))
	for program, want := range map[string]int{"/none/agent": 127, plain: 126} {
		e.got = nil
		r := runSpec(t, e, daemon.PaneSpec{Agent: "a1", Home: e.home, Dir: "/", Argv: []string{program}})
		r.waitScreen(t, "press Enter to close this window")
		if end := r.exited(t); end.Code != want {
			t.Errorf("%s: told %+v, want %d", program, end, want)
		}
		r.keys(t, "\x04") // the end of input
		if code := r.exit(t); code != want {
			t.Errorf("%s: exit code %d, want %d", program, code, want)
		}
	}
}

// TestPaneGoesOnAsAShell: where a person had started the agent from a shell the pane is one again, without the agent's secret.
func TestPaneGoesOnAsAShell(t *testing.T) {
	e := newEdge(t)
	e.serve(t, nil)
	r := runSpec(t, e, daemon.PaneSpec{
		Agent: "a1", Home: e.home, Dir: "/tmp", Argv: []string{"/bin/sh", "-c", "stty -echo raw; echo the agent; exit 3"},
		Env: []string{"SHELL=/bin/sh", "ST_AGENT=secret", "PATH=" + os.Getenv("PATH")}, Shell: true,
	})
	r.waitScreen(t, "the agent")
	if end := r.exited(t); end.Code != 3 {
		t.Errorf("told %+v", end)
	}
	r.keys(t, "echo $PWD, secret: ${ST_AGENT-none}.\r")
	r.waitScreen(t, "/tmp, secret: none.")
	r.keys(t, "exit 5\r")
	if code := r.exit(t); code != 5 {
		t.Errorf("exit code %d, want 5", code)
	}
}

func TestTypedSignalsAreTheAgents(t *testing.T) {
	e := newEdge(t)
	e.serve(t, nil)
	r := newRunner(t, e, `trap 'echo interrupted' INT; trap 'echo quit' QUIT; echo ready; while :; do read line && break; done; echo "got $line"`)
	r.waitScreen(t, "ready")
	r.keys(t, "\x03")
	r.waitScreen(t, "interrupted")
	r.keys(t, "\x1c")
	r.waitScreen(t, "quit")
	r.keys(t, "on\r")
	r.waitScreen(t, "got on")
	if code := r.exit(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestStoppedAgentGoesOn(t *testing.T) {
	e := newEdge(t)
	e.serve(t, nil)
	r := newRunner(t, e, `echo ready; kill -STOP $$; echo "goes on"; read line; echo "got $line"`)
	r.waitScreen(t, "goes on")
	r.keys(t, "\x1a") // Ctrl-Z stops the whole foreground group
	r.keys(t, "still there\r")
	r.waitScreen(t, "got still there")
	if code := r.exit(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestSignalsReachTheAgentsGroup(t *testing.T) {
	for sig, want := range map[syscall.Signal]int{unix.SIGTERM: 143, unix.SIGHUP: 129} {
		e := newEdge(t)
		e.serve(t, nil)
		r := newRunner(t, e, `sleep 1000 & echo child:$!.; wait`)
		r.waitScreen(t, ".")
		var child int
		_, err := fmt.Sscanf(r.seen()[strings.Index(r.seen(), "child:"):], "child:%d.", &child)
		ok(t, err)
		p, err := proc.Of(child)
		ok(t, err)
		ok(t, r.cmd.Process.Signal(sig))
		if code := r.exit(t); code != want {
			t.Errorf("%v: exit code %d, want %d", sig, code, want)
		}
		eventually(t, func() bool { return !proc.Alive(p) }, func() string { return "the agent's child has ended" })
		if end := r.exited(t); end.Code != want || end.Why != "pane_closed" {
			t.Errorf("%v: told %+v", sig, end)
		}
	}
}

func TestClosedTerminalEndsTheAgent(t *testing.T) {
	e := newEdge(t)
	r := newRunner(t, e, `echo ready; sleep 1000`)
	r.waitScreen(t, "ready")
	r.hangUp(t)
	r.exit(t)
	left := e.take(t) // no daemon runs
	if len(left) != 2 || left[0].name != "agent-started" || left[1].name != "agent-exited" || !strings.Contains(left[1].body, "pane_closed") {
		t.Errorf("in the spool: %+v", left)
	}
}
