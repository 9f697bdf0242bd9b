package tmux

import (
	"context"
	"sync"
)

// paneLocks keep writers of one pane apart: keys of two of them would interleave. Handles are cheap and many,
// so the locks belong to the process.
var paneLocks = struct {
	sync.Mutex
	held map[string]*paneLock
}{held: map[string]*paneLock{}}

type paneLock struct {
	free  chan struct{} // holds one token while nobody writes
	users int
}

// lockPane waits for its turn; ok is false where ctx ended first.
func lockPane(ctx context.Context, pane string) (unlock func(), ok bool) {
	l := joinLock(pane)
	select {
	case <-l.free:
		return func() {
			l.free <- struct{}{}
			leaveLock(pane, l)
		}, true
	case <-ctx.Done():
		leaveLock(pane, l)
		return nil, false
	}
}

func joinLock(pane string) *paneLock {
	paneLocks.Lock()
	defer paneLocks.Unlock()
	l := paneLocks.held[pane]
	if l == nil {
		l = &paneLock{free: make(chan struct{}, 1)}
		l.free <- struct{}{}
		paneLocks.held[pane] = l
	}
	l.users++
	return l
}

func leaveLock(pane string, l *paneLock) {
	paneLocks.Lock()
	defer paneLocks.Unlock()
	if l.users--; l.users == 0 {
		delete(paneLocks.held, pane)
	}
}
