//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"st/orch/proc"
)

// exitDetect measures from the end of a pane's process to the call that tells it, beside a hook of tmux that runs a
// shell for the same end, and beside who asks once a second.
func (b *bench) exitDetect() (err error) {
	r, err := b.newRig()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.leave()) }()
	w, err := proc.NewWatcher()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	hook, err := r.exitHook()
	if err != nil {
		return err
	}
	defer hook.Close()
	var own, shell series
	n, missed := b.samples(500, 60), 0
	for range n {
		told, rung, err := r.endSeen(w, hook)
		if err != nil {
			return err
		}
		if shell = append(shell, rung); told == 0 {
			missed++
			continue
		}
		own = append(own, told)
	}
	poll, err := r.endsPolled(b.samples(5, 1))
	if err != nil {
		return err
	}
	best := own.best(series.p50)
	b.table.fact("exit-detect", "", own, fmt.Sprintf("%s, %d of %d missed", brief(best), missed, n), "≤ 1.5 ms, none missed",
		best <= 1500*time.Microsecond && missed == 0)
	b.table.ratio("exit-detect", "run-shell hook", own, shell, 1)
	b.table.ratio("exit-detect", "1 s poll", own, poll, 1)
	return nil
}

// exitHook hangs a hook that writes a line into a pipe for each pane that ends.
func (r *rig) exitHook() (*os.File, error) {
	fifo := filepath.Join(r.dir, "ended")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		return nil, err
	}
	pipe, err := os.OpenFile(fifo, os.O_RDWR, 0) // both ends, so that neither waits for the other
	if err != nil {
		return nil, err
	}
	out, err := r.tmux("set-hook", "-g", "pane-exited", "run-shell 'echo >"+fifo+"'")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("tmux set-hook: %w: %s", err, out), pipe.Close())
	}
	return pipe, nil
}

// tmux runs one tmux process on the rig's server.
func (r *rig) tmux(args ...string) ([]byte, error) {
	cmd := exec.Command("tmux", append([]string{"-u", "-S", r.socket}, args...)...)
	cmd.Env = r.env
	return cmd.Output()
}

// endSeen ends a pane's process; told is 0 where the watcher told nothing within two seconds.
func (r *rig) endSeen(w *proc.Watcher, hook *os.File) (told, rung time.Duration, err error) {
	p, err := r.pane()
	if err != nil {
		return 0, 0, err
	}
	tells := make(chan time.Time, 1)
	if err := w.Watch(p, func() { tells <- time.Now() }); err != nil {
		return 0, 0, err
	}
	if err := hook.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return 0, 0, err
	}
	begun := time.Now()
	if err := proc.Signal(p, syscall.SIGKILL); err != nil {
		return 0, 0, err
	}
	if _, err := hook.Read(make([]byte, 1)); err != nil {
		return 0, 0, err
	}
	rung = time.Since(begun)
	select {
	case at := <-tells:
		told = at.Sub(begun)
	case <-time.After(2 * time.Second):
	}
	return told, rung, nil
}

// pane opens a window and returns the process in it.
func (r *rig) pane() (proc.Process, error) {
	pid, err := r.window("cat")
	if err != nil {
		return proc.Process{}, err
	}
	return proc.Of(pid)
}

// endsPolled ends the processes of twenty panes, spread over a second, beside somebody who lists panes once a second.
func (r *rig) endsPolled(rounds int) (series, error) {
	const panes = 20
	var seen series
	for range rounds {
		ended := map[int]time.Time{}
		var all []proc.Process
		for range panes {
			p, err := r.pane()
			if err != nil {
				return nil, err
			}
			all = append(all, p)
		}
		tick, end := time.NewTicker(time.Second), time.NewTicker(time.Second/panes)
		for len(all) > 0 || len(ended) > 0 {
			select {
			case <-end.C:
				if len(all) == 0 {
					continue
				}
				ended[all[0].PID] = time.Now()
				if err := proc.Signal(all[0], syscall.SIGKILL); err != nil {
					return nil, err
				}
				all = all[1:]
			case <-tick.C:
				out, err := r.tmux("list-panes", "-a", "-F", "#{pane_pid}")
				if err != nil {
					return nil, err
				}
				there := " " + strings.Join(strings.Fields(string(out)), " ") + " "
				for pid, at := range ended {
					if !strings.Contains(there, " "+strconv.Itoa(pid)+" ") {
						seen = append(seen, time.Since(at))
						delete(ended, pid)
					}
				}
			}
		}
		tick.Stop()
		end.Stop()
	}
	return seen, nil
}
