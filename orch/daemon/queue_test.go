package daemon

import (
	"slices"
	"testing"
)

func TestQueuesKeepTheOrderOfOneNameOnly(t *testing.T) {
	var q queues
	gate, other := make(chan struct{}), make(chan struct{})
	var order []int
	q.add("a", func() { <-gate; order = append(order, 1) })
	q.add("a", func() { order = append(order, 2) })
	q.add("b", func() { close(other) })
	<-other // runs although "a" is stuck
	q.add("a", func() { order = append(order, 3) })
	close(gate)
	q.wait()
	if !slices.Equal(order, []int{1, 2, 3}) {
		t.Fatalf("ran as %v", order)
	}
	if len(q.waiting) != 0 {
		t.Fatalf("queues are left: %v", q.waiting)
	}
}
