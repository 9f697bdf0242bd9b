//go:build linux

package main

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"st/tmux"
)

// open measures windows that are opened one after the other's order, as many workers are, beside a process for each
// step of each window.
func (b *bench) open() (err error) {
	r, err := b.newRig()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.leave()) }()
	for _, n := range []int{100, 400} {
		if b.quick {
			n = min(n, 100)
		}
		own, err := r.opened("st", n, r.openAll)
		if err != nil {
			return err
		}
		execs, err := r.opened("execs", n, r.openByExecs)
		if err != nil {
			return err
		}
		b.table.ratio(fmt.Sprintf("open-%d", n), "one new-window each", own, execs, 0.7)
		if b.quick {
			return nil
		}
	}
	return nil
}

// opened opens n windows in a session of their own, several times, and says how long one took in each.
func (r *rig) opened(session string, n int, open func(session string, n int) error) (series, error) {
	var took series
	for range r.b.samples(3, 2) {
		pane, err := tmux.At(r.socket).NewSession(r.b.ctx, session, r.project, []string{"/bin/cat"}, nil)
		if err != nil {
			return nil, err
		}
		begun := time.Now()
		if err := open(pane.Session, n); err != nil {
			return nil, err
		}
		took = append(took, time.Since(begun)/time.Duration(n))
		if out, err := r.tmux("kill-session", "-t", session); err != nil {
			return nil, fmt.Errorf("tmux kill-session: %w: %s", err, out)
		}
	}
	return took, nil
}

// openAll opens them as the daemon does: each order in a goroutine of its own.
func (r *rig) openAll(session string, n int) error {
	var all sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for i := range n {
		all.Go(func() {
			_, err := tmux.At(r.socket).Open(r.b.ctx, tmux.Open{
				Session: session, Name: fmt.Sprint("w", i), Dir: r.project, Tag: fmt.Sprint("bench:w", i), Argv: []string{"/bin/cat", "-"},
			})
			mu.Lock()
			defer mu.Unlock()
			failed = errors.Join(failed, err)
		})
	}
	all.Wait()
	return failed
}

func (r *rig) openByExecs(session string, n int) error {
	for i := range n {
		out, err := r.tmux("new-window", "-d", "-t", session+":", "-c", r.project, "-n", fmt.Sprint("w", i), "--", "/bin/cat", "-")
		if err != nil {
			return fmt.Errorf("tmux new-window: %w: %s", err, out)
		}
	}
	return nil
}
