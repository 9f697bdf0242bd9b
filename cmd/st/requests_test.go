//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"st/orch"
)

// asked is one start with a request id, called again and again until it is answered.
type asked struct {
	d       *desk
	request string
	calls   int
	cut     int // calls that were killed themselves
	got     said
	info    orch.StartInfo
}

func (a *asked) args() []string {
	return []string{"worker", "start", "--agent", "demo", "--session", "wide", "--prompt", "done did " + a.request, "--request", a.request,
		"--arg", "--log", "--arg", a.d.log(a.request), "--json"}
}

// until calls the start until a call has lived to answer. lives says how long a call is let live, 0 for as long as it
// likes.
func (a *asked) until(lives func() time.Duration) error {
	for end := time.Now().Add(patience); time.Now().Before(end); {
		a.calls++
		if limit := lives(); limit > 0 {
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			cmd := exec.CommandContext(ctx, a.d.bin, a.args()...)
			cmd.Dir, cmd.Env = a.d.server.Dir(), a.d.env
			err := cmd.Run()
			cancel()
			if errors.Is(err, context.DeadlineExceeded) {
				continue // its time was over before it had begun
			}
			if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
				return err
			}
			a.cut++
			continue // whatever it said, nobody has heard it
		}
		if a.got = a.d.st(a.args()...); a.got.code != exitUnreachable {
			return a.got.read(&a.info)
		}
	}
	return fmt.Errorf("no answer after %d calls: %s", a.calls, a.got)
}

// crashes kills the daemon now and then until stop is closed, most times at all, and counts how often. On a machine so
// slow that a start outlasts a daemon's life, nothing would ever be done if it went on.
func (d *desk) crashes(r *rand.Rand, most int, stop <-chan struct{}) (n int) {
	for n < most {
		select {
		case <-stop:
			return n
		case <-time.After(time.Duration(50+r.IntN(1500)) * time.Millisecond): // chance, not a condition
		}
		if pid := d.daemon(); pid != 0 && syscall.Kill(pid, syscall.SIGKILL) == nil {
			n++
		}
	}
	<-stop
	return n
}

// TestRequestsOutliveCrashes: of thirty starts, each called until it is answered while daemon and calls are killed at
// any time, each makes one worker, with one line in one window.
func TestRequestsOutliveCrashes(t *testing.T) {
	beside(t)
	d := newDesk(t)
	r := seed(t)
	const starts = 30
	var all sync.WaitGroup
	var mu sync.Mutex
	lives := func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		if r.IntN(3) > 0 {
			return 0
		}
		return time.Duration(1+r.IntN(800)) * time.Millisecond
	}
	if got := d.st("orch", "start", "--objective", "crashes", "--request", "the-run"); got.code != 0 {
		t.Fatal(got)
	}
	list := make([]*asked, starts)
	slots := make(chan struct{}, 4)
	stop, crashed := make(chan struct{}), make(chan int)
	chance := rand.New(rand.NewPCG(r.Uint64(), 2))
	go func() { crashed <- d.crashes(chance, 3*starts, stop) }()
	for i := range list {
		list[i] = &asked{d: d, request: fmt.Sprintf("start-%d", i)}
		slots <- struct{}{}
		all.Go(func() {
			if err := list[i].until(lives); err != nil {
				t.Errorf("%s: %v", list[i].request, err)
			}
			<-slots
		})
	}
	all.Wait()
	close(stop)
	kills := <-crashed
	wait := d.st("worker", "wait", "--timeout", "60s")
	honest := judgeAsked(d, list)
	if wait.code != 0 && honest == 0 {
		t.Errorf("wait: %s", wait)
	}
	calls, cut := 0, 0
	for _, a := range list {
		calls, cut = calls+a.calls, cut+a.cut
	}
	t.Logf("%d starts, %d calls, %d of them killed, %d daemons killed, %d deliveries unknown", starts, calls, cut, kills, honest)
}

// lines are the task lines that the worker took; one that was long without a daemon may have been reminded besides.
func (a *asked) lines() (list []jotted) {
	for _, j := range a.d.submitted(a.request) {
		if strings.HasPrefix(j.Text, "Your task is in this file") {
			list = append(list, j)
		}
	}
	return list
}

// judgeAsked wants one worker for each request, and each worker for one. It counts those of which it is honestly said
// that nothing can tell whether they have their task: Enter may have been pressed when the daemon was killed.
func judgeAsked(d *desk, list []*asked) (honest int) {
	var ls struct{ Workers []orch.WorkerInfo }
	if got := d.st("worker", "ls", "--all", "--json"); got.read(&ls) != nil || len(ls.Workers) != len(list) {
		d.t.Errorf("%d workers, not %d: %s", len(ls.Workers), len(list), got)
	}
	made, unanswered := map[string]string{}, 0
	for _, a := range list {
		unanswered += a.calls - 1
		w := a.info.Worker
		if a.got.code != 0 && a.got.code != exitUnknown || w.ID == "" || made[w.ID] != "" {
			d.t.Errorf("%s: worker %q, also of %q: %s", a.request, w.ID, made[w.ID], a.got)
			continue
		}
		made[w.ID] = a.request
		w = d.worker(w.ID)
		n, lines := d.windows(w.Name), a.lines()
		switch {
		case w.Delivery == orch.Unknown && len(lines) == 0:
			honest++
		case w.Delivery != orch.Delivered || len(lines) != 1 || w.Summary != "did "+a.request:
			d.t.Errorf("%s: %s, %q, lines %+v", a.request, w.Delivery, w.Summary, lines)
		}
		if n != 1 {
			d.t.Errorf("%s: %d windows", a.request, n)
		}
		var shown struct{ Request shownRequest }
		if got := d.st("request", "show", a.request, "--json"); got.read(&shown) != nil || shown.Request.Worker == nil || shown.Request.Worker.ID != w.ID {
			d.t.Errorf("%s: %s", a.request, got)
		}
	}
	// Only of a call that got no answer may its environment still lie there, until it is swept.
	left, err := filepath.Glob(filepath.Join(d.home, "run", "launch", "*.json"))
	if err != nil || len(left) > unanswered {
		d.t.Errorf("%d environments were left by %d calls without an answer (%v)", len(left), unanswered, err)
	}
	return honest
}
