package orch

import "testing"

// TestMayRestore: an agent may have its own back, and decides nothing that is a person's.
func TestMayRestore(t *testing.T) {
	agent := Caller{Chain: []Link{{Process: Process{PID: 7, Start: 1}, Kind: "demo"}}}
	child := Caller{Chain: append([]Link{{Process: Process{PID: 8, Start: 1}, Kind: "demo"}}, agent.Chain...)}
	shared := Caller{Shared: "demo"}
	for _, c := range []struct {
		name          string
		by            Caller
		forget, asked bool
		want          string
	}{
		{"a person", Caller{}, false, false, ""}, {"a person", Caller{}, true, true, ""}, {"an agent", agent, false, false, ""},
		{"an agent", agent, true, false, "refused_agent"}, {"an agent", agent, false, true, "refused_agent"}, {"one of a shared process", shared, true, false, "refused_agent"},
		{"one inside another", child, false, false, "not_yours"},
	} {
		got := ""
		if err := MayRestore(state{}, c.by, c.forget, c.asked); err != nil {
			got = err.Code
		}
		if got != c.want {
			t.Errorf("%s, forget %v, asked %v: %q, want %q", c.name, c.forget, c.asked, got, c.want)
		}
	}
}
