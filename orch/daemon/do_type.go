package daemon

import (
	"context"
	"errors"
	"time"

	"st/hooks"
	"st/orch"
	"st/tmux"
)

// typingTries is how often typing is taken up again after an accident between us and the server, such as no
// process left to fork. Once Enter may have gone in, the honest end of it is "submitted": only a hook can tell.
const typingTries = 10

// whyWorking is why a line that may not meet a running turn is not typed.
const whyWorking = "working"

// wordType types one line into an agent's input line and submits it, or does neither. Every stage is durable
// before it happens, so that a later daemon knows what may stand in the input line.
func (d *doer) wordType(ctx context.Context, r Running, o orch.WordType) orch.What {
	kind, err := hooks.Lookup(o.Kind)
	if err != nil {
		return orch.WordTyped{Word: o.Word, Outcome: tmux.Withheld, Why: "kind"}
	}
	stage := d.resume(r, o)
	for try := 0; ; try++ {
		typed, err := d.typeOnce(ctx, r, o, kind, &stage)
		switch {
		case err == nil:
			return d.wordTyped(o.Word, typed)
		case errors.Is(err, errSettled):
			return orch.WordTyped{Word: o.Word, Outcome: tmux.Withheld, Why: tmux.WhyBusy}
		case gone(err) && stage == tmux.StageEntering:
			return d.givenUp(o.Word, stage) // Enter may have been the last that the pane got
		case gone(err):
			return orch.WordTyped{Word: o.Word, Outcome: tmux.Withheld, Why: tmux.WhyGone}
		case try+1 == typingTries || ctx.Err() != nil:
			return d.givenUp(o.Word, stage)
		}
		d.log.Printf("word %s: %v", o.Word, err)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// resume is the stage from which typing goes on. A word that was withheld may still stand in the input line, beside a
// draft that a person had begun: then it is not pasted a second time.
func (d *doer) resume(r Running, o orch.WordType) (stage string) {
	if r.Stage != "" {
		return r.Stage
	}
	d.state(func(v orch.View) {
		if w, ok := v.Entity("word/" + o.Word).(orch.Word); ok && w.Stands {
			stage = tmux.StagePasting
		}
	})
	return stage
}

func (d *doer) typeOnce(ctx context.Context, r Running, o orch.WordType, kind hooks.Kind, stage *string) (tmux.Typed, error) {
	// Which server it is, each look and each act of Type checks by itself.
	want, err := tmux.ParseIdentity(o.Place.Server)
	if err != nil {
		return tmux.Typed{}, err
	}
	return tmux.At(want.Socket).Type(ctx, o.Place.Pane, tmux.Typing{
		Server: want, Tag: d.tagOf(o.Agent), Text: o.Text, Resume: *stage, Cut: r.Resumed && *stage == r.Stage, Submit: hooks.SubmitKeys(kind),
		Read: func(v tmux.View) (string, bool, string) {
			// Once Enter may have gone in, the turn that is shown may be that of the line.
			return reader(kind, o.Now || *stage != tmux.StageEntering)(v)
		},
		Stage: func(name string) error {
			switch {
			case d.dead(o.Agent):
				return tmux.ErrNoPane // what stands in its pane now is somebody else's
			case !d.wanted(o.Word):
				return errSettled
			}
			if err := r.Tell(ctx, name); err != nil {
				return err
			}
			*stage = name
			return nil
		},
	})
}

// reader says of a look at a pane what stands in the input line, and whether a line may be typed there: with idle
// not beside a running turn either. The screen shows a turn before its hook has told of it.
func reader(kind hooks.Kind, idle bool) func(tmux.View) (draft string, ready bool, why string) {
	return func(v tmux.View) (string, bool, string) {
		s := kind.Look(hooksView(v))
		switch {
		case s.Name != hooks.Ready:
			return "", false, s.Name
		case idle && s.Working:
			return "", false, whyWorking
		case s.Popup:
			return s.Draft, false, tmux.WhyDraft // a menu over it: Enter would choose
		}
		return s.Draft, true, ""
	}
}

// errSettled is the end of a typing whose line is in already, or is wanted no more.
var errSettled = errors.New("the word is settled")

// wanted says that a word is still to be typed. Somebody else may have entered its line while it stood in the input line,
// also while no daemon ran.
func (d *doer) wanted(word string) (yes bool) {
	d.state(func(v orch.View) { yes = orch.Types(v, word) })
	return yes
}

// dead says that the process of an agent has ended, which the state may not know yet.
func (d *doer) dead(agent string) (yes bool) {
	d.state(func(v orch.View) {
		a, _ := v.Entity("agent/" + agent).(orch.Agent)
		yes = a.Gone != "" || a.Proc.PID != 0 && !alive(a.Proc)
	})
	return yes
}

// tagOf is the tag of an agent's pane; "" where we did not open it.
func (d *doer) tagOf(agent string) (tag string) {
	d.state(func(v orch.View) {
		a, ok := v.Entity("agent/" + agent).(orch.Agent)
		if !ok || !a.Ours {
			return
		}
		for _, shelf := range []string{orch.FormerlyOf(agent), orch.Of("worker", agent)} { // the one for which it was opened
			v.Each(shelf, func(e orch.Entity) bool {
				if w, ok := e.(orch.Worker); ok && tag == "" && !w.Adopted {
					tag = d.tag(w.ID)
				}
				return tag == ""
			})
		}
	})
	return tag
}

func (d *doer) wordTyped(word string, t tmux.Typed) orch.WordTyped {
	return orch.WordTyped{
		Word: word, Outcome: t.Outcome, Why: t.Why, Stands: t.Stands,
		Typed: d.when(t.Typed), Verified: d.when(t.Verified), Submitted: d.when(t.Submitted),
	}
}

// when is a time of ours by the loop's clock. The two differ where the system's was set back: what was typed just now
// would look long overdue.
func (d *doer) when(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	u := d.now().Add(-time.Since(t))
	return &u
}

func (d *doer) givenUp(word, stage string) orch.WordTyped {
	if stage == tmux.StageEntering {
		now := d.now()
		return orch.WordTyped{Word: word, Outcome: tmux.Submitted, Submitted: &now}
	}
	return orch.WordTyped{Word: word, Outcome: tmux.Withheld, Why: "tmux", Stands: stage == tmux.StagePasting}
}
