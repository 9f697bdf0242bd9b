package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"st/hooks"
	"st/orch"
	"st/tmux"
)

// KeyOrder is what a verb sends to have keys pressed in a worker's window: a text first, then keys.
type KeyOrder struct {
	Worker string   `json:"worker"`
	Text   string   `json:"text,omitempty"`
	Keys   []string `json:"keys,omitempty"`
}

// Type is the name of the input that asks whether they may be pressed.
func (KeyOrder) Type() string { return orch.WorkerKey{}.Type() }

// presses are the order's single acts.
func (o KeyOrder) presses() (list []tmux.Press) {
	if o.Text != "" {
		list = append(list, tmux.Press{Text: o.Text})
	}
	for _, k := range o.Keys {
		list = append(list, tmux.Press{Key: k})
	}
	return list
}

// How long a screen may take to answer: to the last key, and to one that others follow.
const (
	keyTime     = 1500 * time.Millisecond
	betweenKeys = 300 * time.Millisecond
	keyTick     = 30 * time.Millisecond
	keySteady   = 3 // looks in a row that show the same screen
)

// key presses keys in a worker's window. It is no owed effect: what is typed may be a password, and so it is in no
// store; who did it and on which screen is, before the first key. A request that was taken before presses nothing.
func (d *daemon) key(ctx context.Context, in orch.Input, body json.RawMessage) (any, error) {
	var o KeyOrder
	if err := json.Unmarshal(body, &o); err != nil {
		return nil, &orch.Error{Code: "bad_request", Message: fmt.Sprintf("worker-key: %v", err)}
	}
	in.What = orch.WorkerKey{Worker: o.Worker}
	content, err := o.content(in)
	if err != nil {
		return nil, err
	}
	k, err := d.keysFor(in.By, o.Worker)
	if err != nil {
		if kept, again, err := d.keysBefore(in, content); again {
			return kept, err // the worker may be gone by now
		}
		return nil, err
	}
	done := make(chan struct{})
	var answer any
	d.doer.lines.add(k.agent.ID, func() {
		defer close(done)
		again := false
		if answer, again, err = d.keysBefore(in, content); !again { // who asked for the same meanwhile has come to an end
			answer, err = d.pressAll(ctx, in, o, content, k)
		}
	})
	<-done
	return answer, err
}

// keysBefore is what came of the keys of a request that was taken before; false for a new one.
func (d *daemon) keysBefore(in orch.Input, content []byte) (kept any, again bool, err error) {
	kept, again, err = d.loop.Again(in, content)
	if raw, ok := kept.(json.RawMessage); ok && err == nil && !pressed(raw) {
		return nil, true, keysUnknown(in.What.(orch.WorkerKey).Worker)
	}
	return kept, again, err
}

// content is what decides whether a request is the same one: the worker, the keys and, veiled, the text.
func (o KeyOrder) content(in orch.Input) ([]byte, error) {
	if o.Text != "" {
		var err error
		if o.Text, err = Veil(in.Request, []string{o.Text}); err != nil {
			return nil, err
		}
	}
	return contentOf(in.By, o)
}

// pressed tells that what is kept of a request says what its keys have done, and not only that they were ordered.
func pressed(kept json.RawMessage) bool {
	var a orch.KeyAnswer
	return json.Unmarshal(kept, &a) == nil && a.Asked > 0
}

func keysUnknown(worker string) *orch.Error {
	return &orch.Error{
		Code: "keys_unknown", Message: "the daemon ended meanwhile: keys may have been pressed, or not",
		Next: []string{"st worker read " + shellWord(worker) + " --screen"},
	}
}

// keyed is a window in which keys are to be pressed.
type keyed struct {
	worker string
	agent  orch.Agent
	kind   hooks.Kind
	tmux   *tmux.Tmux
	server tmux.Identity
	tag    string
	seen   tmux.View
	now    func() time.Time
	looked time.Time // before seen was taken
}

func (d *daemon) keysFor(by orch.Caller, name string) (*keyed, error) {
	k := &keyed{now: d.loop.Now}
	var refusal *orch.Error
	d.loop.Read(func(v orch.View) {
		if refusal = orch.CheckAs(v, by); refusal != nil {
			return
		}
		var w orch.WorkerInfo
		if w, refusal = orch.WorkerOf(v, by, orch.WorkerArgs{Worker: name}); refusal == nil {
			k.worker = w.ID
			k.agent, _ = v.Entity("agent/" + w.Agent).(orch.Agent)
		}
	})
	if refusal != nil {
		return nil, refusal
	}
	var err error
	if k.kind, err = hooks.Lookup(k.agent.Kind); err != nil {
		return nil, err
	}
	k.tag = d.doer.tagOf(k.agent.ID)
	return k, nil
}

// pressAll presses one key after the other, as long as the screen stays the one that stood there at first: a key
// that was meant for one dialog must not decide the next.
func (d *daemon) pressAll(ctx context.Context, in orch.Input, o KeyOrder, content []byte, k *keyed) (orch.KeyAnswer, error) {
	a := orch.KeyAnswer{Asked: len(o.presses())}
	if k.agent.Place.Pane != "" && k.agent.Gone == "" {
		if err := k.look(ctx); err != nil {
			return a, err
		}
		a.Before = k.screen()
	}
	in.What = orch.WorkerKey{Worker: k.worker, Screen: a.Before, May: d.doer.config.may()}
	data, err := d.loop.DoAs(ctx, in, content)
	if err != nil {
		return a, err
	}
	allowed, fresh := data.(orch.WorkerAnswer)
	if !fresh { // the answer that the same request was given a moment ago
		return a, keysUnknown(k.worker)
	}
	a.Worker = allowed.Worker
	err = k.press(ctx, o.presses(), &a)
	a.After = k.screen()
	ctx = context.WithoutCancel(ctx) // what was done is noted, whoever has hung up
	what := orch.KeysPressed{Worker: k.worker, Pressed: a.Pressed, Asked: a.Asked, Before: a.Before, After: a.After}
	came := orch.Input{At: d.loop.Now(), What: what}
	if a.Pressed > 0 || refused(err) { // else the first key may have been pressed, or not
		came.Request, came.Completes = in.Request, true
	}
	if _, err := d.loop.Do(ctx, came); err != nil {
		d.log.Printf("keys of %s: %v", k.worker, err)
	}
	d.seen(ctx, k)
	return a, err
}

// seen tells what stands on the screen now.
func (d *daemon) seen(ctx context.Context, k *keyed) {
	what := screenOf(k.kind, k.seen, "")
	what.Agent, what.Looked = k.agent.ID, k.looked
	if _, err := d.loop.Do(ctx, orch.Input{At: d.loop.Now(), What: what}); err != nil {
		d.log.Printf("screen of %s: %v", k.agent.ID, err)
	}
}

func (k *keyed) press(ctx context.Context, list []tmux.Press, a *orch.KeyAnswer) error {
	if k.seen.InMode {
		return k.lost("copy_mode", "its pane is in copy mode, which would take the keys")
	}
	for i, p := range list {
		if err := k.pressOne(ctx, p, a.Before); err != nil {
			return err
		}
		a.Pressed++
		limit := keyTime
		if i < len(list)-1 {
			limit = betweenKeys
		}
		if err := k.settle(ctx, limit); err != nil {
			return err
		}
		if i < len(list)-1 && k.screen() != a.Before && !inputLines(k.screen(), a.Before) {
			return nil
		}
	}
	return nil
}

// inputLines says that both are the input line, empty or not.
func inputLines(a, b string) bool {
	line := []string{hooks.Ready, tmux.WhyDraft}
	return slices.Contains(line, a) && slices.Contains(line, b)
}

// pressOne presses a key on the screen that was seen; where something on it has only moved, it looks again.
func (k *keyed) pressOne(ctx context.Context, p tmux.Press, screen string) error {
	p.Server, p.Tag = k.server, k.tag
	for end := time.Now().Add(keyTime); ; {
		p.Seen = k.seen
		ok, err := k.tmux.Press(ctx, k.agent.Place.Pane, p)
		if ok || err != nil {
			return err
		}
		if err := k.look(ctx); err != nil {
			return err
		}
		if now := k.screen(); now != screen && !inputLines(now, screen) || time.Now().After(end) {
			return k.lost("screen_changed", "its screen changed from "+screen+" to "+now+" before the key was pressed")
		}
	}
}

// settle looks until the screen has answered a key and stands still, or the time is over.
func (k *keyed) settle(ctx context.Context, limit time.Duration) error {
	before, name, same := k.seen, "", 0
	for end := time.Now().Add(limit); time.Now().Before(end); {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(keyTick):
		}
		if err := k.look(ctx); err != nil {
			return err
		}
		same++
		if now := k.screen(); now != name {
			name, same = now, 1
		}
		if changed(before, k.seen) && same >= keySteady {
			return nil
		}
	}
	return nil
}

func changed(a, b tmux.View) bool {
	return a.CursorX != b.CursorX || a.CursorY != b.CursorY || !slices.Equal(a.Rows, b.Rows)
}

func (k *keyed) screen() string {
	return screenOf(k.kind, k.seen, "").Screen
}

// look reads the pane, and refuses one that is not this worker's any more.
func (k *keyed) look(ctx context.Context) error {
	pane := k.agent.Place.Pane
	t, want, err := server(ctx, k.agent.Place)
	if err == nil {
		var views map[string]tmux.View
		looked := k.now()
		views, err = t.Look(ctx, pane)
		k.tmux, k.server, k.seen, k.looked = t, want, views[pane], looked
	}
	runner := k.agent.Runner.PID
	switch {
	case err != nil && !gone(err):
		return err
	case err != nil || k.seen.Width == 0 || k.seen.Dead:
		return k.lost("agent_exited", "its window is closed")
	case k.seen.Tag != k.tag && k.tag != "" || runner != 0 && k.seen.PanePID != runner:
		return k.lost("pane_lost", "pane "+pane+" is not this worker's any more")
	}
	return nil
}

func (k *keyed) lost(code, why string) *orch.Error {
	return &orch.Error{
		Code: code, Message: fmt.Sprintf("worker %q: %s", k.agent.Name, why), Next: []string{"st worker show " + k.worker},
	}
}
