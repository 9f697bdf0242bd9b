//go:build linux || darwin

package e2e

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"st/hooks"
)

// TestTypist lets a person type in the coordinator's window, in bursts and with pauses, send some of it, read back and
// look elsewhere, while the coordinator is woken again and again. Every character must end where the person has put it:
// in a prompt that they have sent, whole and once, or in the input line. Each event must be told once.
func TestTypist(t *testing.T) {
	for _, kind := range []string{"claude", "codex"} {
		t.Run(kind, func(t *testing.T) { typist(t, kind, count(10, 20), count(300, 1000)) })
	}
}

func typist(t *testing.T, kind string, wakes, characters int) {
	s := newSeat(t, kind)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	p := &hand{seat: s, chance: rand.New(rand.NewPCG(seed, 0))}
	s.write("tasks/asks.md", strings.Repeat("sleep 0.7\nchoose Which one?\n", wakes-1)+"done all was asked\n")
	s.asks("plan.md", "MOCK: bash st orch start --objective 'be woken'", "MOCK: bash st worker start --agent demo --name asks --task tasks/asks.md", "MOCK: say I wait.")
	s.await(60*time.Second, "the worker is started", func() (bool, string) { return len(s.events("worker-started")) == 1, s.said(s.pane) })
	s.rests()
	rest := s.answers()
	defer rest()
	began := time.Now()
	for p.typed < characters || len(s.events("news-told")) < wakes {
		if time.Since(began) > time.Duration(count(3, 10))*time.Minute {
			t.Fatalf("in time %d of %d news are told\n%s", len(s.events("news-told")), wakes, s.record())
		}
		p.burst()
		p.rests()
	}
	var draft string
	s.await(60*time.Second, "no turn runs", func() (bool, string) {
		quiet, seen := s.ear.quiet(), s.look(s.view())
		draft = seen.Draft
		return quiet && seen.Name == hooks.Ready && !seen.Working, s.said(s.pane)
	})
	if !strings.HasSuffix(squashed(draft), squashed(p.draft)) || squashed(stLine.ReplaceAllString(draft, "")) != squashed(p.draft) {
		t.Errorf("the person has typed %q, and in the input line stands %q", p.draft, draft)
	}
	if p.draft != "" {
		p.send()
		s.rests()
	}
	s.agrees(wakes)
	p.judge()
	t.Logf("%d characters, %d prompts, %d times read back, %d times elsewhere, %d news in %.0f s", p.typed, len(p.sent), p.scrolled, p.away, wakes, time.Since(began).Seconds())
}

// hand is a person at the keyboard, with all that they have done.
type hand struct {
	*seat
	chance         *rand.Rand
	typed          int
	draft          string   // what they have typed since they last sent something
	sent           []string // what they have sent
	scrolled, away int
}

// burst types a few words, which nobody types a second time.
func (p *hand) burst() {
	var text strings.Builder
	for n := 8 + p.chance.IntN(16); text.Len() < n; {
		if at := text.Len(); at > 0 && at < n-1 && p.chance.IntN(6) == 0 {
			text.WriteByte(' ')
		}
		text.WriteByte(byte('a' + p.chance.IntN(26)))
	}
	for _, r := range text.String() {
		p.person.Type(string(r))
		hold(time.Duration(10+p.chance.IntN(60)) * time.Millisecond)
	}
	p.draft += text.String()
	p.typed += text.Len()
}

// rests is what comes between two bursts: often nothing, for shorter or longer than st waits for a person.
func (p *hand) rests() {
	switch n := p.chance.IntN(20); {
	case n < 10:
		p.send()
	case n < 12:
		p.readsBack()
	case n < 15:
		p.looksElsewhere()
	}
	pause := 100 + p.chance.IntN(1200)
	if p.chance.IntN(2) == 0 {
		pause = 2200 + p.chance.IntN(1400)
	}
	hold(time.Duration(pause) * time.Millisecond)
}

// send presses Enter when all that was typed stands there.
func (p *hand) send() {
	p.t.Helper()
	p.await(20*time.Second, "what was typed stands in the input line: "+p.draft, func() (bool, string) {
		return strings.HasSuffix(squashed(p.look(p.view()).Draft), squashed(p.draft)), p.said(p.pane)
	})
	p.person.Type("\r")
	if p.draft != "" {
		p.sent, p.draft = append(p.sent, p.draft), ""
	}
	p.await(20*time.Second, "the input line is empty", func() (bool, string) {
		return p.look(p.view()).Draft == "", p.said(p.pane)
	})
}

// readsBack scrolls in the window, and leaves that again.
func (p *hand) readsBack() {
	p.scrolled++
	p.person.Type("\x02[")
	hold(300 * time.Millisecond)
	p.person.Type("\x1b[5~")
	hold(time.Duration(p.chance.IntN(3500)) * time.Millisecond)
	p.person.Type("q")
	p.await(10*time.Second, "nobody reads back", func() (bool, string) { return !p.view().InMode, p.said(p.pane) })
}

// looksElsewhere switches to another window for a while.
func (p *hand) looksElsewhere() {
	p.away++
	p.person.Type("\x02n")
	hold(time.Duration(p.chance.IntN(4000)) * time.Millisecond)
	p.person.Type("\x02p")
	p.await(10*time.Second, "the person looks at the coordinator again", func() (bool, string) {
		shown := p.tmux.Run("list-clients", "-F", "#{pane_id}")
		return shown == p.pane, shown
	})
}

// judge holds what the person has sent against what the model was asked. What was sent too early would not be in it as
// a whole.
func (p *hand) judge() {
	p.t.Helper()
	p.await(30*time.Second, "the model is asked all that the person has sent", func() (bool, string) {
		for _, text := range p.sent {
			if p.ear.times(text) == 0 {
				return false, text + "\n" + p.record()
			}
		}
		return true, ""
	})
	for _, text := range p.sent {
		if n := p.ear.times(text); n != 1 {
			p.t.Errorf("the person has sent %q, and that came into the conversation %d times", text, n)
		}
	}
	if p.t.Failed() {
		p.t.Log(p.record())
	}
}
