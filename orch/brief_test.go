package orch

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestBriefTree: a tree of hundreds whose texts are as long as they may be is told at once, and the state keeps its texts.
func TestBriefTree(t *testing.T) {
	w, long := newWorld(), strings.Repeat("ä", 1<<19)
	put := func(e Entity) { w.apply(Changes{Puts: []Entity{e}}) }
	put(Run{ID: "r1", Objective: long})
	put(Gate{ID: "g1", Run: "r1", Status: GateOpen, Question: long, Options: []string{long}})
	for i := 1; i <= 200; i++ {
		n := fmt.Sprint(i)
		put(Agent{ID: "a" + n, Gone: gone})
		put(Worker{ID: "w" + n, Run: "r1", Agent: "a" + n, Dispatch: "d" + n, State: failed, Progress: long})
		put(Dispatch{ID: "d" + n, Run: "r1", Task: "t" + n, Worker: "w" + n, Report: &Report{Summary: long, Outcome: failed}, Closed: gone})
		put(Task{ID: "t" + n, Run: "r1", Status: taskFailed, Summary: long, Reason: long})
		put(Message{ID: "m" + n, Run: "r1", Type: Question, To: "r1", Worker: "w" + n, Body: long, Options: []string{long}})
	}
	trees, err := Tree(w, Caller{}, ListArgs{Brief: true})
	if err != nil || len(trees) != 1 || len(trees[0].Workers) != 200 || len(trees[0].Run.Workers) != 0 {
		t.Fatalf("%d trees, %v", len(trees), err)
	}
	raw, bad := json.Marshal(trees)
	if bad != nil || len(raw) > 4<<20 {
		t.Errorf("%d bytes, %v", len(raw), bad)
	}
	if g, _ := get[Gate](w, "gate/g1"); g.Options[0] != long || g.Question != long {
		t.Error("the state's own text was cut")
	}
	if whole, _ := Tree(w, Caller{}, ListArgs{}); len(whole[0].Run.Workers) != 200 || whole[0].Run.Objective != long {
		t.Error("a tree that is not to be brief was cut")
	}
}
