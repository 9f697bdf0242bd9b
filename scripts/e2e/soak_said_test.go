//go:build linux || darwin

package e2e

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// said is one answer of st: what it was asked for at from had come at at.
type said struct {
	from, at time.Time
	is       states
	text     string
	step     string // what was going on
}

// stretch is a time in which st said what was not so.
type stretch struct {
	begin, end time.Time
	said       string
	may        states
	step       string
	life       *life
	all        []said
}

func (s stretch) took() time.Duration { return s.end.Sub(s.begin) }

// verdict is what came of comparing everything said of one life with what was true.
type verdict struct {
	observed, wrong, undecided time.Duration
	stretches                  []stretch // wrong ones
	vague                      []stretch // undecided ones
	delays                     map[string][]time.Duration
}

func newVerdict() *verdict { return &verdict{delays: map[string][]time.Duration{}} }

// judge adds a life. An answer stands for the time until the next one.
func (v *verdict) judge(l *life, all []said) {
	for i, s := range all[:max(0, len(all)-1)] {
		end := all[i+1].at
		took := end.Sub(s.at)
		may, sure := l.truth(s.from.Add(-noise), s.at.Add(noise))
		v.observed += took
		switch {
		case s.is&may == 0:
			v.wrong += took
			v.stretches = extend(v.stretches, stretch{s.at, end, s.text, may, s.step, l, all})
		case !sure:
			v.undecided += took
			v.vague = extend(v.vague, stretch{s.at, end, s.text, may, s.step, l, all})
		}
	}
	v.follow(l, all)
}

// extend joins a stretch to the last one where nothing lies between the two and the same was said.
func extend(list []stretch, s stretch) []stretch {
	if n := len(list); n > 0 && list[n-1].end.Equal(s.begin) && list[n-1].said == s.said {
		list[n-1].end = s.end
		return list
	}
	return append(list, s)
}

// follow notes, for each change of the truth, how long st took to say so.
func (v *verdict) follow(l *life, all []said) {
	var last states
	for i, s := range all {
		may, sure := l.truth(s.at, s.at)
		if !sure || may == last {
			continue
		}
		before := last
		last = may
		if before == 0 {
			continue
		}
		for _, later := range all[i:] {
			if later.is&may != 0 {
				name := fmt.Sprintf("%s: %s to %s", s.step, before, may)
				v.delays[name] = append(v.delays[name], later.at.Sub(s.at))
				break
			}
			if now, sure := l.truth(later.at, later.at); sure && now != may {
				break // never said: that time is counted as wrong
			}
		}
	}
}

// longest returns the n longest of them, the longest first.
func longest(list []stretch, n int) []stretch {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b stretch) int { return cmp.Compare(b.took(), a.took()) })
	return list[:min(len(list), n)]
}

// share is a part of the observed time, in percent.
func (v *verdict) share(d time.Duration) float64 {
	return 100 * d.Seconds() / max(v.observed.Seconds(), 0.001)
}

// report is the table for people.
func (v *verdict) report() string {
	var b strings.Builder
	fmt.Fprintf(&b, "observed %.1f s, false %.2f s (%.2f %%), not decidable %.2f s (%.1f %%)\n",
		v.observed.Seconds(), v.wrong.Seconds(), v.share(v.wrong), v.undecided.Seconds(), v.share(v.undecided))
	for _, part := range []struct {
		name string
		list []stretch
	}{{"false", v.stretches}, {"not decidable", v.vague}} {
		for _, s := range longest(part.list, 8) {
			fmt.Fprintf(&b, "  %s for %.2f s: said %s, true %s (%s)\n", part.name, s.took().Seconds(), s.said, s.may, s.step)
		}
	}
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "known late\tn\tp50\tmax")
	names := make([]string, 0, len(v.delays))
	for n := range v.delays {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		d := slices.Sorted(slices.Values(v.delays[n]))
		if most := d[len(d)-1]; most > 50*time.Millisecond {
			fmt.Fprintf(w, "%s\t%d\t%d ms\t%d ms\n", n, len(d), d[len(d)/2].Milliseconds(), most.Milliseconds())
		}
	}
	w.Flush()
	return b.String()
}
