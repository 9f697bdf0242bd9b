package hooks

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"st/orch"
)

// TestTellAtRecordedCalls: of all hooks only the end of a turn, a prompt and the begin of a session, the agent's own, tell a line.
func TestTellAtRecordedCalls(t *testing.T) {
	const line = `w5 finished: "st worker show w5" & go on [st-o17]`
	want := map[string]string{
		"Stop":                               "decision",
		"Stop.background-task-running":       "decision",
		"UserPromptSubmit":                   "hookSpecificOutput",
		"UserPromptSubmit.task-notification": "hookSpecificOutput",
		"SessionStart.startup":               "hookSpecificOutput",
		"SessionStart.compact":               "hookSpecificOutput",
		"SessionStart.resume":                "hookSpecificOutput",
		"SessionStart.clear":                 "hookSpecificOutput",
		"SessionStart.fork":                  "hookSpecificOutput",
		"plugin-SessionStart.startup":        "hookSpecificOutput",
		"AfterAgent":                         "decision",
		"BeforeAgent":                        "hookSpecificOutput",
	}
	for _, name := range []string{"claude", "codex", "gemini"} {
		k, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join("testdata", name, "calls", "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%d recorded calls, %v", len(files), err)
		}
		for _, f := range files {
			call := strings.TrimSuffix(filepath.Base(f), ".json")
			said := string(k.Tell(recordedEvent(t, k, f), line))
			if key := want[call]; key == "" && said != "" || key != "" && !strings.HasPrefix(said, `{"`+key+`"`) {
				t.Errorf("%s %s: it prints %q, want %q", name, call, said, key)
			}
			if said := k.Tell(recordedEvent(t, k, f), ""); said != nil {
				t.Errorf("%s %s: without a line it prints %q", name, call, said)
			}
		}
	}
}

func TestTellStandsUnchangedInTheAnswer(t *testing.T) {
	const line = `w5 finished: <it> & "that" [st-o17]`
	var block struct{ Decision, Reason string }
	if err := loosely(tell(orch.AgentEvent{Type: orch.TurnEnded}, line), &block); err != nil || block.Decision != "block" || block.Reason != line {
		t.Errorf("the end of a turn: %+v, %v", block, err)
	}
	var beside struct {
		Specific struct {
			Name    string `json:"hookEventName"`
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if err := loosely(tell(orch.AgentEvent{Type: orch.PromptIn}, line), &beside); err != nil || beside.Specific.Name != "UserPromptSubmit" || beside.Specific.Context != line {
		t.Errorf("a prompt: %+v, %v", beside, err)
	}
	if err := loosely(tell(orch.AgentEvent{Type: orch.SessionStarted}, line), &beside); err != nil || beside.Specific.Name != "SessionStart" || beside.Specific.Context != line {
		t.Errorf("the begin of a session: %+v, %v", beside, err)
	}
	for _, e := range []orch.AgentEvent{
		{Type: orch.TurnEnded, Continued: true}, {Type: orch.TurnEnded, Subagent: "a1"}, {Type: orch.PromptIn, Subagent: "a1"}, {Type: orch.TurnFailed},
	} {
		if said := tell(e, line); said != nil {
			t.Errorf("%+v: it prints %s", e, said)
		}
	}
}

func TestDeafKinds(t *testing.T) {
	deaf := slices.DeleteFunc(Names(), func(n string) bool { return !IsDeaf(n) })
	if want := []string{"codex"}; !slices.Equal(deaf, want) || IsDeaf("nobody") {
		t.Errorf("deaf: %v, want %v", deaf, want)
	}
}
