package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"st/orch"
	"st/orch/journal"
)

// running is a loop under test.
type running struct {
	*Loop
	t     *testing.T
	world *toyFile
	stop  func()
	log   *logged
}

type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) add(s string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.WriteString(s + "\n")
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// run starts a toy loop in dir; change may alter it first. stop ends it and closes the journal.
func run(t *testing.T, dir string, change func(*Loop)) *running {
	t.Helper()
	l, world, err := toyLoop(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := &running{Loop: l, t: t, world: world, log: &logged{}}
	l.Log = r.log.add
	if change != nil {
		change(l)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { l.Run(ctx); close(ended) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		<-ended
		if err := l.Journal.Close(); err != nil {
			t.Log(err)
		}
	})
	t.Cleanup(r.stop)
	return r
}

func (r *running) do(request string, what orch.What) (any, error) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return r.Do(ctx, orch.Input{At: r.Now(), Request: request, What: what})
}

// until waits until the state is such.
func (r *running) until(what string, ok func(orch.View) bool) {
	r.t.Helper()
	changed, end := r.Subscribe()
	defer end()
	for late := time.After(10 * time.Second); ; {
		is := false
		r.Read(func(v orch.View) { is = ok(v) })
		if is {
			return
		}
		select {
		case <-changed:
		case <-late:
			r.t.Fatalf("never: %s; log: %s", what, r.log)
		}
	}
}

func completed(n int) func(orch.View) bool {
	return func(v orch.View) bool { return toyTask(v, n).Status == "completed" }
}

func (r *running) spec(n int) (s string) {
	r.Read(func(v orch.View) { s = toyTask(v, n).Spec })
	return s
}

func code(err error) string {
	var e *orch.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func TestEffectFollowsInput(t *testing.T) {
	r := run(t, t.TempDir(), nil)
	got, err := r.do("q1", toyPair{N: 1})
	if err != nil || got != (toyData{Task: "t1", X: "x"}) {
		t.Fatalf("answer %v, %v", got, err)
	}
	r.until("the result", completed(1))
	lines, err := r.world.lines()
	if err != nil || strings.Join(lines, ",") != "1 one,1 two" {
		t.Errorf("outside: %q, %v", lines, err)
	}
	if owed := r.Journal.Owed(); len(owed) > 0 {
		t.Errorf("still owed: %v", owed)
	}
}

func TestRequestHappensOnce(t *testing.T) {
	dir := t.TempDir()
	r := run(t, dir, nil)
	if _, err := r.do("q1", toyTurn{}); err != nil {
		t.Fatal(err)
	}
	again := func() {
		t.Helper()
		got, err := r.do("q1", toyTurn{})
		if raw, ok := got.(json.RawMessage); err != nil || !ok || string(raw) != `"x"` {
			t.Errorf("the second time: %v, %v", got, err)
		}
		if _, err := r.do("q1", toyTurn{Do: "else"}); code(err) != "request_reused" {
			t.Errorf("another order under the same id: %v", err)
		}
		if s := r.spec(1); s != "x" {
			t.Errorf("it happened %d times", len(s))
		}
	}
	again()
	r.stop()
	r = run(t, dir, nil)
	again()
}

// TestRefusedRequestMayBeGivenAgain: a refusal has changed nothing, so its id is free, also for something else.
func TestRefusedRequestMayBeGivenAgain(t *testing.T) {
	r := run(t, t.TempDir(), nil)
	for range 2 {
		if _, err := r.do("q1", toyTurn{Do: "refuse"}); code(err) != "no" {
			t.Errorf("a refusal: %v", err)
		}
	}
	for range 2 {
		if _, err := r.do("q1", toyTurn{}); err != nil {
			t.Errorf("what was refused before: %v", err)
		}
	}
	if s := r.spec(1); s != "x" {
		t.Errorf("it happened %d times", len(s))
	}
}

func TestContentDecidesWhatIsTheSame(t *testing.T) {
	r := run(t, t.TempDir(), nil)
	ask := func(do, content string) error {
		_, err := r.DoAs(context.Background(), orch.Input{At: r.Now(), Request: "q", What: toyTurn{Do: do}}, []byte(content))
		return err
	}
	if err := ask("found here", "same"); err != nil {
		t.Fatal(err)
	}
	if err := ask("found there", "same"); err != nil {
		t.Errorf("the same content: %v", err)
	}
	if err := ask("found here", "other"); code(err) != "request_reused" {
		t.Errorf("another content: %v", err)
	}
}

// TestTwoAtOnce: whoever asks for the same at the same time gets the same answer, and it happens once.
func TestTwoAtOnce(t *testing.T) {
	r := run(t, t.TempDir(), nil)
	for n := range 20 {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if _, err := r.do("q"+strconv.Itoa(n), toyTurn{}); err != nil {
					t.Errorf("q%d: %v", n, err)
				}
			})
		}
		all.Wait()
	}
	if s := r.spec(1); len(s) != 20 {
		t.Errorf("it happened %d times, not 20", len(s))
	}
}

// hold makes Step wait at a toyTurn that says hold, so that a test can line up a batch behind it.
func holdUp(l *Loop) (held, release chan struct{}) {
	held, release = make(chan struct{}), make(chan struct{})
	step := l.Step
	l.Step = func(v orch.View, in orch.Input) (orch.Changes, []orch.Effect) {
		if in.What == (toyTurn{Do: "hold"}) {
			close(held)
			<-release
		}
		return step(v, in)
	}
	return held, release
}

func TestOneBatchForAllThatWaits(t *testing.T) {
	var held, release chan struct{}
	r := run(t, t.TempDir(), func(l *Loop) { held, release = holdUp(l) })
	var all sync.WaitGroup
	all.Go(func() { r.do("", toyTurn{Do: "hold"}) })
	<-held
	const many = 100
	var bad sync.Map
	for i := range many {
		all.Go(func() {
			what := toyTurn{Do: "x"}
			if i%10 == 0 {
				what.Do = "panic"
			}
			// All ask under two ids: of each, one happens and the others get its answer.
			request := "odd"
			if i%2 == 0 {
				request = "even"
			}
			if what.Do == "panic" {
				request = ""
			}
			if _, err := r.do(request, what); (code(err) == "internal") != (what.Do == "panic") || (err != nil && code(err) == "") {
				bad.Store(i, err)
			}
		})
	}
	for len(r.asks) < many {
		time.Sleep(time.Millisecond) // nothing tells of a channel's length
	}
	changed, end := r.Subscribe()
	defer end()
	close(release)
	all.Wait()
	bad.Range(func(i, err any) bool { t.Errorf("input %v: %v", i, err); return true })
	if s := r.spec(1); s != "xxx" {
		t.Errorf("it happened %d times, want 3: the first, odd, even", len(s))
	}
	// Two commits were told of, or one where the first was overtaken: never more than wait in one place.
	first := <-changed
	select {
	case n := <-changed:
		if n <= first {
			t.Errorf("told of %d after %d", n, first)
		}
	default:
	}
	if first > 2 {
		t.Errorf("%d changes told of, want at most 2: the rest was to be one batch", first)
	}
}

func TestPanicIsOneInputsMisfortune(t *testing.T) {
	r := run(t, t.TempDir(), nil)
	if _, err := r.do("q1", toyTurn{Do: "panic"}); code(err) != "internal" {
		t.Errorf("a panic: %v", err)
	}
	if !strings.Contains(r.log.String(), "as was asked") {
		t.Errorf("the log says %q", r.log)
	}
	if s := r.spec(1); s != "" {
		t.Errorf("the state changed: %q", s)
	}
	if _, err := r.do("q2", toyTurn{}); err != nil {
		t.Errorf("the next input: %v", err)
	}
}

func TestMemoryIsNotDurable(t *testing.T) {
	dir := t.TempDir()
	r := run(t, dir, nil)
	if _, err := r.do("q1", toyTurn{Do: "memory"}); err != nil {
		t.Fatal(err)
	}
	if s := r.spec(1); s != "x" {
		t.Errorf("in memory: %q", s)
	}
	r.stop()
	if s := run(t, dir, nil).spec(1); s != "" {
		t.Errorf("after a restart: %q", s)
	}
}

func TestStoreErrorIsTold(t *testing.T) {
	r := run(t, t.TempDir(), nil)
	if _, err := r.do("", toyTurn{}); err != nil {
		t.Fatal(err)
	}
	if err := r.Journal.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the loop goes on
		_, err := r.do("", toyTurn{})
		var store *StoreError
		if !errors.As(err, &store) {
			t.Errorf("without a store: %v", err)
		}
	}
	if s := r.spec(1); s != "x" {
		t.Errorf("the state is %q", s)
	}
	if r.Journal.Trouble() == nil {
		t.Error("the store says that all is well")
	}
	if !strings.Contains(r.log.String(), "store: ") {
		t.Errorf("the log says %q", r.log)
	}
}

func TestPanickedEffectIsResumed(t *testing.T) {
	dir := t.TempDir()
	fell := make(chan struct{})
	r := run(t, dir, func(l *Loop) {
		l.Effect = func(ctx context.Context, r Running) {
			defer close(fell)
			if err := r.Tell(ctx, "one"); err != nil {
				t.Error(err)
			}
			panic("the world is bad")
		}
	})
	if _, err := r.do("", toyPut{N: 1}); err != nil {
		t.Fatal(err)
	}
	<-fell
	r.stop()
	if !strings.Contains(r.log.String(), "the world is bad") {
		t.Errorf("the log says %q", r.log)
	}
	got := make(chan Running, 1)
	r = run(t, dir, func(l *Loop) {
		effect := l.Effect
		l.Effect = func(ctx context.Context, r Running) { got <- r; effect(ctx, r) }
	})
	if e := <-got; !e.Resumed || e.Stage != "one" || e.ID != 1 || e.Do != (toyLine{N: 1}) {
		t.Errorf("resumed as %+v", e)
	}
	r.until("the result", completed(1))
}

// An effect is marked as started before it runs: a daemon that dies right then must look first.
func TestStartedBeforeItRuns(t *testing.T) {
	dir := t.TempDir()
	ran := make(chan struct{})
	r := run(t, dir, func(l *Loop) {
		l.Effect = func(ctx context.Context, r Running) { close(ran); <-ctx.Done() }
	})
	if _, err := r.do("", toyPut{N: 1}); err != nil {
		t.Fatal(err)
	}
	<-ran
	r.stop()
	j, err := journal.Open(dir, journal.Options{Order: toyOrder})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if owed := j.Owed(); len(owed) != 1 || !owed[0].Started {
		t.Errorf("owed: %+v", owed)
	}
}

func TestSecondResultIsRefused(t *testing.T) {
	second := make(chan error, 1)
	r := run(t, t.TempDir(), func(l *Loop) {
		l.Effect = func(ctx context.Context, r Running) {
			if err := r.Done(ctx, toyDone{N: 1}); err != nil {
				t.Error(err)
			}
			second <- errors.Join(r.Done(ctx, toyDone{N: 1}))
		}
	})
	if _, err := r.do("", toyPut{N: 1}); err != nil {
		t.Fatal(err)
	}
	if err := <-second; err == nil || !strings.Contains(err.Error(), "not owed") {
		t.Errorf("the second result: %v", err)
	}
}

func TestAfterTheEnd(t *testing.T) {
	r := run(t, t.TempDir(), nil)
	r.stop()
	if _, err := r.do("", toyTurn{}); !errors.Is(err, ErrStopped) {
		t.Errorf("after the end: %v", err)
	}
}

// wall is a system clock that can be set.
type wall struct {
	mu     sync.Mutex
	offset time.Duration
}

func (w *wall) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.offset)
}

func (w *wall) set(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.offset = d
}

func TestDeadlineComesThoughTheClockIsSetBack(t *testing.T) {
	var w wall
	ticks := make(chan time.Time, 10)
	r := run(t, t.TempDir(), func(l *Loop) {
		l.Clock = NewClock(w.now)
		l.Due = func(v orch.View) time.Time {
			if at := toyTask(v, 5).Created; !at.IsZero() && toyTask(v, 5).Status == "ready" {
				return at
			}
			return time.Time{}
		}
		l.Step = func(v orch.View, in orch.Input) (orch.Changes, []orch.Effect) {
			task := toyTask(v, 5)
			if (in.What == orch.Tick{}) {
				ticks <- in.At
				task.Status = "completed"
			} else {
				task.Created = in.At.Add(300 * time.Millisecond)
			}
			return orch.Changes{Puts: []orch.Entity{task}}, nil
		}
	})
	if _, err := r.do("", toyTurn{}); err != nil {
		t.Fatal(err)
	}
	w.set(-24 * time.Hour)
	if _, err := r.do("", toyTurn{Do: "wakes the loop"}); err != nil { // the timer is set anew by the clock that was set back
		t.Fatal(err)
	}
	var due time.Time
	r.Read(func(v orch.View) { due = toyTask(v, 5).Created })
	select {
	case at := <-ticks:
		if at.Before(due) {
			t.Errorf("tick at %s, before its deadline %s", at, due)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the deadline never came")
	}
	r.until("the tick's change", completed(5))
}

// A deadline that Step does nothing about is not asked for without pause.
func TestNeglectedDeadlineDoesNotSpin(t *testing.T) {
	var mu sync.Mutex
	ticks := 0
	r := run(t, t.TempDir(), func(l *Loop) {
		l.Due = func(orch.View) time.Time { return time.Unix(1, 0) }
		l.Step = func(orch.View, orch.Input) (orch.Changes, []orch.Effect) {
			mu.Lock()
			defer mu.Unlock()
			ticks++
			return orch.Changes{}, nil
		}
	})
	time.Sleep(300 * time.Millisecond) // what must not happen has no condition to wait for
	r.stop()
	if ticks < 1 || ticks > 2 {
		t.Errorf("%d ticks in 0.3 s, want 1", ticks)
	}
}

func TestClock(t *testing.T) {
	now, mono := time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC), time.Duration(0)
	c := &Clock{wall: func() time.Time { return now }, since: func() time.Duration { return mono }}
	want := func(d time.Duration) {
		t.Helper()
		if got := c.Now().Sub(time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC)); got != d {
			t.Errorf("the clock is at %s, want %s", got, d)
		}
	}
	want(0)
	now, mono = now.Add(time.Second), mono+time.Second
	want(time.Second)
	now, mono = now.Add(-time.Hour), mono+time.Second // set back
	want(2 * time.Second)
	mono += time.Second
	want(3 * time.Second)
	if ahead := c.Ahead(); ahead != time.Hour+2*time.Second {
		t.Errorf("the clock is %s ahead of the system's", ahead)
	}
	now, mono = now.Add(2*time.Hour), mono+time.Second // and forward, beyond where we are
	want(time.Hour + time.Second)
	if ahead := c.Ahead(); ahead != 0 {
		t.Errorf("the clock is %s ahead of the system's, and they are the same", ahead)
	}
	c.NotBefore(now.Add(-time.Minute))
	want(time.Hour + time.Second)
	c.NotBefore(now.Add(time.Minute)) // told by a daemon before this one
	want(time.Hour + time.Minute + time.Second)
	mono += time.Second
	want(time.Hour + time.Minute + 2*time.Second)
}

// What a daemon does after the system's clock was set back does not look older than what the one before it did.
func TestClockGoesOnAfterARestart(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	first := run(t, dir, func(l *Loop) { l.Clock = NewClock(func() time.Time { return now.Add(time.Hour) }) })
	if _, err := first.do("", toyTurn{}); err != nil {
		t.Fatal(err)
	}
	told := first.Now()
	first.stop()
	second := run(t, dir, func(l *Loop) { l.Clock = NewClock(func() time.Time { return now }) })
	if got := second.Now(); told.Sub(got) > time.Minute {
		t.Errorf("the clock went back by %s", told.Sub(got))
	}
}

func TestSubscribersGetTheNewest(t *testing.T) {
	r := run(t, t.TempDir(), nil)
	slow, end := r.Subscribe()
	for range 5 {
		if _, err := r.do("", toyTurn{}); err != nil {
			t.Fatal(err)
		}
	}
	r.stop()
	if n := <-slow; n != 5 {
		t.Errorf("told of change %d, want 5", n)
	}
	select {
	case n := <-slow:
		t.Errorf("and then of %d", n)
	default:
	}
	end()
	if len(r.watchers.list) != 0 {
		t.Error("a watcher stays")
	}
}

func TestCopyAtStart(t *testing.T) {
	dir := t.TempDir()
	r := run(t, dir, nil)
	r.stop() // waits for the copy
	if _, err := os.Stat(dir + "/st.db.copy"); err != nil {
		t.Error(err)
	}
}
