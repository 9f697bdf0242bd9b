// Package e2e runs the real agent programs against a scripted model. It needs a bench home made by
// scripts/agents/setup.sh, named by ST_BENCH; without one its tests are skipped. ST_LONG=1 runs the long
// counts.
package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"st/hooks"
	"st/orch"
	"st/tmux/tmuxtest"
)

// TestMain is also the hook command of the agents under test: "hook KIND" trims a call as st does and adds it
// to the file named in the environment.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "hook" {
		if err := dump(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, "e2e hook:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// dumpFile is the name in the environment of the file that takes an agent's hook calls.
const dumpFile = "ST_E2E_DUMP"

// call is one line of that file.
type call struct {
	At   time.Time       `json:"at"`
	Call json.RawMessage `json:"call"`
}

func dump(kind string) error {
	at := time.Now()
	k, err := hooks.Lookup(kind)
	if err != nil {
		return err
	}
	payload, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	trimmed, err := k.Trim(payload)
	if err != nil {
		return err
	}
	line, err := json.Marshal(call{at, trimmed})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(os.Getenv(dumpFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(append(line, '\n')); err != nil { // one write: calls may overlap
		return err
	}
	if _, err := os.Stdout.Write(k.Answer(payload, true)); err != nil {
		return err
	}
	return f.Close()
}

// bench is a bench home with its mock server running.
type bench struct {
	home    string
	project string // a trusted folder
	log     string // of the mock server
}

func newBench(t *testing.T) *bench {
	t.Helper()
	home := os.Getenv("ST_BENCH")
	if home == "" {
		t.Skip("ST_BENCH names no bench home: scripts/agents/setup.sh PREFIX HOME PORT makes one")
	}
	b := &bench{home: home, project: filepath.Join(home, "project"), log: filepath.Join(home, "log", "requests.jsonl")}
	b.trust(t)
	b.startMock(t)
	return b
}

// trust makes the project folder, once: the agents must not run while their settings are written.
func (b *bench) trust(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(b.project, ".git")); err == nil {
		return
	}
	setup, err := filepath.Abs("../agents/setup.sh")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(b.project, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{{"git", "init", "-q", b.project}, {setup, "--trust", b.home, b.project}} {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", argv, err, out)
		}
	}
}

func (b *bench) startMock(t *testing.T) {
	t.Helper()
	port, err := os.ReadFile(filepath.Join(b.home, "port"))
	if err != nil {
		t.Fatal(err)
	}
	address := "127.0.0.1:" + strings.TrimSpace(string(port))
	if up(address) {
		t.Fatalf("something listens on %s already; this test starts the mock server itself", address)
	}
	mock := exec.Command(filepath.Join(b.home, "bin", "bench-mock"))
	var said strings.Builder
	mock.Stdout, mock.Stderr = &said, &said
	if err := mock.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := mock.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = mock.Wait() // killed: always an error
	})
	tmuxtest.Wait(t, "the mock server listens", func() (bool, string) { return up(address), address })
}

func up(address string) bool {
	c, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return false
	}
	return c.Close() == nil
}

// request is what the mock server notes of one.
type request struct {
	At       time.Time `json:"ts"`
	Side     bool      `json:"side"`
	Session  string    `json:"session"`
	LastUser string    `json:"last_user"`
}

// requests returns what the mock server was asked since the given time, without side requests (titles).
func (b *bench) requests(t *testing.T, since time.Time) []request {
	t.Helper()
	f, err := os.Open(b.log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []request
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%s: %v in %s", b.log, err, line)
		}
		if !r.Side && r.LastUser != "" && !r.At.Before(since.Truncate(time.Millisecond)) {
			all = append(all, r)
		}
	}
}

// tail reads the whole lines that were added to a file since the last call.
type tail struct {
	path string
	at   int64
}

func (l *tail) lines() ([][]byte, error) {
	f, err := os.Open(l.path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, err := f.Seek(l.at, io.SeekStart); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	var lines [][]byte
	for {
		line, rest, ok := strings.Cut(string(text), "\n")
		if !ok {
			return lines, nil
		}
		l.at += int64(len(line)) + 1
		lines, text = append(lines, []byte(line)), []byte(rest)
	}
}

// seen is an event with the time at which it was told.
type seen struct {
	orch.AgentEvent
	At   time.Time
	From string // hook, transcript or screen
}
