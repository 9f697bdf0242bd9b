//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// idle measures what 50 workers cost that have nothing to do.
func (b *bench) idle() (err error) {
	r, err := b.newRig()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.leave()) }()
	workers, length := b.samples(50, 10), time.Minute
	if b.quick {
		length = 10 * time.Second
	}
	if err := r.settled(workers); err != nil {
		return err
	}
	daemon, err := r.daemon()
	if err != nil {
		return err
	}
	before, err := usageOf(daemon.PID, r.server.PID)
	if err != nil {
		return err
	}
	begun := time.Now()
	select {
	case <-time.After(length):
	case <-b.ctx.Done():
		return b.ctx.Err()
	}
	took := time.Since(begun)
	after, err := usageOf(daemon.PID, r.server.PID)
	if err != nil {
		return err
	}
	part := 100 * float64(after[0].cpu-before[0].cpu) / float64(took)
	forked := []string{}
	for i, who := range []string{"daemon", "tmux"} {
		if after[i].reaped != before[i].reaped || !slices.Equal(after[i].children, before[i].children) {
			forked = append(forked, who)
		}
	}
	said := "no fork"
	if len(forked) > 0 {
		said = "forked by: " + strings.Join(forked, ", ")
	}
	name := fmt.Sprintf("idle-cpu (%d workers, %s)", workers, took.Round(time.Second))
	b.table.fact(name, "", nil, fmt.Sprintf("%.3f %% of a core", part), "≤ 0.1 %", part <= 0.1)
	b.table.fact(name, "", nil, said, "no fork", len(forked) == 0)
	return nil
}

// settled starts workers that end their turn at once, some at a time, and waits until nothing about them moves.
func (r *rig) settled(workers int) error {
	task := filepath.Join(r.dir, "task.md")
	if err := os.WriteFile(task, []byte("done nothing to do\n"), 0o600); err != nil {
		return err
	}
	if _, err := r.run("orch", "start", "--objective", "be idle"); err != nil {
		return err
	}
	const atOnce = 4
	var all sync.WaitGroup
	var mu sync.Mutex
	var failed error
	gate := make(chan struct{}, atOnce)
	for i := range workers {
		all.Go(func() {
			gate <- struct{}{}
			defer func() { <-gate }()
			_, err := r.run("worker", "start", "--agent", "demo", "--name", fmt.Sprintf("idle-%d", i), "--task", task)
			mu.Lock()
			defer mu.Unlock()
			failed = errors.Join(failed, err)
		})
	}
	all.Wait()
	if failed != nil {
		return failed
	}
	if _, err := r.run("worker", "wait", "--timeout", "2m"); err != nil {
		return err
	}
	// A settled state is one thing, the last look and the last file of it another: wait for a second that costs
	// nothing more to speak of.
	daemon, err := r.daemon()
	if err != nil {
		return err
	}
	return until(30*time.Second, "the daemon comes to rest", func() (bool, error) {
		a, err := usageOf(daemon.PID, r.server.PID)
		if err != nil {
			return false, err
		}
		time.Sleep(time.Second) // what is measured is the time that passes
		b, err := usageOf(daemon.PID, r.server.PID)
		return err == nil && b[0].reaped == a[0].reaped && b[0].cpu-a[0].cpu < 5*time.Millisecond, err
	})
}

// usage is what the system counts of a process.
type usage struct {
	cpu      time.Duration // of all its threads
	reaped   int64         // page faults of children that it has waited for: a fork that is over leaves some
	children []string      // those that run
}

func usageOf(pids ...int) ([]usage, error) {
	var all []usage
	for _, pid := range pids {
		u, err := usageOne(pid)
		if err != nil {
			return nil, err
		}
		all = append(all, u)
	}
	return all, nil
}

func usageOne(pid int) (u usage, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return u, err
	}
	// The name in parentheses may hold anything; after it the fields begin with the third.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	numbers, err := ints(fields[8:9]) // the 11th: cminflt
	if err != nil {
		return u, err
	}
	u.reaped = numbers[0]
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	for _, t := range threads {
		raw, err := os.ReadFile(filepath.Join(t, "schedstat"))
		if errors.Is(err, fs.ErrNotExist) {
			continue // the thread has ended
		}
		if err != nil {
			return u, err
		}
		ns, err := ints(strings.Fields(string(raw))[:1])
		if err != nil {
			return u, err
		}
		u.cpu += time.Duration(ns[0])
		kids, err := os.ReadFile(filepath.Join(t, "children"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return u, err
		}
		u.children = append(u.children, strings.Fields(string(kids))...)
	}
	slices.Sort(u.children)
	return u, err
}
