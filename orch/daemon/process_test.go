//go:build linux || darwin

package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"st/orch"
	"st/orch/proc"
	"st/orch/proc/proctest"
)

// Called as "st", this test binary is a program that has the two verbs of these tests.
func init() {
	if filepath.Base(os.Args[0]) != "st" || len(os.Args) < 2 {
		return
	}
	home, err := Home(os.Getenv)
	if err != nil {
		panic(err)
	}
	switch os.Args[1] {
	case "daemon":
		os.Exit(Main(home, testDaemon))
	case "ask":
		os.Exit(testAsk(home))
	}
}

// testDaemon keeps no state but a list of what it was given, in the file "did" of its home. Files in its home
// say how it misbehaves: its environment is clean.
func testDaemon(ctx context.Context, held *Held) error {
	if err := note(held.Home, "began", strconv.Itoa(os.Getpid())); err != nil {
		return err
	}
	if raw, err := os.ReadFile(filepath.Join(held.Home, "refuse")); err == nil {
		return &orch.Error{Code: string(raw), Message: "as it was told"}
	}
	if _, err := os.Stat(filepath.Join(held.Home, "panic")); err == nil {
		panic("a fault of ours")
	}
	// As many starts as the file has bytes are killed.
	kill := filepath.Join(held.Home, "kill")
	if raw, err := os.ReadFile(kill); err == nil && len(raw) > 0 {
		if err := os.WriteFile(kill, raw[1:], 0o600); err != nil {
			return err
		}
		if err := unix.Kill(os.Getpid(), unix.SIGKILL); err != nil {
			return err
		}
		select {}
	}
	if raw, err := os.ReadFile(filepath.Join(held.Home, "protocol")); err == nil {
		if protocol, err = strconv.Atoi(string(raw)); err != nil {
			return err
		}
	}
	if err := note(held.Home, "env", strings.Join(os.Environ(), "\n")); err != nil {
		return err
	}
	s := &Server{Log: held.Log, Stop: held.Stop, Callers: &Callers{}, Handlers: testHandlers(held.Home)}
	if err := s.Listen(held.Home); err != nil {
		return err
	}
	held.Ready()
	return s.Serve(ctx)
}

func testHandlers(home string) Handlers {
	var mu sync.Mutex
	did := map[string]bool{}
	return Handlers{
		Do: func(ctx context.Context, by orch.Caller, request, name string, body json.RawMessage) (any, error) {
			mu.Lock()
			defer mu.Unlock()
			if did[request] {
				return nil, nil
			}
			did[request] = true
			return nil, note(home, "did", request)
		},
		Get: func(_ context.Context, by orch.Caller, view string, args json.RawMessage) (any, error) {
			return by, nil
		},
		Watch: func(ctx context.Context, _ orch.Caller, _ string, _ json.RawMessage, send func(any) error) (json.RawMessage, error) {
			if err := send("first"); err != nil {
				return nil, err
			}
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}
}

// note appends a line to a file.
func note(home, name, line string) error {
	f, err := os.OpenFile(filepath.Join(home, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, line)
	return errors.Join(err, f.Close())
}

// testAsk starts the daemon where none runs and prints its pid.
func testAsk(home string) int {
	c, err := Connect(context.Background(), home, FromEnv(os.Getenv), true)
	var h Hello
	if err == nil {
		h, err = c.Hello(context.Background())
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(h.PID)
	return 0
}

// testHome makes a short home that is still empty, and a program called st. Whatever daemon runs there at the
// end is ended.
func testHome(t *testing.T) (home, st string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "st")
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	self, err := os.Executable()
	must(t, err)
	st = filepath.Join(dir, "bin", "st")
	must(t, os.Mkdir(filepath.Dir(st), 0o700))
	must(t, os.Symlink(self, st))
	home = filepath.Join(dir, "it's 집", "home")
	t.Cleanup(func() { endDaemons(t, home) })
	return home, st
}

// endDaemons ends those that have noted that they began in home.
func endDaemons(t *testing.T, home string) {
	for _, pid := range lines(home, "began") {
		n, err := strconv.Atoi(pid)
		must(t, err)
		p, err := proc.Of(n)
		if err != nil {
			continue
		}
		if err := proc.Signal(p, unix.SIGKILL); err != nil && !errors.Is(err, proc.ErrGone) {
			t.Error(err)
		}
		until(t, "the daemon is gone", func() bool { return !proc.Alive(p) })
	}
}

func lines(home, name string) []string {
	raw, err := os.ReadFile(filepath.Join(home, name))
	if err != nil {
		return nil
	}
	return strings.Fields(string(raw))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// until polls a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("not in time: %s", what)
}

// command is `st VERB` in a home, out of an agent's environment.
func command(home, st string, args ...string) *exec.Cmd {
	cmd := exec.Command(st, args...)
	cmd.Env = append(os.Environ(), "ST_HOME="+home, "ST_AGENT=secret", "TMUX_PANE=%1")
	return cmd
}

func pidOf(t *testing.T, home, st string) int {
	t.Helper()
	out, err := command(home, st, "ask").Output()
	if err != nil {
		t.Fatalf("st ask: %v: %s", err, out)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	must(t, err)
	return pid
}

func TestTwentyClientsStartOneDaemon(t *testing.T) {
	home, st := testHome(t)
	cmds := make([]*exec.Cmd, 20)
	outs := make([]bytes.Buffer, len(cmds))
	for i := range cmds {
		cmds[i] = command(home, st, "ask")
		cmds[i].Stdout = &outs[i]
		must(t, cmds[i].Start())
	}
	for i, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Fatalf("client %d: %v: %s", i, err, outs[i].String())
		}
		if outs[i].String() != outs[0].String() {
			t.Errorf("client %d sees daemon %s, client 0 sees %s", i, outs[i].String(), outs[0].String())
		}
	}
	if began := lines(home, "began"); len(began) != 1 {
		t.Errorf("daemons that began: %v, want one", began)
	}
}

func TestDaemonHasACleanEnvironment(t *testing.T) {
	home, st := testHome(t)
	pid := pidOf(t, home, st)
	raw, err := os.ReadFile(filepath.Join(home, "env"))
	must(t, err)
	for _, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		name, _, _ := strings.Cut(line, "=")
		switch name {
		case "PATH", "HOME", "ST_HOME", "LANG", "TMUX_TMPDIR":
		default:
			t.Errorf("the daemon has %s", line)
		}
	}
	sid, err := unix.Getsid(pid)
	must(t, err)
	if sid != pid {
		t.Errorf("the daemon %d is in session %d, want its own", pid, sid)
	}
	if dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); err == nil && dir != "/" {
		t.Errorf("the daemon's folder is %s, want /", dir)
	}
}

func TestWhyADaemonDoesNotStart(t *testing.T) {
	for _, want := range []string{"store_locked", "store_corrupt", "store_read_only"} {
		t.Run(want, func(t *testing.T) {
			home, st := testHome(t)
			must(t, Prepare(home))
			must(t, os.WriteFile(filepath.Join(home, "refuse"), []byte(want), 0o600))
			inProgram(t, st, home)
			_, err := Connect(t.Context(), home, From{}, true)
			if code(err) != want {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
	t.Run("panic", func(t *testing.T) {
		home, st := testHome(t)
		must(t, Prepare(home))
		must(t, os.WriteFile(filepath.Join(home, "panic"), nil, 0o600))
		inProgram(t, st, home)
		_, err := Connect(t.Context(), home, From{}, true)
		if code(err) != codeUnreachable || !strings.Contains(err.Error(), "ended at once: panic: a fault of ours") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("killed", func(t *testing.T) {
		home, st := testHome(t)
		must(t, Prepare(home))
		must(t, os.WriteFile(filepath.Join(home, "kill"), []byte("xxx"), 0o600))
		inProgram(t, st, home)
		_, err := Connect(t.Context(), home, From{}, true)
		if code(err) != codeUnreachable || !strings.Contains(err.Error(), "it was killed while it started") {
			t.Errorf("got %v", err)
		}
	})
}

// TestAKilledStartIsTriedAgain: who meant the daemon before it may hit the next one too.
func TestAKilledStartIsTriedAgain(t *testing.T) {
	home, st := testHome(t)
	must(t, Prepare(home))
	must(t, os.WriteFile(filepath.Join(home, "kill"), []byte("xx"), 0o600))
	inProgram(t, st, home)
	if _, err := Connect(t.Context(), home, From{}, true); err != nil {
		t.Error(err)
	}
}

// inProgram lets this process call itself by the name st.
func inProgram(t *testing.T, st, home string) {
	old := os.Args[0]
	os.Args[0] = st
	t.Cleanup(func() { os.Args[0] = old })
}

func TestStoppedDaemonIsUnreachable(t *testing.T) {
	home, st := testHome(t)
	p, err := proc.Of(pidOf(t, home, st))
	must(t, err)
	defer quick(&answerTime, 300*time.Millisecond)()
	must(t, proctest.Stop(p.PID))
	began := time.Now()
	_, err = Connect(t.Context(), home, From{}, true)
	if code(err) != codeUnreachable || !strings.Contains(err.Error(), strconv.Itoa(p.PID)) {
		t.Errorf("got %v, want %s with the pid %d", err, codeUnreachable, p.PID)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	must(t, proc.Signal(p, unix.SIGCONT))
	answerTime = 5 * time.Second
	if _, err := Dial(t.Context(), home, From{}); err != nil {
		t.Errorf("after SIGCONT: %v", err)
	}
	if n := len(lines(home, "began")); n != 1 {
		t.Errorf("%d daemons began, want 1", n)
	}
}

func quick(d *time.Duration, now time.Duration) func() {
	old := *d
	*d = now
	return func() { *d = old }
}

func TestHandOverGoesUpwardOnly(t *testing.T) {
	home, st := testHome(t)
	must(t, Prepare(home))
	must(t, os.WriteFile(filepath.Join(home, "protocol"), []byte("0"), 0o600))
	inProgram(t, st, home)
	older := func() int {
		c := &Client{home: home, start: true}
		must(t, startDaemon(t.Context(), c))
		h, err := c.Hello(t.Context())
		must(t, err)
		return h.PID
	}()
	if _, err := Dial(t.Context(), home, From{}); code(err) != codeUnreachable {
		t.Errorf("a client that may start none: got %v", err)
	}
	must(t, os.WriteFile(filepath.Join(home, "protocol"), []byte("7"), 0o600))
	c, err := Connect(t.Context(), home, From{}, true)
	must(t, err)
	newer, err := c.Hello(t.Context())
	must(t, err)
	if newer.PID == older || newer.Protocol != 7 {
		t.Errorf("after the hand-over: %+v, before it pid %d", newer, older)
	}
	if _, err := c.stop(t.Context(), Stop{ForProtocol: Protocol}); code(err) != "refused" {
		t.Errorf("an older client asked for a hand-over: got %v, want a refusal", err)
	}
	pid, err := c.Stop(t.Context())
	must(t, err)
	must(t, c.AwaitStop(t.Context()))
	if pid != newer.PID || absentNow(t, home) == false {
		t.Errorf("stopped %d, want %d", pid, newer.PID)
	}
}

func absentNow(t *testing.T, home string) bool {
	_, err := Dial(t.Context(), home, From{})
	return code(err) == codeUnreachable && err.Error() == "no daemon runs"
}

// signalled starts a daemon and ends it by a signal. It returns a client of it.
func signalled(t *testing.T, home string, sig unix.Signal) *Client {
	t.Helper()
	c, err := Connect(t.Context(), home, From{}, true)
	must(t, err)
	h, err := c.Hello(t.Context())
	must(t, err)
	p, err := proc.Of(h.PID)
	must(t, err)
	must(t, proc.Signal(p, sig))
	until(t, "the daemon has ended", func() bool { return !proc.Alive(p) })
	return c
}

func TestDoSurvivesTheDaemonsDeath(t *testing.T) {
	home, st := testHome(t)
	inProgram(t, st, home)
	c := signalled(t, home, unix.SIGKILL)
	must(t, c.Do(t.Context(), "one", orch.RunEnd{}, nil))
	if did := lines(home, "did"); len(did) != 1 {
		t.Errorf("it happened %v times, want once", did)
	}
}

func TestSignalsStopADaemon(t *testing.T) {
	for _, sig := range []unix.Signal{unix.SIGTERM, unix.SIGINT} {
		home, st := testHome(t)
		inProgram(t, st, home)
		signalled(t, home, sig)
		if _, err := os.Stat(SocketPath(home)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%v: the socket is still there: %v", sig, err)
		}
		raw, err := os.ReadFile(LogPath(home))
		must(t, err)
		if !strings.Contains(string(raw), "daemon: stopped") {
			t.Errorf("%v: the log has no end: %s", sig, raw)
		}
	}
}

func TestSecondDaemonIsRefused(t *testing.T) {
	home, st := testHome(t)
	pidOf(t, home, st)
	defer quick(&handOverTime, 200*time.Millisecond)()
	err := hold(t.Context(), &Held{Home: home, Log: log.Default()}, func(context.Context, *Held) error {
		t.Error("a second daemon runs")
		return nil
	})
	if code(err) != "store_locked" {
		t.Errorf("got %v, want store_locked", err)
	}
}
