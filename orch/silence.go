package orch

import (
	"strconv"
	"strings"
	"time"
)

// An agent is silent whose turn runs, with no tool at work and no dialog open, and of which nothing has been heard for
// long: its program hangs, or what it speaks to does. That is told once; any sign of life ends it.

// silentAt is when an agent will count as silent; zero for never.
func (a Agent) silentAt(limit time.Duration) time.Time {
	if limit <= 0 || a.Gone != "" || !a.Turn || a.Open > 0 || a.Silent || a.Status == waiting {
		return time.Time{}
	}
	return a.LastSeen.Add(limit)
}

func silences(v View, f func(Agent, time.Time)) {
	limit := limitsOf(v).Silence
	each(v, LiveAgents, func(a Agent) bool {
		if at := a.silentAt(limit); !at.IsZero() && a.attended(v) {
			f(a, at)
		}
		return true
	})
}

// fallSilent tells of agents that have fallen silent.
func (s *step) fallSilent() {
	silences(s, func(a Agent, at time.Time) {
		if at.After(s.at) {
			return
		}
		a.Silent = true
		s.put(a)
		s.memory = false
		d, ok := s.dispatchOf(a.ID)
		if !ok || !d.open() {
			return
		}
		w, _ := get[Worker](s, "worker/"+d.Worker)
		span := span(limitsOf(s).Silence)
		s.log("worker-silent", Event{Worker: w.ID, Agent: a.ID, Dispatch: d.ID, Text: span})
		what, mark := "has been silent for "+span, silent+"@"+strconv.FormatInt(a.LastSeen.UnixNano(), 36)
		s.stateMail(w, what, "", mark)
		s.owe(w, what, mark)
	})
}

// lives notes a sign of life: that an agent was silent is no news any more.
func (s *step) lives(a *Agent) {
	if w, ok := workerOf(s, a.ID); ok && a.Silent {
		for _, o := range s.untold(w.ID) {
			if o.News.ofSilence() {
				s.del(o.Key())
			}
		}
		s.statePast(w.ID, News.ofSilence)
	}
	a.LastSeen, a.Silent = s.at, false
}

// span is a length of time without the zeros at its end: 30m, 1h30m, 90s.
func span(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// listen counts silence anew: nobody has listened for a while.
func (s *step) listen() {
	each(s, LiveAgents, func(a Agent) bool {
		if a.Turn {
			a.LastSeen = s.at
			s.put(a)
		}
		return true
	})
}
