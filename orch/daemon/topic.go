package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"st/orch"
)

// topics are the views that somebody watches. However many watch the same one, it is asked and encoded once
// a change; whoever is slow gets the newest and none in between.
type topics struct {
	state     func(func(orch.View))
	subscribe func() (<-chan uint64, func())

	mu   sync.Mutex
	list map[string]*topic
}

// topic is one view with its arguments, for callers who are all the same to it.
type topic struct {
	view view
	by   orch.Caller
	args json.RawMessage

	// Guarded by topics.mu.
	last    told
	readers map[chan told]struct{}
}

// told is a view's answer at one moment.
type told struct {
	data    json.RawMessage
	settled bool // nothing more will come
	err     error
}

func (t told) same(o told) bool {
	return t.settled == o.settled && bytes.Equal(t.data, o.data) && (t.err == nil) == (o.err == nil)
}

// run answers all topics anew after each change, until ctx is done.
func (ts *topics) run(ctx context.Context) {
	changed, end := ts.subscribe()
	defer end()
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
			ts.refresh()
		}
	}
}

func (ts *topics) refresh() {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for _, t := range ts.list {
		now := ts.ask(t)
		if now.same(t.last) {
			continue
		}
		t.last = now
		for c := range t.readers {
			newest(c, now)
		}
	}
}

// newest replaces what waits in a channel of size 1, unless with that the reader has all: who waits must not miss what
// somebody else has taken a moment later. Only one goroutine at a time sends.
func newest(c chan told, v told) {
	select {
	case old := <-c:
		if old.settled {
			v = old
		}
	default:
	}
	c <- v
}

func (ts *topics) ask(t *topic) (now told) {
	ts.state(func(v orch.View) {
		var info any
		if info, now.err = t.view(v, t.by, t.args); now.err != nil {
			return
		}
		now.settled = settledView(info)
		now.data, now.err = json.Marshal(info)
	})
	return now
}

// read joins a topic: the channel holds its answer at once, and each that differs from the one before.
func (ts *topics) read(name string, v view, by orch.Caller, args json.RawMessage) (<-chan told, func()) {
	key := ts.key(name, by, args)
	c := make(chan told, 1)
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t, ok := ts.list[key]
	if !ok {
		t = &topic{view: v, by: by, args: args, readers: map[chan told]struct{}{}}
		if ts.list == nil {
			ts.list = map[string]*topic{}
		}
		ts.list[key] = t
		t.last = ts.ask(t)
	}
	t.readers[c] = struct{}{}
	c <- t.last
	return c, func() { ts.leave(key, c) }
}

func (ts *topics) leave(key string, c chan told) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.list[key]
	delete(t.readers, c)
	if len(t.readers) == 0 {
		delete(ts.list, key)
	}
}

// key is equal for callers to whom a view answers the same: of their ancestry only agents count.
func (ts *topics) key(name string, by orch.Caller, args json.RawMessage) string {
	by.Chain = ts.agentLinks(by.Chain)
	by.Dir, by.Path = "", ""
	raw, err := json.Marshal(struct {
		Name string
		By   orch.Caller
		Args json.RawMessage
	}{name, by, args})
	if err != nil {
		// Arguments that are no JSON are the view's to refuse; they are equal to themselves only.
		return name + "\x00" + string(args)
	}
	return string(raw)
}

// agentLinks are the links of a chain that are an agent, or the process of an agent's pane.
func (ts *topics) agentLinks(chain []orch.Link) []orch.Link {
	var links []orch.Link
	ts.state(func(v orch.View) {
		for _, l := range chain {
			bound := false
			v.Each(orch.AtProcess(l.Process), func(orch.Entity) bool { bound = true; return false })
			if l.Kind != "" || bound {
				links = append(links, l)
			}
		}
	})
	return links
}

// watch sends a view each time it changes; wait and start end when they have nothing more to tell. wait is
// not told in between: who waits wants one answer, after the first that says what is waited for.
func (d *daemon) watch(ctx context.Context, by orch.Caller, name string, args json.RawMessage, send func(any) error) (json.RawMessage, error) {
	if name == "events" {
		return d.watchEvents(ctx, by, args, send)
	}
	v, ok := views[name]
	if !ok {
		return nil, noView(name)
	}
	if err := d.waitBegan(ctx, by, name, args); err != nil {
		return nil, err
	}
	c, leave := d.topics.read(name, v, by, args)
	defer leave()
	for first := true; ; first = false {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case now := <-c:
			if now.err != nil {
				return nil, now.err
			}
			if now.settled {
				return now.data, nil
			}
			if first || name != "wait" && name != "mailbox" {
				if err := send(now.data); err != nil {
					return nil, err
				}
			}
		}
	}
}
