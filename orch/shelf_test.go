package orch

import (
	"fmt"
	"testing"
	"time"
)

// counted is a view that counts the entities over which a question goes.
type counted struct {
	View
	n int
}

func (c *counted) Each(shelf string, f func(Entity) bool) {
	c.View.Each(shelf, func(e Entity) bool { c.n++; return f(e) })
}

// TestPastCostsNothing: hooks, looks and waits go over as many entities after a thousand workers as after ten.
func TestPastCostsNothing(t *testing.T) {
	at := time.Unix(1e9, 0)
	cost := func(past int) map[string]int {
		w := newWorld()
		for i := range past + 1 {
			n := fmt.Sprint(i + 1)
			r := Run{ID: "r" + n, Created: at}
			a := Agent{ID: "a" + n, Kind: "demo", Ours: true, Up: true, Nonce: "n" + n, Place: Place{Server: "srv", Pane: "%" + n},
				Proc: Process{i + 10, 1}, Runner: Process{i + 10_000, 1}}
			d := Dispatch{ID: "d" + n, Run: r.ID, Worker: "w" + n, Agent: a.ID, Task: "t" + n, Delivery: Delivered}
			if i < past {
				r.Ended, a.Gone, d.Closed = &at, "exited", "gone"
			}
			w.apply(Changes{Puts: []Entity{r, a, Worker{ID: "w" + n, Run: r.ID, Name: "one", Agent: a.ID, Dispatch: d.ID}, d, Task{ID: "t" + n, Run: r.ID},
				Word{ID: "o" + n, Agent: a.ID, State: unproved}, Word{ID: "k" + n, Agent: a.ID, State: kept, News: &News{Run: r.ID, Worker: "w" + n}}}})
		}
		by := Caller{Chain: []Link{{Process: Process{5, 2}}, {Process: Process{past + 10, 1}, Kind: "demo"}, {Process: Process{past + 10_000, 1}}}}
		costs := map[string]int{}
		ask := func(name string, f func(View)) {
			c := &counted{View: w}
			f(c)
			costs[name] = c.n
		}
		for _, e := range []string{PromptIn, ToolStarted, TurnEnded} {
			ask("hook "+e, func(v View) { Step(v, Input{At: at, By: by, What: Hook{Event: AgentEvent{Type: e}}}) })
		}
		ask("looks", func(v View) { Looks(v) })
		ask("due", func(v View) { Due(v) })
		ask("live", func(v View) { Live(v) })
		ask("wait", func(v View) { Wait(v, Caller{}, WaitArgs{}) })
		ask("named", func(v View) { WorkerOf(v, by, WorkerArgs{Worker: "one"}) })
		ask("runs", func(v View) { Runs(v, by, ListArgs{}) })
		ask("tree", func(v View) { Tree(v, by, ListArgs{}) })
		ask("file", func(v View) { Project(v, "r1") })
		return costs
	}
	few, many := cost(10), cost(1000)
	for name, n := range many {
		if n != few[name] {
			t.Errorf("%s goes over %d entities after 10 workers, over %d after 1000", name, few[name], n)
		}
	}
}

// TestLongQueue: what is owed to an agent beyond its next line is passed over, and not tried on the line each time.
func TestLongQueue(t *testing.T) {
	w := newWorld()
	w.apply(Changes{Puts: []Entity{Agent{ID: "a1", Kind: "demo"}}})
	for i := range 1000 {
		n := fmt.Sprint(i)
		w.apply(Changes{Puts: []Entity{Word{ID: "o" + n, Agent: "a1", State: owed, Mark: "st-o" + n, News: &News{Run: "r1", Worker: "w" + n, What: "finished"}}}})
	}
	l := nextLine(w, "a1")
	if len(l) < 50 || len(l) > 100 || l[len(l)-1].ID != fmt.Sprint("o", len(l)-1) {
		t.Fatalf("the line has %d words, the last is %s", len(l), l[len(l)-1].ID)
	}
	if n := testing.AllocsPerRun(1, func() { nextLine(w, "a1") }); n > 10_000 {
		t.Errorf("to find the next line of 1000 words takes %.0f allocations", n)
	}
}
