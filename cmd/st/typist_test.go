//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"st/hooks"
	"st/tmux/tmuxtest"
)

// typist is a person who types into the coordinator's input line, in letters that no line of ours has.
type typist struct {
	c     *chief
	p     *tmuxtest.Person
	r     *rand.Rand
	typed int      // letters
	line  string   // since the last Enter
	lines []string // that were entered
	alone int      // times that the line was watched for seconds while a wake was owed
}

// letters are taken in turn: one that is lost, doubled or out of its place shows.
var letters = []rune("абвгдежзийклмнопрстуфхцчшщъыьэюя世界")

// theirs are a text's letters of that person.
func theirs(text string) string {
	return strings.Map(func(r rune) rune {
		if slices.Contains(letters, r) {
			return r
		}
		return -1
	}, text)
}

// burst types some letters as fast as somebody types: the pauses are what is played here.
func (t *typist) burst(n int) {
	for range n {
		letter := string(letters[t.typed%len(letters)])
		t.p.Type(letter)
		t.typed++
		t.line += letter
		time.Sleep(time.Duration(20+t.r.IntN(130)) * time.Millisecond)
	}
}

// rest presses nothing for a while, as somebody who thinks or reads.
func (t *typist) rest(from, to float64) {
	time.Sleep(time.Duration((from + t.r.Float64()*(to-from)) * float64(time.Second)))
}

// stands waits until all that was typed stands in the input line.
func (t *typist) stands() {
	t.c.d.hopeful("the input line holds "+t.line, func() bool { s := t.c.screen(); return s.Name == hooks.Ready && theirs(s.Draft) == t.line })
}

// enter submits what was typed, again where the agent did not hear the key.
func (t *typist) enter() {
	if t.line == "" {
		return
	}
	t.stands()
	before := len(t.entered())
	entered := func() bool { return slices.Contains(t.entered()[before:], t.line) }
	pressed := time.Time{}
	t.c.d.hopeful(t.line+" is entered", func() bool {
		if !entered() && time.Since(pressed) > 3*time.Second {
			t.p.Type("\r")
			pressed = time.Now()
		}
		return entered()
	})
	t.lines = append(t.lines, t.line)
	t.line = ""
}

// entered are the texts that the agent took which hold letters of the person's, without all else.
func (t *typist) entered() (lines []string) {
	for _, j := range t.c.d.submitted("chief") {
		if line := theirs(j.Text); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// empty waits until nothing stands in the input line and the agent's turn is over.
func (t *typist) empty() {
	t.c.d.hopeful("the input line is empty", func() bool { s := t.c.screen(); return s.Name == hooks.Ready && s.Draft == "" && !s.Working })
}

// untouched watches the input line for some time and wants nothing of ours in it.
func (t *typist) untouched(seconds float64) {
	t.alone++
	for end := time.Now().Add(time.Duration(seconds * float64(time.Second))); time.Now().Before(end); time.Sleep(5 * tick) {
		if s := t.c.screen(); s.Name == hooks.Ready && theirs(s.Draft) != strings.ReplaceAll(s.Draft, " ", "") {
			t.c.d.t.Errorf("beside a draft or a person who reads back there stands %q", s.Draft)
			return
		}
	}
}

// A manner is what the person does while a wake comes. due lets it come: it is owed from then on.
type manner struct {
	name string
	do   func(t *typist, n int, due func())
}

var typing = []manner{
	{"begins to type while it may be typed", func(t *typist, n int, due func()) {
		due()
		t.rest(1.5, 3.8)
		t.burst(n)
	}},
	{"types as soon as it appears", func(t *typist, n int, due func()) {
		due()
		shown := func() bool { return strings.Contains(t.c.screen().Draft, "st:") }
		for end := time.Now().Add(5 * time.Second); time.Now().Before(end) && !shown(); {
		}
		t.burst(n)
	}},
	{"has a draft and thinks", func(t *typist, n int, due func()) {
		t.burst(n / 2)
		t.stands()
		due()
		t.untouched(4)
		t.burst(n - n/2)
	}},
	{"stops and goes on", func(t *typist, n int, due func()) {
		due()
		for ; n > 0; n -= 8 {
			t.burst(min(8, n))
			t.rest(0.2, 2.6)
			if t.r.IntN(3) == 0 {
				t.enter()
			}
		}
	}},
	{"reads back", func(t *typist, n int, due func()) {
		t.burst(n / 2)
		t.enter()
		t.empty()
		t.p.Type("\x02[")
		t.c.d.hopeful("copy mode", func() bool { return t.c.view().InMode })
		due()
		t.p.Type("kkk")
		t.untouched(4)
		t.p.Type("q")
		t.c.d.hopeful("no copy mode", func() bool { return !t.c.view().InMode })
		t.burst(n - n/2)
	}},
}

// TestThousandCharacters: while a coordinator is woken again and again, a person who is attached types into its input
// line. Not one letter is lost, and none is submitted but by the person's own Enter.
func TestThousandCharacters(t *testing.T) {
	beside(t)
	d := newDesk(t)
	r := seed(t)
	wakes, each := counted(3, 20), counted(30, 50)
	l := &ledger{byWord: map[string]*piece{}, ids: map[string]string{}}
	c := newChief(d, "wide")
	h := &hand{d: d, l: l, r: r, name: "x0x", questions: wakes + 1, end: "done"}
	token := c.token()
	c.prompt("run st orch start --objective typist ;; run "+strings.Replace(h.order(), "wide", "small", 1)+" ;; say "+token, token)
	end := l.follow(d)
	defer end()
	d.hopeful("the worker is there", func() bool { l.see(func() { h.id = l.ids[h.name] }); return h.id != "" })
	d.server.Run("select-window", "-t", c.pane)
	y := &typist{c: c, p: d.server.Attach("wide", 120, 40), r: r}
	ways, did := map[string]int{}, map[string]int{}
	for n := 1; n <= wakes+1 && !t.Failed(); n++ {
		m := typing[(n+r.IntN(2))%len(typing)]
		if n == 1 { // the worker has asked already
			y.rest(0.5, 1)
			y.burst(5)
		} else {
			m.do(y, each, func() { h.answer(n-1, false) })
			did[m.name]++
		}
		y.rest(0, 1)
		y.enter()
		var p *piece
		d.hopeful(fmt.Sprintf("question %d is told", n), func() bool {
			told := false
			if p = l.nth(h.id, questionNews, n); p != nil {
				l.see(func() { told = !p.told.IsZero() })
			}
			return told
		})
		if p != nil {
			ways[p.way]++
		}
		y.empty()
	}
	if got := y.entered(); !slices.Equal(got, y.lines) {
		t.Errorf("entered by the person:\n%q\ntaken by the agent:\n%q", y.lines, got)
	}
	if lines := toldIn(c.heard("prompt", "hook-prompt", "context")); lines[h.id+" "+questionNews] != wakes+1 {
		t.Errorf("%d wakes, and the coordinator has heard %v", wakes+1, lines)
	}
	t.Logf("%d letters in %d lines, %d wakes told %v; the person %v", y.typed, len(y.lines), wakes+1, ways, did)
	if t.Failed() {
		t.Logf("the coordinator's own log: %+v", d.jotted("chief"))
	}
}
