package daemon

import (
	"sync"
	"time"

	"st/orch/failpoint"
)

// Clock tells the time of day and never goes back, not from one daemon to the next either. A system clock that is set back is ignored until it has
// caught up: meanwhile time goes on by the monotonic clock, so a deadline comes no later than it would
// have. A clock that is set forward, or that ran on while the machine slept, is followed.
type Clock struct {
	wall  func() time.Time
	since func() time.Duration // monotonic

	mu   sync.Mutex
	last time.Time
	at   time.Duration // since() at last
}

// NewClock makes a clock over a wall clock; nil = the system's.
func NewClock(wall func() time.Time) *Clock {
	if wall == nil {
		wall = failpoint.Now
	}
	start := time.Now()
	return &Clock{wall: wall, since: func() time.Duration { return time.Since(start) }}
}

// NotBefore sets the clock on to a time that has been told before this process began.
func (c *Clock) NotBefore(told time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if told.After(c.last) {
		c.last, c.at = told.UTC().Round(0), c.since()
	}
}

// Ahead is how far the clock is ahead of the system's, which was set back.
func (c *Clock) Ahead() time.Duration {
	now := c.Now()
	return max(now.Sub(c.wall()), 0)
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
