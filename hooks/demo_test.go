package hooks

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"st/hooks/demo"
	"st/orch"
)

func TestDemoTrimLetsOnlyMarksPass(t *testing.T) {
	prompt := "Read /home/x/.sophonz/orch/r1/d7.md and d8.mdx, secret words. " + strings.Repeat("x", 1<<20)
	payload, err := json.Marshal(map[string]any{
		"hook_event_name": "UserPromptSubmit", "session_id": "c1", "prompt": prompt,
		"tool_input": map[string]any{"command": "cat secret"},
	})
	if err != nil {
		t.Fatal(err)
	}
	trimmed, err := demoKind{}.Trim(payload)
	if err != nil {
		t.Fatal(err)
	}
	if len(trimmed) > 300 || strings.Contains(string(trimmed), "secret") {
		t.Errorf("trimmed: %s", trimmed)
	}
	got, err := demoKind{}.Decode(trimmed)
	want := orch.AgentEvent{Type: orch.PromptIn, Conversation: "c1", Marks: []string{"/home/x/.sophonz/orch/r1/d7.md"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestDemoOwns(t *testing.T) {
	for _, c := range []struct {
		exe  string
		argv []string
		want bool
	}{
		{"/usr/bin/st", []string{"st", demo.Verb}, true},
		{"/usr/bin/st (deleted)", []string{"st", demo.Verb}, true},
		{"/usr/bin/st", []string{"st", "hook", "demo"}, false},
		{"/usr/bin/st", []string{"st"}, false},
		{"/bin/sh", []string{"sh", demo.Verb}, false},
	} {
		if got := (demoKind{}).Owns(c.exe, c.argv); got != c.want {
			t.Errorf("Owns(%q, %q) = %v", c.exe, c.argv, got)
		}
	}
}

func TestDemoLaunchInstallsEveryHook(t *testing.T) {
	l, err := demoKind{}.Launch(Spec{Self: "/opt/my tools/st", Scratch: "/s", Model: "m", Args: []string{"--nasty", "trust"}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("/s", "settings.json")
	want := []string{"/opt/my tools/st", demo.Verb, "--settings", path, "--model", "m", "--nasty", "trust"}
	if !reflect.DeepEqual(l.Argv, want) {
		t.Errorf("argv %q, want %q", l.Argv, want)
	}
	for _, event := range demo.Events {
		if !strings.Contains(string(l.Files[path]), `"`+event+`":[{"hooks":[{"command":"'/opt/my tools/st' hook demo"`) {
			t.Errorf("%s is not installed: %s", event, l.Files[path])
		}
	}
}

func TestDemoResumes(t *testing.T) {
	l, err := demoKind{}.Launch(Spec{Self: "/st", Home: "/h", Scratch: "/s", Resume: "u1"})
	want := []string{"/st", demo.Verb, "--settings", "/s/settings.json", "--folder", "/h/demo", "--resume", "u1"}
	if err != nil || !reflect.DeepEqual(l.Argv, want) {
		t.Errorf("argv %q, %v, want %q", l.Argv, err, want)
	}
}

func TestDemoRuns(t *testing.T) {
	for text, want := range map[string]bool{
		"say run\ndone it": false, "say x ;; run ls": true, "  write a b": true, "permission ls": true, "running": false, "": false,
	} {
		if got := (demoKind{}).Runs(text); got != want {
			t.Errorf("Runs(%q) = %v", text, got)
		}
	}
}

func TestDemoLookAtOtherScreens(t *testing.T) {
	rule := strings.Repeat(string(demo.Rule), 20)
	for _, c := range []struct {
		name string
		view View
		want Screen
	}{
		{"nothing", View{Rows: []string{"", ""}, Alternate: true, Width: 20}, Screen{Name: Starting}},
		{"a shell with the same mark", View{Rows: []string{rule, demo.Mark, rule}, CursorY: 1, CursorX: 2, Width: 20}, Screen{Name: Starting}},
		{"no rule below", View{Rows: []string{rule, demo.Mark, ""}, CursorY: 1, CursorX: 2, Alternate: true, Width: 20}, Screen{Name: Strange}},
		{"a short rule", View{Rows: []string{rule[:30], demo.Mark, rule}, CursorY: 1, CursorX: 2, Alternate: true, Width: 20}, Screen{Name: Strange}},
		{"a placeholder", View{Rows: []string{rule, demo.Mark + "\x1b[38;5;2mab\x1b[2mcd", rule}, CursorY: 1, CursorX: 4, Alternate: true, Width: 20},
			Screen{Name: Ready, Draft: "ab"}},
	} {
		if got := (demoKind{}).Look(c.view); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
