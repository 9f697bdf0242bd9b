package hooks

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"st/orch"
)

// TestLimitLines: a turn that ends at a limit leaves a ready input line, so the agent's own log tells of it.
// testdata/KIND/limits.jsonl has such lines of Claude Code 2.1.332 and Codex 0.171.0, one of each sort.
func TestLimitLines(t *testing.T) {
	for kind, want := range map[string][][2]string{
		"claude": {
			{"server_error", "API Error: Repeated 529 Overloaded"},
			{"rate_limit", "API Error: Request rejected (429)"},
			{"invalid_request", "Prompt is too long"},
			{"rate_limit", "You've hit your 5-hour limit · resets 5:15am (UTC)"},
			{"rate_limit", "You've hit your weekly limit · resets 5:15am (UTC)"},
			{"billing_error", "Credit balance is too low"},
		},
		"codex": {
			{"response_too_many_failed_attempts", "exceeded retry limit, last status: 429 Too Many Requests"},
			{"usage_limit_exceeded", "You’ve hit your usage limit. Upgrade to Pro"},
			{"usage_limit_exceeded", "To use Codex with your ChatGPT plan, upgrade to Plus"},
			{"context_window_exceeded", "Codex ran out of room in the model's context window."},
		},
	} {
		for i, e := range failedTurns(t, kind) {
			if i >= len(want) || e.Type != orch.TurnFailed || e.Reason != want[i][0] || !strings.HasPrefix(e.Answer, want[i][1]) {
				t.Errorf("%s, line %d: %s %q %q", kind, i+1, e.Type, e.Reason, e.Answer)
			}
			if ended := strings.HasPrefix(e.Reason, "usage") || strings.HasPrefix(e.Reason, "billing") || strings.Contains(e.Answer, "hit your"); e.Limit != ended {
				t.Errorf("%s, line %d: limit %v", kind, i+1, e.Limit)
			}
		}
	}
}

func failedTurns(t *testing.T, kind string) (events []orch.AgentEvent) {
	t.Helper()
	k, err := Lookup(kind)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open("testdata/" + kind + "/limits.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		e, ok := k.Line(lines.Bytes())
		if !ok {
			t.Errorf("%s: nothing told by %s", kind, lines.Text())
		}
		events = append(events, e)
	}
	if len(events) < 4 {
		t.Errorf("%s: %d lines", kind, len(events))
	}
	return events
}
