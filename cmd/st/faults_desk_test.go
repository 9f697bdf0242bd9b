//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"st/orch/proc/proctest"
	"st/tmux/tmuxtest"
)

// builtWithFaults is the program with its failpoints.
var builtWithFaults = sync.OnceValues(func() (string, error) {
	dir, err := built()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "st-faults")
	out, err := exec.Command("go", "build", "-tags", "faults", "-o", path, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build -tags faults: %w\n%s", err, out)
	}
	return path, nil
})

// faultDesk is a desk whose program has failpoints, and a hand that makes things go wrong.
type faultDesk struct {
	*desk
	folder string // of the failpoints
	began  time.Time

	gate sync.RWMutex // held for reading while a verb is being started
	mu   sync.Mutex
	runs map[*os.Process]bool // verbs that run
	book []string             // all that was said and done
	off  time.Duration        // of the clock
	dead bool                 // the tmux server was killed
}

func newFaultDesk(t *testing.T) *faultDesk {
	t.Helper()
	program, err := builtWithFaults()
	if err != nil {
		t.Fatal(err)
	}
	d := &faultDesk{desk: newDesk(t), runs: map[*os.Process]bool{}, began: time.Now()}
	d.bin = filepath.Join(d.server.Dir(), "bin", "st")
	d.folder = filepath.Join(filepath.Dir(d.bin), "faults")
	if err := errors.Join(os.MkdirAll(filepath.Join(d.folder, "hits"), 0o700), os.Link(program, d.bin)); err != nil {
		t.Fatal(err)
	}
	d.setEnv()
	return d
}

// jot writes into the book.
func (d *faultDesk) jot(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.book = append(d.book, fmt.Sprintf("%5d ms  %s", time.Since(d.began).Milliseconds(), fmt.Sprintf(format, args...)))
}

// set writes a file of the failpoints. Whoever reads it sees the old one or the new one.
func (d *faultDesk) set(name, text string) {
	path := filepath.Join(d.folder, name)
	if err := errors.Join(os.WriteFile(path+".new", []byte(text), 0o600), os.Rename(path+".new", path)); err != nil {
		d.t.Error(err)
	}
}

// call runs a verb that may be killed: then its code is -1.
func (d *faultDesk) call(args ...string) said {
	if d.over.Load() {
		return said{code: -1}
	}
	cmd := exec.Command(d.bin, args...)
	cmd.Dir, cmd.Env = d.server.Dir(), d.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	d.gate.RLock()
	err := cmd.Start()
	if err == nil {
		d.mu.Lock()
		d.runs[cmd.Process] = true
		d.mu.Unlock()
	}
	d.gate.RUnlock()
	if err != nil {
		d.t.Errorf("st %q: %v", args, err)
		return said{code: -1}
	}
	if err := proctest.Wait(cmd); errors.Is(err, proctest.ErrHangs) { // any other end its code tells
		d.t.Error(err)
	}
	d.mu.Lock()
	delete(d.runs, cmd.Process)
	d.mu.Unlock()
	got := said{cmd.ProcessState.ExitCode(), out.String(), errs.String(), time.Now()}
	d.jot("st %q: %s", args, got)
	return got
}

// insist is a caller who wants a thing done: it asks again where the verb was killed or the daemon could not take it.
func (d *faultDesk) insist(args ...string) (got said) {
	for range 40 {
		got = d.call(args...)
		if got.code != -1 && got.code != exitUnreachable || d.t.Failed() {
			return got
		}
		time.Sleep(100 * time.Millisecond) // as whoever asks again would
	}
	return got
}

// order is insist for a verb that must not happen twice: it is the lead's, and has an id.
func (d *faultDesk) order(id string, args ...string) said {
	return d.insist(append(args, "--request", id, "--as", "a1")...)
}

// tmux runs a command on the server, which may be dead or stopped.
func (d *faultDesk) tmux(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-u", "-S", d.server.Socket()}, args...)...)
	cmd.Env = tmuxtest.Env(d.server.Dir())
	out, err := proctest.Output(cmd)
	return strings.TrimSuffix(string(out), "\n"), err
}

// paneOf is a worker's pane and its process; "" where there is none.
func (d *faultDesk) paneOf(name string) (id string, pid int) {
	out, err := d.tmux("list-panes", "-a", "-F", "#{window_name}\t#{pane_id}\t#{pane_pid}")
	if err != nil {
		return "", 0
	}
	for _, row := range strings.Split(out, "\n") {
		if cells := strings.Split(row, "\t"); len(cells) == 3 && cells[0] == name {
			pid, _ = strconv.Atoi(cells[2]) // a number: tmux says so
			return cells[1], pid
		}
	}
	return "", 0
}

// suffer makes one mishap happen.
func (d *faultDesk) suffer(m mishap, name string) {
	d.jot("fault: %s %s", m, name)
	switch m.what {
	case "daemon":
		d.kill(d.daemon())
	case "down":
		d.down(m.time)
	case "cli":
		d.killVerbs(1)
	case "agent":
		_, runner := d.paneOf(name)
		for _, pid := range children(runner) {
			d.kill(pid)
		}
	case "pane":
		if id, _ := d.paneOf(name); id != "" {
			d.tmux("kill-pane", "-t", id) //nolint:errcheck // it may be gone by now
		}
	case "freeze":
		d.freeze(m.time)
	case "full":
		d.full(m.time)
	case "hush":
		d.hush(name, m.time)
	case "clock":
		d.jump(m.time)
	case "tmux":
		d.killServer()
	}
}

// killServer kills the tmux server, once: a plan may want it twice.
func (d *faultDesk) killServer() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.dead {
		d.dead = true
		d.kill(d.server.PID())
	}
}

func (d *faultDesk) kill(pid int) {
	if pid <= 1 {
		return
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		d.t.Errorf("kill %d: %v", pid, err)
	}
}

// killVerbs kills at most n of the verbs that run.
func (d *faultDesk) killVerbs(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for p := range d.runs {
		if n--; n < 0 {
			return
		}
		p.Kill() //nolint:errcheck // it may have ended
	}
}

// down keeps the daemon dead for a while: nobody calls it back.
func (d *faultDesk) down(how time.Duration) {
	d.gate.Lock()
	defer d.gate.Unlock()
	d.killVerbs(len(d.runs))
	d.kill(d.daemon())
	time.Sleep(how) // the length of the fault
}

// freeze stops everything that belongs to the desk, as a machine that is suspended does, and lets it go on.
func (d *faultDesk) freeze(how time.Duration) {
	d.gate.Lock()
	defer d.gate.Unlock()
	all := bench{dir: d.server.Dir()}
	stopped := map[int]bool{}
	for more := true; more; { // until nobody is left who could start another
		more = false
		for _, pid := range all.processes() {
			if !stopped[pid] && proctest.Stop(pid) == nil {
				stopped[pid], more = true, true
			}
		}
	}
	time.Sleep(how) // the length of the fault
	for pid := range stopped {
		syscall.Kill(pid, syscall.SIGCONT) //nolint:errcheck // it may have been killed meanwhile
	}
}

// hush stops the daemon for a while as soon as a worker has its task.
func (d *faultDesk) hush(name string, how time.Duration) {
	if !within(patience, func() bool { return len(d.taken(name)) > 0 }) {
		d.jot("hush: %s never had its task", name)
	}
	pid := d.daemon()
	if pid == 0 || proctest.Stop(pid) != nil {
		d.jot("hush: no daemon runs")
		return
	}
	time.Sleep(how)                    // the length of the fault
	syscall.Kill(pid, syscall.SIGCONT) //nolint:errcheck // it may have been killed meanwhile
}

// full lets the daemon write no byte to any file for a while.
func (d *faultDesk) full(how time.Duration) {
	pid := d.daemon()
	if pid == 0 {
		return
	}
	if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Max: unix.RLIM_INFINITY}, nil); err != nil {
		d.jot("full: %v", err) // it has just been killed
		return
	}
	time.Sleep(how) // the length of the fault
	// Not what it was before: that may have been another fault's.
	unix.Prlimit(pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}, nil) //nolint:errcheck // as above
}

// jump sets the clock on or back.
func (d *faultDesk) jump(by time.Duration) {
	d.mu.Lock()
	d.off += by
	off := d.off
	d.mu.Unlock()
	d.set("clock", off.String())
}

// nudge lets the daemon look at the clock: a hook of nobody comes, which changes nothing else.
func (d *faultDesk) nudge() {
	d.jot("the clock is pushed")
	cmd := exec.Command(d.bin, "hook", "demo")
	cmd.Env, cmd.Stdin = append(tmuxtest.Env(d.server.Dir()), "ST_HOME="+d.home), strings.NewReader(`{"hook_event_name":"Notification"}`)
	if out, err := proctest.CombinedOutput(cmd); err != nil {
		d.t.Errorf("st hook: %v: %s", err, out)
	}
}

// hits is how often a point was reached.
func (d *faultDesk) hits(point string) int64 {
	info, err := os.Stat(filepath.Join(d.folder, "hits", point))
	if err != nil {
		return 0
	}
	return info.Size()
}

// fired are the planned faults that came.
func (d *faultDesk) fired() []string {
	text, err := os.ReadFile(filepath.Join(d.folder, "fired"))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// taken are the lines that an agent got, by whichever way: typed, or told by the answer of a hook.
func (d *faultDesk) taken(name string) (lines []jotted) {
	for _, j := range d.jotted(name) {
		switch j.What {
		case "submitted", "queued", "hook-prompt", "context":
			lines = append(lines, j)
		}
	}
	return lines
}
