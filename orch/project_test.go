package orch

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

// state is a view of a list.
type state []Entity

func (s state) Entity(key string) Entity {
	for _, e := range s {
		if e.Key() == key {
			return e
		}
	}
	return nil
}

func (s state) Each(noun string, f func(Entity) bool) {
	for _, e := range s {
		if strings.HasPrefix(e.Key(), noun+"/") && !f(e) {
			return
		}
	}
}

var runTime = time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC)

func someRun() state {
	return state{
		Counters{Run: 2, Agent: 3, Task: 1, Worker: 1, Dispatch: 2, Word: 9},
		Run{ID: "r1", Name: "api", Objective: "build it", Coordinator: "a1", Created: runTime, Place: Place{Server: "secret-socket"}},
		Run{ID: "r2", Name: "other", Created: runTime},
		Agent{ID: "a1", Nonce: "secret"}, Agent{ID: "a2", Nonce: "secret", Ours: true},
		Worker{ID: "w1", Run: "r1", Name: "one", Kind: "demo", Agent: "a2", Dispatch: "d2", Args: []string{"--secret"}, EnvNames: []string{"SECRET"}, Created: runTime},
		Worker{ID: "w2", Run: "r2", Agent: "a3", Created: runTime},
		Task{ID: "t1", Run: "r1", Title: "write", Spec: "write it", Status: "completed", Dispatch: "d2", Created: runTime},
		Dispatch{ID: "d1", Run: "r1", Task: "t1", Worker: "w1", Agent: "a2", Word: "o1", Copy: "/secret", Created: runTime, Closed: "stopped"},
		Dispatch{ID: "d2", Run: "r1", Task: "t1", Worker: "w1", Agent: "a2", Created: runTime, Opened: &runTime,
			Finished: &runTime, Report: &Report{At: runTime, Outcome: "succeeded", Summary: "did it"},
			Notes: []Report{{At: runTime, Outcome: "failed", Summary: "late", Why: "twice"}}},
		Message{ID: "m4", Run: "r1", From: "a1", To: "w1", Path: "/c/r1/d1-m4.md", State: Delivered, Created: runTime, Delivered: &runTime},
		Message{ID: "m5", Run: "r2", To: "w2", State: Queued, Created: runTime},
	}
}

func TestProject(t *testing.T) {
	f, ok := Project(someRun(), "r1")
	if !ok {
		t.Fatal("the run isn't found")
	}
	raw, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"version":1,"run":"r1","name":"api","objective":"build it","coordinator":"a1","created":"2025-06-01T12:00:00Z",` +
		`"workers":[{"id":"w1","name":"one","kind":"demo","agent":"a2","dispatch":"d2","dir":"","by":"","created":"2025-06-01T12:00:00Z","depth":0}],` +
		`"tasks":[{"id":"t1","title":"write","spec":"write it","status":"completed","dispatch":"d2","created":"2025-06-01T12:00:00Z"}],` +
		`"dispatches":[{"id":"d1","task":"t1","worker":"w1","agent":"a2","delivery":"","created":"2025-06-01T12:00:00Z","closed":"stopped"},` +
		`{"id":"d2","task":"t1","worker":"w1","agent":"a2","delivery":"","created":"2025-06-01T12:00:00Z","opened":"2025-06-01T12:00:00Z","finished":"2025-06-01T12:00:00Z"}],` +
		`"reports":[{"dispatch":"d2","task":"t1","worker":"w1","at":"2025-06-01T12:00:00Z","outcome":"succeeded","summary":"did it","files":[]},` +
		`{"dispatch":"d2","task":"t1","worker":"w1","at":"2025-06-01T12:00:00Z","outcome":"failed","summary":"late","files":[],"why":"twice"}],` +
		`"messages":[{"id":"m4","from":"a1","to":"w1","path":"/c/r1/d1-m4.md","state":"delivered","created":"2025-06-01T12:00:00Z","delivered":"2025-06-01T12:00:00Z"}]}`
	if string(raw) != want {
		t.Errorf("the file is\n%s\nwant\n%s", raw, want)
	}
	if strings.Contains(strings.ToLower(string(raw)), "secret") {
		t.Error("it tells a secret")
	}
	if _, ok := Project(someRun(), "r9"); ok {
		t.Error("there is no run r9")
	}
}

// What was projected, read and mended is projected as the same again, but for what nobody can end any more.
func TestMendFromNothing(t *testing.T) {
	f, _ := Project(someRun(), "r1")
	raw, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	read, err := ReadRunFile("r1", raw)
	if err != nil {
		t.Fatal(err)
	}
	got := state(Mend(state{}, []RunFile{read}, runTime))
	again, _ := Project(got, "r1")
	if !reflect.DeepEqual(again, read) {
		t.Errorf("it came back as\n%+v\nwant\n%+v", again, read)
	}
	if c := got.Entity("counters/"); c != (Counters{Run: 1, Agent: 2, Task: 1, Worker: 1, Dispatch: 2, Message: 4}) {
		t.Errorf("counters %+v", c)
	}
	if a := got.Entity("agent/a2").(Agent); a.Gone == "" || a.Status != "gone" || !a.Ours {
		t.Errorf("agent %+v", a)
	}
	if more := Mend(got, []RunFile{read}, runTime); len(more) != 0 {
		t.Errorf("nothing is missing, yet it puts %+v", more)
	}
}

func TestMendClosesWhatWasUnderWay(t *testing.T) {
	f := RunFile{Version: 1, Run: "r1",
		Tasks:      []RunTask{{ID: "t1", Status: "dispatched", Dispatch: "d1"}, {ID: "t2", Status: "ready"}},
		Dispatches: []RunDispatch{{ID: "d1", Task: "t1", Worker: "w1", Agent: "a1"}},
	}
	got := state(Mend(state{}, []RunFile{f}, runTime))
	if d := got.Entity("dispatch/d1").(Dispatch); d.Closed != "gone" {
		t.Errorf("dispatch %+v", d)
	}
	if x := got.Entity("task/t1").(Task); x.Status != "failed" {
		t.Errorf("task %+v", x)
	}
	if x := got.Entity("task/t2").(Task); x.Status != "ready" {
		t.Errorf("task %+v", x)
	}
}

func TestReadRunFileRefuses(t *testing.T) {
	for _, bad := range []string{
		``, `null`, `[]`, `{}`, `{"version":2,"run":"r1"}`, `{"version":1,"run":"r2"}`,
		`{"version":1,"run":"r1","coordinator":"../../x"}`,
		`{"version":1,"run":"r1","workers":[{"id":""}]}`,
		`{"version":1,"run":"r1","workers":[{"id":"w01"}]}`,
		`{"version":1,"run":"r1","tasks":[{"id":"t99999999999"}]}`,
		`{"version":1,"run":"r1","dispatches":[{"id":"w1"}]}`,
	} {
		if f, err := ReadRunFile("r1", []byte(bad)); err == nil {
			t.Errorf("%s was read as %+v", bad, f)
		}
	}
}

// FuzzRunFile: what can be read can be mended into an empty state and told again, and the counters stand
// above every id.
func FuzzRunFile(f *testing.F) {
	file, _ := Project(someRun(), "r1")
	raw, err := json.Marshal(file)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte(`{"version":1,"run":"r1","tasks":[{"id":"t5","dispatch":"d7","status":"dispatched"}]}`))
	f.Add([]byte(`{"version":1,"run":"r1","workers":[{"id":"w1","agent":"a1","by":"a4"},{"id":"w1","agent":"a2"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		file, err := ReadRunFile("r1", raw)
		if err != nil {
			return
		}
		got := state(Mend(state{}, []RunFile{file}, runTime))
		again, ok := Project(got, "r1")
		if !ok || again.Objective != file.Objective {
			t.Fatalf("the run is lost: %+v", again)
		}
		c, _ := got.Entity("counters/").(Counters)
		for _, e := range got {
			if free(e.Key(), c) {
				t.Fatalf("%s would be given again: %+v", e.Key(), c)
			}
		}
		for _, e := range got {
			if _, err := json.Marshal(e); err != nil {
				t.Fatalf("%s can't be stored: %v", e.Key(), err)
			}
		}
	})
}

// free reports whether the counters could still come to a key.
func free(key string, c Counters) bool {
	noun, id, _ := cut(key)
	last := map[string]int{"run": c.Run, "agent": c.Agent, "task": c.Task, "worker": c.Worker, "dispatch": c.Dispatch}
	n, counted := last[noun]
	return counted && idNumber(id[:1], id) > n
}
