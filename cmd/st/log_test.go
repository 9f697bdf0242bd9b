package main

import (
	"strings"
	"testing"

	"st/orch"
)

// TestSayings: each event there can be is told in words, and nothing else is.
func TestSayings(t *testing.T) {
	for _, kind := range orch.EventTypes {
		e := orch.Event{Type: kind, Run: "r1", Worker: "w1", Agent: "a1", Task: "t1", Dispatch: "d1", Message: "m1", Text: "TEXT", By: "person"}
		said := inWords(e, map[string]string{"w1": "api"})
		if len(said) < 10 || strings.ContainsAny(said, "{}") || !strings.HasSuffix(said, "(by a person)") {
			t.Errorf("%s: %q", kind, said)
		}
		if strings.Contains(saying(kind), "{worker}") && !strings.Contains(said, `w1 "api"`) {
			t.Errorf("%s does not name its worker: %q", kind, said)
		}
	}
	for by, want := range map[string]string{"a1": `(by agent a1 "boss": hook)`, "person": "(by a person: hook)", orch.Us: "(by st: hook)"} {
		said := inWords(orch.Event{Type: "agent-gone", Agent: "a2", By: by, Cause: "hook", Text: "exited"}, map[string]string{"a1": "boss"})
		if !strings.HasSuffix(said, want) {
			t.Errorf("by %s: %q, want %q", by, said, want)
		}
	}
	help := helpOf(find("", "log"))
	for _, kind := range orch.EventTypes {
		if !strings.Contains(help, kind+",") && !strings.Contains(help, kind+"\n") {
			t.Errorf("st log --help does not list %s", kind)
		}
	}
	if len(sayings) != len(orch.EventTypes) {
		t.Errorf("%d sayings for %d types", len(sayings), len(orch.EventTypes))
	}
}
