package orch

import (
	"fmt"
	"time"
)

// gates is what concerns gates.
func (w *walk) gates() What {
	c, _ := get[Counters](w, "counters/")
	g := fmt.Sprint("g", max(c.Gate-w.Intn(6), 0))
	switch w.Intn(9) {
	case 0, 1:
		return w.gateAsk()
	case 2, 3, 4:
		a := GateAnswer{Gate: g, Choice: []string{"yes", "no", ""}[w.Intn(3)], Missing: "x"}
		if w.Intn(4) > 0 {
			a.Evidence = &Evidence{Client: "/dev/pts/1", Place: Place{Server: "s", Pane: "%1"}, Key: w.at}
		}
		return a
	case 5:
		return GateCancel{Gate: g}
	case 6:
		return GateTold{Gate: g, Status: []string{GateAnswered, GateCancelled, GateTimedOut}[w.Intn(3)]}
	case 7:
		return WaitBegan{For: g, Deaf: map[string]bool{"demo": w.Intn(2) == 0}}
	}
	return WaitOver{Process: Process{5, 5}}
}

// gateAsk asks, and may hold a task that waits for it.
func (w *walk) gateAsk() What {
	ask := GateAsk{Question: "now?", Timeout: time.Duration(w.Intn(3)) * time.Minute}
	if w.Intn(2) == 0 {
		ask.Options = []string{"yes", "no"}
	}
	if w.Intn(2) == 0 {
		c, _ := get[Counters](w, "counters/")
		r := fmt.Sprint("r", w.Intn(c.Run+1))
		t := Task{ID: fmt.Sprint("t", 9000+w.Intn(5)), Run: r, Status: "ready"}
		if had, ok := get[Task](w, t.Key()); ok {
			t = had
		} else if w.Entity("run/"+r) != nil {
			w.set(t.Key(), t)
		}
		ask.Task = t.ID
	}
	return ask
}

func (w *walk) gateStates() (gates map[string]Gate, words map[string]Word) {
	gates, words = map[string]Gate{}, map[string]Word{}
	each(w, "gate", func(g Gate) bool { gates[g.ID] = g; return true })
	each(w, "word", func(o Word) bool {
		if o.Gate != "" {
			words[o.ID] = o
		}
		return true
	})
	return gates, words
}

// holdGates: a gate has one answer, that of a person with evidence; its end is owed to whoever asked, and told once; what
// an open gate holds is not dispatched.
func (w *walk) holdGates(in Input, was map[string]Gate, words map[string]Word, c Changes) {
	gates, now := w.gateStates()
	told, moved := map[string]bool{}, map[string]bool{}
	for _, e := range c.Events {
		switch e.Type {
		case "gate-told", "gate-told-unknown":
			if w.heard[e.Word] && e.Type == "gate-told" {
				w.Errorf("%s is told twice of %s (after %T)", e.Agent, e.Gate, in.What)
			}
			w.heard[e.Word] = w.heard[e.Word] || e.Type == "gate-told"
			told[e.Word] = true
		case "gate-answered", "gate-cancelled", "gate-timed-out":
			moved[e.Gate] = true
		}
	}
	for id, g := range gates {
		old, asker := was[id], Agent{}
		asker, _ = get[Agent](w, "agent/"+g.By)
		switch {
		case old.Status == GateAnswered && (g.Status != GateAnswered || g.Choice != old.Choice), old.Status == GateCancelled && g.Status != GateCancelled:
			w.Errorf("%s was %s %q and is %s %q after %T", id, old.Status, old.Choice, g.Status, g.Choice, in.What)
		case g.Status == GateAnswered && (g.Evidence == nil || len(g.Options) > 0 && g.fits(g.Choice) != nil):
			w.Errorf("%s is answered with %q without a person (after %T)", id, g.Choice, in.What)
		case old.Status == GateOpen && g.Status == GateAnswered && len(agents(in.By.Chain)) > 0:
			w.Errorf("an agent has answered %s", id)
		case g.Status == GateOpen && !g.Deadline.IsZero() && !g.Deadline.After(w.at) && c.Err == nil:
			w.Errorf("%s is open after its deadline (after %T)", id, in.What)
		}
		run, _ := get[Run](w, "run/"+g.Run)
		if run.Ended != nil && g.Status == GateOpen {
			w.Errorf("%s is open, and its run has ended (after %T)", id, in.What)
		}
		_, itself := in.What.(GateCancel)
		if moved[id] && old.Status != g.Status && run.Ended == nil && g.By != "" && asker.Gone == "" && !itself && !letGo(in) && !w.owes(now, g) {
			w.Errorf("%s is %s and nobody tells %s, who asked (after %T)", id, g.Status, g.By, in.What)
		}
	}
	for id, o := range words {
		a, _ := get[Agent](w, "agent/"+o.Agent)
		worker, _ := workerOf(w, o.Agent)
		if _, there := now[id]; !there && !told[id] && !moved[o.Gate] && a.Gone == "" && worker.Stopping == nil && !letGo(in) {
			w.Errorf("the word %s of %s is lost after %T", id, o.Gate, in.What)
		}
	}
	each(w, "task", func(t Task) bool {
		if held := openGates(w, t.ID); len(held) > 0 && t.Status != "pending" && t.Status != "blocked" {
			w.Errorf("%s is %s though %s holds it (after %T)", t.ID, t.Status, held[0].ID, in.What)
		}
		return true
	})
}

// letGo says that what an input has ended is the relation of a worker to its run, and what it was to be told.
func letGo(in Input) bool {
	switch in.What.(type) {
	case WorkerRelease, RunEnd:
		return true
	}
	return false
}

func (w *walk) owes(words map[string]Word, g Gate) bool {
	for _, o := range words {
		if o.Gate == g.ID && o.Agent == g.By {
			return true
		}
	}
	return false
}
