package orch

import (
	"strings"
	"testing"
	"time"
)

// TestKeepsReleased: of an agent that was released and goes on there, what is said names no verb that refuses.
func TestKeepsReleased(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	tree, facts := Worktree{Worker: "w1", State: treeReady}, TreeFacts{Worker: "w1", Landed: "merged"}
	for _, c := range []struct {
		released *time.Time
		gone     string
		says     string
	}{
		{nil, "", "st worker finish w1"}, {&at, "", "released, and goes on there: st agents"}, {&at, "exited", ""}, {nil, "exited", ""},
	} {
		w := Worker{ID: "w1", Agent: "a1", Dispatch: "d1", State: finished, Released: c.released}
		got := keeps(state{w, Agent{ID: "a1", Gone: c.gone}, Dispatch{ID: "d1", Worker: "w1", Finished: &at, Report: &Report{}}, tree}, tree, facts)
		if (got == "") != (c.says == "") || !strings.HasSuffix(got, c.says) {
			t.Errorf("released %v, gone %q: %q, want %q", c.released != nil, c.gone, got, c.says)
		}
	}
}
