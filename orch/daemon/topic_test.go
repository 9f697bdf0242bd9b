//go:build linux || darwin

package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"st/orch"
)

// stageState is a state that a test changes by hand.
type stageState struct {
	mu      sync.Mutex
	value   int
	changed watchers
}

func (s *stageState) read(f func(orch.View)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(noEntities{})
}

func (s *stageState) set(n int) {
	s.mu.Lock()
	s.value = n
	s.mu.Unlock()
	s.changed.tell()
}

type noEntities struct{}

func (noEntities) Entity(string) orch.Entity           { return nil }
func (noEntities) Each(string, func(orch.Entity) bool) {}

func TestManyWatchersAskOnce(t *testing.T) {
	s := &stageState{}
	var asked atomic.Int64
	ts := &topics{state: s.read, subscribe: s.changed.add}
	view := func(orch.View, orch.Caller, json.RawMessage) (any, error) {
		asked.Add(1)
		return orch.WaitInfo{Code: s.value / 10, Done: s.value >= 100}, nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var ready sync.WaitGroup
	ready.Add(1)
	ts.subscribe = func() (<-chan uint64, func()) { defer ready.Done(); return s.changed.add() }
	go ts.run(ctx)
	ready.Wait()

	const many = 200
	var got sync.WaitGroup
	var leaves []func()
	for n := range many {
		// Callers differ in their own process, which no view asks about.
		by := orch.Caller{Chain: []orch.Link{{Process: orch.Process{PID: 100 + n}}}, Dir: fmt.Sprint(n)}
		c, leave := ts.read("wait", view, by, nil)
		leaves = append(leaves, leave)
		if first := <-c; first.settled || first.err != nil {
			t.Fatalf("first: %+v", first)
		}
		got.Go(func() {
			if now := <-c; !now.settled {
				t.Errorf("told of %s", now.data)
			}
		})
	}
	if n := asked.Load(); n != 1 {
		t.Fatalf("asked %d times for the first answer", n)
	}
	s.set(5) // encodes to the same: nobody is told
	until(t, "the change is looked at", func() bool { return asked.Load() == 2 })
	s.set(100)
	got.Wait()
	if n := asked.Load(); n != 3 {
		t.Errorf("asked %d times for two changes", n-1)
	}
	for _, leave := range leaves {
		leave()
	}
	if len(ts.list) != 0 {
		t.Errorf("%d topics are left", len(ts.list))
	}
}

func TestCallersToWhomAViewDiffers(t *testing.T) {
	ts := &topics{state: (&stageState{}).read}
	person := orch.Caller{}
	keys := map[string]string{}
	for name, by := range map[string]orch.Caller{
		"person": person, "agent": {Chain: []orch.Link{{Process: orch.Process{PID: 7}, Kind: "demo"}}},
		"other agent": {Chain: []orch.Link{{Process: orch.Process{PID: 8}, Kind: "demo"}}},
		"pane":        {Place: orch.Place{Pane: "%1"}}, "run": {Run: "r2"}, "as": {As: "a1"},
	} {
		key := ts.key("wait", by, nil)
		if other, ok := keys[key]; ok {
			t.Errorf("%s and %s are the same to a view", name, other)
		}
		keys[key] = name
	}
}

func TestARefusedViewIsTold(t *testing.T) {
	s := &stageState{}
	ts := &topics{state: s.read}
	refusal := errors.New("no")
	c, leave := ts.read("run", func(orch.View, orch.Caller, json.RawMessage) (any, error) { return nil, refusal }, orch.Caller{}, nil)
	defer leave()
	if now := <-c; !errors.Is(now.err, refusal) {
		t.Fatalf("got %+v", now)
	}
}
