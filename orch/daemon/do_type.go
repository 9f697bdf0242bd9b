package daemon

import (
	"context"
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
			return wordTyped(o.Word, typed)
		case gone(err):
			return orch.WordTyped{Word: o.Word, Outcome: tmux.Withheld, Why: tmux.WhyGone}
		case try+1 == typingTries || ctx.Err() != nil:
			return givenUp(o.Word, stage)
		}
		d.log.Printf("word %s: %v", o.Word, err)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// resume is the stage from which typing goes on. A word that was withheld before may still stand in the input
// line, beside a draft that a person had begun: then it is not pasted a second time.
func (d *doer) resume(r Running, o orch.WordType) (stage string) {
	if r.Stage != "" {
		return r.Stage
	}
	d.state(func(v orch.View) {
		if w, ok := v.Entity("word/" + o.Word).(orch.Word); ok && w.Tries > 1 {
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
		Server: want, Tag: d.tagOf(o.Agent), Text: o.Text, Read: reader(kind, o.Now), Resume: *stage,
		Stage: func(name string) error {
			if err := r.Tell(ctx, name); err != nil {
				return err
			}
			*stage = name
			return nil
		},
	})
}

// reader says of a look at a pane what stands in the input line, and whether a line may be typed there: with idle
// not beside a running turn either. A turn that has just ended may still be shown, so that is not always asked.
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

// tagOf is the tag of an agent's pane; "" where we did not open it.
func (d *doer) tagOf(agent string) (tag string) {
	d.state(func(v orch.View) {
		a, ok := v.Entity("agent/" + agent).(orch.Agent)
		if !ok || !a.Ours {
			return
		}
		v.Each("worker", func(e orch.Entity) bool {
			w, ok := e.(orch.Worker)
			if ok && w.Agent == agent {
				tag = d.tag(w.ID)
			}
			return tag == ""
		})
	})
	return tag
}

func wordTyped(word string, t tmux.Typed) orch.WordTyped {
	return orch.WordTyped{
		Word: word, Outcome: t.Outcome, Why: t.Why,
		Typed: when(t.Typed), Verified: when(t.Verified), Submitted: when(t.Submitted),
	}
}

func when(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	u := t.UTC()
	return &u
}

func givenUp(word, stage string) orch.WordTyped {
	if stage == tmux.StageEntering {
		now := time.Now().UTC()
		return orch.WordTyped{Word: word, Outcome: tmux.Submitted, Submitted: &now}
	}
	return orch.WordTyped{Word: word, Outcome: tmux.Withheld, Why: "tmux"}
}
