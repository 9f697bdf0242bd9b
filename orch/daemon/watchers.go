package daemon

import "sync"

// watchers are those who want to know that the state has changed.
type watchers struct {
	mu    sync.Mutex
	count uint64
	list  map[chan uint64]struct{}
}

func (w *watchers) add() (<-chan uint64, func()) {
	c := make(chan uint64, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.list == nil {
		w.list = map[chan uint64]struct{}{}
	}
	w.list[c] = struct{}{}
	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.list, c)
	}
}

// tell replaces what waits in each channel by the newest count. Only tell sends, under the lock, so the
// send after the drain always has room.
func (w *watchers) tell() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count++
	for c := range w.list {
		select {
		case <-c:
		default:
		}
		c <- w.count
	}
}
