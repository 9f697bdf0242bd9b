//go:build linux || darwin

package e2e

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// states is a set of what an agent may be.
type states uint16

const (
	starting states = 1 << iota
	ready
	working
	background
	permission
	question
	idle
	compacting
	gone

	asking   = permission | question
	anything = gone<<1 - 1
)

var stateNames = []string{"starting", "ready", "working", "background", "permission", "question", "idle", "compacting", "gone"}

func (s states) String() string {
	if s == anything {
		return "undecided"
	}
	var names []string
	for i, n := range stateNames {
		if s&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return strings.Join(names, "|")
}

// stateOf reads st's word; 0 for one that is never right here.
func stateOf(status, waitingFor string) states {
	switch status {
	case "waiting":
		status = waitingFor
	case "working_background":
		status = "background"
	}
	if i := slices.Index(stateNames, status); i >= 0 {
		return 1 << i
	}
	return 0
}

// signal is what one witness has seen of one thing over time.
type signal[T comparable] struct {
	mu   sync.Mutex
	seen []change[T]
}

// change says that from then on the value was to; it changed not before from and not after at.
type change[T comparable] struct {
	from, at time.Time
	to       T
}

func (s *signal[T]) set(from, at time.Time, to T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.seen); n == 0 || s.seen[n-1].to != to {
		s.seen = append(s.seen, change[T]{from, at, to})
	}
}

func (s *signal[T]) now() (v T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.seen); n > 0 {
		v = s.seen[n-1].to
	}
	return v
}

// first returns when the signal first had such a value, not before a time; zero for never.
func (s *signal[T]) first(is func(T) bool, since ...time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.seen {
		if is(c.to) && (len(since) == 0 || c.at.After(since[0])) {
			return c.at
		}
	}
	return time.Time{}
}

// in returns every value that the thing may have had between a and b.
func (s *signal[T]) in(a, b time.Time) (list []T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, c := range s.seen {
		over := i+1 < len(s.seen) && s.seen[i+1].at.Before(a)
		if !over && !c.from.After(b) {
			list = append(list, c.to)
		}
	}
	return list
}

// traffic is what the wire to the model shows.
type traffic struct {
	main, compact int  // requests that are open: the agent's own, one for a summary
	asked         bool // the agent itself has asked at least once
	final         bool // its last reply called no tool: the turn is over or about to be
}

func (t traffic) open() bool { return t.main > 0 || t.compact > 0 }

// family is what the process table shows, and the wire of subagents.
type family struct {
	ended bool // the agent's process was there and is no more
	tool  bool // a scripted command runs
	later bool // something goes on in the background: such a command, a subagent
}

// life is one agent's process from its start to its end, as it was seen by witnesses that know nothing of st.
type life struct {
	wire   signal[traffic]
	procs  signal[family]
	own    signal[states] // the agent's own word of itself
	mu     sync.Mutex
	finals []time.Time // when the agent had a last reply of a turn
	acts   []time.Time // when something happened that may change the agent: a key, a request, a reply
	keys   []time.Time // those acts that were a person's
	began  time.Time
}

func (l *life) act(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acts = append(l.acts, at)
}

func (l *life) key(at time.Time) {
	l.act(at)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keys = append(l.keys, at)
}

func (l *life) end(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.finals = append(l.finals, at)
}

// noise is how far the clocks of two witnesses, and their own hands, may be apart.
const noise = 30 * time.Millisecond

// settling is how long an agent may take to change what it says of itself after what made it change. Between the
// two both are allowed: it runs its hooks in that time, and they may yet decide otherwise.
const settling = 2 * time.Second

// cause returns the time from which on a change that the agent tells of may have been true already: that of the
// last thing that happened to it.
func (l *life) cause(told time.Time) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	from := told
	if l.wire.first(func(t traffic) bool { return t.asked }).After(told) {
		from = told.Add(-settling) // st types the first prompt; when it does is not known here
	}
	for _, at := range l.acts {
		if at.Before(told) && told.Sub(at) < settling {
			from = at
		}
	}
	return from
}

// begun returns the time until which a turn that the agent tells of may not have begun: until its model is asked,
// a hook may refuse the prompt.
func (l *life) begun(told time.Time) time.Time {
	open := l.wire.first(func(t traffic) bool { return t.open() }, told.Add(-noise))
	if open.IsZero() {
		return told
	}
	return open
}

// truth is what the agent may have been between a and b; sure says that all witnesses agree on one thing.
func (l *life) truth(a, b time.Time) (may states, sure bool) {
	n := 0
	first := states(0)
	for _, p := range l.procs.in(a, b) {
		if p.ended {
			may, n, first = may|gone, n+1, gone
			continue
		}
		for _, w := range l.wire.in(a, b) {
			for _, o := range l.ownIn(a, b) {
				is := seenOutside(w, p, l.ending(a)) & o
				if is == 0 {
					is = anything // they contradict each other
				}
				may, n, first = may|is, n+1, is
			}
		}
	}
	if n == 0 {
		return anything, false
	}
	return may, may == first && may != anything
}

// ownIn is the agent's own word, each change as early as its cause.
func (l *life) ownIn(a, b time.Time) []states {
	l.own.mu.Lock()
	seen := slices.Clone(l.own.seen)
	l.own.mu.Unlock()
	shifted := signal[states]{seen: seen}
	for i, c := range seen {
		seen[i].from = l.cause(c.at)
		if i > 0 && c.to&working != 0 && seen[i-1].to&idle != 0 {
			seen[i].at = l.begun(c.at)
		}
	}
	return shifted.in(a, b)
}

// ending reports whether the agent's last reply came just before, so that its hooks may still keep it at work.
func (l *life) ending(at time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.finals {
		if e.Before(at) && at.Sub(e) < settling {
			return true
		}
	}
	return false
}

// seenOutside is what wire and processes alone allow.
func seenOutside(w traffic, p family, ending bool) states {
	may := anything &^ gone
	if w.asked {
		may &^= starting | ready
	}
	switch {
	case w.compact > 0:
		return compacting
	case w.main > 0:
		return working
	case p.tool && !w.final: // a command may outlive its turn
		return working | asking
	case !w.final:
		may &^= background
	case p.later && ending:
		may &^= idle
	case p.later:
		may &^= working | idle
	}
	return may
}
