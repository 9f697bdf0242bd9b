//go:build linux || darwin

package daemon

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"st/orch"
	"st/orch/proc"
	"st/tmux"
	"st/tmux/tmuxtest"
)

// buildProgram builds the whole program for the tests that need real processes.
func buildProgram(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs tmux and the built program")
	}
	st := filepath.Join(t.TempDir(), "st")
	out, err := exec.Command("go", "build", "-o", st, "st/cmd/st").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return st
}

// world is a tmux server, a home and a daemon of their own. The daemon's tmux goes through a script that can
// kill it at a step.
type world struct {
	*testing.T
	st, home, dir string
	server        *tmuxtest.Server
	session       tmux.Pane
	client        *Client
}

func newWorld(t *testing.T, st string) *world {
	t.Helper()
	t.Parallel()
	s := tmuxtest.New(t)
	w := &world{T: t, st: st, dir: s.Dir(), server: s, home: filepath.Join(s.Dir(), "home"), session: s.Session("main")}
	for _, dir := range []string{w.home, w.path("bin"), w.path("work")} {
		must(t, os.MkdirAll(dir, 0o700))
	}
	must(t, os.Symlink(st, w.path("bin", "st")))
	w.shim()
	t.Cleanup(w.end)
	w.up()
	return w
}

func (w *world) path(parts ...string) string {
	return filepath.Join(append([]string{w.dir}, parts...)...)
}

// shim puts a tmux into the daemon's PATH that kills the daemon before or after the call whose arguments
// hold what the file "die" says; once.
func (w *world) shim() {
	real, err := exec.LookPath("tmux")
	must(w.T, err)
	script := fmt.Sprintf(`#!/bin/sh
die=%[1]s; lock=%[2]s
echo "$*" >> %[4]s
if [ -f "$die" ]; then
	when=$(sed -n 1p "$die"); what=$(sed -n 2p "$die"); who=$(sed -n 3p "$die")
	case "$*" in *"$what"*)
		if [ "$PPID" = "$(cat "$lock")" ]; then
			rm "$die"
			if [ "$when" = before ]; then kill -9 ${who:-$PPID}; exec %[3]s "$@"; fi
			%[3]s "$@"; code=$?
			kill -9 ${who:-$PPID}; exit $code
		fi;;
	esac
fi
exec %[3]s "$@"
`, w.path("die"), lockPath(w.home), real, w.path("calls"))
	must(w.T, os.WriteFile(w.path("bin", "tmux"), []byte(script), 0o700))
}

// dieAt lets the next daemon step of that kind be its last.
func (w *world) dieAt(when, what string) { w.Helper(); w.killAt(when, what, "") }

// killAt lets the next daemon step of that kind be the last of these processes.
func (w *world) killAt(when, what, pids string) {
	w.Helper()
	temp := w.path("die.new")
	must(w.T, os.WriteFile(temp, []byte(when+"\n"+what+"\n"+pids+"\n"), 0o600))
	must(w.T, os.Rename(temp, w.path("die")))
}

// died waits until the daemon has been killed by its tmux.
func (w *world) died(pid int) {
	w.Helper()
	w.wait("the daemon dies", func() (bool, string) {
		_, err := os.Stat(w.path("die"))
		_, live := proc.Of(pid)
		return os.IsNotExist(err) && live != nil, fmt.Sprintf("die: %v, process %d: %v", err, pid, live)
	})
}

func (w *world) env() []string {
	return []string{
		"PATH=" + w.path("bin") + ":" + os.Getenv("PATH"), "HOME=" + w.dir, "ST_HOME=" + w.home, "LANG=C.UTF-8",
		"TERM=xterm-256color", "SHELL=/bin/sh",
	}
}

// up starts the daemon and returns its pid.
func (w *world) up() int {
	w.Helper()
	c := exec.Command(w.path("bin", "st"), "up")
	c.Env, c.Dir = w.env(), w.dir
	if out, err := c.CombinedOutput(); err != nil {
		w.Fatalf("st up: %v\n%s\n%s", err, out, w.logText())
	}
	id := w.server.Identity()
	from := From{TMUX: fmt.Sprintf("%s,%d,0", id.Socket, id.PID), Dir: w.path("work")}
	client, err := Dial(context.Background(), w.home, from)
	must(w.T, err)
	w.client = client
	return w.pid()
}

func (w *world) pid() int { return lockHolder(w.home) }

func (w *world) logText() string {
	raw, err := os.ReadFile(LogPath(w.home))
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// end ends the daemon, by its own stop or by its pid.
func (w *world) end() {
	pid := w.pid()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if c, err := Dial(ctx, w.home, From{}); err == nil {
		if _, err := c.Stop(ctx); err == nil && c.AwaitStop(ctx) == nil {
			pid = 0
		}
	}
	if p, err := proc.Of(pid); pid > 1 && err == nil {
		if info, err := proc.Look(pid); err == nil && strings.HasSuffix(info.Exe, "/st") {
			w.Errorf("the daemon did not stop: %v", proc.Signal(p, syscall.SIGKILL))
		}
	}
	if w.Failed() {
		w.Logf("log of the daemon:\n%s", w.logText())
	}
}

func (w *world) wait(what string, is func() (bool, string)) {
	w.Helper()
	tmuxtest.Wait(w.T, what, is)
}

// order is a worker-start as a verb sends it.
type order struct {
	orch.WorkerStart
	Session string `json:"session"`
}

// job is an order for a demo agent that writes down what it gets.
func (w *world) job(name, spec string, args ...string) order {
	w.Helper()
	dir := filepath.Join(runDir(w.home), "launch")
	must(w.T, os.MkdirAll(dir, 0o700))
	file := filepath.Join(dir, uuid.NewString()+".json")
	raw, err := json.Marshal(envFile{Env: w.env()})
	must(w.T, err)
	must(w.T, os.WriteFile(file, raw, 0o600))
	return order{Session: "main", WorkerStart: orch.WorkerStart{
		Kind: "demo", Name: name, Spec: spec, Dir: w.path("work"), EnvFile: file,
		Args: append([]string{"--log", w.path(name + ".log")}, args...),
	}}
}

func (w *world) start(o order) orch.StartAnswer {
	w.Helper()
	var a orch.StartAnswer
	if err := w.client.Do(context.Background(), uuid.NewString(), o, &a); err != nil {
		w.Fatalf("worker-start: %v\n%s", err, w.logText())
	}
	return a
}

func (w *world) info(dispatch string) (i orch.StartInfo) {
	w.Helper()
	must(w.T, w.client.Get(context.Background(), "start", orch.StartArgs{Dispatch: dispatch}, &i))
	return i
}

// until waits for a worker to be as wanted.
func (w *world) until(a orch.StartAnswer, what string, is func(orch.StartInfo) bool) orch.StartInfo {
	w.Helper()
	var i orch.StartInfo
	w.wait(what, func() (bool, string) {
		i = w.info(a.Dispatch)
		raw, err := json.Marshal(i)
		must(w.T, err)
		return is(i), string(raw) + "\n" + w.server.Run("list-panes", "-a", "-F", "#{pane_id} #{window_name} #{@st_agent}")
	})
	return i
}

func isState(state string) func(orch.StartInfo) bool {
	return func(i orch.StartInfo) bool { return i.Worker.State == state }
}

// calls is how often the daemon has called tmux.
func (w *world) calls() int {
	w.Helper()
	raw, err := os.ReadFile(w.path("calls"))
	must(w.T, err)
	return bytes.Count(raw, []byte{'\n'})
}

// submitted are what the agent of that name got submitted.
func (w *world) submitted(name string) []string { return w.entries(name, "submitted", "queued") }

// given is what has reached an agent's model: prompts, and what its hooks have told it.
func (w *world) given(name string) []string {
	return w.entries(name, "prompt", "hook-prompt", "context")
}

func (w *world) entries(name string, whats ...string) (list []string) {
	w.Helper()
	f, err := os.Open(w.path(name + ".log"))
	if os.IsNotExist(err) {
		return nil
	}
	must(w.T, err)
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var e struct{ What, Text string }
		must(w.T, json.Unmarshal(s.Bytes(), &e))
		if slices.Contains(whats, e.What) {
			list = append(list, e.Text)
		}
	}
	return list
}

// panes are the panes with our tag.
func (w *world) panes() (tags []string) {
	w.Helper()
	panes, err := w.server.Tmux().Panes(context.Background())
	must(w.T, err)
	for _, p := range panes {
		if p.Tag != "" {
			tags = append(tags, p.Tag)
		}
	}
	return tags
}

func (w *world) stop(worker string) {
	w.Helper()
	must(w.T, w.client.Do(context.Background(), uuid.NewString(), orch.WorkerStop{Worker: worker}, nil))
}

func readPID(w *world, path string) (pid int) {
	w.Helper()
	raw, err := os.ReadFile(path)
	must(w.T, err)
	if _, err := fmt.Sscan(string(raw), &pid); err != nil {
		w.Fatalf("%s holds %q", path, raw)
	}
	return pid
}

func processAlive(pid int) bool {
	_, err := proc.Of(pid)
	return err == nil
}

// endProcess ends what a test has let an agent start.
func endProcess(w *world, pid int) {
	w.Helper()
	p, err := proc.Of(pid)
	if err == nil {
		err = proc.Signal(p, syscall.SIGKILL)
	}
	if err != nil {
		w.Errorf("process %d: %v", pid, err)
	}
}
