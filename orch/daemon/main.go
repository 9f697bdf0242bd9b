package daemon

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"path/filepath"
	"strings"
	"time"

	"st/hooks"
	"st/orch"
	"st/orch/journal"
	"st/tmux"
)

// Serve is the life of a daemon, for Main: it opens the store, takes in what happened while no daemon ran,
// and answers until ctx ends. Version is told by the status view.
func Serve(version string) func(ctx context.Context, held *Held) error {
	return func(ctx context.Context, held *Held) error { return serve(ctx, held, version) }
}

// daemon is what a running daemon is made of.
type daemon struct {
	home, version string
	began         time.Time
	log           *log.Logger
	loop          *Loop
	journal       *journal.Journal
	doer          *doer
	callers       *Callers
	spool         *Spooled
	topics        *topics
}

func serve(ctx context.Context, held *Held, version string) (err error) {
	conf, err := readConfig(held.Home)
	if err != nil {
		return err
	}
	self, err := Self()
	if err != nil {
		return err
	}
	store, err := journal.Open(held.Home, journal.Options{Log: func(line string) { held.Log.Print(line) }})
	if err != nil {
		return storeRefusal(err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	for _, said := range store.Said() {
		held.Log.Printf("store: %s", said)
	}
	ready := make(chan struct{})
	d := newDaemon(held, store, version)
	d.doer = &doer{
		home: held.Home, self: self, mark: markOf(held.Home), config: conf,
		state: d.loop.Read, log: held.Log, ready: ready,
	}
	d.loop.Effect = d.doer.do
	return d.run(ctx, held, ready)
}

func newDaemon(held *Held, store *journal.Journal, version string) *daemon {
	d := &daemon{
		home: held.Home, version: version, began: time.Now(), log: held.Log, journal: store,
		callers: &Callers{Panes: paneFacts},
	}
	d.callers.Known = d.known
	d.callers.Bound = func(kind, thread string) (is bool) {
		d.loop.Read(func(v orch.View) { is = orch.Bound(v, kind, thread) })
		return is
	}
	d.callers.Seat = func(by orch.Caller) (p orch.Place) {
		d.loop.Read(func(v orch.View) { p = orch.SeatPlace(v, by) })
		return p
	}
	d.loop = &Loop{
		Journal: store, Step: orch.Step, Due: orch.Due,
		Log: func(line string) { held.Log.Print(line) },
	}
	d.spool = &Spooled{Home: held.Home, Callers: d.callers, Log: held.Log, Do: d.spooled}
	d.topics = &topics{state: d.loop.Read, subscribe: d.loop.Subscribe}
	return d
}

// run takes up the work in this order: what the spool holds, what the panes show, effects that had begun,
// callers. It ends in the opposite order, so that every answer that was promised is given.
func (d *daemon) run(ctx context.Context, held *Held, ready chan<- struct{}) error {
	d.sweep() // while nobody else uses the store
	loopCtx, endLoop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		d.loop.Run(loopCtx)
	}()
	defer func() {
		endLoop()
		<-ended
	}()
	if err := d.spool.Take(ctx); err != nil {
		return err
	}
	w, err := newWatch(d)
	if err != nil {
		return err
	}
	defer w.close()
	w.inventory(ctx)
	close(ready)

	server := &Server{
		Handlers: Handlers{Do: d.do, Get: d.get, Watch: d.watch},
		Callers:  d.callers, Log: d.log, Stop: held.Stop,
	}
	if err := server.Listen(d.home); err != nil {
		return err
	}
	side, endSide := context.WithCancel(ctx)
	defer endSide()
	go d.topics.run(side)
	go w.run(side)
	go d.watchSpool(side)
	go d.watchSecrets(side)
	held.Ready()
	return server.Serve(ctx)
}

func (d *daemon) watchSpool(ctx context.Context) {
	if err := d.spool.Watch(ctx, nil); err != nil {
		d.log.Printf("spool: it is not watched: %v", err)
	}
}

// markOf tells the panes of one home from those of another.
func markOf(home string) string { return filepath.Base(shortDir(home)) }

// paneFacts asks a server for its panes.
func paneFacts(ctx context.Context, socket string) ([]PaneFact, string, error) {
	t := tmux.At(socket)
	id, err := t.Identity(ctx)
	if err != nil {
		return nil, "", err
	}
	panes, err := t.Panes(ctx)
	if err != nil {
		return nil, "", err
	}
	facts := make([]PaneFact, 0, len(panes))
	for _, p := range panes {
		facts = append(facts, PaneFact{
			ID: p.ID, PID: p.PID, Window: p.Window, Session: p.Session, SessionName: p.SessionName, Dir: p.Path,
		})
	}
	return facts, id.String(), nil
}

// known is the outermost link of a chain that is a live agent's process or its pane's; -1 for none.
func (d *daemon) known(chain []orch.Link) int {
	found := -1
	d.loop.Read(func(v orch.View) {
		for _, a := range orch.Live(v) {
			for n, l := range chain {
				if l.Process == a.Proc || l.Process == a.Runner {
					found = max(found, n)
				}
			}
		}
	})
	return found
}

// inputs are what may be sent to a daemon. What it finds out itself is nobody else's to say.
var inputs = map[string]bool{
	"run-start": true, "run-end": true, "worker-start": true, "worker-stop": true, "worker-done": true,
	"worker-progress": true, "worker-send": true, "wait-told": true, "agent-started": true, "agent-exited": true,
}

// do gives an input of a caller to the loop.
func (d *daemon) do(ctx context.Context, by orch.Caller, request, name string, body json.RawMessage) (any, error) {
	data, err := d.input(ctx, d.loop.Now(), by, request, name, body)
	return data, doError(err)
}

// spooled gives an input that was kept in a file to the loop. What the store could not take is no answer: the
// file stays.
func (d *daemon) spooled(ctx context.Context, at time.Time, by orch.Caller, request, name string, body json.RawMessage) error {
	if now := d.loop.Now(); at.After(now) {
		at = now // written before the clock was set back
	}
	_, err := d.input(ctx, at.UTC(), by, request, name, body)
	return err
}

func (d *daemon) input(ctx context.Context, at time.Time, by orch.Caller, request, name string, body json.RawMessage) (any, error) {
	in := orch.Input{At: at, Request: request, By: by, Nonce: nonce()}
	var err error
	switch {
	case name == "hook":
		return d.hook(ctx, in, body)
	case name == "worker-start":
		return d.start(ctx, in, body)
	case name == "worker-key":
		return d.key(ctx, in, body)
	case !inputs[name]:
		return nil, &orch.Error{Code: "bad_request", Message: fmt.Sprintf("no input is called %q", name)}
	}
	if in.What, err = orch.DecodeWhat(name, body); err != nil {
		return nil, &orch.Error{Code: "bad_request", Message: fmt.Sprintf("%s: %v", name, err)}
	}
	return d.loop.DoAs(ctx, in, body)
}

// nonce is 128 bits that nobody can guess.
func nonce() string {
	var b [16]byte
	rand.Read(b[:]) // never fails since Go 1.24
	return hex.EncodeToString(b[:])
}

// start finds out what a start needs and gives the order to the loop. A request that was answered before
// gets its old answer: the files that it names may be gone by now.
func (d *daemon) start(ctx context.Context, in orch.Input, body json.RawMessage) (any, error) {
	if in.Request != "" {
		if _, again, err := d.journal.Receipt(in.Request); err == nil && again {
			in.What = orch.WorkerStart{}
			return d.loop.DoAs(ctx, in, body)
		}
	}
	w, err := d.doer.prepareStart(ctx, in.By, body)
	if err == nil {
		in.What = w
		var data any
		if data, err = d.loop.DoAs(ctx, in, body); err == nil {
			return data, nil
		}
	}
	var refusal *orch.Error
	if errors.As(err, &refusal) {
		d.doer.dropEnv(w.EnvFile)
	}
	return nil, err
}

// hookBody is what a hook sends.
type hookBody struct {
	Kind    string          `json:"kind"`
	Payload json.RawMessage `json:"payload"`
}

// hook takes what an agent's hook told. What can't be read is noted and otherwise passed over: an agent must
// not be stopped by a misunderstanding between its program and ours.
func (d *daemon) hook(ctx context.Context, in orch.Input, body json.RawMessage) (any, error) {
	event, kind, err := decodeHook(body)
	if err != nil {
		d.log.Printf("hook: %v", err)
		return nil, nil
	}
	in.What = orch.Hook{Kind: kind, Event: event}
	data, err := d.loop.DoAs(ctx, in, body)
	var refusal *orch.Error
	if errors.As(err, &refusal) {
		return nil, nil // a hook has no use for it
	}
	return data, err
}

func decodeHook(body json.RawMessage) (orch.AgentEvent, string, error) {
	var h hookBody
	if err := json.Unmarshal(body, &h); err != nil {
		return orch.AgentEvent{}, "", fmt.Errorf("it can't be read: %w", err)
	}
	k, err := hooks.Lookup(h.Kind)
	if err != nil {
		return orch.AgentEvent{}, h.Kind, err
	}
	e, err := k.Decode(h.Payload)
	return e, h.Kind, err
}

// doError makes a refusal of what a caller can act on.
func doError(err error) error {
	var store *StoreError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrStopped):
		return &orch.Error{Code: "daemon_unreachable", Message: err.Error(), Next: []string{"st up"}}
	case errors.As(err, &store):
		return storeRefusal(store)
	}
	return err
}

// storeRefusal says what is the matter with the store.
func storeRefusal(err error) *orch.Error {
	e := &orch.Error{Code: "store_read_only", Message: strings.TrimPrefix(err.Error(), "store: ")}
	switch {
	case errors.Is(err, journal.ErrLocked):
		e.Code, e.Next = "store_locked", []string{"st status"}
	case errors.Is(err, journal.ErrCorrupt), errors.Is(err, journal.ErrNewer):
		e.Code = "store_corrupt"
	}
	return e
}
