package daemon

import (
	"sync"
	"time"
)

// Clock tells the time of day and never goes back. A system clock that is set back is ignored until it has
// caught up: meanwhile time goes on by the monotonic clock, so a deadline comes no later than it would
// have. A clock that is set forward, or that ran on while the machine slept, is followed.
type Clock struct {
	wall  func() time.Time
	since func() time.Duration // monotonic

	mu   sync.Mutex
	last time.Time
	at   time.Duration // since() at last
}

// NewClock makes a clock over a wall clock; nil = time.Now.
func NewClock(wall func() time.Time) *Clock {
	if wall == nil {
		wall = time.Now
	}
	start := time.Now()
	return &Clock{wall: wall, since: func() time.Duration { return time.Since(start) }}
}

// Now is the time, in UTC and without a monotonic reading.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	wall, mono := c.wall().UTC().Round(0), c.since()
	if !c.last.IsZero() {
		if steady := c.last.Add(mono - c.at); wall.Before(steady) {
			wall = steady
		}
	}
	c.last, c.at = wall, mono
	return wall
}
