package daemon

import (
	"context"
	"errors"
	"io"
	"log"
	"sync"
	"testing"
	"time"

	"st/orch"
)

// lone is a state with one agent in it.
type lone struct{ agent orch.Agent }

func (l lone) Entity(key string) orch.Entity {
	if key == l.agent.Key() {
		return l.agent
	}
	return nil
}

func (l lone) Each(shelf string, f func(orch.Entity) bool) {
	if orch.OnShelf(l.agent, shelf) {
		f(l.agent)
	}
}

// An agent ends while the disk is full: its end is told again until it is taken, and then no more.
func TestEndIsToldAgainWhileTheStoreIsFull(t *testing.T) {
	place := orch.Place{Server: "/tmp/s|1|2", Pane: "%1"}
	state := lone{orch.Agent{ID: "a1", Place: place}}
	var why []string
	var mu sync.Mutex // the end is told again beside whoever saw it
	w := &watch{
		state: func(f func(orch.View)) { mu.Lock(); is := state; mu.Unlock(); f(is) }, now: time.Now, log: log.New(io.Discard, "", 0),
		layouts: &layouts{dir: t.TempDir(), now: time.Now, log: log.New(io.Discard, "", 0)},
		do: func(_ context.Context, in orch.Input) (any, error) {
			mu.Lock()
			defer mu.Unlock()
			why = append(why, in.What.(orch.AgentExited).Why)
			if len(why) == 1 {
				return nil, &StoreError{Err: errors.New("no space left on device")}
			}
			state.agent.Gone = "gone"
			return nil, nil
		},
	}
	w.serverGone(context.Background(), place.Server)
	w.running.Wait()
	w.after(context.Background(), 0, "a1", orch.AgentExited{Agent: "a1", Why: "exited"})
	w.running.Wait()
	if len(why) != 2 || why[0] != "server_gone" || why[1] != "server_gone" {
		t.Errorf("told: %q", why)
	}
}
