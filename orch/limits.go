package orch

import (
	"cmp"
	"time"
)

// Limits are what config.toml sets for all runs. There is one, and none as long as the defaults hold.
type Limits struct {
	MaxWorkers int           `json:"max_workers"` // at most so many unsettled workers have a window; 0 = any number
	Silence    time.Duration `json:"silence"`     // without a sign of life for so long a working agent is silent; 0 = never
	Reminder   time.Duration `json:"reminder"`    // from the end of a turn without a report to the reminder; 0 = none
	MaxDepth   int           `json:"max_depth"`   // levels of workers below a run's coordinator; 0 = the default
	MaxChain   int           `json:"max_chain"`   // levels of workers in all, over all teams below one another; 0 = the default
}

// Configured says what config.toml holds, at the start of a daemon.
type Configured Limits

// DefaultLimits are those of an empty config.toml.
func DefaultLimits() Limits {
	return Limits{Silence: 30 * time.Minute, Reminder: 20 * time.Second, MaxDepth: 2, MaxChain: 4}
}

// filled has the defaults of what was not set, also by an older program.
func (l Limits) filled() Limits {
	l.MaxDepth = cmp.Or(l.MaxDepth, DefaultLimits().MaxDepth)
	l.MaxChain = cmp.Or(l.MaxChain, DefaultLimits().MaxChain)
	return l
}

// limitsOf are the limits that hold now.
func limitsOf(v View) Limits {
	if l, ok := get[Limits](v, Limits{}.Key()); ok {
		return l.filled()
	}
	return DefaultLimits()
}

func (s *step) configured(c Configured) {
	s.listen()
	l := Limits(c).filled()
	if s.memory = l == limitsOf(s); !s.memory {
		s.put(l)
	}
	each(s, openRuns, func(r Run) bool { // where the store came back from the runs' own files, much may have come since
		s.moveTasks(r.ID)
		return true
	})
}
