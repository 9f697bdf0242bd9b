//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// idle measures what workers cost that have nothing to do: 100 of them, and the daemon's memory at 10, 100 and 400.
func (b *bench) idle() (err error) {
	r, err := b.newRig()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.leave()) }()
	if _, err := r.run("orch", "start", "--objective", "be idle"); err != nil {
		return err
	}
	if err := r.memory(10, 20); err != nil {
		return err
	}
	some := b.samples(100, 20)
	if err := r.memory(some, 25); err != nil {
		return err
	}
	if err := r.idleCPU(some, time.Duration(b.samples(60, 8))*time.Second); err != nil {
		return err
	}
	if b.quick {
		return nil
	}
	return r.memory(400, 40)
}

// memory starts workers until there are so many, and weighs the daemon.
func (r *rig) memory(workers int, most float64) error {
	if err := r.settled(workers); err != nil {
		return err
	}
	daemon, err := r.daemon()
	if err != nil {
		return err
	}
	mb, err := resident(daemon.PID)
	if err != nil {
		return err
	}
	r.b.table.fact(fmt.Sprintf("memory (%d)", workers), "", nil, fmt.Sprintf("%.1f MB", mb), fmt.Sprintf("≤ %g MB", most), mb <= most)
	return nil
}

// resident is how many MB of memory a process has.
func resident(pid int) (float64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(raw), "VmRSS:")
	var kb float64
	_, err = fmt.Sscan(rest, &kb)
	return kb / 1024, err
}

func (r *rig) idleCPU(workers int, length time.Duration) error {
	daemon, err := r.daemon()
	if err != nil {
		return err
	}
	name := fmt.Sprintf("idle-cpu-100 (%d, %s)", workers, length)
	own, forked := 100.0, []string{}
	for range 3 { // the best of three
		part, forks, err := r.idleOnce(daemon.PID, length/3)
		if err != nil {
			return err
		}
		own, forked = min(own, part), append(forked, forks...)
	}
	said := "no fork"
	if len(forked) > 0 {
		said = "forked by: " + strings.Join(forked, ", ")
	}
	r.b.table.fact(name, "", nil, fmt.Sprintf("%.3f %% of a core", own), "≤ 0.05 %", own <= 0.05)
	r.b.table.fact(name, "", nil, said, "no fork while settled", len(forked) == 0)
	for _, peer := range []struct {
		name string
		each bool
		most float64
	}{{"1 s list-panes", false, 1}, {"1 s capture-pane each", true, 0.01}} {
		part, err := r.asking(length/3, peer.each)
		if err != nil {
			return err
		}
		r.b.table.share(name, peer.name, own, part, fmt.Sprintf("%.3f %% beside %.3g %%", own, part), peer.most)
	}
	return nil
}

func (r *rig) idleOnce(daemon int, length time.Duration) (part float64, forked []string, err error) {
	before, err := usageOf(daemon, r.server.PID)
	if err != nil {
		return 0, nil, err
	}
	begun := time.Now()
	if err := r.pause(length); err != nil {
		return 0, nil, err
	}
	took := time.Since(begun)
	after, err := usageOf(daemon, r.server.PID)
	if err != nil {
		return 0, nil, err
	}
	for i, who := range []string{"daemon", "tmux"} {
		if after[i].reaped != before[i].reaped || !slices.Equal(after[i].children, before[i].children) {
			forked = append(forked, who)
		}
	}
	return percent(after[0].cpu-before[0].cpu, took), forked, nil
}

// asking is what it costs to list the panes once a second, or also to look at each by a process of its own: the part of
// a core that the processes and the server use for it.
func (r *rig) asking(length time.Duration, each bool) (float64, error) {
	before, err := usageOf(r.server.PID)
	if err != nil {
		return 0, err
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var cpu time.Duration
	ask := func(args ...string) ([]byte, error) {
		cmd := exec.Command("tmux", append([]string{"-S", r.socket}, args...)...)
		out, err := cmd.Output()
		if err == nil {
			cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		}
		return out, err
	}
	begun := time.Now()
	for time.Since(begun) < length {
		out, err := ask("list-panes", "-a", "-F", "#{pane_id}")
		if err != nil {
			return 0, err
		}
		for _, pane := range strings.Fields(string(out)) {
			if !each {
				break
			}
			if _, err := ask("capture-pane", "-p", "-t", pane); err != nil {
				return 0, err
			}
		}
		select {
		case <-tick.C:
		case <-r.b.ctx.Done():
			return 0, r.b.ctx.Err()
		}
	}
	after, err := usageOf(r.server.PID)
	if err != nil {
		return 0, err
	}
	return percent(cpu+after[0].cpu-before[0].cpu, time.Since(begun)), nil
}

// settled starts workers that end their turn at once, some at a time, until there are so many, and waits until nothing
// about them moves.
func (r *rig) settled(workers int) error {
	task := filepath.Join(r.dir, "task.md")
	if err := os.WriteFile(task, []byte("done nothing to do\n"), 0o600); err != nil {
		return err
	}
	const atOnce = 4
	var all sync.WaitGroup
	var mu sync.Mutex
	var failed error
	gate := make(chan struct{}, atOnce)
	for ; r.workers < workers; r.workers++ {
		name := fmt.Sprintf("idle-%d", r.workers)
		all.Go(func() {
			gate <- struct{}{}
			defer func() { <-gate }()
			_, err := r.run("worker", "start", "--agent", "demo", "--name", name, "--task", task)
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
	return r.rest()
}

// rest waits until the daemon has come to rest. A settled state is one thing, the last look and the last file of it
// another: it waits for a second that costs nothing more to speak of.
func (r *rig) rest() error {
	daemon, err := r.daemon()
	if err != nil {
		return err
	}
	return until(60*time.Second, "the daemon comes to rest", func() (bool, error) {
		a, err := usageOf(daemon.PID)
		if err != nil {
			return false, err
		}
		time.Sleep(time.Second) // what is measured is the time that passes
		b, err := usageOf(daemon.PID)
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
