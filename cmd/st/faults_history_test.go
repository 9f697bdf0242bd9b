//go:build linux

package main

import (
	"encoding/json"
	"strings"

	"st/orch"
)

// once are the events that can come only once for their subject.
var once = map[string]func(orch.Event) string{
	"reminded":          func(e orch.Event) string { return e.Dispatch },
	"news":              func(e orch.Event) string { return e.Word },
	"worker-started":    func(e orch.Event) string { return e.Worker },
	"window-opened":     func(e orch.Event) string { return e.Worker },
	"delivered":         func(e orch.Event) string { return e.Dispatch },
	"reported":          func(e orch.Event) string { return e.Dispatch },
	"message-queued":    func(e orch.Event) string { return e.Message },
	"message-delivered": func(e orch.Event) string { return e.Message },
	"agent-seen":        func(e orch.Event) string { return e.Agent },
	"agent-gone":        func(e orch.Event) string { return e.Agent },
}

func (k *record) checkHistory() {
	seen := map[string]int{}
	for i, e := range k.events {
		k.tally.events++
		if e.Seq != uint64(i+1) {
			k.fault("event %d has the number %d", i+1, e.Seq)
		}
		if of, ok := once[e.Type]; ok {
			if seen[e.Type+" "+of(e)]++; seen[e.Type+" "+of(e)] == 2 {
				k.fault("double: %s of %s is told twice", e.Type, of(e))
			}
		}
	}
}

// checkWatch: st watch has told every event once and in order, as far as it got.
func (k *record) checkWatch() {
	next := uint64(1)
	for _, row := range strings.Split(strings.TrimSpace(k.watch), "\n") {
		var e orch.Event
		if row == "" || json.Unmarshal([]byte(row), &e) != nil {
			continue // it was killed within a line
		}
		if e.Seq != next {
			k.fault("st watch told %d after %d", e.Seq, next-1)
		}
		next = e.Seq + 1
	}
}
