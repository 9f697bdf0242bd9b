package orch

import (
	"encoding/json"
	"fmt"
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

func (s state) Each(shelf string, f func(Entity) bool) {
	for _, e := range s {
		if OnShelf(e, shelf) && !f(e) {
			return
		}
	}
}

var runTime = time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC)

func someRun() state {
	return state{
		Counters{Run: 2, Agent: 3, Task: 2, Worker: 1, Dispatch: 2, Word: 9},
		Run{ID: "r1", Name: "api", Objective: "build it", Coordinator: "a1", Former: []string{"a3"}, Created: runTime, Place: Place{Server: "secret-socket"}},
		Run{ID: "r2", Name: "other", Created: runTime},
		Agent{ID: "a1", Nonce: "secret"}, Agent{ID: "a2", Nonce: "secret", Ours: true},
		Worker{ID: "w1", Run: "r1", Name: "one", Kind: "demo", Agent: "a2", Dispatch: "d2", Args: []string{"--secret"}, EnvNames: []string{"SECRET"}, Created: runTime},
		Worker{ID: "w2", Run: "r2", Agent: "a3", Created: runTime},
		Task{ID: "t1", Run: "r1", Title: "write", Spec: "write it", Status: "completed", Dispatch: "d2", Attempts: 2, Outcome: "succeeded", Summary: "did it",
			Start: &WorkerStart{EnvFile: "/secret"}, Created: runTime},
		Task{ID: "t2", Run: "r1", Title: "then", Spec: "then", Deps: []string{"t1"}, Status: "pending", Reason: "waits for gate g1", By: "a1", Request: "then-1", Created: runTime},
		Dispatch{ID: "d1", Run: "r1", Task: "t1", Worker: "w1", Agent: "a2", Word: "o1", Copy: "/secret", Created: runTime, Closed: "stopped"},
		Dispatch{ID: "d2", Run: "r1", Task: "t1", Worker: "w1", Agent: "a2", Created: runTime, Queued: &runTime, Ordered: &runTime, Opened: &runTime,
			Finished: &runTime, Report: &Report{At: runTime, Outcome: "succeeded", Summary: "did it"},
			Notes: []Report{{At: runTime, Outcome: "failed", Summary: "late", Why: "twice"}}},
		Message{ID: "m4", Run: "r1", From: "a1", To: "w1", Path: "/c/r1/d1-m4.md", State: Delivered, Created: runTime, Delivered: &runTime},
		Message{ID: "m6", Run: "r1", Type: Escalation, From: "a2", To: "r1", Body: "it is late", Worker: "w1", Dispatch: "d2", State: Queued, Created: runTime},
		Message{ID: "m7", Run: "r1", Type: Question, From: "a2", To: "r1", Body: "Which?", Options: []string{"x", "y"}, Worker: "w1", Dispatch: "d2", State: Delivered, Delivered: &runTime, Created: runTime},
		Message{ID: "m8", Run: "r1", Type: Escalation, From: Us, To: "r1", Body: "settled", Path: "/c/r1/m8.md", Settled: &runTime, How: acked, State: Delivered, Delivered: &runTime, Created: runTime},
		MailDelivery{ID: "v3", Boxes: []string{"r1"}, Messages: []string{"m8"}},
		Message{ID: "m5", Run: "r2", To: "w2", State: Queued, Created: runTime},
		Gate{ID: "g3", Run: "r1", Question: "now?", Options: []string{"yes", "no"}, By: "a1", Status: GateOpen, Created: runTime},
		Gate{ID: "g7", Run: "r1", Question: "sure?", Task: "t1", Status: GateAnswered, Created: runTime, Choice: "yes", AnsweredBy: "somebody",
			Evidence: &Evidence{Client: "secret", Place: Place{Server: "secret"}}, Closed: &runTime},
		Gate{ID: "g8", Run: "r2", Status: GateOpen, Created: runTime},
		Worktree{Worker: "w1", Run: "r1", Want: TreeWant{Main: "/repo", Common: "/repo/.git", Into: "main", Setup: "secret"}, Path: "/repo-worktrees/one", Branch: "st/r1-one", New: true, Base: "c0", State: treeReady},
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
	want := `{"version":1,"run":"r1","name":"api","objective":"build it","coordinator":"a1","former":["a3"],"created":"2025-06-01T12:00:00Z",` +
		`"workers":[{"id":"w1","name":"one","kind":"demo","agent":"a2","dispatch":"d2","dir":"","scope":[],"by":"","created":"2025-06-01T12:00:00Z","depth":0}],` +
		`"tasks":[{"id":"t1","title":"write","spec":"write it","deps":[],"status":"completed","dispatch":"d2","attempts":2,"outcome":"succeeded","summary":"did it","created":"2025-06-01T12:00:00Z"},` +
		`{"id":"t2","title":"then","spec":"then","deps":["t1"],"status":"pending","reason":"waits for gate g1","dispatch":"","attempts":0,"by":"a1","request":"then-1","created":"2025-06-01T12:00:00Z"}],` +
		`"dispatches":[{"id":"d1","task":"t1","worker":"w1","agent":"a2","delivery":"","created":"2025-06-01T12:00:00Z","closed":"stopped"},` +
		`{"id":"d2","task":"t1","worker":"w1","agent":"a2","delivery":"","created":"2025-06-01T12:00:00Z","queued":"2025-06-01T12:00:00Z","ordered":"2025-06-01T12:00:00Z","opened":"2025-06-01T12:00:00Z","finished":"2025-06-01T12:00:00Z"}],` +
		`"reports":[{"dispatch":"d2","task":"t1","worker":"w1","at":"2025-06-01T12:00:00Z","outcome":"succeeded","summary":"did it","files":[]},` +
		`{"dispatch":"d2","task":"t1","worker":"w1","at":"2025-06-01T12:00:00Z","outcome":"failed","summary":"late","files":[],"why":"twice"}],` +
		`"messages":[{"id":"m4","type":"","from":"a1","to":"w1","path":"/c/r1/d1-m4.md","state":"delivered","created":"2025-06-01T12:00:00Z","delivered":"2025-06-01T12:00:00Z"},` +
		`{"id":"m6","type":"escalation","from":"a2","to":"r1","body":"it is late","worker":"w1","dispatch":"d2","path":"","state":"queued","created":"2025-06-01T12:00:00Z"},` +
		`{"id":"m7","type":"question","from":"a2","to":"r1","body":"Which?","worker":"w1","dispatch":"d2","options":["x","y"],"path":"","state":"delivered","created":"2025-06-01T12:00:00Z","delivered":"2025-06-01T12:00:00Z"},` +
		`{"id":"m8","type":"escalation","from":"st","to":"r1","settled":"2025-06-01T12:00:00Z","how":"acked","path":"/c/r1/m8.md","state":"delivered","created":"2025-06-01T12:00:00Z","delivered":"2025-06-01T12:00:00Z"}],` +
		`"delivery":"v3",` +
		`"gates":[{"id":"g3","run":"r1","question":"now?","options":["yes","no"],"by":"a1","status":"open","created":"2025-06-01T12:00:00Z"},` +
		`{"id":"g7","run":"r1","question":"sure?","task":"t1","status":"answered","created":"2025-06-01T12:00:00Z","choice":"yes","answered_by":"somebody","closed":"2025-06-01T12:00:00Z"}],` +
		`"worktrees":[{"worker":"w1","repo":"/repo","common":"/repo/.git","path":"/repo-worktrees/one","branch":"st/r1-one","new":true,"base":"c0","into":"main","state":"ready"}]}`
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
	again.Delivery = read.Delivery // no delivery comes back, only its number is not used again
	if !reflect.DeepEqual(again, read) {
		t.Errorf("it came back as\n%+v\nwant\n%+v", again, read)
	}
	if c := got.Entity("counters/"); c != (Counters{Run: 1, Agent: 3, Task: 2, Worker: 1, Dispatch: 2, Message: 8, Delivery: 3, Gate: 7}) {
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

// A state from a copy may take for queued what has had its turn since: that is looked for and comes first; what is told
// to have ended leaves the line.
func TestMendedLine(t *testing.T) {
	v := state{Counters{Dispatch: 3}, Run{ID: "r1"}, Limits{MaxWorkers: 1}, Agent{ID: "a9"}, Worker{ID: "w9", Run: "r1", Agent: "a9", State: running}}
	for _, n := range []string{"1", "2", "3"} {
		v = append(v, Agent{ID: "a" + n}, Worker{ID: "w" + n, Run: "r1", Agent: "a" + n, Dispatch: "d" + n, State: queued},
			Dispatch{ID: "d" + n, Run: "r1", Worker: "w" + n, Agent: "a" + n, Queued: &runTime}, QueuedStart{Open: PaneOpen{Agent: "a" + n, Dispatch: "d" + n, EnvFile: "/e" + n}})
	}
	f := RunFile{Version: 1, Run: "r1", Dispatches: []RunDispatch{
		{ID: "d1", Worker: "w1", Agent: "a1", Queued: &runTime, Closed: "stopped"},
		{ID: "d2", Worker: "w2", Agent: "a2", Queued: &runTime},
		{ID: "d3", Worker: "w3", Agent: "a3", Queued: &runTime, Ordered: &runTime},
	}}
	w := newWorld()
	w.apply(Changes{Puts: v})
	w.apply(Changes{Puts: Mend(v, []RunFile{f}, runTime)})
	_, effects := Step(w, Input{At: runTime, What: Tick{}})
	want := []Effect{{Do: LaunchDrop{Agent: "a1", EnvFile: "/e1"}}, {Do: PaneOpen{Agent: "a3", Dispatch: "d3", EnvFile: "/e3", Look: true}}}
	if !reflect.DeepEqual(effects, want) {
		t.Errorf("ordered %+v\nwant %+v", effects, want)
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

// A task that has gone on since the copy that stands in for the store was made is as its run's file says, and what starts
// by itself does not begin anew what may be under way.
func TestMendTasks(t *testing.T) {
	have := state{
		Run{ID: "r1", Created: runTime},
		Task{ID: "t1", Run: "r1", Spec: "one", Status: "ready", Start: &WorkerStart{EnvFile: "/e"}},
		Task{ID: "t2", Run: "r1", Spec: "two", Deps: []string{"t1"}, Status: "pending", Reason: "waits for t1"},
	}
	file := RunFile{
		Version: 1, Run: "r1", Created: runTime,
		Tasks: []RunTask{{ID: "t1", Spec: "one", Status: "dispatched", Dispatch: "d1", Attempts: 1}, {ID: "t2", Status: "pending", Deps: []string{"t1"}},
			{ID: "t3", Spec: "three", Status: "pending", Deps: []string{"t2"}, Reason: "waits for t2"}},
		Workers:    []RunWorker{{ID: "w1", Agent: "a1", Dispatch: "d1"}},
		Dispatches: []RunDispatch{{ID: "d1", Task: "t1", Worker: "w1", Agent: "a1"}},
	}
	w := newWorld()
	w.apply(Changes{Puts: have})
	w.apply(Changes{Puts: Mend(w, []RunFile{file}, runTime)})
	c, effects := Step(w, Input{At: runTime, What: Configured(DefaultLimits())}) // as each daemon does at its start
	w.apply(c)
	if len(effects) > 0 {
		t.Errorf("it does %+v", effects)
	}
	for id, want := range map[string]string{"t1": "failed 1 one", "t2": "blocked 0 two", "t3": "blocked 0 three"} {
		x, _ := get[Task](w, "task/"+id)
		if got := fmt.Sprint(x.Status, " ", x.Attempts, " ", x.Spec); got != want {
			t.Errorf("%s is %s (%s), want %s", id, got, x.Reason, want)
		}
	}
}
