package daemon

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"st/orch"
	"st/orch/failpoint"
	"st/orch/journal"
)

// batchMost bounds how many waiting inputs become one transaction, so that the first of them is not kept
// waiting by an endless rest.
const batchMost = 1024

// retryEvery is the pause between tries to commit an effect's result while the store can't be written.
const retryEvery = time.Second

// ErrStopped is the answer to whoever comes after the loop has ended.
var ErrStopped = errors.New("the daemon is stopping")

// errInternal is what a caller is told of a fault of ours; the log has the rest.
var errInternal = &orch.Error{
	Code: "internal", Message: "something went wrong inside the daemon; its log tells more",
	Hint: "nothing was changed",
}

// Loop is the one goroutine that owns the state. What comes in waits in line; all that waits becomes one
// batch: each input is stepped over the state as the ones before it left it, one transaction makes all of
// it durable, and only then are the callers answered, effects started and watchers told.
//
// Set the fields, then call Run once. All methods may be called from any goroutine.
type Loop struct {
	Journal *journal.Journal
	Step    func(orch.View, orch.Input) (orch.Changes, []orch.Effect)
	// Effect carries out an effect, in a goroutine of its own. It must send a result by Running.Done; an
	// effect that returns without one stays owed, and is taken up again by the next daemon. ctx ends with
	// the loop.
	Effect func(ctx context.Context, r Running)
	// Due is the next deadline in the state, zero for none. A Tick is sent when it has come. nil = never.
	Due   func(orch.View) time.Time
	Clock *Clock       // nil = NewClock(nil)
	Log   func(string) // nil = no log

	once     sync.Once
	asks     chan ask
	stopped  chan struct{}
	effects  sync.WaitGroup
	copier   sync.WaitGroup
	ctx      context.Context
	watchers watchers

	// Owned by the loop's goroutine.
	toStart []journal.Effect // committed as owed, to be marked as started
	held    bool             // toStart waits for retry: the store could not be written
	retry   *time.Timer
	tick    *time.Timer
	ticked  time.Time // At of the last tick
	copyAt  *time.Timer
	copying bool // a copy is being made, or copyAt runs
	copies  chan copied
	ending  bool // effects are no longer started
}

// ask is one thing that waits in line: an input, or the stage of an effect.
type ask struct {
	in     orch.Input
	hash   string
	stage  *stage
	answer chan answer // size 1
}

type stage struct {
	effect uint64
	name   string
}

type answer struct {
	data any
	err  error
}

type copied struct {
	next time.Time
	err  error
}

func (l *Loop) prepare() {
	l.once.Do(func() {
		l.asks = make(chan ask, batchMost)
		l.stopped = make(chan struct{})
		l.copies = make(chan copied, 1)
		if l.Clock == nil {
			l.Clock = NewClock(nil)
		}
		l.Clock.NotBefore(l.Journal.Written())
		if l.Log == nil {
			l.Log = func(string) {}
		}
	})
}

// Now is the loop's time, the one for Input.At.
func (l *Loop) Now() time.Time {
	l.prepare()
	return l.Clock.Now()
}

// Do hands in an input and returns its answer once it is durable. A refusal is an *orch.Error. An input
// whose request id was taken before is not stepped again: the answer of the first time comes back, as
// json.RawMessage, or is refused as request_reused if something else was asked then, or somebody else did. When ctx
// ends first the input may still happen; the same request id then finds out.
func (l *Loop) Do(ctx context.Context, in orch.Input) (any, error) {
	hash, err := journal.HashOf(in)
	if err != nil {
		return nil, err
	}
	return l.put(ctx, ask{in: in, hash: hash})
}

// DoAs is Do for an input to which the daemon has added what it found (places, paths): content is what the
// caller really sent, and decides whether a request is the same one.
func (l *Loop) DoAs(ctx context.Context, in orch.Input, content []byte) (any, error) {
	return l.put(ctx, ask{in: in, hash: journal.Hash(in.What.Type(), content)})
}

func (l *Loop) put(ctx context.Context, a ask) (any, error) {
	l.prepare()
	if a.in.Nonce == "" {
		a.in.Nonce = nonce() // a fact may start a worker too
	}
	a.answer = make(chan answer, 1)
	select {
	case l.asks <- a:
	case <-l.stopped:
		return nil, ErrStopped
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case got := <-a.answer:
		return got.data, got.err
	case <-l.stopped:
		return a.late()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// late takes the answer that was given just before the loop ended.
func (a ask) late() (any, error) {
	select {
	case got := <-a.answer:
		return got.data, got.err
	default:
		return nil, ErrStopped
	}
}

// Read lets f look at the committed state: short, without calling back into the loop. It waits for no
// commit's disk.
func (l *Loop) Read(f func(orch.View)) { l.Journal.Read(f) }

// Subscribe returns a channel that holds a value when the state has changed since the last receive, and a
// function to end that. The value counts the changes; only the newest waits. The channel is never closed.
func (l *Loop) Subscribe() (<-chan uint64, func()) { return l.watchers.add() }

// Run runs the loop until ctx ends, and returns when all effects and a running copy have come back. What
// waits in line then is still committed and answered.
func (l *Loop) Run(ctx context.Context) {
	l.prepare()
	l.ctx = ctx
	l.tick, l.retry, l.copyAt = stopped(), stopped(), stopped()
	l.copy()
	for _, e := range l.Journal.Owed() {
		if e.Started {
			l.start(e, true)
		} else {
			l.toStart = append(l.toStart, e)
		}
	}
	for l.turn(ctx) {
	}
	l.end()
}

// stopped is a timer that doesn't run.
func stopped() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// turn waits for something to do and does it; false at the end.
func (l *Loop) turn(ctx context.Context) bool {
	if len(l.toStart) > 0 && !l.held {
		l.batch(l.drain(nil))
		return true
	}
	l.arm()
	select {
	case <-ctx.Done():
		return false
	case a := <-l.asks:
		l.batch(l.drain([]ask{a}))
	case <-l.tick.C:
		l.ticked = l.Clock.Now()
		l.batch(l.drain([]ask{{in: orch.Input{At: l.ticked, What: orch.Tick{}}, answer: make(chan answer, 1)}}))
	case <-l.copyAt.C:
		l.copy()
	case c := <-l.copies:
		l.copied(c)
	case <-l.retry.C:
		l.held = false
	}
	return true
}

// drain takes all that waits in line, without waiting for more.
func (l *Loop) drain(list []ask) []ask {
	for len(list) < batchMost {
		select {
		case a := <-l.asks:
			list = append(list, a)
		default:
			return list
		}
	}
	return list
}

// end answers what came before the end, then waits for the effects, whose results are still taken.
func (l *Loop) end() {
	l.ending, l.toStart = true, nil // what is owed is for the next daemon
	for _, t := range []*time.Timer{l.tick, l.retry, l.copyAt} {
		t.Stop()
	}
	idle := make(chan struct{})
	go func() { l.effects.Wait(); close(idle) }()
	for running := true; running; {
		select {
		case a := <-l.asks:
			l.batch(l.drain([]ask{a}))
		case <-idle:
			running = false
		}
	}
	if rest := l.drain(nil); len(rest) > 0 {
		l.batch(rest)
	}
	l.copier.Wait()
	close(l.stopped)
}

// arm sets the timer to the next deadline. The timer runs on the monotonic clock.
func (l *Loop) arm() {
	l.tick.Stop()
	if l.Due == nil {
		return
	}
	due := l.Due(l.Journal.View())
	if due.IsZero() {
		return
	}
	wait := due.Sub(l.Clock.Now())
	// A deadline that the last tick should have dealt with, and didn't, must not make the loop spin.
	if !due.After(l.ticked) {
		wait = max(wait, time.Second)
	}
	l.tick.Reset(max(wait, 0))
}

// batch makes a number of asks true, in order.
func (l *Loop) batch(asks []ask) {
	b := l.Journal.Begin()
	starting := l.toStart
	for _, e := range starting {
		b.Start(e.ID)
	}
	answers := make([]answer, len(asks))
	for i, a := range asks {
		answers[i] = l.take(b, a)
	}
	if err := l.Journal.Commit(b); err != nil {
		l.failed(asks, err)
		return
	}
	failpoint.At("loop.answer.before")
	for i, a := range asks {
		a.answer <- answers[i]
	}
	failpoint.At("loop.answer.after")
	l.launch(starting, b.Effects())
	if b.Changed() {
		l.watchers.tell()
	}
	if !l.copying && !l.ending && l.Journal.Uncopied() {
		l.copy()
	}
}

// launch starts effects that are marked as started now, and lines up the new ones for their mark.
func (l *Loop) launch(marked []journal.Effect, fresh []orch.Effect) {
	l.toStart = nil
	for _, e := range marked {
		e.Started = true
		l.start(e, false)
	}
	if l.ending {
		return
	}
	for _, e := range fresh {
		l.toStart = append(l.toStart, journal.Effect{Effect: e})
	}
}

// failed drops a batch that could not be made durable. Effects that could not be marked as started wait for
// a while: a spinning loop would not help the store.
func (l *Loop) failed(asks []ask, err error) {
	l.Log(fmt.Sprintf("store: %v", err))
	for _, a := range asks {
		a.answer <- answer{err: &StoreError{Err: err}}
	}
	if len(l.toStart) > 0 {
		l.held = true
		l.retry.Reset(retryEvery)
	}
}

// StoreError says that something was not done because the store could not be written.
type StoreError struct{ Err error }

func (e *StoreError) Error() string { return e.Err.Error() }
func (e *StoreError) Unwrap() error { return e.Err }

// take steps one ask over the batch.
func (l *Loop) take(b *journal.Batch, a ask) answer {
	if a.stage != nil {
		return l.stage(b, *a.stage)
	}
	if got, ok := l.seen(b, a); ok {
		return got
	}
	if a.in.Effect != 0 && !b.Owes(a.in.Effect) {
		return answer{err: fmt.Errorf("effect %d is not owed", a.in.Effect)}
	}
	c, effects, err := l.step(b.View(), a.in)
	if err == nil {
		err = b.Add(a.in, a.hash, c, effects)
	}
	if err != nil {
		l.Log(fmt.Sprintf("%s: %v", a.in.What.Type(), err))
		return answer{err: errInternal}
	}
	if c.Err != nil {
		return answer{err: c.Err}
	}
	return answer{data: c.Answer}
}

// step calls Step; a panic there is one input's misfortune and nobody else's.
func (l *Loop) step(v orch.View, in orch.Input) (c orch.Changes, effects []orch.Effect, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	c, effects = l.Step(v, in)
	return c, effects, nil
}

// seen answers a request that has been answered before.
func (l *Loop) seen(b *journal.Batch, a ask) (answer, bool) {
	if a.in.Request == "" || a.in.Completes {
		return answer{}, false
	}
	r, ok := b.Receipt(a.in.Request)
	if !ok {
		var err error
		if r, ok, err = l.Journal.Receipt(a.in.Request); err != nil {
			l.Log(fmt.Sprintf("receipt %s: %v", a.in.Request, err))
			return answer{err: &StoreError{Err: err}}, true
		}
	}
	if !ok {
		return answer{}, false
	}
	return a.again(b.View(), r), true
}

// Again answers a request that was committed before, as Do would, without waiting in line; false where none was.
func (l *Loop) Again(in orch.Input, content []byte) (got any, ok bool, err error) {
	if in.Request == "" {
		return nil, false, nil
	}
	r, ok, err := l.Journal.Receipt(in.Request)
	if err != nil {
		return nil, true, &StoreError{Err: err}
	}
	if !ok {
		return nil, false, nil
	}
	a := ask{in: in, hash: journal.Hash(in.What.Type(), content)}
	var kept answer
	l.Read(func(v orch.View) { kept = a.again(v, r) })
	return kept.data, true, kept.err
}

// again is the answer that was kept, for who asks for the same once more. A receipt of schema 1, or one that was
// brought back from a run's file, does not tell all of what was asked.
func (a ask) again(v orch.View, r journal.Receipt) answer {
	what := a.in.What.Type()
	switch {
	case r.Input != "" && r.Input != what:
		return reused(r, "for another verb")
	case r.Input != "" && r.Hash != "" && r.Hash != a.hash:
		return reused(r, "for something else")
	case r.By != "" && !orch.SameAsker(v, r.By, a.in.By):
		return reused(r, "by "+r.By)
	case r.Answer == nil:
		return answer{}
	}
	return answer{data: r.Answer}
}

func reused(r journal.Receipt, how string) answer {
	return answer{err: &orch.Error{
		Code: "request_reused", Message: fmt.Sprintf("request %q was used before, %s", r.Request, how),
		Hint: "use a new request id", Next: []string{"st request show " + shellWord(r.Request)},
	}}
}

func (l *Loop) stage(b *journal.Batch, s stage) answer {
	if !b.Stage(s.effect, s.name) {
		return answer{err: fmt.Errorf("effect %d is not owed", s.effect)}
	}
	return answer{}
}

// copy has the store's copy renewed if it is time, beside the loop.
func (l *Loop) copy() {
	l.copying = true
	l.copier.Go(func() {
		next, err := l.Journal.Copy(l.Clock.Now())
		l.copies <- copied{next, err}
	})
}

func (l *Loop) copied(c copied) {
	if c.err != nil {
		l.Log(c.err.Error())
	}
	l.copying = !c.next.IsZero()
	if l.copying {
		l.copyAt.Reset(max(c.next.Sub(l.Clock.Now()), time.Second))
	}
}
