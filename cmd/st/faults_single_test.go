//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"st/orch"
	"st/orch/journal"
)

// TestSuspendedMachine: everything is stopped for ten seconds, in the middle of a start, of work, of a wait and of a
// watch. Afterwards all of it goes on as if nothing had been.
func TestSuspendedMachine(t *testing.T) {
	beside(t)
	d := newFaultDesk(t)
	if got := d.st("orch", "start", "--objective", "sleep"); got.code != 0 {
		t.Fatal(got)
	}
	if got := d.st(d.start("busy", "small", "sleep 1 ;; done did busy", "")...); got.code != 0 {
		t.Fatal(got)
	}
	said := make(chan said, 3)
	events := make(chan string, 1)
	go func() { said <- d.call("worker", "wait", "busy", "--timeout", "80s") }()
	go func() { said <- d.call(d.start("coming", "wide", "done did coming", "slow-mount=1")...) }()
	go func() { events <- d.call("watch", "--since", "0").out }()
	d.await("a start is under way", func() bool { return d.dispatch("r1", "coming").Started != nil })
	d.freeze(10 * time.Second)
	got := <-said
	if other := <-said; got.code != 0 || other.code != 0 {
		t.Errorf("%s%s", got, other)
	}
	if got := d.st("worker", "wait", "--timeout", "60s"); got.code != 0 {
		t.Errorf("wait: %s", got)
	}
	for _, name := range []string{"busy", "coming"} {
		w := d.worker(name)
		if n := len(d.taken(name)); n != 1 || w.Summary != "did "+name || w.Delivery != orch.Delivered {
			t.Errorf("%s: %d lines, %q, %s", name, n, w.Summary, w.Delivery)
		}
	}
	d.killVerbs(len(d.runs)) // the watch
	if text := <-events; strings.Contains(text, "gone") || !strings.Contains(text, "worker-finished") {
		t.Errorf("the watch told %s", text)
	}
}

// TestStoreCopiedWhileOpen: a copy that is taken page by page while the daemon writes is either a whole state of that
// time, or is found to be damaged, kept, and said to be lost. It never passes for another state.
func TestStoreCopiedWhileOpen(t *testing.T) {
	beside(t)
	d := newDesk(t)
	if got := d.st("orch", "start", "--objective", "run 1"); got.code != 0 {
		t.Fatal(got)
	}
	var made atomic.Int64
	made.Store(1)
	quit, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		for n := 2; ; n++ {
			select {
			case <-quit:
				return
			default:
			}
			if got := d.st("orch", "start", "--objective", fmt.Sprintf("run %d", n)); got.code != 0 {
				t.Errorf("run %d: %s", n, got)
				return
			}
			made.Store(int64(n))
		}
	}()
	whole, torn := 0, 0
	for i := range counted(6, 60) {
		least := made.Load()
		home := filepath.Join(d.server.Dir(), fmt.Sprintf("h%d", i))
		if err := copyPages(filepath.Join(d.home, journal.File), home); err != nil {
			t.Fatal(err)
		}
		most := made.Load() + 1
		other := &desk{t: t, server: d.server, bin: d.bin, home: home}
		other.setEnv()
		if other.opensCopy(least, most) {
			whole++
		} else {
			torn++
		}
		other.killDaemon()
	}
	close(quit)
	<-done
	t.Logf("%d copies were whole, %d damaged and said so, of a store with up to %d runs", whole, torn, made.Load())
	if got := len(d.runs()); int64(got) != made.Load() {
		t.Errorf("the store itself has %d runs, not %d", got, made.Load())
	}
}

// copyPages copies a store as a slow program would, one page after another.
func copyPages(from, home string) error {
	if err := os.Mkdir(home, 0o700); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(filepath.Join(home, journal.File), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	page := make([]byte, 4096)
	for {
		n, err := in.Read(page)
		if n == 0 {
			return out.Close()
		}
		if _, err := out.Write(page[:n]); err != nil {
			return err
		}
		if err != nil {
			return err
		}
		time.Sleep(3 * time.Millisecond) // so that the daemon writes in between
	}
}

// runs are the objectives of all runs, in their order.
func (d *desk) runs() (list []string) {
	var all struct{ Runs []orch.RunInfo }
	if got := d.st("orch", "ls", "--all", "--json"); got.code != 0 || got.read(&all) != nil {
		d.t.Errorf("%s", got)
	}
	for _, r := range all.Runs {
		list = append(list, r.Objective)
	}
	slices.SortFunc(list, func(a, b string) int { return len(a) - len(b) })
	return list
}

// opensCopy opens a copy by a daemon of its own: true where it is a whole state between two, false where the daemon
// says that it was damaged.
func (d *desk) opensCopy(least, most int64) bool {
	runs := d.runs()
	var status orch.StatusInfo
	if got := d.st("status", "--json"); got.read(&status) != nil {
		d.t.Errorf("%s", got)
	}
	aside, err := filepath.Glob(filepath.Join(d.home, journal.File+".corrupt-*"))
	if err != nil {
		d.t.Error(err)
	}
	if status.Store != "ok" {
		if len(aside) != 1 {
			d.t.Errorf("store %q, set aside %v", status.Store, aside)
		}
		return false
	}
	n := int64(len(runs))
	if n < least || n > most || len(aside) > 0 {
		d.t.Errorf("the copy has %d runs, of %d to %d, and says nothing; set aside %v", n, least, most, aside)
	}
	for i := range n {
		if want := fmt.Sprintf("run %d", i+1); !slices.Contains(runs, want) {
			d.t.Errorf("the copy lacks %s", want)
		}
	}
	return true
}

// TestOldAndNewTogether: two programs share a home, and the newer one speaks a protocol that the older does not know. The
// daemon goes over to the newer one, once, whoever speaks then; the agents that the older one has started go on.
func TestOldAndNewTogether(t *testing.T) {
	beside(t)
	d := newFaultDesk(t)
	newer := filepath.Join(d.server.Dir(), "newer", "st")
	if err := errors.Join(os.MkdirAll(filepath.Join(filepath.Dir(newer), "faults"), 0o700), os.Link(d.bin, newer),
		os.WriteFile(filepath.Join(filepath.Dir(newer), "faults", "protocol"), []byte("99"), 0o600)); err != nil {
		t.Fatal(err)
	}
	next := &desk{t: t, server: d.server, bin: newer, home: d.home}
	next.setEnv()
	if got := d.st("orch", "start", "--objective", "both"); got.code != 0 {
		t.Fatal(got)
	}
	if got := d.st(d.start("old", "small", "sleep 2 ;; done did old", "")...); got.code != 0 {
		t.Fatal(got)
	}
	first := d.daemon()
	if got := next.st(d.start("new", "wide", "sleep 1 ;; done did new", "")...); got.code != 0 {
		t.Fatal(got)
	}
	second := d.daemon()
	if first == second {
		t.Errorf("the daemon did not go over: it is still %d", first)
	}
	for _, desk := range []*desk{d.desk, next, d.desk} {
		if got := desk.st("worker", "ls"); got.code != 0 || d.daemon() != second {
			t.Errorf("daemon %d, not %d: %s", d.daemon(), second, got)
		}
	}
	if got := d.st("worker", "wait", "--timeout", "60s"); got.code != 0 {
		t.Errorf("wait: %s", got)
	}
	d.killDaemon()
	for _, name := range []string{"old", "new"} { // the older program calls a daemon of its own
		w := d.worker(name)
		if n := len(d.taken(name)); n != 1 || w.State != "finished" || w.Summary != "did "+name {
			t.Errorf("%s: %d lines, %s, %q", name, n, w.State, w.Summary)
		}
	}
	third := d.daemon()
	if got := next.st("orch", "end", "--close"); got.code != 0 || d.daemon() == third {
		t.Errorf("the daemon did not go over again: %s", got)
	}
}
