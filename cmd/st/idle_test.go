//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// usage is what a process has used.
type usage struct {
	ticks    int // of 10 ms, in user and system mode
	children int // page faults of children that have ended: every process forked and reaped adds some
	wakes    int // of all threads
}

func usageOf(t *testing.T, pid int) (u usage) {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	f := strings.Fields(rest)
	at := func(i int) int { // as proc(5) counts the fields
		n, err := strconv.Atoi(f[i-3])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	u.ticks, u.children = at(14)+at(15), at(11)+at(13)
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid)) // the pattern is well-formed
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		for _, row := range strings.Split(string(text), "\n") {
			if n, ok := strings.CutPrefix(row, "voluntary_ctxt_switches:"); ok {
				k, _ := strconv.Atoi(strings.TrimSpace(n))
				u.wakes += k
			}
		}
	}
	return u
}

// TestFiftyIdle: while all workers are settled, the daemon sleeps and neither it nor tmux forks anything.
func TestFiftyIdle(t *testing.T) {
	beside(t)
	d := newDesk(t)
	if got := d.st("orch", "start", "--objective", "idle"); got.code != 0 {
		t.Fatal(got)
	}
	var all sync.WaitGroup
	slots := make(chan struct{}, 5)
	for i := range counted(10, 50) {
		slots <- struct{}{}
		all.Go(func() {
			name := fmt.Sprintf("i%dx", i)
			if got := d.st(d.start(name, "small", "done did "+name, "")...); got.code != 0 {
				t.Errorf("%s", got)
			}
			<-slots
		})
	}
	all.Wait()
	if got := d.st("worker", "wait", "--timeout", "120s"); got.code != 0 {
		t.Fatal(got)
	}
	daemon, server := d.daemon(), d.server.PID()
	// What follows a settled worker, such as the store's copy, is over when nothing has moved for a while.
	last := usageOf(t, daemon)
	d.await("the daemon comes to rest", func() bool {
		time.Sleep(2 * time.Second)
		now := usageOf(t, daemon)
		still := now == last
		last = now
		return still
	})
	// Go gives memory back in small steps for a while after a burst: that is not a poll, which would show in
	// every span.
	for try := 1; ; try++ {
		span := time.Duration(counted(10, 60)) * time.Second
		wakes := restFor(t, span, daemon, server)
		if wakes <= int(span.Seconds()) {
			return
		}
		if try == 3 {
			t.Fatalf("the daemon woke %d times in %v", wakes, span)
		}
	}
}

// restFor watches a daemon and a tmux server at rest: neither may fork, and the daemon may hardly use any time.
// The result is how often the daemon woke.
func restFor(t *testing.T, span time.Duration, daemon, server int) (wakes int) {
	t.Helper()
	beforeD, beforeT, kids := usageOf(t, daemon), usageOf(t, server), [][]int{children(daemon), children(server)}
	for end := time.Now().Add(span); time.Now().Before(end); time.Sleep(tick) {
		if now := [][]int{children(daemon), children(server)}; !slices.EqualFunc(now, kids, sameSet) {
			t.Fatalf("children were %v and are %v", kids, now)
		}
	}
	afterD, afterT := usageOf(t, daemon), usageOf(t, server)
	share := float64(afterD.ticks-beforeD.ticks) * 10 / float64(span.Milliseconds())
	t.Logf("%v with %d idle workers: the daemon used %.3f %% of a core and woke %d times, tmux woke %d times",
		span, counted(10, 50), 100*share, afterD.wakes-beforeD.wakes, afterT.wakes-beforeT.wakes)
	// One tick of the kernel's clock is 0.1 % of ten seconds: that one may be somebody else's.
	if share > 0.001 {
		t.Errorf("the daemon used %.3f %% of a core", 100*share)
	}
	if afterD.children != beforeD.children || afterT.children != beforeT.children {
		t.Errorf("processes were forked: daemon %+v, then %+v; tmux %+v, then %+v", beforeD, afterD, beforeT, afterT)
	}
	return afterD.wakes - beforeD.wakes
}

func sameSet(a, b []int) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}
