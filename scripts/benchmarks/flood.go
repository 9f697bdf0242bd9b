//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"st/orch/proc"
	"st/orch/proc/proctest"
)

// flood lets four panes print all at once: of workers that are at work, with their daemon and while that stands still,
// and of the same agents on a server of which no daemon knows.
func (b *bench) flood() (err error) {
	with, err := b.newRig()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, with.leave()) }()
	without, err := b.newRig()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, without.leave()) }()
	const agents = 4
	task := filepath.Join(with.dir, "task.md")
	if err := os.WriteFile(task, []byte("sleep 3600\n"), 0o600); err != nil {
		return err
	}
	for i := range agents {
		if _, err := with.run("worker", "start", "--agent", "demo", "--name", fmt.Sprint("flood-", i), "--task", task); err != nil {
			return err
		}
		if _, err := without.window(without.byHand("", "sleep 3600")...); err != nil {
			return err
		}
	}
	attached, err := with.ttys(agents)
	if err != nil {
		return err
	}
	alone, err := without.ttys(agents)
	if err != nil {
		return err
	}
	daemon, err := with.daemon()
	if err != nil {
		return err
	}
	got, err := interleave(b.samples(100, 5),
		timed("with", func() error { return printAll(attached) }),
		way{"stopped", func() (took time.Duration, err error) {
			if err := proctest.Stop(daemon.PID); err != nil {
				return 0, err
			}
			defer func() { err = errors.Join(err, proc.Signal(daemon, syscall.SIGCONT)) }()
			begun := time.Now()
			err = printAll(attached)
			return time.Since(begun), err
		}},
		timed("without", func() error { return printAll(alone) }))
	if err != nil {
		return err
	}
	b.table.ratio("flood", "without st", got["with"], got["without"], 1.15)
	stopped, longest := got["stopped"].at(1), got["without"].at(1)
	b.table.fact("flood (daemon stopped)", "without st: longest "+brief(longest), got["stopped"], "longest "+brief(stopped), "never a stall: ≤ 2 × the longest", stopped <= 2*longest)
	return nil
}

// ttys are the terminals of the newest panes.
func (r *rig) ttys(n int) ([]string, error) {
	var list []string
	out, err := r.tmux("list-panes", "-a", "-F", "#{pane_tty}")
	if err != nil {
		return nil, err
	}
	for _, tty := range bytes.Fields(out) {
		list = append(list, string(tty))
	}
	if len(list) <= n {
		return nil, fmt.Errorf("there are only %d panes", len(list))
	}
	return list[len(list)-n:], nil
}

// floodLines is how many lines all panes print together.
const floodLines = 300_000

// printAll writes to all terminals at once, until tmux has read all of it.
func printAll(ttys []string) error {
	var all sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for _, tty := range ttys {
		all.Go(func() {
			err := printOne(tty, floodLines/len(ttys))
			mu.Lock()
			defer mu.Unlock()
			failed = errors.Join(failed, err)
		})
	}
	all.Wait()
	return failed
}

func printOne(tty string, lines int) (err error) {
	f, err := os.OpenFile(tty, os.O_WRONLY|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	const atOnce = 100
	text := bytes.Repeat([]byte("a line of output\r\n"), atOnce)
	for range lines / atOnce {
		if _, err := f.Write(text); err != nil {
			return err
		}
	}
	return unix.IoctlSetInt(int(f.Fd()), unix.TCSBRK, 1) // tcdrain
}
