//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"st/orch"
	"st/orch/proc/proctest"
	"st/tmux/tmuxtest"
)

// built is the program as it is shipped, or, where the tests run with the race detector, with that: it hides races in time by its
// slowness, and finds those in memory.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "st-b")
	if err != nil {
		return "", err
	}
	shared = dir
	args := []string{"build", "-o", filepath.Join(dir, "st")}
	if raced {
		args = append(args, "-race")
	}
	out, err := exec.Command("go", append(args, ".")...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return dir, nil
})

// patience is how long a desk waits for what must come, on a machine that has other things to do.
const patience = 90 * time.Second

// deskLimit is how long the test of one desk may take in all, which none comes near. What hangs then ends with all that the desk
// has started, and the test fails by its own name.
var deskLimit = time.Duration(counted(6, 240)) * time.Minute

// desk is one person's place: a tmux server, a HOME and an ST_HOME of its own, and the real program.
type desk struct {
	t        *testing.T
	server   *tmuxtest.Server
	bin      string
	home     string // ST_HOME
	env      []string
	sessions []*room
	over     atomic.Bool // its time is
}

// room is a session with somebody attached to it, who does one thing at a time.
type room struct {
	name   string
	size   string
	mu     sync.Mutex
	person *tmuxtest.Person
}

// newDesk opens sessions of two sizes on a server whose settings are not the defaults.
func newDesk(t *testing.T) *desk {
	t.Helper()
	if testing.Short() {
		t.Skip("real windows need minutes")
	}
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	s := tmuxtest.New(t, "set -g base-index 1", "set -g pane-base-index 1", "set -g automatic-rename on", "set -g status off")
	d := &desk{t: t, server: s, bin: filepath.Join(bin, "st"), home: filepath.Join(s.Dir(), "h")}
	ended := make(chan struct{})
	late := time.AfterFunc(deskLimit, func() {
		defer close(ended)
		t.Errorf("no end after %v", deskLimit)
		d.over.Store(true)
		(&bench{dir: s.Dir()}).kill()
	})
	d.open()
	t.Cleanup(func() { // before the server's end
		if !late.Stop() {
			<-ended
		}
		if t.Failed() {
			d.tellLog()
		}
		d.killDaemon()
		d.killAgents()
		d.tellRaces()
	})
	return d
}

// tellRaces fails the test where the race detector has found something in the program: a verb tells it in a file, the daemon, whose
// environment is its own, in its log.
func (d *desk) tellRaces() {
	files, err := filepath.Glob(d.races() + ".*")
	if err != nil {
		d.t.Error(err)
	}
	for _, f := range append(files, filepath.Join(d.home, "st.log")) {
		if text, err := os.ReadFile(f); err == nil && strings.Contains(string(text), "DATA RACE") {
			d.t.Errorf("%s: %s", f, text)
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			d.t.Error(err)
		}
	}
}

// races is where the race detector writes, with the number of the process behind it.
func (d *desk) races() string { return filepath.Join(d.server.Dir(), "race") }

// open opens the sessions.
func (d *desk) open() {
	d.sessions = nil
	for _, r := range []*room{{name: "small", size: "80x24"}, {name: "wide", size: "120x40"}} {
		columns, rows, _ := strings.Cut(r.size, "x")
		d.server.Run("new-session", "-d", "-s", r.name, "-x", columns, "-y", rows, "-c", d.server.Dir(), "sh", "-c", "exec cat")
		d.sessions = append(d.sessions, r)
	}
	d.setEnv()
}

// setEnv makes the environment of somebody who sits in the first session.
func (d *desk) setEnv() {
	pane := d.server.Run("list-panes", "-t", "=small:", "-F", "#{pane_id}")
	d.env = append(tmuxtest.Env(d.server.Dir()), "PATH="+filepath.Dir(d.bin)+":"+os.Getenv("PATH"), "ST_HOME="+d.home,
		fmt.Sprintf("TMUX=%s,%d,0", d.server.Socket(), d.server.PID()), "TMUX_PANE="+pane, "GORACE=log_path="+d.races())
}

// attach brings a person to each session.
func (d *desk) attach() {
	for _, r := range d.sessions {
		var columns, rows uint16
		fmt.Sscanf(r.size, "%dx%d", &columns, &rows)
		r.person = d.server.Attach(r.name, columns, rows)
	}
}

// press is a person's: they go to a window and press keys there.
func (r *room) press(d *desk, window, keys string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d.server.Run("select-window", "-t", window)
	r.person.Type(keys)
	// tmux reads the keys of a client in order: they go where the window still is.
	tmuxtest.Wait(d.t, "the keys have been taken", func() (bool, string) {
		out := d.server.Run("list-clients", "-t", "="+r.name, "-F", "#{client_written} #{client_activity}")
		_, at, _ := strings.Cut(out, " ")
		n, err := strconv.ParseInt(strings.TrimSpace(at), 10, 64)
		return err == nil && time.Since(time.Unix(n, 0)) < 2*time.Second, out
	})
}

// said is what a verb answered.
type said struct {
	code     int
	out, err string
	at       time.Time // when it had ended
}

func (d *desk) st(args ...string) said {
	if d.over.Load() {
		return said{code: -1}
	}
	cmd := exec.Command(d.bin, args...)
	cmd.Dir, cmd.Env = d.server.Dir(), d.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := proctest.Run(cmd)
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		d.t.Errorf("st %q: %v", args, err)
	}
	return said{cmd.ProcessState.ExitCode(), out.String(), errs.String(), time.Now()}
}

func (s said) String() string { return fmt.Sprintf("exit %d\n%s%s", s.code, s.out, s.err) }

// read reads the data of a --json answer, of an error as well.
func (s said) read(into any) error {
	var a struct {
		Data  json.RawMessage
		Error struct{ Data json.RawMessage }
	}
	if err := json.Unmarshal([]byte(s.out), &a); err != nil {
		return err
	}
	if len(a.Data) == 0 {
		a.Data = a.Error.Data
	}
	return json.Unmarshal(a.Data, into)
}

func (d *desk) worker(name string) (w orch.WorkerInfo) {
	got := d.st("worker", "show", name, "--json")
	if err := got.read(&struct{ Worker *orch.WorkerInfo }{&w}); err != nil {
		d.t.Errorf("worker show %s: %v: %s", name, err, got)
	}
	return w
}

// await polls until something holds, without ending the test where it doesn't.
func (d *desk) await(what string, is func() bool) bool {
	if within(patience, func() bool { return d.over.Load() || is() }) {
		return !d.over.Load()
	}
	d.t.Errorf("not within %v: %s", patience, what)
	return false
}

// within polls until something holds or the time is over, and answers whether it does.
func within(limit time.Duration, is func() bool) bool {
	for begun := time.Now(); ; pause(begun) {
		if is() {
			return true
		}
		if time.Since(begun) > limit {
			return false
		}
	}
}

// daemon is the process id that the daemon's lock holds, 0 without a live one of this desk.
func (d *desk) daemon() int {
	pid := daemonPID(d.home)
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if pid == 0 || err != nil || !strings.Contains(string(raw), d.home) {
		return 0
	}
	return pid
}

// killDaemon kills the daemon as a crash would, and waits until it is gone.
func (d *desk) killDaemon() {
	pid := d.daemon()
	if pid == 0 {
		return
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		d.t.Errorf("kill %d: %v", pid, err)
	}
	d.await("the daemon is gone", func() bool { return d.daemon() != pid })
}

// killAgents kills what runs in the desk's windows: one of the agents outlives its window by design; and the daemon
// again that the last hook of one of them may have called back.
func (d *desk) killAgents() {
	b := bench{dir: d.home}
	left := b.await(func(pid int) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			d.t.Errorf("kill %d: %v", pid, err)
		}
	})
	if len(left) > 0 {
		d.t.Errorf("still running: %s", describe(left))
	}
}

func (d *desk) tellLog() {
	text, err := os.ReadFile(filepath.Join(d.home, "st.log"))
	if err != nil {
		d.t.Log(err)
		return
	}
	d.t.Logf("the daemon's log:\n%s", text[max(0, len(text)-4000):])
}

// jotted is a line of the built-in agent's own log, which is the judge of all that is said of it.
type jotted struct {
	At         time.Time
	What, Text string
	Dialog, By string
}

func (d *desk) log(name string) string { return filepath.Join(d.server.Dir(), name+".log") }

func (d *desk) jotted(name string) (all []jotted) {
	text, err := os.ReadFile(d.log(name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		d.t.Error(err)
	}
	for _, row := range strings.Split(string(text), "\n") {
		var j jotted
		if row == "" || json.Unmarshal([]byte(row), &j) != nil {
			continue // the last one may be half written
		}
		all = append(all, j)
	}
	return all
}

// submitted are the lines that the agent took.
func (d *desk) submitted(name string) (lines []jotted) {
	for _, j := range d.jotted(name) {
		if j.What == "submitted" || j.What == "queued" {
			lines = append(lines, j)
		}
	}
	return lines
}

// windows counts the windows of a worker.
func (d *desk) windows(name string) (n int) {
	for _, w := range strings.Split(d.server.Run("list-windows", "-a", "-F", "#{window_name}"), "\n") {
		if w == name {
			n++
		}
	}
	return n
}

// start are the arguments of a start of the built-in agent.
func (d *desk) start(name, session, prompt, modes string, more ...string) []string {
	args := []string{"worker", "start", "--agent", "demo", "--name", name, "--session", session, "--prompt", prompt, "--arg", "--log", "--arg", d.log(name)}
	if modes != "" {
		args = append(args, "--arg", "--nasty", "--arg", modes)
	}
	return append(args, more...)
}

// seed makes chance replayable: it is printed, and ST_SEED sets it.
func seed(t *testing.T) *rand.Rand {
	n := uint64(time.Now().UnixNano())
	if given := os.Getenv("ST_SEED"); given != "" {
		var err error
		if n, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("ST_SEED=%d", n)
	return rand.New(rand.NewPCG(n, 1))
}

// counted is a number of repetitions: few by default, all with ST_LONG.
func counted(few, all int) int {
	if os.Getenv("ST_LONG") != "" {
		return all
	}
	return few
}
