package orch

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestOrientationIsBounded: however much there is, an orientation stays short, counts what it does not name, names what
// still goes on before what is over, and holds nobody's words but names and a part of the objective, quoted.
func TestOrientationIsBounded(t *testing.T) {
	w, at := newWorld(), time.Unix(1e9, 0)
	put := func(e Entity) { w.apply(Changes{Puts: []Entity{e}}) }
	put(Agent{ID: "a1", Kind: "demo"})
	put(Run{ID: "r1", Name: strings.Repeat("n", 64), Objective: strings.Repeat("\"\n", 5000), Coordinator: "a1", Created: at})
	put(Run{ID: "r2", Objective: strings.Repeat("ä", 5000), Coordinator: "a9", Created: at})
	put(Worker{ID: "w9999", Run: "r2", Name: strings.Repeat("\"", 64), Agent: "a1", Dispatch: "d9999", Depth: DefaultLimits().MaxDepth})
	put(Dispatch{ID: "d9999", Run: "r2", Task: "t9999", Worker: "w9999", Agent: "a1", Copy: "/" + strings.Repeat("c", 100)})
	for i := 1; i <= 500; i++ {
		state := finished
		if i == 7 {
			state = running
		}
		put(Worker{ID: fmt.Sprint("w", i), Run: "r1", Name: "worker-" + fmt.Sprint(i), Agent: fmt.Sprint("a", i+10), By: "a1", State: state})
		put(Task{ID: fmt.Sprint("t", i), Run: "r1", Status: []string{"ready", "completed"}[i%2], Title: "SECRET", Spec: "SECRET", Start: &WorkerStart{}})
		put(Gate{ID: fmt.Sprint("g", i), Run: "r1", Status: "open", Question: "SECRET"})
		put(Message{ID: fmt.Sprint("m", i), Run: "r1", Type: Question, To: "r1", Worker: fmt.Sprint("w", i), Subject: "SECRET", Body: "SECRET"})
	}
	a, _ := get[Agent](w, "agent/a1")
	got := orientation(w, a)
	if n := utf8.RuneCountInString(got); n > 2300 || n < 1500 {
		t.Errorf("it has %d characters:\n%s", n, got)
	}
	for _, want := range []string{"the coordinator of run r1", "you are worker w9999", "You lead a team", `Workers: w7 "worker-7" running; w500 "worker-500" finished`,
		" finished\n", " completed\n", "Open gates, which a person answers: g1; g2", "m1 of w1", "Next: st check"} {
		if !strings.Contains(got, want) {
			t.Errorf("it lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "SECRET") || strings.Count(got, "\n") > 15 {
		t.Errorf("it holds what it should not:\n%s", got)
	}
	for _, l := range strings.Split(got, "\n") {
		if strings.HasPrefix(l, "Workers: ") && strings.Count(l, "finished") < 2 {
			t.Errorf("it does not count: %s", l)
		}
	}
}

// TestShellWord: a path that the shell would take apart is one word.
func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{"": "st", "st": "st", "/opt/st-1/st": "/opt/st-1/st", "/a b/it's": `'/a b/it'\''s'`, "$x": "'$x'"} {
		if got := shellWord(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}
