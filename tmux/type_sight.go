package tmux

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// What a look at the pane says of the input line, for the typing.

// What stands in the input line.
const (
	blocked = iota // there is none to be seen
	empty
	whole   // exactly the text
	part    // a piece of it: still being drawn, or half taken back
	mixed   // the text and something else
	foreign // something else
)

// sight is one look, judged.
type sight struct {
	View
	line   int
	why    string // for blocked
	draft  string // without white space
	person bool   // has pressed a key here just now
	keys   string // when somebody last pressed a key, of each session; "" where that doesn't matter
}

// stillness counts looks in a row that showed the same.
type stillness struct {
	last  sight
	looks int
	all   int
}

func (q *stillness) seen(s sight) int {
	if q.all == 0 || s.line != q.last.line || s.draft != q.last.draft || s.why != q.last.why {
		q.looks = 0
	}
	q.last = s
	q.looks++
	q.all++
	return q.looks
}

// tick grows with the time that nothing has changed.
func (q *stillness) tick() time.Duration {
	if q.looks > 30 {
		return slowTick
	}
	return fastTick
}

// why names what was last in the way; otherwise is for a line that was there.
func (q *stillness) why(otherwise string) string {
	switch {
	case q.all == 0:
		return otherwise
	case q.last.line == blocked:
		return q.last.why
	case q.last.InMode:
		return WhyCopyMode
	case q.last.line == mixed || q.last.line == foreign:
		return WhyDraft
	}
	return otherwise
}

// lastKeys is when each session last had a key from a client, in whole seconds. A pane's window may be in several
// sessions.
const lastKeys = "S:#{session_activity}+"

// look asks for the pane and for the keys of persons in one call, and judges the line.
func (w *writer) look(ctx context.Context) (sight, error) {
	mark := nonce()
	cmds, _, err := lookCommands(mark, []string{w.id})
	if err != nil {
		return sight{}, err
	}
	clients := Cmd{"list-clients", "-F", mark + "c\t#{client_activity}\t#{pane_id}"}
	keys := Cmd{"display-message", "-p", mark + "k\t#{" + lastKeys + "}"}
	out, err := w.t.Run(ctx, append([]Cmd{clients, keys}, cmds...)...)
	if errors.Is(err, ErrNoServer) {
		return sight{why: WhyGone}, nil
	}
	if err != nil {
		return sight{}, err
	}
	views := map[string]View{}
	if err := readViews(out, mark, views); err != nil {
		return sight{}, err
	}
	s := w.judge(views)
	for _, p := range parts(out, mark) {
		if seconds, ok := strings.CutPrefix(p, "k\t"); ok {
			s.keys = strings.TrimSpace(seconds)
		}
	}
	s.person, err = pressedAKey(out, mark, w.id, time.Now())
	return s, err
}

func (w *writer) judge(views map[string]View) sight {
	v, ok := views[w.id]
	s := sight{View: v}
	if !ok || v.Dead || !w.Server.IsZero() && v.Server != w.Server || w.Tag != "" && v.Tag != w.Tag {
		s.why = WhyGone
		return s
	}
	draft, ready, why := w.Read(v)
	if !ready {
		s.why = why
		return s
	}
	s.draft = squash(draft)
	s.line = compare(s.draft, w.want)
	return s
}

// Stands tells that what stands in an input line, as Typing.Read gives it, is exactly a text that was to be typed.
func Stands(draft, text string) bool {
	want := squash(strings.TrimSpace(printable(text)))
	return want != "" && compare(squash(draft), want) == whole
}

func compare(draft, want string) int {
	switch {
	case draft == "":
		return empty
	case draft == want:
		return whole
	case strings.Contains(draft, want):
		return mixed
	case strings.Contains(want, draft):
		return part
	}
	return foreign
}

// pressedAKey reports whether a client that shows the pane as its active one had a key lately. client_activity
// moves on a person's keys and on attaching, not on send-keys.
func pressedAKey(out, mark, id string, now time.Time) (bool, error) {
	for _, p := range parts(out, mark) {
		row, ok := strings.CutPrefix(p, "c\t")
		if !ok {
			continue
		}
		second, pane, _ := strings.Cut(row, "\t")
		n, err := strconv.ParseInt(second, 10, 64)
		if err != nil {
			return false, fmt.Errorf("tmux list-clients: unreadable row %q", row)
		}
		if pane == id && now.Sub(time.Unix(n, 0)) < quiet+time.Second {
			return true, nil
		}
	}
	return false, nil
}

// squash leaves white space out: a line that wraps gains and loses some.
func squash(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}
