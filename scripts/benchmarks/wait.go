//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"st/orch"
	"st/orch/daemon"
)

// waits measures how soon a blocked wait answers, and what it costs to be blocked.
func (b *bench) waits() (err error) {
	r, err := b.newRig()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.leave()) }()
	f, err := r.newFirer("firer")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.again(); err != nil {
		return err
	}
	if err := r.hookToWait(f); err != nil {
		return err
	}
	return r.waitCost(b.samples(200, 50), time.Duration(b.samples(20, 6))*time.Second)
}

func (r *rig) hookToWait(f *firer) error {
	poll, err := r.polled(f, r.b.samples(5, 1))
	if err != nil {
		return err
	}
	for _, waiters := range []int{1, 50, 200} {
		own, err := r.answered(f, waiters, max(r.b.samples(1200, 120)/waiters, r.b.samples(9, 3)))
		if err != nil {
			return err
		}
		name := fmt.Sprintf("hook-to-wait (%d)", waiters)
		r.b.table.ratio(name, "1 s poll", own, poll, 0.005)
		if waiters == 200 {
			best := own.best(series.p99)
			r.b.table.fact(name, "", own, "p99 "+brief(best), "p99 ≤ 3 ms", best <= 3*time.Millisecond)
		}
	}
	return nil
}

// again begins a turn, at a point from which its screen is looked at rarely.
func (f *firer) again() error {
	_, err := f.fire("UserPromptSubmit")
	if err == nil {
		_, err = f.fire("PreToolUse")
	}
	return err
}

// client is a person's who sits in the rig's pane.
func (r *rig) client() (*daemon.Client, error) {
	env := map[string]string{}
	for _, pair := range r.env {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	return daemon.Dial(r.b.ctx, r.home, daemon.FromEnv(func(name string) string { return env[name] }))
}

// fired is the time from an event to what each of so many makes of it, round after round. ask is one of them: it says when
// it has begun, and returns when it has its answer.
func (r *rig) fired(f *firer, many, rounds int, ask func(i int, begun func()) (time.Time, error)) (series, error) {
	var took series
	for range rounds {
		ends, errs := make(chan time.Time, many), make(chan error, many)
		var begun, all sync.WaitGroup
		begun.Add(many)
		for i := range many {
			all.Go(func() {
				once := sync.OnceFunc(begun.Done)
				defer once() // one that fails has begun, too
				at, err := ask(i, once)
				ends <- at
				errs <- err
			})
		}
		begun.Wait()
		at, err := f.fire("Stop")
		if err != nil {
			return nil, err
		}
		all.Wait()
		for range many {
			if err := <-errs; err != nil {
				return nil, err
			}
			took = append(took, (<-ends).Sub(at))
		}
		if err := f.again(); err != nil {
			return nil, err
		}
	}
	return took, nil
}

// answered lets waiters block on the firer's worker until its turn ends without a report.
func (r *rig) answered(f *firer, waiters, rounds int) (series, error) {
	client, err := r.client()
	if err != nil {
		return nil, err
	}
	return r.fired(f, waiters, rounds, func(_ int, begun func()) (at time.Time, err error) {
		err = client.Watch(r.b.ctx, "wait", orch.WaitArgs{Workers: []string{"firer"}}, func(raw json.RawMessage) (bool, error) {
			done := bytes.Contains(raw, []byte(`"done":true`)) // 200 of us that read all of it would be measured too
			if at = time.Now(); !done {
				begun()
			}
			return !done, nil
		})
		return at, err
	})
}

// polled is the same for twenty who ask once a second, each at another moment.
func (r *rig) polled(f *firer, rounds int) (series, error) {
	const pollers = 20
	client, err := r.client()
	if err != nil {
		return nil, err
	}
	return r.fired(f, pollers, rounds, func(i int, begun func()) (time.Time, error) {
		time.Sleep(time.Duration(i) * time.Second / pollers) // each has a moment of its own
		return pollWorker(r.b.ctx, client, begun)
	})
}

// pollWorker asks once a second until the firer's worker has ended its turn; begun is called after the first answer.
func pollWorker(ctx context.Context, client *daemon.Client, begun func()) (time.Time, error) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		var w orch.WorkerInfo
		if err := client.Get(ctx, "worker", orch.WorkerArgs{Worker: "firer"}, &w); err != nil || w.State == "no_report" {
			return time.Now(), err
		}
		begun()
		select {
		case <-tick.C:
		case <-ctx.Done():
			return time.Time{}, ctx.Err()
		}
	}
}

// waitCost compares blocked waits, and what the daemon does for them, with shell loops that look at a file. What the
// daemon does for the worker that is waited for, it does without waits too.
func (r *rig) waitCost(waiters int, length time.Duration) error {
	alone, err := r.waitersCost(0, length)
	if err != nil {
		return err
	}
	own, err := r.waitersCost(waiters, length)
	if err != nil {
		return err
	}
	loops, err := r.loopsCost(waiters, length)
	if err != nil {
		return err
	}
	own = max(own-alone, 0)
	r.b.table.fact("wait-cost", fmt.Sprintf("%d shell loops, 1 s: %.3g %% of a core", waiters, loops), nil,
		fmt.Sprintf("%d waits: %.3f %% of a core", waiters, own), "≤ 0.2 %", own <= 0.2)
	return nil
}

// percent is a time on a processor as a part of a core.
func percent(cpu, of time.Duration) float64 { return 100 * float64(cpu) / float64(of) }

func (r *rig) waitersCost(waiters int, length time.Duration) (part float64, err error) {
	d, err := r.daemon()
	if err != nil {
		return 0, err
	}
	pids := []int{d.PID}
	for range waiters {
		cmd := exec.Command(r.b.st, "worker", "wait", "firer")
		cmd.Dir, cmd.Env = r.project, r.env
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, stopChild(cmd)) }()
		pids = append(pids, cmd.Process.Pid)
	}
	if err := r.blocked(pids[1:]); err != nil {
		return 0, err
	}
	before, err := usageOf(pids...)
	if err != nil {
		return 0, err
	}
	if err := r.pause(length); err != nil {
		return 0, err
	}
	after, err := usageOf(pids...)
	if err != nil {
		return 0, err
	}
	var cpu time.Duration
	for i := range pids {
		cpu += after[i].cpu - before[i].cpu
	}
	return percent(cpu, length), nil
}

// blocked waits until none of the processes has used a processor for a second.
func (r *rig) blocked(pids []int) error {
	sum := func() (cpu time.Duration, err error) {
		all, err := usageOf(pids...)
		for _, u := range all {
			cpu += u.cpu
		}
		return cpu, err
	}
	return until(60*time.Second, "the waits block", func() (bool, error) {
		a, err := sum()
		if err != nil {
			return false, err
		}
		time.Sleep(time.Second) // what is measured is the time that passes
		b, err := sum()
		return b-a < 5*time.Millisecond, err
	})
}

// loopsCost is what the loops and all their children have used, their start included.
func (r *rig) loopsCost(loops int, length time.Duration) (float64, error) {
	file := filepath.Join(r.dir, "never")
	all := make([]*exec.Cmd, loops)
	for i := range all {
		all[i] = exec.Command("sh", "-c", `while ! test -e "$0"; do sleep 1; done`, file)
		if err := all[i].Start(); err != nil {
			return 0, err
		}
	}
	err := r.pause(length)
	err = errors.Join(err, os.WriteFile(file, nil, 0o600))
	var cpu time.Duration
	for _, cmd := range all {
		err = errors.Join(err, cmd.Wait())
		cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	return percent(cpu, length), err
}

// stopChild ends a child that waits for something that will not come.
func stopChild(cmd *exec.Cmd) error {
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) {
		return fmt.Errorf("%s: %w", cmd.Path, err)
	}
	return nil
}

// pause lets time pass: what is measured is what is used meanwhile.
func (r *rig) pause(length time.Duration) error {
	select {
	case <-time.After(length):
		return nil
	case <-r.b.ctx.Done():
		return r.b.ctx.Err()
	}
}
