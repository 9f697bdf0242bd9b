package tmux

import (
	"context"
	"errors"
	"strings"
	"time"

	"st/orch/failpoint"
)

// Outcomes of Type.
const (
	Submitted = "submitted"
	Withheld  = "withheld"
)

// Stages of Type, told before what they name can happen.
const (
	StagePasting  = "pasting"  // the text may stand in the input line from here on; it is not submitted
	StageEntering = "entering" // Enter may have been pressed
)

// Why Type withholds, where it is not the reason that Typing.Read gave.
const (
	WhyDraft        = "draft"         // something else stands in the input line
	WhyCopyMode     = "copy_mode"     // a person reads back in the pane
	WhyGone         = "gone"          // no such pane, dead, or not the one meant
	WhyBusy         = "busy"          // a person has just pressed a key there, or another Type holds the pane
	WhyNotShown     = "not_shown"     // the text was pasted and never appeared
	WhyEnterIgnored = "enter_ignored" // Enter was pressed and the text stayed
)

// Typing is one line wanted in a pane.
type Typing struct {
	Server Identity // of the pane; zero = not checked
	Tag    string   // that the pane must have; "" = not checked
	Text   string   // control characters are left out, line breaks become spaces
	// Read finds the input line in a view. draft is what stands in it, rows joined by nothing; ready says that
	// there is one and a line may be typed into it; why names what is there instead. It must be quick and may be
	// called often.
	Read func(View) (draft string, ready bool, why string)
	// Submit are the keys that submit the line, by tmux's names; none is Enter.
	Submit []string
	// Stage is told before each stage, and again StagePasting when a line that Enter didn't submit is about to
	// be taken back. An error ends the typing. May be nil.
	Stage func(string) error
	// Resume is the last stage told by an earlier try of this same text whose end is not known, or StagePasting
	// where that try said Stands. "" for a first try.
	Resume string
	// Cut says that the earlier try was cut off, a moment ago or long since: what it pasted may not be shown yet.
	Cut bool
}

// Typed is what became of it.
type Typed struct {
	Outcome string // Submitted: Enter was pressed while exactly the text stood there, and then it had left
	Why     string // for Withheld
	// Stands says that the text, or a part of it, may still stand in the input line, next to what a person wrote.
	Stands                     bool
	Typed, Verified, Submitted time.Time // zero where it didn't come to that
}

// Limits within the caller's deadline.
const (
	typeLimit   = 15 * time.Second // for everything, where the caller set no deadline
	verifyLimit = 5 * time.Second  // from the paste until the text stands there
	shownLimit  = 2 * time.Second  // the same, of a paste by a try that was cut off
	removeLimit = 3 * time.Second  // for taking it back
	stepLimit   = 5 * time.Second  // for one act; not cut short by the caller's deadline, or nobody would know
	enterAgain  = 700 * time.Millisecond
	enterMost   = 3 // times; each wait is twice the one before
	// quiet is how long a person must have pressed no key. tmux tells whole seconds, so up to one more passes.
	quiet = 2 * time.Second
	// steady is how many looks in a row must show the same wrong line before it is believed: a program redraws
	// in pieces.
	steady = 8
)

// Type pastes a line into a pane's input line, sees it stand there, presses Enter and sees it leave. It presses
// nothing where anything else stands there: a person's draft is neither submitted nor touched. A pane takes one
// Type at a time in this process. An error means that tmux or Stage failed on the way, and what had been told
// to Stage is what is known.
func (t *Tmux) Type(ctx context.Context, id string, o Typing) (Typed, error) {
	if err := paneID(id); err != nil {
		return Typed{}, err
	}
	w := &writer{t: t, id: id, Typing: o, text: strings.TrimSpace(printable(o.Text))}
	w.want = squash(w.text)
	if w.want == "" {
		return Typed{}, errors.New("nothing to type")
	}
	ctx, cancel := limited(ctx)
	defer cancel()
	unlock, ok := lockPane(ctx, t.socket+" "+id)
	if !ok {
		return Typed{Outcome: Withheld, Why: WhyBusy}, nil
	}
	defer unlock()
	err := w.run(ctx)
	return w.typed, err
}

func limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, typeLimit)
}

// writer is one Type under way.
type writer struct {
	t  *Tmux
	id string
	Typing
	text, want string // want is text without white space
	told       string // the last stage told
	typed      Typed
}

func (w *writer) withhold(why string) error {
	w.typed.Outcome, w.typed.Why = Withheld, why
	return nil
}

func (w *writer) submitted() error {
	w.typed.Outcome, w.typed.Stands = Submitted, false
	return nil
}

// tell reports a stage once.
func (w *writer) tell(stage string) error {
	if w.told == stage {
		return nil
	}
	if w.Stage != nil {
		if err := w.Stage(stage); err != nil {
			return err
		}
	}
	w.told = stage
	return nil
}

func (w *writer) run(ctx context.Context) error {
	s, err := w.look(ctx)
	if err != nil {
		return err
	}
	w.told = w.Resume
	if s, err = w.awaitShown(ctx, s); err != nil {
		return err
	}
	switch {
	case w.Resume == StageEntering && (s.line == empty || s.line == foreign || s.line == blocked && s.why == WhyGone):
		return w.submitted() // where the pane is gone, Enter may have been the last that it got
	case w.Resume != "" && s.line == whole:
		w.typed.Stands, w.typed.Verified = true, time.Now()
		return w.enter(ctx, s)
	case w.Resume == StageEntering && s.line != blocked:
		w.typed.Stands = true
		return w.withhold(WhyDraft)
	case w.Resume == StageEntering:
		w.typed.Stands = true
		return w.withhold(s.why)
	}
	w.told = "" // a fresh paste is told even where an earlier one was
	pasted, err := w.paste(ctx, s)
	if err != nil || !pasted {
		return err
	}
	s, verified, err := w.verify(ctx)
	if err != nil || !verified {
		return err
	}
	return w.enter(ctx, s)
}

// awaitShown gives a paste whose try was cut off the time to be shown: pasted a second time meanwhile, the text would
// stand there twice, or go in twice.
func (w *writer) awaitShown(ctx context.Context, s sight) (sight, error) {
	ctx, cancel := context.WithTimeout(ctx, shownLimit)
	defer cancel()
	for w.Cut && w.Resume == StagePasting && (s.line == empty || s.line == part) {
		if !pause(ctx, fastTick) {
			break
		}
		next, err := w.look(ctx)
		if ctx.Err() != nil {
			break // as it stood until now
		}
		if err != nil {
			return s, err
		}
		s = next
	}
	return s, nil
}

// paste waits for nothing but a redraw: where the line is not free it withholds. The check and the paste are one
// server step, because what was seen may have changed; and a paste into a dead pane ends the whole server up to
// tmux 3.3a.
func (w *writer) paste(ctx context.Context, s sight) (bool, error) {
	for {
		if why := w.unfit(s); why != "" {
			w.typed.Stands = w.Resume != "" && why != WhyGone
			return false, w.withhold(why)
		}
		if err := w.tell(StagePasting); err != nil {
			return false, err
		}
		failpoint.At("type.paste.before")
		ok, err := w.pasteStep(ctx, s)
		failpoint.At("type.paste.after")
		if err != nil {
			return false, err
		}
		if ok {
			w.typed.Typed, w.typed.Stands = time.Now(), true
			return true, nil
		}
		if !pause(ctx, fastTick) {
			return false, w.withhold(WhyBusy)
		}
		if s, err = w.look(ctx); err != nil {
			return false, err
		}
	}
}

// unfit says why nothing can be pasted now.
func (w *writer) unfit(s sight) string {
	switch {
	case s.line == blocked:
		return s.why
	case s.InMode:
		return WhyCopyMode
	case s.line != empty:
		return WhyDraft
	case s.person:
		return WhyBusy
	}
	return ""
}

func (w *writer) pasteStep(ctx context.Context, s sight) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepLimit)
	defer cancel()
	buffer := nonce()
	// In a buffer of its own name, so that a person's newest one stays the newest; -p brackets the paste, so
	// that "/" and "@" open no menu; -d deletes the buffer.
	paste := guarded(w.id, w.same(s), "paste-buffer -p -r -d -b "+buffer+" -t "+w.id)
	paste[len(paste)-1] += " ; delete-buffer -b " + buffer
	return was(w.t.run(ctx, w.text, nil, []Cmd{{"load-buffer", "-b", buffer, "-"}, paste}))
}

// same is a check that the pane is the one meant and as it was seen.
func (w *writer) same(s sight) *check {
	c := ours(w.id, w.Server, w.Tag)
	c.isInt("cursor_x", s.CursorX)
	c.isInt("cursor_y", s.CursorY)
	c.isInt("pane_width", s.Width)
	c.isInt("pane_in_mode", 0)
	c.isInt("pane_dead", 0)
	c.isInt("pane_pid", s.PanePID)
	// Of a key pressed since, the program may have drawn nothing yet. Whoever has been quiet for two seconds has
	// pressed the last one in another second than this.
	if s.keys != "" {
		c.is(lastKeys, s.keys)
	}
	return c
}

// press presses a key where the pane still is as it was seen.
func (w *writer) press(ctx context.Context, s sight, key string) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepLimit)
	defer cancel()
	return was(w.t.Run(ctx, guarded(w.id, w.same(s), "send-keys -t "+w.id+" "+key)))
}

// verify waits until exactly the text stands in the line, and returns the look that showed it.
func (w *writer) verify(ctx context.Context) (sight, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, verifyLimit)
	defer cancel()
	var still stillness
	for {
		s, err := w.look(ctx)
		switch {
		case ctx.Err() != nil:
			return s, false, w.withhold(still.why(WhyNotShown))
		case err != nil:
			return s, false, err
		case s.line == whole:
			w.typed.Verified = time.Now()
			return s, true, nil
		case s.line == blocked && s.why == WhyGone:
			w.typed.Stands = false
			return s, false, w.withhold(WhyGone)
		case still.seen(s) >= steady && (s.line == mixed || s.line == foreign):
			return s, false, w.withhold(WhyDraft)
		}
		pause(ctx, still.tick())
	}
}

// enter presses Enter while exactly the text stands there, again where it stays, and waits until it has left. It
// begins with the look that has shown the text: the press itself checks that nothing has moved since.
func (w *writer) enter(ctx context.Context, s sight) error {
	var still stillness
	pressed, again := 0, time.Time{}
	for {
		steadily := still.seen(s) >= steady
		switch {
		case s.line == whole && !s.InMode && !s.person && time.Now().After(again):
			if pressed == enterMost {
				return w.takeBack(ctx, pressed, WhyEnterIgnored)
			}
			ok, err := w.enterStep(ctx, s)
			if err != nil {
				return err
			}
			if ok {
				again = time.Now().Add(enterAgain << pressed)
				pressed++
			}
		case s.line == whole:
		case pressed > 0 && w.left(s, steadily):
			return w.submitted()
		case s.line == blocked && s.why == WhyGone:
			w.typed.Stands = false
			return w.withhold(WhyGone)
		case pressed == 0 && s.line == empty:
			// A person has sent it or wiped it out.
			w.typed.Stands = false
			return w.withhold(WhyBusy)
		case steadily && s.line != blocked:
			return w.withhold(WhyDraft)
		}
		pause(ctx, still.tick())
		var err error
		s, err = w.look(ctx)
		if ctx.Err() != nil {
			return w.takeBack(ctx, pressed, still.why(WhyBusy))
		}
		if err != nil {
			return err
		}
	}
}

func (w *writer) enterStep(ctx context.Context, s sight) (bool, error) {
	if err := w.tell(StageEntering); err != nil {
		return false, err
	}
	failpoint.At("type.enter.before")
	ok, err := w.press(ctx, s, w.submitKeys())
	failpoint.At("type.enter.after")
	if ok && w.typed.Submitted.IsZero() {
		w.typed.Submitted = time.Now()
	}
	return ok, err
}

func (w *writer) submitKeys() string {
	if len(w.Submit) == 0 {
		return "Enter"
	}
	keys := "--"
	for _, k := range w.Submit {
		keys += " " + word(printable(k))
	}
	return keys
}

// left reports whether the text is no longer in the line after Enter. A screen without a line must last a few
// looks: it may be half a redraw.
func (w *writer) left(s sight, steadily bool) bool {
	switch s.line {
	case empty, foreign:
		return true
	case blocked:
		return s.why == WhyGone || steadily
	}
	return false
}

// takeBack wipes out the text where it stands alone, row by row with C-u, and withholds. Where Enter was pressed
// that must be known to have come to nothing first.
func (w *writer) takeBack(ctx context.Context, pressed int, why string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeLimit)
	defer cancel()
	if pressed > 0 {
		ignored, err := w.ignored(ctx)
		if err != nil {
			return err
		}
		if !ignored {
			return w.submitted()
		}
		why = WhyEnterIgnored
	}
	// An empty line is to mean "not submitted" again, should this process end half way.
	if err := w.tell(StagePasting); err != nil {
		return err
	}
	w.typed.Submitted = time.Time{}
	if err := w.wipe(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	return w.withhold(why)
}

// ignored finds out whether Enter came to nothing. A program that hangs may have it still before it, and a line
// that is seen to empty later says nothing: a submitted one looks like one wiped out. So one character is taken
// away. Keys are read in order: where the rest of the text is then seen, Enter has been read and had no effect.
func (w *writer) ignored(ctx context.Context) (bool, error) {
	var still stillness
	pressed := false
	for {
		s, err := w.look(ctx)
		if ctx.Err() != nil {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		steadily := still.seen(s) >= steady
		switch {
		case s.line == empty || s.line == blocked && s.why == WhyGone:
			return false, nil
		case s.line == mixed || s.line == part:
			if steadily {
				return pressed || s.line == mixed, nil
			}
		case s.line != whole && steadily:
			return false, nil
		case s.line == whole && !pressed && !s.InMode && !s.person:
			if pressed, err = w.press(ctx, s, "BSpace"); err != nil {
				return false, err
			}
		}
		pause(ctx, still.tick())
	}
}

func (w *writer) wipe(ctx context.Context) error {
	var still stillness
	for ctx.Err() == nil {
		s, err := w.look(ctx)
		if err != nil {
			return err
		}
		switch {
		case s.line == empty || s.line == blocked && s.why == WhyGone:
			w.typed.Stands = false
			return nil
		case s.line == blocked || s.line == mixed || s.line == foreign:
			return nil
		case s.InMode || s.person:
			return nil
		}
		if n := still.seen(s); n%steady == 1 {
			if _, err := w.press(ctx, s, "C-u"); err != nil {
				return err
			}
		}
		pause(ctx, still.tick())
	}
	return nil
}
