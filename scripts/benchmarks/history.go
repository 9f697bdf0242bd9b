//go:build linux

package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"st/orch"
	"st/orch/journal"
)

// pasts are how many events there are in the store.
var pasts = []int{10, 1_000, 100_000}

// asked are the verbs whose time must not grow with it.
var asked = [][]string{{"worker", "ls"}, {"log", "--limit", "20"}, {"tree"}, {"agents"}, {"orch", "ls"}, {"worker", "read", "now"}, {"hook", "demo"}}

// history measures verbs, and a hook, on homes with a short and with a long past.
func (b *bench) history() (err error) {
	var rigs []*rig
	for _, past := range pasts {
		r, err := b.newRig()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.leave()) }()
		if err := writePast(r.home, past); err != nil {
			return err
		}
		if _, err := r.run("up"); err != nil {
			return err
		}
		rigs = append(rigs, r)
	}
	for _, verb := range asked {
		ways := make([]way, len(rigs))
		for i, r := range rigs {
			ways[i] = timed(fmt.Sprint(pasts[i]), func() error { return r.ask(verb) })
		}
		got, err := interleave(b.samples(100, 20), ways...)
		if err != nil {
			return err
		}
		long, short := got[ways[len(ways)-1].name], got[ways[0].name]
		name := "history (" + verb[0]
		if verb[0] != "log" && len(verb) > 1 {
			name += " " + verb[1]
		}
		b.table.ratio(name+")", "10 events, not 100,000", long, short, 1.2)
	}
	return nil
}

// ask runs a verb, or a hook with its payload.
func (r *rig) ask(verb []string) error {
	if verb[0] != "hook" {
		_, err := r.run(verb...)
		return err
	}
	return quiet(append([]string{r.b.st}, verb...), r.env, payload("PreToolUse"))()
}

// writePast makes a store of that many events: runs that have ended, each with ten workers that are gone, and one that
// is open.
func writePast(home string, events int) error {
	j, err := journal.Open(home, journal.Options{})
	if err != nil {
		return err
	}
	at := time.Now().Add(-24 * time.Hour).UTC()
	const perWorker, perRun = 10, 10
	workers := max(events/perWorker, 1)
	counters := orch.Counters{Run: workers/perRun + 2, Agent: workers, Worker: workers, Task: workers, Dispatch: workers}
	for _, chunk := range slices.Collect(slices.Chunk(slices.Collect(upTo(workers)), 1000)) {
		c := orch.Changes{Puts: []orch.Entity{counters}}
		for _, i := range chunk {
			run, name, ended := fmt.Sprint("r", i/perRun+1), fmt.Sprint("past-", i), &at
			if i == workers-1 {
				run, name, ended = fmt.Sprint("r", counters.Run), "now", nil
			}
			c.Puts = append(c.Puts, pastOf(i+1, run, name, at, ended)...)
			for range perWorker {
				c.Events = append(c.Events, orch.Event{At: at, Type: "turn-ended", Run: run, Worker: fmt.Sprint("w", i+1), Agent: fmt.Sprint("a", i+1)})
			}
		}
		b := j.Begin()
		if err := errors.Join(b.Add(orch.Input{}, "", c, nil), j.Commit(b)); err != nil {
			return errors.Join(err, j.Close())
		}
	}
	return j.Close()
}

func upTo(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := 0; i < n && yield(i); i++ {
		}
	}
}

// pastOf is worker n, which has done its work and is gone, with its run.
func pastOf(n int, run, name string, at time.Time, ended *time.Time) []orch.Entity {
	id := func(letter string) string { return fmt.Sprint(letter, n) }
	return []orch.Entity{
		orch.Run{ID: run, Objective: "the past", Created: at, Ended: ended},
		orch.Agent{ID: id("a"), Kind: "demo", Name: name, Ours: true, Up: true, HadTurn: true, Gone: "exited", Status: "gone", Since: at,
			Proc: orch.Process{PID: 1<<22 + n, Start: 1}, Runner: orch.Process{PID: 1<<23 + n, Start: 1}, Nonce: fmt.Sprintf("%032x", n)},
		orch.Task{ID: id("t"), Run: run, Title: name, Spec: "a task", Status: "completed", Dispatch: id("d"), Created: at},
		orch.Dispatch{ID: id("d"), Run: run, Task: id("t"), Worker: id("w"), Agent: id("a"), Delivery: orch.Delivered, Created: at, Turn: &at,
			TurnEnded: &at, Finished: &at, Report: &orch.Report{At: at, Outcome: "succeeded", Summary: "done", Files: []string{}}},
		orch.Worker{ID: id("w"), Run: run, Name: name, Kind: "demo", Agent: id("a"), Dispatch: id("d"), Created: at, State: "finished", StateSince: at},
	}
}
