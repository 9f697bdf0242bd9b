//go:build linux

package main

import (
	"slices"
	"time"
)

// series is how long something took, time after time.
type series []time.Duration

// at is the time below which that part (0 to 1) of all samples lies.
func (s series) at(part float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[min(int(part*float64(len(sorted))), len(sorted)-1)]
}

// best is the least of what is found in three runs, each a third of the samples: what an absolute mark is held to on
// a machine that others use too.
func (s series) best(of func(series) time.Duration) time.Duration {
	if len(s) < 3 {
		return of(s)
	}
	third := len(s) / 3
	return min(of(s[:third]), of(s[third:2*third]), of(s[2*third:]))
}

func (s series) p50() time.Duration { return s.at(0.50) }
func (s series) p99() time.Duration { return s.at(0.99) }

// way is one way of doing a thing; it says how long it took.
type way struct {
	name string
	do   func() (time.Duration, error)
}

// timed is a way whose whole run counts.
func timed(name string, do func() error) way {
	return way{name, func() (time.Duration, error) {
		begun := time.Now()
		err := do()
		return time.Since(begun), err
	}}
}

// interleave takes n samples of each way by turns, in an order that moves on each time, so that no way always
// runs after the same other. One round before is not counted: it warms the caches.
func interleave(n int, ways ...way) (map[string]series, error) {
	all := map[string]series{}
	for round := -1; round < n; round++ {
		for i := range ways {
			w := ways[(i+round+1)%len(ways)]
			took, err := w.do()
			if err != nil {
				return nil, err
			}
			if round >= 0 {
				all[w.name] = append(all[w.name], took)
			}
		}
	}
	return all, nil
}
