package daemon

import (
	"context"
	"sync"
	"time"

	"st/hooks"
	"st/orch"
	"st/tmux"
)

// screens looks at the panes that want it, all that are due at once and in one call a server. While none
// wants it no timer runs.
func (w *watch) screens(ctx context.Context) {
	changed, end := w.subscribe()
	defer end()
	timer := stopped()
	defer timer.Stop()
	looked := map[string]lookedAt{} // by agent
	for {
		due, next := w.due(looked, time.Now())
		if len(due) > 0 {
			w.look(ctx, due)
			continue // what was seen may have changed what is wanted
		}
		timer.Stop()
		if !next.IsZero() {
			timer.Reset(time.Until(next))
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-timer.C:
		}
	}
}

// lookedAt is when an agent was looked at last, and when it was first seen to be up.
type lookedAt struct{ last, up time.Time }

// An agent whose session has begun draws its input line within moments: for that long it is looked at that often.
const (
	upEvery = 25 * time.Millisecond
	upTime  = time.Second
)

// What has just begun is looked at that often for that long: a dialog is answered, or a prompt taken back, within
// moments or after hours.
const (
	newEvery   = 50 * time.Millisecond
	newTime    = 3 * time.Second
	freshEvery = 150 * time.Millisecond
	freshTime  = 20 * time.Second
)

// every is how often a look is due. Of starts only those are hurried that are looked at often anyway.
func (l lookedAt) every(want orch.Look, now time.Time) time.Duration {
	switch {
	case want.Up && now.Sub(l.up) < upTime && want.Every < upTime:
		return min(upEvery, want.Every)
	case !want.Since.IsZero() && now.Sub(want.Since) < newTime:
		return min(newEvery, want.Every)
	case !want.Since.IsZero() && now.Sub(want.Since) < freshTime:
		return min(freshEvery, want.Every)
	}
	return want.Every
}

// due are the looks whose time has come, marked as done, and the time of the next.
func (w *watch) due(looked map[string]lookedAt, now time.Time) (due []orch.Look, next time.Time) {
	var looks []orch.Look
	w.state(func(v orch.View) { looks = orch.Looks(v) })
	wanted := map[string]bool{}
	for _, l := range looks {
		wanted[l.Agent] = true
		seen := looked[l.Agent]
		if l.Up && seen.up.IsZero() {
			seen.up = now
		}
		every := seen.every(l, now)
		at := seen.last.Add(every)
		if !at.After(now) {
			seen.last = now
			due = append(due, l)
			at = now.Add(every)
		}
		looked[l.Agent] = seen
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	for agent, seen := range looked {
		if !wanted[agent] && now.Sub(seen.last) > time.Minute {
			delete(looked, agent)
		}
	}
	return due, next
}

// look looks at panes and tells what differs from what is known, all of it at once so that it is one commit.
func (w *watch) look(ctx context.Context, looks []orch.Look) {
	byServer := map[string][]orch.Look{}
	for _, l := range looks {
		byServer[l.Place.Server] = append(byServer[l.Place.Server], l)
	}
	var telling sync.WaitGroup
	for server, looks := range byServer {
		for _, seen := range w.lookAt(ctx, server, looks) {
			telling.Go(func() { w.tell(ctx, seen) })
		}
	}
	telling.Wait()
}

// lookAt looks at panes of one server. One that is gone shows nothing; the bell tells of it.
func (w *watch) lookAt(ctx context.Context, identity string, looks []orch.Look) (seen []orch.ScreenSeen) {
	want, err := tmux.ParseIdentity(identity)
	if err != nil {
		return nil
	}
	panes := make([]string, 0, len(looks))
	for _, l := range looks {
		panes = append(panes, l.Place.Pane)
	}
	looked := w.now()
	views, err := tmux.At(want.Socket).Look(ctx, panes...)
	if err != nil {
		if !gone(err) && ctx.Err() == nil {
			w.log.Printf("look: %v", err)
		}
		return nil
	}
	for _, l := range looks {
		v, ok := views[l.Place.Pane]
		kind, err := hooks.Lookup(l.Kind)
		if !ok || err != nil || v.Dead || v.Server != want {
			continue
		}
		if s := screenOf(kind, v, l.Line); s.Screen != l.Last || s.Working != l.Works {
			s.Agent, s.Looked = l.Agent, looked
			seen = append(seen, s)
		}
	}
	return seen
}

// screenOf is what stands on a screen: its name, whether it shows a running turn, and what it asks. An input line
// counts as ready only while a line could be typed into it. line is one of ours that may stand in it, "" for none: an
// agent that drew late, later than its typing waited for it, shows it only now. It is no draft that would have to be
// waited out.
func screenOf(kind hooks.Kind, v tmux.View, line string) orch.ScreenSeen {
	s := kind.Look(hooksView(v))
	switch {
	case s.Name != hooks.Ready:
		return orch.ScreenSeen{Screen: s.Name, Says: s.Detail}
	case v.InMode:
		return orch.ScreenSeen{Screen: tmux.WhyCopyMode}
	case s.Popup || s.Draft != "" && !tmux.Stands(s.Draft, line):
		return orch.ScreenSeen{Screen: tmux.WhyDraft, Working: s.Working}
	}
	return orch.ScreenSeen{Screen: s.Name, Working: s.Working}
}
