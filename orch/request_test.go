package orch

import (
	"maps"
	"strings"
	"testing"
)

func TestCheckRequest(t *testing.T) {
	for _, id := range []string{"1", "nightly-7", "ci/1234:deploy", "a.b_c@d+e=f", `"quoted'`, strings.Repeat("x", RequestMost)} {
		if err := CheckRequest(id); err != nil {
			t.Errorf("%q is refused: %v", id, err)
		}
	}
	for _, id := range []string{"", " ", "two words", "tab\t", "new\nline", "umläut", "\x7f", "\xff", strings.Repeat("x", RequestMost+1)} {
		if err := CheckRequest(id); err == nil || err.Code != "usage" {
			t.Errorf("%q is taken: %v", id, err)
		}
	}
}

// TestSameAsker: two agents that hit upon one id mean two things by it; one that takes up a conversation means the
// same, and a person may ask for whatever an agent has begun.
func TestSameAsker(t *testing.T) {
	w := newWorld()
	for _, a := range []Agent{
		{ID: "a1", Proc: Process{11, 7}, Conversation: "c1", Gone: "exited"},
		{ID: "a2", Proc: Process{21, 7}, Conversation: "c1"},
		{ID: "a3", Proc: Process{31, 7}},
		{ID: "a4", Proc: Process{41, 7}, Gone: "exited"},
	} {
		w.apply(Changes{Puts: []Entity{a}})
	}
	agent := func(pid int) Caller {
		return Caller{Path: "socket", Chain: []Link{{Process: Process{pid, 7}, Kind: "demo"}}}
	}
	person := Caller{Path: "socket", Chain: []Link{{Process: Process{5, 5}}}}
	for _, test := range []struct {
		what  string
		asker string
		by    Caller
		want  bool
	}{
		{"the same agent", "a2", agent(21), true},
		{"one that has taken up its conversation", "a1", agent(21), true},
		{"another agent", "a2", agent(31), false},
		{"another one after its end, without a conversation", "a4", agent(31), false},
		{"an agent that was never seen", "a2", agent(99), false},
		{"an agent, of what a person asked", "person", agent(21), false},
		{"a person, of what a person asked", "person", person, true},
		{"a person, of what an agent asked", "a2", person, true},
		{"anybody, where it is not known who asked", "", agent(31), true},
	} {
		if got := SameAsker(w, test.asker, test.by); got != test.want {
			t.Errorf("%s: %v", test.what, got)
		}
	}
}

// TestRecall: what a run's file tells of, a start, a retry and a task, is found again under its request.
func TestRecall(t *testing.T) {
	list := Recall([]RunFile{{
		Run:        "r1",
		Workers:    []RunWorker{{ID: "w1", Dispatch: "d1", Agent: "a1", Request: "start"}, {ID: "w2", Dispatch: "d2", Agent: "a2", By: "a9", Request: "retry", Retries: "w1"}, {ID: "w3"}},
		Tasks:      []RunTask{{ID: "t1", Status: "failed"}, {ID: "t2", Deps: []string{"t1"}, By: "a9", Request: "task"}},
		Dispatches: []RunDispatch{{ID: "d1", Task: "t1"}, {ID: "d2", Task: "t1"}},
	}})
	got := map[string]string{}
	for _, r := range list {
		got[r.ID] = r.Input + " by " + r.Asker
		switch a := r.Answer.(type) {
		case StartAnswer:
			got[r.ID] += ": " + a.Worker + " " + a.Task + " " + a.Dispatch
		case TaskAnswer:
			got[r.ID] += ": " + a.Task.ID + " of " + a.Task.Run
		}
	}
	want := map[string]string{"start": "worker-start by person: w1 t1 d1", "retry": "worker-retry by a9: w2 t1 d2", "task": "task-create by a9: t2 of r1"}
	if !maps.Equal(got, want) {
		t.Errorf("recalled %v, want %v", got, want)
	}
}
