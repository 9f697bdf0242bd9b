//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"st/tmux/tmuxtest"
)

// TestUIPanes: a real daemon's tree stands in panes of 80x24 and 200x60, with 5 workers and with 200, all but one of them in
// line for their window, with more of the chosen row and the keys below it; a key is drawn without lag, nothing is asked of the
// terminal, and its end ends the ui.
func TestUIPanes(t *testing.T) {
	d := newDesk(t)
	if err := os.MkdirAll(d.home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.home, "config.toml"), []byte("max_workers = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.want(0, "orch", "start", "--objective", "a crowd", "--name", "crowd")
	d.want(0, "gate", "ask", "--question", "go on?", "--options", "yes,no")
	d.crowd(1, 5)
	small, large := d.eye("eye80", 80, 24), d.eye("eye200", 200, 60)
	feet := map[string]string{small: "x release  / filter  ? help  q quit", large: "x release  / filter  . all  ? help  q quit"}
	for pane, foot := range feet {
		d.paneShows(pane, `^st ui   5 of 5 workers: 1 running, 4 queued$`)
		d.paneShows(pane, `(?s)^› \? gate g1 of a person in r1, \d+[sm]: go on\? \(yes / no\) *\n  r1 "crowd" of a person: a crowd *\n  ├─ w1 n.*  └─ w5 n.*queued \(4th\)`)
		d.paneShows(pane, `(?s)\n─+\ngate: +g1 in r1 "crowd", by a person\nquestion: +go on\?\n.*\nenter go  .*`+regexp.QuoteMeta(foot)+`\n*$`)
	}
	d.paneShows(large, `^  ├─ w1 n\d +demo running +\d+[sm] t1 sleep 600 *$`)
	d.crowd(6, 200)
	for pane, shown := range map[string]int{small: 13, large: 45} { // below the gate and the run
		d.paneShows(pane, `^st ui   200 of 200 workers: 1 running, 199 queued$`)
		d.paneShows(pane, fmt.Sprintf(`^  ├─ w%d +n\d+ +demo queued \(%s\)`, shown, ordinal(shown-1)))
		d.server.Run("send-keys", "-t", pane, "End")
		d.paneShows(pane, `^› └─ w200 n\d+ +demo queued \(199th\)`)
		d.paneShows(pane, `(?s)\nworker: +w200 "n\d+" \(demo\), .*\nenter go  .*`+regexp.QuoteMeta(feet[pane])+`\n*$`)
	}
	d.server.Run("resize-window", "-t", small, "-x", "200", "-y", "60")
	d.paneShows(small, `^  ├─ w160 n\d+ +demo queued \(159th\)`)
	d.keysAreDrawn()
	if was := d.server.PID(); was > 0 { // the end of tmux
		pids := d.eyes()
		if len(pids) != 2 {
			t.Fatalf("%d uis run", len(pids))
		}
		d.server.Kill()
		d.await("the uis have ended with their terminals", func() bool { return len(d.eyes()) == 0 })
	}
}

// want runs a verb that has to end with a code.
func (d *desk) want(code int, args ...string) {
	d.t.Helper()
	if got := d.st(args...); got.code != code {
		d.t.Fatalf("st %q: %s", args, got)
	}
}

// crowd starts workers with a number each, by the verb itself in this process: two hundred programs would cost more than
// all that they ask for.
func (d *desk) crowd(from, to int) {
	for _, pair := range d.env {
		name, value, _ := strings.Cut(pair, "=")
		d.t.Setenv(name, value)
	}
	var all sync.WaitGroup
	faults := make(chan string, to-from+1)
	turns := make(chan struct{}, 16)
	for i := from; i <= to; i++ {
		turns <- struct{}{}
		all.Go(func() {
			var said bytes.Buffer
			args := []string{"worker", "start", "--agent", "demo", "--name", fmt.Sprintf("n%d", i), "--prompt", "sleep 600", "--detach", "--session", "small", "--run", "r1"}
			if code := run(context.Background(), args, plainPrinter(&said)); code != exitDone {
				faults <- fmt.Sprintf("start %d: exit %d: %s", i, code, said.String())
			}
			<-turns
		})
	}
	all.Wait()
	close(faults)
	for fault := range faults {
		d.t.Fatal(fault)
	}
}

// eye opens the ui in a window of that size and answers its pane.
func (d *desk) eye(name string, width, height int) string {
	d.server.Run("new-session", "-d", "-s", name, "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), "-c", d.server.Dir(),
		"env", "ST_HOME="+d.home, d.bin, "ui")
	return d.server.Run("list-panes", "-t", "="+name+":", "-F", "#{pane_id}")
}

func (d *desk) paneShows(pane, pattern string) {
	d.t.Helper()
	re := regexp.MustCompile("(?m)" + pattern)
	tmuxtest.Wait(d.t, "the ui shows "+pattern, func() (bool, string) {
		screen := d.server.Run("capture-pane", "-p", "-t", pane)
		return re.MatchString(screen), screen
	})
}

// eyes are the processes of uis.
func (d *desk) eyes() (pids []int) {
	for _, pid := range (&bench{dir: d.home}).processes() {
		argv, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && strings.HasSuffix(string(argv), "/st\x00ui\x00") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// keysAreDrawn measures from a key to what is drawn for it, on a terminal that answers nothing and is asked nothing; then
// the terminal is as it was.
func (d *desk) keysAreDrawn() {
	cmd := exec.Command(d.bin, "ui")
	cmd.Env = append(slices.Clone(d.env), "TMUX=", "TMUX_PANE=", "TERM=xterm-256color")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 200, Rows: 60})
	if err != nil {
		d.t.Fatal(err)
	}
	defer tty.Close()
	said := follow(tty)
	said.await(d, "w44", 0)
	var took []time.Duration
	for i := range 40 {
		at := said.len()
		begun := time.Now()
		if _, err := tty.WriteString([]string{"\x1b[B", "\x1b[6~", "\x1b[A"}[i%3]); err != nil {
			d.t.Fatal(err)
		}
		said.await(d, "›", at)
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	d.t.Logf("200 workers at 200x60: from a key to its frame on the terminal: median %v, worst %v", took[20], took[39])
	if took[20] > 250*time.Millisecond {
		d.t.Errorf("a key is drawn after %v", took[20])
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		d.t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		d.t.Errorf("after SIGTERM: %v", err)
	}
	said.await(d, screenGive, 0)
	for _, query := range []string{"\x1b]", "\x1b[c", "\x1b[0c", "\x1b[>", "\x1b[=", "\x1b[5n", "\x1b[6n", "\x1bP", "\x1b[?u", "$p", "\x05"} {
		if strings.Contains(said.text(), query) {
			d.t.Errorf("the terminal was asked %q", query)
		}
	}
}

// written is what a terminal was sent so far.
type written struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func follow(tty *os.File) *written {
	w := &written{}
	go io.Copy(w, tty) //nolint:errcheck // a terminal ends with an error
	return w
}

func (w *written) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(b)
}

func (w *written) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

func (w *written) len() int { return len(w.text()) }

// await waits until something was sent behind a place.
func (w *written) await(d *desk, what string, from int) {
	d.t.Helper()
	for end := time.Now().Add(patience); !strings.Contains(w.text()[from:], what); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			d.t.Fatalf("not within %v: %q in %q", patience, what, w.text()[from:])
		}
	}
}
