//go:build unix

package demo_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"st/hooks"
	. "st/orch"
)

// taskCopy writes a task copy whose recipe names the test binary.
func (s *stage) taskCopy(name, task string) string {
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	return s.write(name, fmt.Sprintf("# Task\nReport with:\n\n    %s worker done --dispatch d7 --summary '...'\n\nsay not this\n---\n%s", self, task))
}

func (s *stage) reported(want ...string) {
	s.t.Helper()
	s.until(fmt.Sprintf("report %q", want), func() bool {
		var got []string
		return json.Unmarshal([]byte(s.file("report")), &got) == nil && strings.Join(got, "\x00") == strings.Join(want, "\x00")
	})
}

func TestTaskIsWorkedAndReported(t *testing.T) {
	s := play(t, nil)
	path := s.taskCopy("d7.md", "say hello\nrun echo out; echo $DEMO_PID >pid\nwrite made/file.txt some words\nsleep 0.1\ndone `it's` $5 \"done\"\n")
	s.prompt("Read your task: " + path)
	s.reported("worker", "done", "--dispatch", "d7", "--summary", "`it's` $5 \"done\"")
	s.told(SessionStarted, PromptIn, ToolStarted, ToolEnded, ToolStarted, ToolEnded, ToolStarted, ToolEnded,
		ToolStarted, ToolEnded, TurnEnded)
	if got := s.file("made/file.txt"); got != "some words\n" {
		t.Errorf("written: %q", got)
	}
	if got := strings.TrimSpace(s.file("pid")); got != fmt.Sprint(s.pid()) {
		t.Errorf("DEMO_PID is %s in a command, %d in a hook", got, s.pid())
	}
	if strings.Contains(s.file("hooks"), "not this") {
		t.Error("a line of the recipe was run")
	}
	s.draft("")
	if s.count("submitted", "Read your task: "+path) != 1 {
		t.Error("the line is not in the log once")
	}
	s.keys("C-c")
	s.shows("Press Ctrl-C again")
	s.keys("C-c")
	s.exits(0)
	s.told(SessionStarted, PromptIn, ToolStarted, ToolEnded, ToolStarted, ToolEnded, ToolStarted, ToolEnded,
		ToolStarted, ToolEnded, TurnEnded, SessionEnded)
}

func TestWithoutDoneTheLastSayIsReported(t *testing.T) {
	s := play(t, nil)
	s.prompt(s.taskCopy("d8.md", "say one\nsay two\n"))
	s.reported("worker", "done", "--dispatch", "d7", "--summary", "two")
	s.shows("reported")
	s.prompt("say next line")
	s.shows("● next line")
}

func TestTaskWithoutOrdersIsRefused(t *testing.T) {
	s := play(t, nil)
	s.prompt(s.taskCopy("d9.md", "Please build me a boat.\n"))
	s.shows("I find no line here")
	s.until("report", func() bool { return strings.Contains(s.file("report"), `"--outcome","failed"`) })
	s.draft("")
}

func TestDraftsAreKeptAndWrapped(t *testing.T) {
	s := playSized(t, 40, 12, nil, "--nasty", "draft=half a thought")
	s.draft("half a thought")
	if v := s.view(); v.CursorX != 2+len("half a thought") || !v.Alternate || v.CursorVisible {
		t.Errorf("cursor %d, alternate %v, visible %v", v.CursorX, v.Alternate, v.CursorVisible)
	}
	s.keys("C-u")
	s.draft("")
	line := "a line that is much longer than the forty columns   of this window, wrapped with care  "
	s.paste(line)
	s.draft(line)
	s.tmux("set-option", "-g", "window-size", "manual", ";", "resize-window", "-t", "%0", "-x", "63", "-y", "20")
	s.until("new width", func() bool { return s.view().Width == 63 })
	s.draft(line)
	s.keys("Enter")
	s.logged("submitted", line)
}

func TestTextWhileWorkingJoinsTheTurn(t *testing.T) {
	s := play(t, nil)
	s.prompt("run until test -e go; do sleep 0.02; done")
	s.shows("Working…")
	s.shows("esc to interrupt")
	s.told(SessionStarted, PromptIn, ToolStarted) // else the next prompt's hook may overtake the tool's
	s.draft("")
	s.prompt("say and this")
	s.told(SessionStarted, PromptIn, ToolStarted, PromptIn)
	s.draft("") // a placeholder stands there, dim
	s.write("go", "")
	s.shows("● and this")
	s.told(SessionStarted, PromptIn, ToolStarted, PromptIn, ToolEnded, TurnEnded)
	if s.count("queued", "say and this") != 1 {
		t.Error("not logged as queued")
	}
}

func TestEscTellsNoHookButTheTranscript(t *testing.T) {
	s := play(t, nil)
	s.prompt("run echo $$ >sh.pid; sleep 100")
	s.until("command", func() bool { return s.file("sh.pid") != "" })
	s.keys("Escape")
	s.shows("Interrupted")
	s.until("transcript", func() bool { return s.interruptions() == 1 })
	s.prompt("say on")
	s.told(SessionStarted, PromptIn, ToolStarted, PromptIn, TurnEnded)
	var pid int
	if _, err := fmt.Sscan(s.file("sh.pid"), &pid); err != nil {
		t.Fatal(err)
	}
	s.until("the command's end", func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH })
}

// transcripts are the lines of all transcripts.
func (s *stage) transcripts() []string {
	files, err := filepath.Glob(filepath.Join(s.dir, "*.jsonl"))
	if err != nil {
		s.t.Fatal(err)
	}
	var rows []string
	for _, f := range files {
		rows = append(rows, strings.Split(strings.TrimSpace(s.file(filepath.Base(f))), "\n")...)
	}
	return rows
}

func (s *stage) interruptions() int {
	n := 0
	for _, row := range s.transcripts() {
		if e, ok := s.kind.Line([]byte(row)); ok && e.Type == Interrupted {
			n++
		}
	}
	return n
}

func TestCommandsOfTheInputLine(t *testing.T) {
	s := play(t, nil)
	s.prompt("say before")
	s.told(SessionStarted, PromptIn, TurnEnded)
	s.screen(hooks.Ready)
	s.keys("-l", "/comp")
	s.until("menu", func() bool { return s.kind.Look(s.view()).Popup })
	s.keys("Enter")
	s.told(SessionStarted, PromptIn, TurnEnded, Compacting, SubagentEnded, SessionStarted, Compacted)
	s.shows("Compacted") // a moment after its hook
	s.paste("/clear")
	s.draft("/clear")
	if s.kind.Look(s.view()).Popup {
		t.Error("a menu opened for a paste")
	}
	s.keys("Enter")
	s.told(SessionStarted, PromptIn, TurnEnded, Compacting, SubagentEnded, SessionStarted, Compacted, SessionEnded, SessionStarted)
	if n := len(s.conversations()); n != 2 {
		t.Errorf("%d conversation ids, want 2", n)
	}
	s.prompt("/nothing")
	s.shows("Unknown command: /nothing")
	s.prompt("/exit")
	s.exits(0)
}

// conversations are the ids that hooks told.
func (s *stage) conversations() map[string]bool {
	ids := map[string]bool{}
	for _, row := range strings.Split(s.file("hooks"), "\n") {
		var p struct {
			ID string `json:"session_id"`
		}
		if json.Unmarshal([]byte(row), &p) == nil {
			ids[p.ID] = true
		}
	}
	return ids
}

func TestHooksDecide(t *testing.T) {
	refuse := `echo no such thing >&2; exit 2`
	block := `test -e blocked || { touch blocked; echo '{"decision":"block","reason":"say once more"}'; }`
	s := play(t, map[string]string{"PreToolUse": refuse, "Stop": block,
		"UserPromptSubmit": `echo '{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"say from context"}}'`})
	s.prompt("run touch ran")
	s.shows("Bash refused by hook: no such thing")
	s.shows("● from context")
	s.shows("● once more")
	s.told(SessionStarted, PromptIn, ToolStarted, TurnEnded, TurnEnded)
	if !strings.Contains(s.file("hooks"), `"stop_hook_active":true`) {
		t.Error("the second stop does not say that a stop hook is active")
	}
	if s.file("ran") != "" || fileExists(s, "ran") {
		t.Error("a refused command ran")
	}
}

func fileExists(s *stage, name string) bool {
	_, err := os.Stat(filepath.Join(s.dir, name))
	return err == nil
}

func TestBlockedPromptComesBack(t *testing.T) {
	s := play(t, map[string]string{"UserPromptSubmit": `echo '{"decision":"block","reason":"not now"}'`})
	s.prompt("say hello")
	s.shows("blocked by hook: not now")
	s.draft("say hello")
	s.told(SessionStarted, PromptIn)
}

func TestDialogsWaitForAPerson(t *testing.T) {
	s := play(t, nil)
	s.prompt("permission touch ran ;; choose Which? | red | blue")
	s.screen(hooks.Permission)
	if v := s.view(); v.CursorX != 1 {
		t.Errorf("the cursor is in column %d", v.CursorX)
	}
	s.paste("Your task is here")
	s.logged("dropped", "Your task is here")
	s.screen(hooks.Permission)
	s.keys("Enter")
	s.logged("decided", "Yes")
	s.screen(hooks.Question)
	s.keys("2")
	s.logged("decided", "blue")
	s.shows("You chose: blue")
	s.told(SessionStarted, PromptIn, ToolStarted, PermissionAsked, ToolEnded, ToolStarted, QuestionAsked, ToolEnded, TurnEnded)
	if !fileExists(s, "ran") {
		t.Error("the permitted command did not run")
	}
}

func TestALetterDecidesAPermission(t *testing.T) {
	s := play(t, nil)
	s.prompt("permission touch ran")
	s.screen(hooks.Permission)
	s.keys("-l", "say no")
	s.logged("decided", "Yes") // the y of "say"
	s.told(SessionStarted, PromptIn, ToolStarted, PermissionAsked, ToolEnded, TurnEnded)
	s.prompt("permission touch never")
	s.screen(hooks.Permission)
	s.keys("n")
	s.until("interruption", func() bool { return s.interruptions() == 1 })
	s.draft("")
	if fileExists(s, "never") {
		t.Error("a refused command ran")
	}
}

func TestErrorsAndBackground(t *testing.T) {
	s := play(t, nil)
	s.prompt("error 400 bad")
	s.told(SessionStarted, PromptIn, TurnFailed)
	s.prompt("subagent true ;; say started ;; background 1.5")
	s.told(SessionStarted, PromptIn, TurnFailed, PromptIn, SubagentStarted, ToolStarted, ToolEnded, SubagentEnded,
		TurnEnded, PromptIn, TurnEnded)
	var background []int
	machine := 0
	for _, row := range strings.Split(strings.TrimSpace(s.file("hooks")), "\n") {
		trimmed, err := s.kind.Trim([]byte(row))
		if err != nil {
			t.Fatal(err)
		}
		e, err := s.kind.Decode(trimmed)
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == TurnEnded {
			background = append(background, e.Background)
		}
		if e.Machine {
			machine++
		}
	}
	if fmt.Sprint(background) != "[1 0]" || machine != 1 {
		t.Errorf("background tasks at the turn ends %v, machine prompts %d", background, machine)
	}
}

func TestSignalsEndTheSession(t *testing.T) {
	s := play(t, nil)
	s.prompt("sleep 100")
	s.told(SessionStarted, PromptIn)
	if err := syscall.Kill(s.pid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.exits(143)
	s.told(SessionStarted, PromptIn, SessionEnded)
}

func TestClosedPaneEndsTheSession(t *testing.T) {
	s := play(t, nil)
	s.prompt("say hi")
	s.told(SessionStarted, PromptIn, TurnEnded)
	s.tmux("new-window", "-d", ";", "kill-pane", "-t", "%0")
	s.told(SessionStarted, PromptIn, TurnEnded, SessionEnded)
}

func TestResumeKeepsTheConversation(t *testing.T) {
	s := play(t, nil)
	s.prompt("say remembered")
	s.told(SessionStarted, PromptIn, TurnEnded)
	var id string
	for id = range s.conversations() {
	}
	s.prompt("/exit")
	s.exits(0)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	argv := append([]string{"respawn-pane", "-k", "-t", "%0", self}, s.kind.Resume(id)...)
	s.tmux(append(argv, "--settings", filepath.Join(s.dir, "settings.json"))...)
	s.shows("● remembered")
	if n := len(s.conversations()); n != 1 {
		t.Errorf("%d conversation ids after a resume", n)
	}
	last, err := s.kind.LastAnswer(filepath.Join(s.dir, id+".jsonl"))
	if err != nil || last != "remembered" {
		t.Errorf("last answer %q, %v", last, err)
	}
}

func TestEveryFileThatAPromptNamesIsRead(t *testing.T) {
	s := play(t, nil)
	one, two := s.write("d1-m1.md", "---\nsay one\n"), s.write("d1-m2.md", "---\nsay two\n")
	s.prompt("A message is in " + one + " - read it. A message is in " + two + " - read it.")
	s.shows("● one")
	s.shows("● two")
	s.told(SessionStarted, PromptIn, ToolStarted, ToolEnded, ToolStarted, ToolEnded, TurnEnded)
}
