package tmux_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"st/tmux"
	"st/tmux/tmuxtest"
)

func wantTyped(t *testing.T, got tmux.Typed, outcome, why string, stands bool) {
	t.Helper()
	if got.Outcome != outcome || got.Why != why || got.Stands != stands {
		t.Fatalf("typed: %+v, want %s %q, stands %v", got, outcome, why, stands)
	}
}

func wantSent(t *testing.T, g *target, want ...string) {
	t.Helper()
	if got := g.sent(); !slices.Equal(got, want) {
		t.Fatalf("sent: %q, want %q", got, want)
	}
}

func TestTypeSubmits(t *testing.T) {
	g := newTarget(t, "")
	for _, text := range []string{
		"read d7.md and do it", "-leading", "/quit?; ", "a#{pane_id}#(id) $HOME `id` 'x' \"y\" \\", "일을 시작하세요",
		strings.Repeat("word ", 60) + "end",
	} {
		var stages []string
		o := g.typing(text)
		o.Stage = func(s string) error { stages = append(stages, s); return nil }
		got := g.typeLine(o)
		wantTyped(t, got, tmux.Submitted, "", false)
		if got.Typed.IsZero() || got.Verified.Before(got.Typed) || got.Submitted.Before(got.Verified) {
			t.Errorf("times out of order: %+v", got)
		}
		if want := []string{tmux.StagePasting, tmux.StageEntering}; !slices.Equal(stages, want) {
			t.Errorf("stages %q, want %q", stages, want)
		}
		sent := g.sent()
		if last := sent[len(sent)-1]; last != strings.TrimSpace(text) {
			t.Errorf("sent %q, want %q", last, text)
		}
	}
	if buffers := g.Run("list-buffers"); buffers != "" {
		t.Errorf("buffers left: %s", buffers)
	}
}

func TestTypeDropsControlCharacters(t *testing.T) {
	g := newTarget(t, "")
	wantTyped(t, g.typeLine(g.typing("one\x1b[201~\ntwo\x03\x00\tthree\u009b")), tmux.Submitted, "", false)
	wantSent(t, g, "one[201~ two three")
}

func TestTypeSwallowedEnterIsRepeated(t *testing.T) {
	g := newTarget(t, "swallow=1")
	wantTyped(t, g.typeLine(g.typing("hello")), tmux.Submitted, "", false)
	wantSent(t, g, "hello")
}

func TestTypeIgnoredEnterIsTakenBack(t *testing.T) {
	g := newTarget(t, "swallow=99")
	var stages []string
	o := g.typing("hello")
	o.Stage = func(s string) error { stages = append(stages, s); return nil }
	wantTyped(t, g.typeWithin(1500*time.Millisecond, o), tmux.Withheld, tmux.WhyEnterIgnored, false)
	if want := []string{tmux.StagePasting, tmux.StageEntering, tmux.StagePasting}; !slices.Equal(stages, want) {
		t.Errorf("stages %q, want %q", stages, want)
	}
	g.waitDraft("")
	wantSent(t, g)
}

func TestTypeFrozenProgramTakesEnterLater(t *testing.T) {
	for _, freeze := range []string{"2500ms", "6s"} { // it wakes while the line is being taken back, or after that
		g := newTarget(t, "freeze="+freeze)
		wantTyped(t, g.typeWithin(1500*time.Millisecond, g.typing("hello")), tmux.Submitted, "", false)
		g.waitDraft("")
		wantSent(t, g, "hello")
	}
}

func TestTypeSlowProgram(t *testing.T) {
	g := newTarget(t, "slow=300ms")
	wantTyped(t, g.typeLine(g.typing("patience")), tmux.Submitted, "", false)
	wantSent(t, g, "patience")
}

func TestTypeDialogAfterEnterIsLeftAlone(t *testing.T) {
	g := newTarget(t, "dialog")
	wantTyped(t, g.typeLine(g.typing("hello")), tmux.Submitted, "", false)
	wantTyped(t, g.typeLine(g.typing("again")), tmux.Withheld, "question", false)
	wantSent(t, g, "hello")
}

func TestTypeThatEndsTheProgram(t *testing.T) {
	g := newTarget(t, "")
	wantTyped(t, g.typeLine(g.typing("/quit")), tmux.Submitted, "", false)
	wantSent(t, g, "/quit")
	wantTyped(t, g.typeLine(g.typing("/quit")), tmux.Withheld, tmux.WhyGone, false)
}

func TestTypeLeavesADraft(t *testing.T) {
	g := newTarget(t, "")
	g.Run("send-keys", "-t", g.pane.ID, "-l", "my own words")
	g.waitDraft("my own words")
	wantTyped(t, g.typeLine(g.typing("hello")), tmux.Withheld, tmux.WhyDraft, false)
	g.waitDraft("my own words")
	wantSent(t, g)
}

func TestTypeDraftThatSlipsIn(t *testing.T) {
	g := newTarget(t, "")
	o := g.typing("hello")
	// The person's words arrive after the last look and before the paste.
	o.Stage = func(string) error {
		g.Run("send-keys", "-t", g.pane.ID, "-l", "mine")
		g.waitDraft("mine")
		return nil
	}
	wantTyped(t, g.typeLine(o), tmux.Withheld, tmux.WhyDraft, false)
	g.waitDraft("mine")
	wantSent(t, g)
}

func TestTypeDraftBeforeEnter(t *testing.T) {
	g := newTarget(t, "")
	o := g.typing("hello")
	// The person's words arrive after the text was verified and before Enter.
	o.Stage = func(stage string) error {
		if stage == tmux.StageEntering {
			g.Run("send-keys", "-t", g.pane.ID, "-l", "mine")
			g.waitDraft("hellomine")
		}
		return nil
	}
	wantTyped(t, g.typeLine(o), tmux.Withheld, tmux.WhyDraft, true)
	g.waitDraft("hellomine")
	wantSent(t, g)
}

func TestTypeCopyMode(t *testing.T) {
	g := newTarget(t, "")
	g.Run("copy-mode", "-t", g.pane.ID)
	wantTyped(t, g.typeLine(g.typing("hello")), tmux.Withheld, tmux.WhyCopyMode, false)
	g.Run("send-keys", "-t", g.pane.ID, "-X", "cancel")
	o := g.typing("hello")
	o.Stage = func(string) error { g.Run("copy-mode", "-t", g.pane.ID); return nil }
	wantTyped(t, g.typeLine(o), tmux.Withheld, tmux.WhyCopyMode, false)
	g.Run("send-keys", "-t", g.pane.ID, "-X", "cancel")
	g.waitDraft("")
	wantSent(t, g)
}

func TestTypeNeverIntoADeadPane(t *testing.T) {
	g := newTarget(t, "")
	before := g.Identity()
	g.Run("set-option", "-p", "-t", g.pane.ID, "remain-on-exit", "on")
	o := g.typing("hello")
	// It dies after the last look: tmux up to 3.3a would crash by the paste.
	o.Stage = func(string) error {
		g.Run("send-keys", "-t", g.pane.ID, "-l", "/quit")
		g.Run("send-keys", "-t", g.pane.ID, "Enter")
		tmuxtest.Wait(t, "the pane is dead", func() (bool, string) {
			dead := g.Run("list-panes", "-a", "-F", "#{pane_id} #{pane_dead}")
			return strings.Contains(dead, g.pane.ID+" 1"), dead
		})
		return nil
	}
	wantTyped(t, g.typeLine(o), tmux.Withheld, tmux.WhyGone, false)
	wantTyped(t, g.typeLine(g.typing("hello")), tmux.Withheld, tmux.WhyGone, false)
	if after := g.Identity(); after != before {
		t.Fatalf("the server was %v and is %v", before, after)
	}
}

func TestTypeOnlyIntoThePaneMeant(t *testing.T) {
	g := newTarget(t, "")
	o := g.typing("hello")
	o.Tag = "h:w2"
	wantTyped(t, g.typeLine(o), tmux.Withheld, tmux.WhyGone, false)
	o = g.typing("hello")
	o.Server.Start--
	wantTyped(t, g.typeLine(o), tmux.Withheld, tmux.WhyGone, false)
	o = g.typing("hello")
	o.Stage = func(string) error { g.Run("set-option", "-p", "-t", g.pane.ID, tmux.TagOption, "h:w9"); return nil }
	wantTyped(t, g.typeLine(o), tmux.Withheld, tmux.WhyGone, false)
	wantSent(t, g)
	g.waitDraft("")
	if _, err := g.Tmux().Type(t.Context(), "main", o); !errors.Is(err, tmux.ErrNoPane) {
		t.Errorf("a name for an id: %v", err)
	}
}

func TestTypeNeverShown(t *testing.T) {
	g := newTarget(t, "hidden")
	wantTyped(t, g.typeWithin(500*time.Millisecond, g.typing("hello")), tmux.Withheld, tmux.WhyNotShown, true)
	wantSent(t, g)
}

func TestTypeResumes(t *testing.T) {
	for _, c := range []struct {
		resume, draft string
		outcome, why  string
		stands        bool
		sent          []string
	}{
		{tmux.StagePasting, "", tmux.Submitted, "", false, []string{"hello you"}},
		{tmux.StagePasting, "hello you", tmux.Submitted, "", false, []string{"hello you"}},
		{tmux.StagePasting, "hello you too", tmux.Withheld, tmux.WhyDraft, true, nil},
		{tmux.StageEntering, "", tmux.Submitted, "", false, nil},
		{tmux.StageEntering, "hello you", tmux.Submitted, "", false, []string{"hello you"}},
		{tmux.StageEntering, "my words", tmux.Submitted, "", false, nil},
		{tmux.StageEntering, "hello you too", tmux.Withheld, tmux.WhyDraft, true, nil},
		{"", "hello you", tmux.Withheld, tmux.WhyDraft, false, nil},
	} {
		t.Run(c.resume+" "+c.draft, func(t *testing.T) {
			g := newTarget(t, "")
			g.Run("send-keys", "-t", g.pane.ID, "-l", "--", c.draft)
			g.waitDraft(c.draft)
			o := g.typing("hello you")
			o.Resume = c.resume
			wantTyped(t, g.typeLine(o), c.outcome, c.why, c.stands)
			wantSent(t, g, c.sent...)
		})
	}
}

// What a try pasted that was cut off is shown late, after the next one has looked: it is not pasted twice.
func TestTypeAwaitsWhatWasPasted(t *testing.T) {
	g := newTarget(t, "slow=700ms")
	g.Run("set-buffer", "-b", "early", "hello you", ";", "paste-buffer", "-p", "-d", "-b", "early", "-t", g.pane.ID)
	o := g.typing("hello you")
	o.Resume, o.Cut = tmux.StagePasting, true
	wantTyped(t, g.typeLine(o), tmux.Submitted, "", false)
	wantSent(t, g, "hello you")
}

func TestTypeStageErrorStops(t *testing.T) {
	for _, at := range []string{tmux.StagePasting, tmux.StageEntering} {
		g := newTarget(t, "")
		no := errors.New("no")
		o := g.typing("hello")
		o.Stage = func(s string) error {
			if s == at {
				return no
			}
			return nil
		}
		if _, err := g.Tmux().Type(t.Context(), g.pane.ID, o); !errors.Is(err, no) {
			t.Errorf("stage %s: %v", at, err)
		}
		wantSent(t, g)
	}
}

func TestTypeOneWriterAtATime(t *testing.T) {
	g := newTarget(t, "")
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			// A handle each: the lock belongs to the pane.
			typed, err := tmux.At(g.Socket()).Type(t.Context(), g.pane.ID, g.typing(fmt.Sprintf("line %d from its writer", i)))
			if err != nil || typed.Outcome != tmux.Submitted {
				t.Errorf("writer %d: %+v, %v", i, typed, err)
			}
		})
	}
	all.Wait()
	sent := g.sent()
	slices.Sort(sent)
	for i, line := range sent {
		if line != fmt.Sprintf("line %d from its writer", i) {
			t.Errorf("interleaved: %q", sent)
		}
	}
	if len(sent) != 6 {
		t.Errorf("%d lines: %q", len(sent), sent)
	}
}

func TestTypeWithheldWhileAnotherWrites(t *testing.T) {
	g := newTarget(t, "")
	o := g.typing("first")
	o.Stage = func(stage string) error {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		second, err := g.Tmux().Type(ctx, g.pane.ID, g.typing("second"))
		if err != nil {
			return err
		}
		wantTyped(t, second, tmux.Withheld, tmux.WhyBusy, false)
		return nil
	}
	wantTyped(t, g.typeLine(o), tmux.Submitted, "", false)
	wantSent(t, g, "first")
}

func TestTypeWaitsForAPerson(t *testing.T) {
	g := newTarget(t, "")
	g.Run("select-window", "-t", g.pane.ID)
	p := g.Attach("main", 100, 30)
	p.Type("x")
	g.waitDraft("x")
	p.Type("\x7f")
	g.waitDraft("")
	wantTyped(t, g.typeLine(g.typing("hello")), tmux.Withheld, tmux.WhyBusy, false)
	wantSent(t, g)
	// Once they are quiet the same line goes in.
	var got tmux.Typed
	tmuxtest.Wait(t, "the line goes in", func() (bool, string) {
		got = g.typeLine(g.typing("hello"))
		return got.Outcome == tmux.Submitted, got.Why
	})
	wantSent(t, g, "hello")
}

func TestTypePersonElsewhereIsNoHindrance(t *testing.T) {
	g := newTarget(t, "")
	p := g.Attach("main", 100, 30) // looks at the session's first window
	p.Type("notes")
	g.WaitText("%0", "notes")
	wantTyped(t, g.typeLine(g.typing("hello")), tmux.Submitted, "", false)
	wantSent(t, g, "hello")
}

func TestTypePersonTypesBetweenPasteAndEnter(t *testing.T) {
	g := newTarget(t, "")
	g.Run("select-window", "-t", g.pane.ID)
	p := g.Attach("main", 100, 30)
	o := g.typing("hello")
	o.Stage = func(stage string) error {
		if stage == tmux.StageEntering {
			p.Type(" mine")
			g.waitDraft("hello mine")
		}
		return nil
	}
	var got tmux.Typed
	tmuxtest.Wait(t, "they are quiet", func() (bool, string) {
		got = g.typeLine(o)
		return got.Why != tmux.WhyBusy, got.Why
	})
	wantTyped(t, got, tmux.Withheld, tmux.WhyDraft, true)
	g.waitDraft("hello mine")
	wantSent(t, g)
}

// TestTypePersonPressesUnseen: a program that is slow to draw shows nothing yet of what a person has just typed, and
// what was seen before the act looks as it did.
func TestTypePersonPressesUnseen(t *testing.T) {
	for _, stage := range []string{tmux.StagePasting, tmux.StageEntering} {
		t.Run(stage, func(t *testing.T) {
			g := newTarget(t, "slow=300ms")
			g.Run("select-window", "-t", g.pane.ID)
			p := g.Attach("main", 100, 30)
			activity := func() string { return g.Run("list-clients", "-F", "#{client_activity}") }
			o := g.typing("hello")
			o.Stage = func(told string) error {
				if told == stage {
					before := activity()
					p.Type("x")
					tmuxtest.Wait(t, "the key is there", func() (bool, string) { return activity() != before, before })
				}
				return nil
			}
			var got tmux.Typed
			tmuxtest.Wait(t, "they are quiet", func() (bool, string) {
				got = g.typeLine(o)
				return got.Why != tmux.WhyBusy, got.Why
			})
			stands, draft := false, "x"
			if stage == tmux.StageEntering {
				stands, draft = true, "hellox"
			}
			wantTyped(t, got, tmux.Withheld, tmux.WhyDraft, stands)
			g.waitDraft(draft)
			wantSent(t, g)
		})
	}
}

func BenchmarkType(b *testing.B) {
	for _, size := range []int{100, 1200} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			g := newTarget(b, "")
			o := g.typing(strings.Repeat("123456789 ", size/10))
			for b.Loop() {
				if typed := g.typeLine(o); typed.Outcome != tmux.Submitted {
					b.Fatal(typed)
				}
			}
		})
	}
}

func TestStands(t *testing.T) {
	for _, c := range []struct {
		draft, text string
		stands      bool
	}{
		{"read this: /a/b.mdand do it", "read this: /a/b.md and do it", true}, {"", "", false}, {"", "x", false}, {"x", "", false},
		{"read", "read this", false}, {"read this, and more", "read this", false},
	} {
		if got := tmux.Stands(c.draft, c.text); got != c.stands {
			t.Errorf("%q for %q: %v", c.draft, c.text, got)
		}
	}
}
