//go:build linux

package demo_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"st/hooks/demo"
)

// terminal is an agent on a bare pseudo-terminal.
type terminal struct {
	tty  *os.File
	cmd  *exec.Cmd
	dir  string
	seen chan []byte
}

func open(t *testing.T, hooks string) *terminal {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	settings := filepath.Join(dir, "settings.json")
	writeText(t, settings, hooks)
	cmd := exec.Command(self, demo.Verb, "--settings", settings)
	cmd.Dir = dir
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{tty: tty, cmd: cmd, dir: dir, seen: make(chan []byte, 1024)}
	go term.read()
	t.Cleanup(func() {
		tty.Close()
		if cmd.ProcessState == nil {
			cmd.Process.Kill()
			cmd.Wait()
		}
	})
	return term
}

func (p *terminal) read() {
	defer close(p.seen)
	buf := make([]byte, 1<<15)
	for {
		n, err := p.tty.Read(buf)
		if n > 0 {
			p.seen <- bytes.Clone(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

// until reads what the agent writes until text has come.
func (p *terminal) until(t *testing.T, text string) string {
	t.Helper()
	var all []byte
	deadline := time.After(20 * time.Second)
	for !bytes.Contains(all, []byte(text)) {
		select {
		case b, ok := <-p.seen:
			if !ok {
				t.Fatalf("the agent ended before %q: %q", text, all)
			}
			all = append(all, b...)
		case <-deadline:
			t.Fatalf("never written: %q in %q", text, all)
		}
	}
	return string(all)
}

func TestModesOfTheTerminal(t *testing.T) {
	p := open(t, "{}")
	start := p.until(t, demo.Mark)
	for _, mode := range []string{"\x1b[?1049h", "\x1b[?2004h"} {
		if !strings.Contains(start, mode) {
			t.Errorf("%q is not switched on", mode)
		}
	}
	if _, err := io.WriteString(p.tty, "\x1b[200~/exit\x1b[201~\r"); err != nil {
		t.Fatal(err)
	}
	p.until(t, "\x1b[?1049l")
	if err := p.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestIdleCostsNothing counts the switches of all threads: a process that never wakes has none.
func TestIdleCostsNothing(t *testing.T) {
	p := open(t, "{}")
	p.until(t, demo.Mark)
	if _, err := io.WriteString(p.tty, "\x1b[200~say hi\x1b[201~\r"); err != nil {
		t.Fatal(err)
	}
	p.until(t, "● hi")
	// The runtime takes a moment to park its threads; then ten quiet looks in a row have to come.
	quiet := 0
	last := p.switches(t)
	for deadline := time.Now().Add(20 * time.Second); quiet < 10; {
		time.Sleep(100 * time.Millisecond)
		now := p.switches(t)
		quiet++
		if now != last {
			quiet = 0
		}
		last = now
		if time.Now().After(deadline) {
			t.Fatal("it never sleeps for a second")
		}
	}
}

func (p *terminal) switches(t *testing.T) int {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", p.cmd.Process.Pid))
	if err != nil || len(files) == 0 {
		t.Fatalf("no threads of %d: %v", p.cmd.Process.Pid, err)
	}
	sum := 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range strings.Split(string(text), "\n") {
			var n int
			if _, err := fmt.Sscanf(row, "voluntary_ctxt_switches: %d", &n); err == nil {
				sum += n
			}
		}
	}
	return sum
}

func TestHangUpHasItsStatus(t *testing.T) {
	p := open(t, "{}")
	p.until(t, demo.Mark)
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	err := p.cmd.Wait()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 129 {
		t.Errorf("ended with %v, want status 129", err)
	}
}
