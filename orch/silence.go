package orch

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// An agent is silent whose turn runs, with no tool at work and no dialog open, and of which nothing has been heard for
// long: its program hangs, or what it speaks to does. That is told once; any sign of life ends it. Of one without hooks nothing
// tells whether its turn runs: it is silent where it has said nothing itself for as long, since its task line went in.

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
		at := a.silentAt(limit)
		if a.Blind {
			at = a.unheardAt(v, limit)
		}
		if !at.IsZero() && a.attended(v) {
			f(a, at)
		}
		return true
	})
}

// unheardAt is the same of an agent without hooks, at a task on which it has not reported. While it waits for an answer it
// has nothing to say.
func (a Agent) unheardAt(v View, limit time.Duration) time.Time {
	w, _ := workerOf(v, a.ID)
	d, ok := get[Dispatch](v, "dispatch/"+w.Dispatch)
	if limit <= 0 || a.Gone != "" || a.Silent || !ok || !d.open() || d.Submitted == nil || d.Report != nil || w.State == needsInput {
		return time.Time{}
	}
	return slices.MaxFunc([]time.Time{a.LastSeen, *d.Submitted, w.StateSince}, time.Time.Compare).Add(limit)
}

// heardOf notes that an agent without hooks has said something itself, which is all that is heard of it.
func (s *step) heardOf(a Agent) {
	if a.Blind && a.Gone == "" {
		s.lives(&a)
		s.put(a)
	}
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
		if a.Turn || a.Blind {
			a.LastSeen = s.at
			s.put(a)
		}
		return true
	})
}
