//go:build linux || darwin

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"st/orch"
	"st/orch/daemon"
)

// edge is a home with a daemon of which only the socket is real, and a program called st.
type edge struct {
	home, st string
	mu       sync.Mutex
	got      []told
	answer   any    // of the daemon, to each input
	stop     func() // ends the socket
}

// told is one input that arrived.
type told struct {
	name, request string
	by            orch.Caller
	body          string
}

func newEdge(t *testing.T) *edge {
	t.Helper()
	dir, err := os.MkdirTemp("", "st")
	ok(t, err)
	t.Cleanup(func() { ok(t, os.RemoveAll(dir)) })
	self, err := os.Executable()
	ok(t, err)
	e := &edge{home: filepath.Join(dir, "home"), st: filepath.Join(dir, "st")}
	ok(t, os.Symlink(self, e.st))
	ok(t, daemon.Prepare(e.home))
	return e
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// serve answers on the socket until stop; slow, where it isn't nil, is waited for before each answer.
func (e *edge) serve(t *testing.T, slow <-chan bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &daemon.Server{Log: log.New(io.Discard, "", 0), Stop: cancel, Callers: &daemon.Callers{}}
	s.Handlers.Do = func(ctx context.Context, by orch.Caller, request, name string, body json.RawMessage) (any, error) {
		if slow != nil {
			<-slow
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.got = append(e.got, told{name, request, by, string(body)})
		return e.answer, nil
	}
	ok(t, s.Listen(e.home))
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	var once sync.Once
	e.stop = func() {
		once.Do(func() {
			cancel()
			ok(t, <-done)
		})
	}
	t.Cleanup(e.stop)
}

func (e *edge) arrived() []told {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]told(nil), e.got...)
}

// take reads what waits in the spool.
func (e *edge) take(t *testing.T) []told {
	t.Helper()
	var all []told
	s := &daemon.Spooled{Home: e.home, Callers: &daemon.Callers{}, Log: log.New(io.Discard, "", 0)}
	s.Do = func(_ context.Context, _ time.Time, by orch.Caller, request, name string, body json.RawMessage) error {
		all = append(all, told{name, request, by, string(body)})
		return nil
	}
	ok(t, s.Take(t.Context()))
	return all
}

// hook runs `st hook claude` as a process and returns what it printed.
func (e *edge) hook(payload string) (out string, err error) {
	cmd := exec.Command(e.st, "hook", "claude")
	cmd.Env = []string{"ST_HOME=" + e.home, "HOME=/nowhere", "ST_AGENT=secret"}
	cmd.Stdin = strings.NewReader(payload)
	raw, err := cmd.CombinedOutput()
	return string(raw), err
}

func prompt(text string) string {
	raw, err := json.Marshal(map[string]string{
		"session_id": "s1", "transcript_path": "/p/s1.jsonl", "cwd": "/p", "hook_event_name": "UserPromptSubmit", "prompt": text,
	})
	if err != nil {
		panic(err)
	}
	return string(raw)
}

const toolUse = `{"session_id":"s1","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"/x"}}`

func TestHookTellsTheDaemon(t *testing.T) {
	e := newEdge(t)
	e.serve(t, nil)
	if out, err := e.hook(prompt("a very private text")); err != nil || out != "" {
		t.Fatalf("hook: %v, it printed %q", err, out)
	}
	got := e.arrived()
	if len(got) != 1 || got[0].name != "hook" || got[0].request == "" || !strings.Contains(got[0].body, `"kind":"claude"`) {
		t.Fatalf("arrived: %+v", got)
	}
	if strings.Contains(got[0].body, "private") {
		t.Errorf("the prompt's text left the hook: %s", got[0].body)
	}
	if by := got[0].by; by.Nonce != "secret" || len(by.Chain) < 2 || by.Chain[1].PID != os.Getpid() || by.Path != "socket" {
		t.Errorf("by %+v", by)
	}
	if left := e.take(t); len(left) != 0 {
		t.Errorf("in the spool: %+v", left)
	}
}

func TestHookPrintsTheDaemonsLine(t *testing.T) {
	e := newEdge(t)
	e.answer = orch.HookAnswer{Line: "w5 finished [st-o17]"}
	e.serve(t, nil)
	const stop = `{"session_id":"s1","cwd":"/p","hook_event_name":"Stop","stop_hook_active":%v}`
	const report = `{"session_id":"s1","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"st worker done --summary x"}}`
	for payload, want := range map[string]string{
		fmt.Sprintf(stop, false): `{"decision":"block","reason":"w5 finished [st-o17]"}`,
		fmt.Sprintf(stop, true):  "",
		prompt("x"):              `{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"w5 finished [st-o17]"}}`,
		toolUse:                  "",
		report:                   `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"a worker's own report or question"}}`,
	} {
		if out, err := e.hook(payload); err != nil || out != want {
			t.Errorf("%s: %v, it printed %q, want %q", payload, err, out, want)
		}
	}
}

func TestHookWithoutDaemonLeavesAFile(t *testing.T) {
	e := newEdge(t)
	for _, payload := range []string{prompt("x"), toolUse} {
		if out, err := e.hook(payload); err != nil || out != "" {
			t.Fatalf("hook: %v, it printed %q", err, out)
		}
	}
	left := e.take(t)
	if len(left) != 1 || left[0].name != "hook" || !strings.Contains(left[0].body, "UserPromptSubmit") {
		t.Fatalf("in the spool: %+v, want the prompt and not the tool", left)
	}
	if by := left[0].by; by.Path != "spool" || by.Nonce != "secret" || len(by.Chain) < 2 || by.Chain[1].PID != os.Getpid() {
		t.Errorf("by %+v", by)
	}
}

func TestHookGivesUpOnAStuckDaemon(t *testing.T) {
	e := newEdge(t)
	e.answer = orch.HookAnswer{Line: "too late"}
	slow := make(chan bool)
	e.serve(t, slow)
	began := time.Now()
	out, err := e.hook(prompt("x"))
	took := time.Since(began)
	if err != nil || out != "" {
		t.Fatalf("hook: %v, it printed %q", err, out)
	}
	if took < hookTime || took > hookTime+5*time.Second {
		t.Errorf("it took %v, want about %v", took, hookTime)
	}
	close(slow)
	e.stop()
	left, got := e.take(t), e.arrived()
	if len(left) != 1 || len(got) != 1 || left[0].request != got[0].request {
		t.Errorf("spool %+v, socket %+v: want the same request id in both", left, got)
	}
}

func TestHookIsQuietWhereItIsNotWanted(t *testing.T) {
	e := newEdge(t)
	for what, args := range map[string][]string{
		"no kind": {"hook"}, "another kind": {"hook", "nobody"}, "garbage": {"hook", "claude"},
	} {
		cmd := exec.Command(e.st, args...)
		cmd.Env = []string{"ST_HOME=" + e.home}
		cmd.Stdin = strings.NewReader("{ not json")
		if out, err := cmd.CombinedOutput(); err != nil || len(out) != 0 {
			t.Errorf("%s: %v, it printed %q", what, err, out)
		}
	}
	none := filepath.Join(t.TempDir(), "none")
	var out bytes.Buffer
	code := runHook([]string{"claude"}, strings.NewReader(prompt("x")), &out, func(name string) string {
		return map[string]string{"ST_HOME": none}[name]
	})
	if code != 0 || out.Len() != 0 {
		t.Errorf("without a home: exit %d, it printed %q", code, out.String())
	}
	if _, err := os.Stat(none); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a home was made: %v", err)
	}
}

func TestBurstOfHooksLosesNone(t *testing.T) {
	e := newEdge(t)
	e.serve(t, nil)
	side, rounds := 16, 2
	if os.Getenv("ST_LONG") != "" {
		rounds = 15
	}
	var wait sync.WaitGroup
	for i := range side {
		wait.Go(func() {
			for j := range rounds {
				if out, err := e.hook(prompt(fmt.Sprint(i, j))); err != nil || out != "" {
					t.Errorf("hook: %v, it printed %q", err, out)
				}
			}
		})
	}
	wait.Wait()
	e.stop()
	seen := map[string]bool{}
	for _, in := range append(e.arrived(), e.take(t)...) {
		seen[in.request] = true
	}
	if len(seen) != side*rounds {
		t.Errorf("%d events arrived or wait, want %d", len(seen), side*rounds)
	}
}
