package hooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"st/orch"
)

// TestClaudeLines reads two recorded transcripts: a refused dialog with a prompt queued behind it, a refused
// question, a refused file; an API error, a turn taken back, a subagent, the words of an interrupt typed.
func TestClaudeLines(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"transcript.jsonl", "interrupted prompt-in noticed interrupted interrupted"},
		{"transcript2.jsonl", "turn-failed prompt-in noticed noticed prompt-in noticed"},
	} {
		text, err := os.ReadFile("testdata/claude/" + c.file)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, line := range bytes.Split(text, []byte("\n")) {
			e, ok := claude{}.Line(line)
			if !ok {
				continue
			}
			got = append(got, e.Type)
			if e.Conversation == "" || e.Dir != "/home/dev/app" {
				t.Errorf("%s: %+v", c.file, e)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.file, got, c.want)
		}
	}
}

func TestClaudeLineKinds(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`{"type":"user","rowSource":"harness","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}}`, orch.Interrupted},
		{`{"type":"user","origin":{"kind":"human"},"promptSource":"typed","message":{"content":"[Request interrupted by user]"}}`, ""},
		{`{"type":"user","isSidechain":true,"message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}`, ""},
		{`{"type":"user","message":{"content":[{"type":"tool_result","content":"[Request interrupted by user]"}]}}`, ""},
		{`{"type":"user","promptSource":"queued","origin":{"kind":"human"},"message":{"content":"see /a/d3.md"}}`, orch.PromptIn},
		{`{"type":"assistant","isApiErrorMessage":true,"error":"unknown","message":{"content":[{"type":"text","text":"API Error: 400"}]}}`, orch.TurnFailed},
		{`{"type":"assistant","message":{"content":[{"type":"text","text":"hi"}]}}`, orch.Noticed},
		{`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash"}]}}`, ""},
		{`{"type":"user","isMeta":true,"promptSource":"queued","message":{"content":"x"}}`, ""},
		{`{"type":"user","message":{"content":7}}`, ""},
		{`{"type":"system","subtype":"turn_duration"}`, ""},
		{`{"type":"user","message":`, ""},
		{``, ""},
	} {
		e, ok := claude{}.Line([]byte(c.line))
		if ok != (c.want != "") || e.Type != c.want {
			t.Errorf("%s: %q %v, want %q", c.line, e.Type, ok, c.want)
		}
	}
	e, _ := claude{}.Line([]byte(`{"type":"user","promptSource":"queued","origin":{"kind":"human"},"message":{"content":"see /a/d3.md"}}`))
	if len(e.Marks) != 1 || e.Marks[0] != "/a/d3.md" || e.Machine {
		t.Errorf("%+v", e)
	}
}

func TestClaudeLastAnswer(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"transcript.jsonl", "Mock answer: please note"},
		{"transcript2.jsonl", "last words"},
	} {
		got, err := claude{}.LastAnswer("testdata/claude/" + c.file)
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", c.file, got, err, c.want)
		}
	}
	if _, err := (claude{}).LastAnswer("testdata/claude/none.jsonl"); err == nil {
		t.Error("a transcript that isn't there has an answer")
	}
}

// TestClaudeLastAnswerFar: an answer of any size behind lines of any size, and a last line that is still
// being written.
func TestClaudeLastAnswerFar(t *testing.T) {
	say := func(text string) string {
		raw, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`{"type":"assistant","message":{"content":[{"type":"text","text":%s}]}}`+"\n", raw)
	}
	noise := func(n int) string {
		return `{"type":"api-request-blob","message":"` + strings.Repeat("x", n) + `"}` + "\n"
	}
	for i, c := range []struct{ text, want string }{
		{"", ""},
		{noise(10), ""},
		{say("one") + noise(3<<20), "one"},
		{say("one") + noise(64<<10) + noise(64<<10-1), "one"},
		{say("zero") + say(strings.Repeat("y", 70<<10)), strings.Repeat("y", 64<<10)},
		{noise(200<<10) + say("one") + `{"type":"assistant","message":{"conte`, "one"},
		{say("one") + strings.ReplaceAll(say("sub"), `{"type"`, `{"isSidechain":true,"type"`), "one"},
		{strings.TrimSuffix(say("no line feed"), "\n"), "no line feed"},
	} {
		path := filepath.Join(t.TempDir(), "t.jsonl")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := claude{}.LastAnswer(path)
		if err != nil || got != c.want {
			t.Errorf("%d: %.40q (%d bytes), %v, want %.40q", i, got, len(got), err, c.want)
		}
	}
}
