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
	"runtime/debug"
	"strings"
	"time"

	"st/hooks"
	"st/orch"
	"st/orch/failpoint"
	"st/orch/journal"
	"st/tmux"
)

// Serve is the life of a daemon, for Main: it opens the store, takes in what happened while no daemon ran,
// and answers until ctx ends. Version is told by the status view.
func Serve(version string) func(ctx context.Context, held *Held) error {
	return func(ctx context.Context, held *Held) error { return serve(ctx, held, version) }
}

// garbage is how much a daemon's heap may grow before it is swept, in percent of what lives. With Go's 100 it has 29.6 MB beside
// 100 workers and 48.6 beside 400, with 50 23.8 and 37.6.
const garbage = 50

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
	layouts       *layouts
	restorer      *restorer
}

func serve(ctx context.Context, held *Held, version string) (err error) {
	debug.SetGCPercent(garbage)
	conf, err := readConfig(held.Home)
	if err != nil {
		return err
	}
	self, err := Self()
	if err != nil {
		return err
	}
	failpoint.At("daemon.store.before")
	clock := NewClock(nil)
	store, err := journal.Open(held.Home, journal.Options{Now: clock.Now, Log: func(line string) { held.Log.Print(line) }})
	if err != nil {
		return storeRefusal(err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	for _, said := range store.Said() {
		held.Log.Printf("store: %s", said)
	}
	ready := make(chan struct{})
	hooks.UseHome(held.Home)
	d := newDaemon(held, store, clock, version)
	d.doer = &doer{
		home: held.Home, self: self, mark: markOf(held.Home), config: conf,
		state: d.loop.Read, now: d.loop.Now, log: held.Log, ready: ready,
	}
	d.loop.Effect = d.doer.do
	d.layouts = &layouts{dir: layoutDir(held.Home), ask: conf.Restore == restoreAsk, now: d.loop.Now, log: held.Log}
	d.restorer = &restorer{d: d, notes: d.layouts}
	if len(store.Said()) > 0 {
		d.layouts.askFirst()
	}
	return d.run(ctx, held, ready)
}

func newDaemon(held *Held, store *journal.Journal, clock *Clock, version string) *daemon {
	d := &daemon{
		home: held.Home, version: version, began: time.Now(), log: held.Log, journal: store,
		callers: &Callers{Panes: paneFacts},
	}
	d.callers.Known = d.known
	d.callers.Boot = d.stateBoot
	d.callers.Bound = func(kind, thread string) (is bool) {
		d.loop.Read(func(v orch.View) { is = orch.Bound(v, kind, thread) })
		return is
	}
	d.callers.Seat = func(by orch.Caller) (p orch.Place) {
		d.loop.Read(func(v orch.View) { p = orch.SeatPlace(v, by) })
		return p
	}
	d.loop = &Loop{
		Journal: store, Step: orch.Step, Due: orch.Due, Clock: clock,
		Log: func(line string) { held.Log.Print(line) },
	}
	d.spool = &Spooled{Home: held.Home, Callers: d.callers, Log: held.Log, Do: d.spooled}
	d.topics = &topics{state: d.loop.Read, subscribe: d.loop.Subscribe}
	return d
}

// run takes up the work in this order: what a boot of the computer has ended, what the spool holds, what config.toml says, what the panes show, effects that had
// begun, callers. It ends in the opposite order, so that every answer that was promised is given.
func (d *daemon) run(ctx context.Context, held *Held, ready chan<- struct{}) error {
	d.sweep() // while nobody else uses the store
	failpoint.At("daemon.swept")
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
	if err := d.boot(ctx); err != nil {
		return err
	}
	if err := d.spool.Take(ctx); err != nil {
		return err
	}
	if _, err := d.loop.Do(ctx, orch.Input{At: d.loop.Now(), What: d.doer.config.configured()}); err != nil {
		return doError(err)
	}
	failpoint.At("daemon.spooled")
	w, err := newWatch(d)
	if err != nil {
		return err
	}
	defer w.close()
	w.inventory(ctx)
	w.layoutsOver(ctx)
	failpoint.At("daemon.inventoried")
	close(ready)

	server := &Server{
		Handlers: Handlers{Do: d.do, Get: d.get, Watch: d.watch},
		Callers:  d.callers, Log: d.log, Stop: held.Stop,
	}
	if err := server.Listen(d.home); err != nil {
		return err
	}
	failpoint.At("daemon.listens")
	side, endSide := context.WithCancel(ctx)
	d.restorer.life = side
	defer endSide()
	go d.topics.run(side)
	go w.run(side)
	go d.watchSpool(side)
	go d.watchSecrets(side)
	go d.restorer.atStart()
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
			ID: p.ID, PID: p.PID, Window: p.Window, Session: p.Session, SessionName: p.SessionName, WindowName: p.WindowName, Dir: p.Path,
		})
	}
	return facts, id.String(), nil
}

// known is the outermost link of a chain that is a live agent's process or its pane's; -1 for none.
func (d *daemon) known(chain []orch.Link) int {
	found := -1
	d.loop.Read(func(v orch.View) {
		for n, l := range chain {
			v.Each(orch.AtProcess(l.Process), func(e orch.Entity) bool {
				if a, ok := e.(orch.Agent); ok && a.Gone == "" {
					found = n
				}
				return true
			})
		}
	})
	return found
}

// inputs are what may be sent to a daemon. What it finds out itself is nobody else's to say.
var inputs = map[string]bool{
	"run-start": true, "run-end": true, "run-use": true, "worker-start": true, "worker-stop": true, "worker-release": true, "worker-done": true,
	"worker-progress": true, "worker-send": true, "wait-told": true, "ask": true, "reply": true, "ask-told": true, "agent-started": true, "agent-exited": true,
	"gate-ask": true, "gate-cancel": true, "gate-told": true,
	"send": true, "escalate": true, "mail-check": true, "mail-ack": true, "mail-told": true,
	"task-update": true, "task-cancel": true,
}

// do gives an input of a caller to the loop.
func (d *daemon) do(ctx context.Context, by orch.Caller, request, name string, body json.RawMessage) (any, error) {
	data, err := d.input(ctx, d.loop.Now(), by, request, name, body)
	return data, doError(err)
}

// spooled gives an input that was kept in a file to the loop. What the store could not take is no answer: the
// file stays.
func (d *daemon) spooled(ctx context.Context, at time.Time, by orch.Caller, request, name string, body json.RawMessage) error {
	// The system's clock may have been set back before it was written, or after.
	now := d.loop.Now()
	if at = at.Add(d.loop.Clock.Ahead()); at.After(now) {
		at = now
	}
	_, err := d.input(ctx, at.UTC(), by, request, name, body)
	return err
}

func (d *daemon) input(ctx context.Context, at time.Time, by orch.Caller, request, name string, body json.RawMessage) (any, error) {
	in := orch.Input{At: at, Request: request, By: by, Nonce: nonce()}
	var err error
	if request != "" {
		if refusal := orch.CheckRequest(request); refusal != nil {
			return nil, refusal
		}
	}
	switch {
	case name == "hook":
		return d.hook(ctx, in, body)
	case name == "worker-start":
		return d.start(ctx, in, body)
	case name == "worker-retry":
		return d.retry(ctx, in, body)
	case name == "restore":
		return d.restore(ctx, in, body)
	case name == "worker-restart":
		return d.restart(ctx, in, body)
	case name == "task-create":
		return d.createTask(ctx, in, body)
	case name == "task-assign":
		return d.assignTask(ctx, in, body)
	case name == "worker-adopt":
		return d.adopt(ctx, in, body)
	case name == "task-pick":
		return d.pickTask(ctx, in, body)
	case name == "worker-finish":
		return d.finishTree(ctx, in, body)
	case name == "trees-free":
		return d.freeTrees(ctx, in)
	case name == "refs-drop":
		return d.dropRefs(ctx, in, body)
	case name == "worker-key":
		return d.key(ctx, in, body)
	case name == "worker-attach":
		return d.attach(ctx, in, body)
	case name == "gate-answer":
		return d.gateAnswer(ctx, in, body)
	case !inputs[name]:
		return nil, &orch.Error{Code: "bad_request", Message: fmt.Sprintf("no input is called %q", name)}
	}
	if in.What, err = orch.DecodeWhat(name, body); err != nil {
		return nil, &orch.Error{Code: "bad_request", Message: fmt.Sprintf("%s: %v", name, err)}
	}
	if w, ok := in.What.(orch.WorkerDone); ok {
		w.Outside, w.Unchecked = nil, "" // nobody else's to say
		in.What = w
	}
	content, err := contentOf(by, in.What)
	if err != nil {
		return nil, err
	}
	switch w := in.What.(type) {
	case orch.WorkerDone:
		in.What = d.checkScope(ctx, by, w)
	case orch.Ask:
		if content, err = contentOf(by, orch.Ask{Question: w.Question, Options: w.Options}); err != nil {
			return nil, err
		}
		w.Deaf = deafKinds()
		in.What = w
	case orch.Send:
		w.CopyDir = copyDir(d.home)
		in.What = w
	case orch.Escalate:
		w.CopyDir = copyDir(d.home)
		in.What = w
	case orch.AgentExited:
		in.What = exitOf(ctx, d.loop.Read, w)
	}
	return d.loop.DoAs(ctx, in, content)
}

// nonce is 128 bits that nobody can guess.
func nonce() string {
	var b [16]byte
	rand.Read(b[:]) // never fails since Go 1.24
	return hex.EncodeToString(b[:])
}

// start finds out what a start needs and gives the order to the loop. A request that was taken before gets its old
// answer, though what it needed may be gone by now: tmux, the program, the folder.
func (d *daemon) start(ctx context.Context, in orch.Input, body json.RawMessage) (any, error) {
	o, err := readStart(body)
	if err != nil {
		return nil, err
	}
	in.What = o.WorkerStart
	return d.launch(ctx, in, o.asked(), o.EnvFile, func() (orch.What, error) {
		return d.doer.prepareStart(ctx, in.By, o)
	})
}

// launch gives an order to the loop that comes with an environment; asked is what decides whether a request is the same
// one, and prepare finds out what the order needs. The environment is removed where nobody will need it.
func (d *daemon) launch(ctx context.Context, in orch.Input, asked any, env string, prepare func() (orch.What, error)) (any, error) {
	content, err := contentOf(in.By, asked)
	if err != nil {
		return nil, err
	}
	data, again, err := d.loop.Again(in, content)
	if !again {
		if in.What, err = prepare(); err == nil {
			data, err = d.loop.DoAs(ctx, in, content)
		}
	}
	var refusal *orch.Error
	if env != "" && (errors.As(err, &refusal) || err == nil && otherEnv(data, env)) {
		d.doer.dropEnv(env)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// otherEnv tells that an answer is of a start that was given before, with another file than this for its environment.
func otherEnv(data any, file string) bool {
	kept, again := data.(json.RawMessage)
	if !again {
		return false
	}
	var a struct {
		EnvFile string `json:"env_file"`
	}
	return json.Unmarshal(kept, &a) == nil && a.EnvFile != "" && a.EnvFile != file
}

// hookBody is what a hook sends.
type hookBody struct {
	Kind    string          `json:"kind"`
	Payload json.RawMessage `json:"payload"`
}

// hook takes what an agent's hook told; the answer is what the hook is to tell its agent. What can't be read is noted
// and otherwise passed over: an agent must not be stopped by a misunderstanding between its program and ours. A
// request that comes again is that of a hook that got no answer and left a file: nobody would hear it now.
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
	if kept, again := data.(json.RawMessage); again {
		return nil, d.unheard(ctx, in, event, kept)
	}
	return data, err
}

// unheard tells of an answer that a hook did not get, where there was a line in it.
func (d *daemon) unheard(ctx context.Context, in orch.Input, event orch.AgentEvent, kept json.RawMessage) error {
	var answer orch.HookAnswer
	if err := json.Unmarshal(kept, &answer); err != nil || answer.Line == "" {
		return err
	}
	in.What = orch.HookUnheard{Event: event}
	in.Request += "-unheard" // once, however often the file is read
	_, err := d.loop.Do(ctx, in)
	return err
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
