//go:build linux || darwin

package e2e

import (
	"testing"
	"time"
)

// TestOrientation: a real coordinator of each kind that compacts, is cleared, or ends and is taken up again is told what it
// is by the hook of its session's begin, and its model gets it: once for each, and nothing of it before. What it is owed
// comes once all the same.
func TestOrientation(t *testing.T) {
	for _, kind := range []string{"claude", "codex"} {
		t.Run(kind, func(t *testing.T) {
			s := newSeat(t, kind)
			s.asks("plan.md", "MOCK: bash st orch start --objective 'be told again' --name told",
				"MOCK: bash st worker start --agent demo --name kid --prompt 'done at once'", "MOCK: say I wait.")
			s.await(60*time.Second, "the worker's end is told", func() (bool, string) { return len(s.events("news-told")) == 1, s.record() })
			s.rests()
			s.orients(0, "nothing has been forgotten")
			s.compacts()
			s.line("where were we after the summary")
			s.orients(1, "a compaction")
			acts := 1
			if kind == "claude" { // Codex has no command that forgets in place: /new asks a person where to go on
				s.line("/clear")
				s.rests()
				s.line("where were we after clear")
				acts++
				s.orients(acts, "/clear")
			}
			s.again()
			s.line("where were we after the end")
			s.orients(acts+1, "its end")
			s.agrees(1)
		})
	}
}

// orients waits until the model has been told so often, and holds what it was told.
func (s *seat) orients(times int, after string) {
	s.t.Helper()
	s.await(30*time.Second, "the model is told again after "+after, func() (bool, string) {
		return s.ear.times("the coordinator of run r1") >= times, s.record() + s.said(s.pane)
	})
	s.rests()
	for _, said := range []string{"the coordinator of run r1", `Workers: w1 "kid" finished`, "Objective: \"be told again\"", "st skills get orchestrate"} {
		if n := s.ear.times(said); n != times {
			s.t.Errorf("after %s its model has been told %d times, not %d: %s\n%s", after, n, times, said, s.record())
		}
	}
}
