//go:build linux || darwin

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// moment is one thing that a witness or st has said.
type moment struct {
	at   time.Time
	text string
}

// timeline is all that was seen and said in a life, in order.
func (l *life) timeline(all []said) []moment {
	var list []moment
	for _, c := range l.wire.seen {
		list = append(list, moment{c.at, fmt.Sprintf("wire %+v", c.to)})
	}
	for _, c := range l.procs.seen {
		list = append(list, moment{c.at, fmt.Sprintf("processes %+v", c.to)})
	}
	for _, c := range l.own.seen {
		list = append(list, moment{c.at, fmt.Sprintf("the agent says %s", c.to)})
	}
	for _, at := range l.keys {
		list = append(list, moment{at, "a key"})
	}
	var last said
	for _, s := range all {
		if s.text != last.text || s.step != last.step {
			list = append(list, moment{s.at, fmt.Sprintf("%50sst says %s (%s)", "", s.text, s.step)})
		}
		last = s
	}
	slices.SortStableFunc(list, func(a, b moment) int { return a.at.Compare(b.at) })
	return list
}

// around is the timeline a little before and after a stretch.
func (s stretch) around() string {
	const margin = 2 * time.Second
	var b strings.Builder
	fmt.Fprintf(&b, "said %s, true %s (%s):\n", s.said, s.may, s.step)
	for _, m := range s.life.timeline(s.all) {
		if m.at.After(s.begin.Add(-margin)) && m.at.Before(s.end.Add(margin)) {
			fmt.Fprintf(&b, "%8.3f %s\n", m.at.Sub(s.begin).Seconds(), m.text)
		}
	}
	return b.String()
}
