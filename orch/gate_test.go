package orch

import (
	"slices"
	"testing"
	"time"
)

// TestGatesHoldTogether: a task that has not been dispatched is held by all of its gates, until the last is answered or
// cancelled. One that only timed out holds it still.
func TestGatesHoldTogether(t *testing.T) {
	w := newWorld()
	person := callers()["person"]
	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	do := func(what What) {
		t.Helper()
		at = at.Add(time.Second)
		c, _ := Step(w, Input{At: at, By: person, What: what})
		if c.Err != nil {
			t.Fatal(c.Err)
		}
		w.apply(c)
	}
	want := func(status string) {
		t.Helper()
		if task, _ := get[Task](w, "task/t1"); task.Status != status {
			t.Fatalf("the task is %s (%s), want %s", task.Status, task.Reason, status)
		}
	}
	answer := func(gate string) {
		t.Helper()
		do(GateAnswer{Gate: gate, Choice: "no", Evidence: &Evidence{Client: "/dev/pts/1"}})
	}
	do(RunStart{Objective: "x"})
	w.set("task/t1", Task{ID: "t1", Run: "r1", Status: "ready"})
	do(GateAsk{Question: "one?", Task: "t1"})
	want("pending")
	do(GateAsk{Question: "two?", Task: "t1", Timeout: time.Minute})
	do(GateAsk{Question: "three?", Task: "t1"})
	answer("g1")
	want("pending")
	do(GateCancel{Gate: "g3"})
	want("pending")
	at = at.Add(time.Minute)
	do(Tick{})
	if g, _ := get[Gate](w, "gate/g2"); g.Status != GateTimedOut {
		t.Fatalf("g2 is %s", g.Status)
	}
	want("pending")
	answer("g2")
	want("ready")
	do(GateAsk{Question: "again?", Task: "t1"})
	want("pending")
	do(GateCancel{Gate: "g4"})
	want("ready")
}

// TestEarlyKey: who was too quick for the proof changes nothing, and is told what to type in a second.
func TestEarlyKey(t *testing.T) {
	w := newWorld()
	person, at := callers()["person"], time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	for _, what := range []What{RunStart{Objective: "x"}, GateAsk{Question: "now?", Options: []string{"yes", "no, never"}}} {
		c, _ := Step(w, Input{At: at, By: person, What: what})
		w.apply(c)
	}
	for early, hint := range map[bool]string{true: "press a key there again in a second, then type:", false: "a person types this at the keyboard, in the active pane of an attached terminal"} {
		c, effects := Step(w, Input{At: at, By: person, What: GateAnswer{Gate: "g1", Choice: "no, never", Missing: "no key", Early: early}})
		if len(c.Puts)+len(effects) > 0 || c.Err == nil || c.Err.Code != "person_needed" || c.Err.Hint != hint || !slices.Equal(c.Err.Next, []string{"st gate answer g1 'no, never'"}) {
			t.Errorf("early %v: %+v", early, c.Err)
		}
	}
}
