//go:build unix

package demo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"st/hooks"
	"st/hooks/demo"
	"st/orch"
)

// TestMain makes the test binary the agent where it is called as one, and st where a task reports with it.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == demo.Verb {
		os.Exit(demo.Main(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Environ()))
	}
	if len(os.Args) > 2 && os.Args[1] == "worker" && os.Args[2] == "done" {
		os.Exit(reported(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// reported writes the arguments of a report down.
func reported(args []string) int {
	line, err := json.Marshal(args)
	if err == nil {
		err = os.WriteFile(os.Getenv("REPORT"), append(line, '\n'), 0o600)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("reported")
	return 0
}

// stage is an agent in a pane of a private tmux, with hooks that write their payloads down.
type stage struct {
	t      *testing.T
	socket string
	dir    string
	kind   hooks.Kind
}

// play starts the agent; answers are shell snippets by event that run after the payload has been written.
func play(t *testing.T, answers map[string]string, args ...string) *stage {
	t.Helper()
	return playSized(t, 80, 24, answers, args...)
}

func playSized(t *testing.T, width, height int, answers map[string]string, args ...string) *stage {
	t.Helper()
	t.Parallel()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed: the agent's screen can't be read")
	}
	kind, err := hooks.Lookup("demo")
	if err != nil {
		t.Fatal(err)
	}
	// Not t.TempDir: a socket's path has to stay under 100 bytes.
	dir, err := os.MkdirTemp("", "demo")
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, socket: filepath.Join(dir, "tmux"), dir: dir, kind: kind}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.write("settings.json", string(s.settings(answers)))
	argv := []string{"-f", "/dev/null", "new-session", "-d", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height), "-c", dir,
		"env", "HOME=" + dir, "REPORT=" + filepath.Join(dir, "report"), "/bin/sh", "-c",
		`"$@"; code=$?; echo $code >exit; exec cat`, "sh", self, demo.Verb,
		"--settings", filepath.Join(dir, "settings.json"), "--log", filepath.Join(dir, "log")}
	t.Cleanup(s.close)
	s.tmux(append(argv, args...)...)
	return s
}

// settings installs a script for every event.
func (s *stage) settings(answers map[string]string) []byte {
	all := map[string]any{}
	for _, event := range demo.Events {
		script := fmt.Sprintf("cd %s; { cat; echo; } >hook.$$ && env >env.%s && cat hook.$$ >>hooks; rm hook.$$\n%s\n",
			s.dir, event, answers[event])
		s.write(event+".sh", script)
		all[event] = []any{map[string]any{"hooks": []any{map[string]any{
			"type": "command", "command": "sh " + filepath.Join(s.dir, event+".sh"), "timeout": 20}}}}
	}
	text, err := json.Marshal(map[string]any{"hooks": all})
	if err != nil {
		s.t.Fatal(err)
	}
	return text
}

func (s *stage) close() {
	if s.t.Failed() {
		screen, err := exec.Command("tmux", "-S", s.socket, "capture-pane", "-p", "-t", "%0").CombinedOutput()
		s.t.Logf("screen (%v):\n%s\nhooks:\n%s\nlog:\n%s", err, screen, s.file("hooks"), s.file("log"))
	}
	s.tmux("kill-server")
	// The agent may still be telling its hooks that it ends.
	s.until("an empty folder", func() bool { return os.RemoveAll(s.dir) == nil })
}

func (s *stage) tmux(args ...string) string {
	s.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", s.socket}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

func (s *stage) write(name, text string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// file is the text of a file of the stage; "" while there is none.
func (s *stage) file(name string) string {
	text, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	return string(text)
}

func (s *stage) view() hooks.View {
	s.t.Helper()
	out := s.tmux("display-message", "-p", "-t", "%0",
		"#{cursor_x} #{cursor_y} #{cursor_flag} #{alternate_on} #{pane_width} #{pane_height}", ";",
		"capture-pane", "-p", "-e", "-t", "%0")
	head, body, _ := strings.Cut(out, "\n")
	var v hooks.View
	var visible, alternate int
	if _, err := fmt.Sscan(head, &v.CursorX, &v.CursorY, &visible, &alternate, &v.Width, &v.Height); err != nil {
		s.t.Fatal(err)
	}
	v.CursorVisible, v.Alternate = visible == 1, alternate == 1
	v.Rows = strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	return v
}

// until polls a condition.
func (s *stage) until(what string, f func() bool) {
	s.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !f() {
		if time.Now().After(deadline) {
			s.t.Fatalf("never came: %s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// screen waits for a screen of that name.
func (s *stage) screen(name string) {
	s.t.Helper()
	s.until("screen "+name, func() bool { return s.kind.Look(s.view()).Name == name })
}

func (s *stage) draft(text string) {
	s.t.Helper()
	s.screen(hooks.Ready)
	s.until(fmt.Sprintf("draft %q", text), func() bool { return s.kind.Look(s.view()).Draft == text })
}

func (s *stage) shows(text string) {
	s.t.Helper()
	s.until("text "+text, func() bool { return strings.Contains(strings.Join(s.view().Rows, "\n"), text) })
}

func (s *stage) paste(text string) {
	s.t.Helper()
	path := s.write("paste", text)
	s.tmux("load-buffer", "-b", "b", path, ";", "paste-buffer", "-p", "-d", "-b", "b", "-t", "%0")
}

func (s *stage) keys(keys ...string) {
	s.t.Helper()
	s.tmux(append([]string{"send-keys", "-t", "%0"}, keys...)...)
}

// prompt types a line as st does: paste, look, Enter.
func (s *stage) prompt(text string) {
	s.t.Helper()
	s.screen(hooks.Ready)
	s.paste(text)
	s.draft(text)
	s.keys("Enter")
}

// events are the hook events so far, as the kind reads them.
func (s *stage) events() []string {
	s.t.Helper()
	var names []string
	for _, row := range strings.Split(s.file("hooks"), "\n") {
		if row == "" {
			continue
		}
		trimmed, err := s.kind.Trim([]byte(row))
		if err != nil {
			s.t.Fatalf("%v: %s", err, row)
		}
		e, err := s.kind.Decode(trimmed)
		if err != nil {
			s.t.Fatal(err)
		}
		names = append(names, e.Type)
	}
	return names
}

// told waits until exactly these hook events have come.
func (s *stage) told(want ...string) {
	s.t.Helper()
	s.until(fmt.Sprintf("hooks %q", want), func() bool {
		return strings.Join(s.events(), " ") == strings.Join(want, " ")
	})
	if len(want) > 0 && want[len(want)-1] == orch.TurnEnded {
		s.until("the turn is over", func() bool { return !s.kind.Look(s.view()).Working }) // its hook is told a moment before
	}
}

func (s *stage) logged(what, text string) {
	s.t.Helper()
	s.until(fmt.Sprintf("log %s %q", what, text), func() bool { return s.count(what, text) > 0 })
}

// count is how often the log says it.
func (s *stage) count(what, text string) int {
	n := 0
	for _, row := range strings.Split(s.file("log"), "\n") {
		var e struct{ What, Text string }
		if json.Unmarshal([]byte(row), &e) == nil && e.What == what && e.Text == text {
			n++
		}
	}
	return n
}

func (s *stage) exits(code int) {
	s.t.Helper()
	s.until(fmt.Sprintf("exit %d", code), func() bool { return s.file("exit") == fmt.Sprintf("%d\n", code) })
}

// pid is the agent's own process, as its hooks are told.
func (s *stage) pid() int {
	s.t.Helper()
	for _, row := range strings.Split(s.file("env.SessionStart"), "\n") {
		if v, ok := strings.CutPrefix(row, "DEMO_PID="); ok {
			pid, err := strconv.Atoi(v)
			if err != nil {
				s.t.Fatal(err)
			}
			return pid
		}
	}
	s.t.Fatal("no DEMO_PID in the hook's environment")
	return 0
}

func writeText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
