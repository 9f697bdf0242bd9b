//go:build linux || darwin

// Package e2e runs the real agent programs against a scripted model. It needs a bench home made by
// scripts/agents/setup.sh, named by ST_BENCH; without one its tests are skipped. ST_LONG=1 runs the long
// counts.
package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"st/hooks"
	"st/orch/proc/proctest"
	"st/tmux"
	"st/tmux/tmuxtest"
)

// desk is one test's own world: a home of a person who runs real agents, a project, a multiplexer server,
// a scripted model.
type desk struct {
	t      *testing.T
	home   string // the person's, with bin/ in it; shared by the tests, which run one after the other
	stHome string
	dir    string // the project
	tmux   *tmuxtest.Server
}

// count is how often a thing is tried: a tenth of it in an ordinary run.
func count(few, long int) int {
	if os.Getenv("ST_LONG") != "" {
		return long
	}
	return few
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	home := os.Getenv("ST_BENCH")
	if home == "" {
		t.Skip("real agents: run scripts/e2e/run")
	}
	work, err := os.MkdirTemp("/tmp", "st-e2e-")
	if err != nil {
		t.Fatal(err)
	}
	b := &desk{t: t, home: home}
	t.Cleanup(func() { // after the server has ended; what ran in its panes may still write its last words
		b.ended(work, b.tmux.Dir())
		b.await(10*time.Second, "nothing is left in "+work, func() (bool, string) {
			err := os.RemoveAll(work)
			return err == nil, fmt.Sprint(err)
		})
	})
	b.tmux = tmuxtest.New(t)
	b.dir, b.stHome = filepath.Join(work, "project"), filepath.Join(work, "st")
	b.must(exec.Command("git", "init", "-q", b.dir))
	b.must(exec.Command("../agents/setup.sh", "--trust", home, b.dir))
	b.model()
	b.tmux.Session("desk", "sleep", "infinity")
	t.Cleanup(func() { b.st("down") })
	return b
}

func (b *desk) must(c *exec.Cmd) {
	b.t.Helper()
	if out, err := proctest.CombinedOutput(c); err != nil {
		b.t.Fatalf("%v: %v\n%s", c.Args, err, out)
	}
}

// model starts the scripted model and waits until it answers.
func (b *desk) model() {
	c := exec.Command(filepath.Join(b.home, "bin", "bench-mock"))
	if err := c.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		if err := c.Process.Kill(); err != nil {
			b.t.Error(err)
		}
		_ = c.Wait() // killed: its status says nothing
	})
	b.await(10*time.Second, "the model answers", func() (bool, string) {
		r, err := http.Get("http://127.0.0.1:" + os.Getenv("ST_BENCH_PORT") + "/__mock/requests")
		if err != nil {
			return false, err.Error()
		}
		return r.Body.Close() == nil, r.Status
	})
}

// env is a person's shell.
func (b *desk) env() []string {
	return []string{"HOME=" + b.home, "ST_HOME=" + b.stHome, "PATH=" + filepath.Join(b.home, "bin") + ":" + os.Getenv("PATH"), "LANG=C.UTF-8", "SHELL=/bin/bash", "USER=dev",
		"TMUX=" + b.tmux.Socket() + ",1,0"}
}

// allow writes the person's own consent into their settings, for this test: these rules and this permission mode.
func (b *desk) allow(mode string, rules ...string) {
	b.t.Helper()
	path := filepath.Join(b.home, ".claude", "settings.json")
	old, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		if err := os.WriteFile(path, old, 0o600); err != nil {
			b.t.Error(err)
		}
	})
	set := map[string]any{"theme": "dark", "permissions": map[string]any{"defaultMode": mode, "allow": rules}}
	raw, err := json.Marshal(set)
	if err == nil {
		err = os.WriteFile(path, raw, 0o600)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *desk) write(name, text string) {
	b.t.Helper()
	p := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// open starts an agent by hand in a window of its own, as a person does, and waits for its input line.
func (b *desk) open(program string, args ...string) (pane string) {
	b.t.Helper()
	ctx := context.Background()
	s, err := b.tmux.Tmux().FindSession(ctx, "desk")
	if err != nil {
		b.t.Fatal(err)
	}
	p, err := b.tmux.Tmux().Open(ctx, tmux.Open{Session: s.ID, Name: "coordinator", Dir: b.dir, Argv: append([]string{filepath.Join(b.home, "bin", program)}, args...), Env: []string{"ST_HOME=" + b.stHome, "TERM=tmux-256color"}})
	if err != nil {
		b.t.Fatal(err)
	}
	b.tmux.WaitScreen(p.ID, "an input line", func(v tmux.View) bool {
		s := b.look(program, v)
		return s.Name == hooks.Ready && s.Draft == "" && !s.Popup
	})
	return p.ID
}

// look is what a kind knows of what a pane shows.
func (b *desk) look(kind string, v tmux.View) hooks.Screen {
	b.t.Helper()
	k, err := hooks.Lookup(kind)
	if err != nil {
		b.t.Fatal(err)
	}
	return k.Look(hooks.View{Rows: v.Rows, CursorX: v.CursorX, CursorY: v.CursorY, CursorVisible: v.CursorVisible, Alternate: v.Alternate, Width: v.Width, Height: v.Height})
}

// ask types a request as a person does: the text, and then Enter when it stands there.
func (b *desk) ask(pane, text string) {
	b.t.Helper()
	b.tmux.Run("send-keys", "-t", pane, "-l", text)
	b.tmux.WaitText(pane, text)
	b.tmux.Run("send-keys", "-t", pane, "Enter")
}

// said is what a pane shows.
func (b *desk) said(pane string) string {
	b.t.Helper()
	return b.tmux.Run("capture-pane", "-p", "-t", pane)
}

// busy keeps that many cores busy until the returned function is called, or this process has ended, however it does.
func (b *desk) busy(cores int) (rest func()) {
	var procs []*exec.Cmd
	for range cores {
		c := exec.Command("sh", "-c", `while kill -0 "$1"; do i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; done`, "busy", strconv.Itoa(os.Getpid()))
		if err := c.Start(); err != nil {
			b.t.Fatal(err)
		}
		procs = append(procs, c)
	}
	return func() {
		for _, c := range procs {
			if err := c.Process.Kill(); err != nil {
				b.t.Error(err)
			}
			_ = c.Wait() // killed: its status says nothing
		}
	}
}

// await waits for a condition; what was seen last is told on failure.
func (b *desk) await(limit time.Duration, what string, is func() (bool, string)) {
	b.t.Helper()
	for begun := time.Now(); ; {
		ok, saw := is()
		if ok {
			return
		}
		if time.Since(begun) > limit {
			b.t.Fatalf("after %s not yet: %s; seen last:\n%s\n%s", limit, what, saw, b.scene())
		}
		time.Sleep(min(max(time.Since(begun)/10, 50*time.Millisecond), 200*time.Millisecond)) // each look costs the start of programs
	}
}

// scene is what all panes and the daemon's log say, for a failure.
func (b *desk) scene() string {
	var s strings.Builder
	if b.tmux == nil || b.t.Context().Err() != nil { // cleaning up
		return ""
	}
	for _, p := range strings.Fields(b.tmux.Run("list-panes", "-a", "-F", "#{pane_id}")) {
		fmt.Fprintf(&s, "--- pane %s\n%s", p, b.said(p))
	}
	log, err := os.ReadFile(filepath.Join(b.stHome, "st.log"))
	fmt.Fprintf(&s, "--- st.log (%v)\n%s", err, log)
	return s.String()
}

// logs are where an agent of a kind writes its conversations in this project.
func (b *desk) logs(kind string) string {
	return map[string]string{
		"claude": filepath.Join(b.home, ".claude", "projects", strings.NewReplacer("/", "-", ".", "-").Replace(b.dir), "*.jsonl"),
		"codex":  filepath.Join(b.home, ".codex", "sessions", "*", "*", "*", "rollout-*.jsonl"),
		"gemini": filepath.Join(b.home, ".gemini", "tmp", "*", "chats", "session-*.jsonl"),
	}[kind]
}

// log is all text in what an agent has written of its conversation that was asked this in the project: the strings
// of its lines, unquoted.
func (b *desk) log(kind, request string) string {
	b.t.Helper()
	files, err := filepath.Glob(b.logs(kind))
	if err != nil {
		b.t.Fatal(err)
	}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			b.t.Fatal(err)
		}
		if strings.Contains(string(raw), b.dir) && strings.Contains(string(raw), request) {
			return texts(b.t, raw)
		}
	}
	b.t.Fatalf("none of %d logs in %s holds %q", len(files), b.logs(kind), request)
	return ""
}

// texts are all strings in lines of JSON, one under the other.
func texts(t *testing.T, lines []byte) string {
	t.Helper()
	var all strings.Builder
	var add func(any)
	add = func(v any) {
		switch v := v.(type) {
		case string:
			all.WriteString(v + "\n")
		case []any:
			for _, e := range v {
				add(e)
			}
		case map[string]any:
			for _, e := range v {
				add(e)
			}
		}
	}
	for line := range bytes.Lines(lines) {
		var v any
		if json.Unmarshal(line, &v) == nil { // the last line may be half written
			add(v)
		}
	}
	return all.String()
}
