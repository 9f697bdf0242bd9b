//go:build linux

package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"st/orch"
)

// TestThirtyStarts: of thirty starts at once five have a window at any time, the others get theirs in the order in
// which they were asked for, and none twice, though the daemon is killed under them again and again.
func TestThirtyStarts(t *testing.T) {
	beside(t)
	const starts, most = 30, 5
	d := newDesk(t)
	r := seed(t)
	d.configure(fmt.Sprintf("max_workers = %d\n", most))
	if got := d.st("orch", "start", "--objective", "thirty"); got.code != 0 {
		t.Fatal(got)
	}
	var all sync.WaitGroup
	queued := make([]bool, starts) // told that it waits
	for i := range starts {
		name := fmt.Sprintf("q%dx", i)
		all.Go(func() {
			got := d.st(d.start(name, "small", "run until test -e go; do sleep 0.05; done ;; sleep 0.5 ;; done did "+name, "")...)
			if got.code != 0 {
				t.Errorf("%s: %s", name, got)
			}
			queued[i] = strings.Contains(got.err, "(max_workers = 5)")
		})
	}
	d.await("all starts are taken", func() bool { return len(d.runFile("r1").Dispatches) == starts })
	for i := range counted(3, 12) {
		if i == 1 { // until now nobody ends, however slow the machine is
			if err := os.WriteFile(filepath.Join(d.server.Dir(), "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		d.killDaemon()
		d.atMost(most)
		time.Sleep(time.Duration(r.IntN(700)) * time.Millisecond) // chance, not a condition: any moment will do
	}
	all.Wait()
	if got := d.st("worker", "wait", "--timeout", "90s"); got.code != 0 {
		t.Errorf("wait: %s", got)
	}
	for i := range starts {
		name := fmt.Sprintf("q%dx", i)
		if w, n := d.windows(name), len(d.submitted(name)); w != 1 || n != 1 {
			t.Errorf("%s: %d windows, %d lines", name, w, n)
		}
		if waited := d.dispatch("r1", name).Queued != nil; queued[i] != waited {
			t.Errorf("%s: waited %v, was told so %v", name, waited, queued[i])
		}
	}
	d.holdQueue(starts, most)
}

func (d *desk) configure(text string) {
	if err := os.MkdirAll(d.home, 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.home, "config.toml"), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// atMost looks how many workers have a window and are not settled.
func (d *desk) atMost(most int) {
	var list struct{ Workers []orch.WorkerInfo }
	if got := d.st("worker", "ls", "--json"); got.read(&list) != nil || len(list.Workers) == 0 {
		d.t.Errorf("worker ls: %s", got)
	}
	n := 0
	for _, w := range list.Workers {
		if !w.Settled && w.Queued == 0 {
			n++
		}
	}
	if n > most {
		d.t.Errorf("%d workers are unsettled at once: %+v", n, list.Workers)
	}
}

// holdQueue holds that windows came in the order of the starts, and never more than most workers at once were between
// their order and their end.
func (d *desk) holdQueue(starts, most int) {
	all := d.runFile("r1").Dispatches
	slices.SortFunc(all, func(a, b orch.RunDispatch) int { return cmp.Compare(number(a.ID), number(b.ID)) })
	waited := 0
	var last time.Time
	for i, e := range all {
		if e.Finished == nil || e.Opened == nil {
			d.t.Errorf("%s: opened %v, finished %v", e.ID, e.Opened, e.Finished)
			continue
		}
		if e.Ordered != nil {
			waited++
			if e.Ordered.Before(last) {
				d.t.Errorf("%s came out of the line before one that was asked for earlier", e.ID)
			}
			last = *e.Ordered
		}
		at := from(e)
		beside := 0
		for _, o := range all[:i] {
			if o.Finished == nil || o.Finished.After(at) {
				beside++
			}
		}
		if beside >= most {
			d.t.Errorf("%s was let in beside %d others", e.ID, beside)
		}
	}
	d.t.Logf("%d of %d waited in line", waited, len(all))
	if d.t.Failed() {
		d.t.Log(d.st("log", "r1", "--types", "session-missing,session-returned,window-opened,worker-finished"))
	}
	if len(all) != starts || waited < starts/2 {
		d.t.Errorf("%d dispatches, %d waited", len(all), waited)
	}
}

// from is when a start took its place.
func from(e orch.RunDispatch) time.Time {
	if e.Ordered != nil {
		return *e.Ordered
	}
	return e.Created
}

func number(id string) int {
	n, err := strconv.Atoi(id[1:])
	if err != nil {
		panic(err)
	}
	return n
}
