package daemon

import (
	"testing"
	"time"

	"st/orch"
)

// TestEvery: what has just begun is looked at more often, and no more often than that, for a while.
func TestEvery(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		seen lookedAt
		want orch.Look
		is   time.Duration
	}{
		{"nothing has begun", lookedAt{}, orch.Look{Every: 2 * time.Second}, 2 * time.Second},
		{"a dialog has just come", lookedAt{}, orch.Look{Every: time.Second, Since: now.Add(-time.Second)}, newEvery},
		{"a dialog has come a while ago", lookedAt{}, orch.Look{Every: time.Second, Since: now.Add(-newTime)}, freshEvery},
		{"a dialog stands for long", lookedAt{}, orch.Look{Every: time.Second, Since: now.Add(-freshTime)}, time.Second},
		{"it is looked at often anyway", lookedAt{}, orch.Look{Every: 40 * time.Millisecond, Since: now}, 40 * time.Millisecond},
		{"its session has begun", lookedAt{up: now}, orch.Look{Every: 100 * time.Millisecond, Up: true}, upEvery},
		{"its session has begun long ago", lookedAt{up: now.Add(-upTime)}, orch.Look{Every: 100 * time.Millisecond, Up: true}, 100 * time.Millisecond},
	} {
		if got := c.seen.every(c.want, now); got != c.is {
			t.Errorf("%s: every %v, want %v", c.name, got, c.is)
		}
	}
}
