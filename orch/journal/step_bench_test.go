package journal

import (
	"fmt"
	"testing"
	"time"

	"st/orch"
)

// BenchmarkHook is what one hook costs beside a long past: workers whose agents are gone.
func BenchmarkHook(b *testing.B) {
	for _, past := range []int{10, 1_000, 10_000} {
		b.Run(fmt.Sprint(past), func(b *testing.B) {
			m := newMemory()
			put := func(e orch.Entity) { m.put(&record{key: e.Key(), order: uint64(len(m.records)), e: e}) }
			for i := range past + 1 {
				end := noon
				r, w := fmt.Sprint("r", i/10), orch.Worker{ID: fmt.Sprint("w", i), Run: fmt.Sprint("r", i/10), Agent: fmt.Sprint("a", i), Dispatch: fmt.Sprint("d", i)}
				a := orch.Agent{ID: w.Agent, Kind: "k", Proc: orch.Process{PID: i + 10, Start: 1}, Runner: orch.Process{PID: i + 100_000, Start: 1}, Ours: true}
				if i < past {
					a.Gone = "exited"
				}
				if i%10 == 0 {
					put(orch.Run{ID: r, Ended: &end})
				}
				put(a)
				put(w)
				put(orch.Dispatch{ID: w.Dispatch, Worker: w.ID, Agent: a.ID, Finished: &end, Delivery: orch.Delivered, Report: &orch.Report{At: end, Outcome: "succeeded"}})
			}
			in := orch.Input{At: noon, What: orch.Hook{Event: orch.AgentEvent{Type: orch.ToolStarted, Tool: "Bash"}}, By: orch.Caller{Path: "socket", Chain: []orch.Link{
				{Process: orch.Process{PID: 5, Start: 2}}, {Process: orch.Process{PID: past + 10, Start: 1}, Kind: "k"}, {Process: orch.Process{PID: past + 100_000, Start: 1}},
			}}}
			for b.Loop() {
				in.At = in.At.Add(time.Second)
				if c, _ := orch.Step(m, in); c.Err != nil || len(c.Puts) == 0 {
					b.Fatal(c)
				}
			}
		})
	}
}
