package journal

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"st/orch"
)

// TestShelves takes random batches of puts and deletions: what a shelf holds, in the batch and after its commit, is
// what stands there by itself, in the order of first put.
func TestShelves(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	m, next := newMemory(), uint64(1)
	kept := map[string]orch.Entity{}
	var keys []string // in the order of first put
	for range 2000 {
		o := newOverlay(m, next)
		for range 1 + r.Intn(4) {
			a := orch.Agent{ID: fmt.Sprint("a", r.Intn(12)), Proc: orch.Process{PID: r.Intn(4), Start: 1}, Gone: []string{"", "exited"}[r.Intn(2)]}
			there := slices.Index(keys, a.Key())
			if r.Intn(4) > 0 {
				o.put(a.Key(), a)
				kept[a.Key()] = a
				if there < 0 {
					keys = append(keys, a.Key())
				}
				continue
			}
			if there < 0 { // a batch deletes what it or an earlier one has put
				continue
			}
			o.put(a.Key(), nil)
			delete(kept, a.Key())
			keys = slices.Delete(keys, there, there+1)
			o.apply()
			next = o.next
			o = newOverlay(m, next)
		}
		same(t, o, kept, keys)
		o.apply()
		next = o.next
		same(t, m, kept, keys)
	}
	for _, key := range keys {
		m.del(key)
	}
	if len(m.shelves) > 0 {
		t.Errorf("shelves without entities: %v", m.shelves)
	}
}

func same(t *testing.T, v orch.View, kept map[string]orch.Entity, keys []string) {
	t.Helper()
	for _, shelf := range []string{"agent", orch.LiveAgents, orch.AtProcess(orch.Process{PID: 1, Start: 1}), orch.AtProcess(orch.Process{PID: 2, Start: 1})} {
		var got, want []string
		v.Each(shelf, func(e orch.Entity) bool { got = append(got, e.Key()); return true })
		for _, key := range keys {
			if orch.OnShelf(kept[key], shelf) {
				want = append(want, key)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q holds %v, not %v", shelf, got, want)
		}
	}
}
