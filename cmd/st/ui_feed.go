package main

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"st/orch"
	"st/orch/daemon"
)

// uiPace is the least time between two states that are taken from the daemon: of a burst the newest is enough.
const uiPace = 100 * time.Millisecond

// feed follows the tree and hands each state on as a message.
type feed struct {
	call    *call
	client  *daemon.Client
	send    func(any)
	ctx     context.Context
	turn    int // counts follow: what an older one still brings is dropped
	end     context.CancelFunc
	running sync.WaitGroup
}

// What a feed brings.
type (
	treesMsg struct {
		turn  int
		trees []orch.TreeInfo
	}
	// linkMsg says how it stands with the daemon: away, or back.
	linkMsg struct{ away bool }
	// faultMsg is a refusal after which there is nothing to follow.
	faultMsg struct{ err error }
)

func newFeed(c *call, client *daemon.Client) *feed { return &feed{call: c, client: client} }

// start begins to follow the open runs, until ctx ends.
func (f *feed) start(ctx context.Context, send func(any)) {
	f.ctx, f.send = ctx, send
	f.follow(false)
}

// follow follows the open runs, or with all also what has ended, and answers the number of its messages. Only one
// goroutine may call it.
func (f *feed) follow(all bool) int {
	if f.end != nil {
		f.end()
	}
	f.turn++
	ctx, cancel := context.WithCancel(f.ctx)
	f.end = cancel
	turn, client := f.turn, f.client
	f.running.Go(func() {
		defer cancel()
		if err := f.stay(ctx, client, turn, all); err != nil && ctx.Err() == nil {
			f.send(faultMsg{err})
		}
	})
	return f.turn
}

// stay follows until ctx ends, over all ends of the daemon.
func (f *feed) stay(ctx context.Context, client *daemon.Client, turn int, all bool) error {
	for {
		err := f.read(ctx, client, turn, all)
		var e *orch.Error
		if ctx.Err() != nil || err != nil && (!errors.As(err, &e) || e.Code != "daemon_unreachable") {
			return err
		}
		f.send(linkMsg{away: true})
		if client, err = f.call.reconnect(ctx, client.Home()); err != nil {
			return err
		}
		f.send(linkMsg{})
	}
}

// read hands on the newest state, at the pace that is set, until the daemon goes away.
func (f *feed) read(ctx context.Context, client *daemon.Client, turn int, all bool) error {
	ctx, cancel := context.WithCancel(ctx)
	newest := make(chan json.RawMessage, 1)
	fault := make(chan error, 1)
	var pacing sync.WaitGroup
	pacing.Go(func() { fault <- f.pace(ctx, newest, turn) })
	err := client.Watch(ctx, "tree", orch.ListArgs{All: all, Brief: true}, func(raw json.RawMessage) (bool, error) {
		replace(newest, raw)
		return len(fault) == 0, nil
	})
	cancel()
	pacing.Wait()
	return errors.Join(<-fault, err)
}

// replace puts the newest in the place of what nobody has taken. Only one goroutine may send.
func replace(c chan json.RawMessage, raw json.RawMessage) {
	select {
	case <-c:
	default:
	}
	c <- raw
}

// pace decodes and hands on, with a rest after each.
func (f *feed) pace(ctx context.Context, newest <-chan json.RawMessage, turn int) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case raw := <-newest:
			var trees []orch.TreeInfo
			if err := json.Unmarshal(raw, &trees); err != nil {
				return err
			}
			f.send(treesMsg{turn, inRow(trees)})
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(uiPace):
		}
	}
}
