package main

import (
	"os/exec"
	"slices"
	"time"

	"st/orch"
)

// ui is the live tree: what is known, where the person is in it, and what they are being asked. It is used by one
// goroutine, that of its loop.
type ui struct {
	printer *printer
	hands   *hands
	feed    *feed
	// begin lets something be done meanwhile, whose answer comes as news.
	begin func(work func() any)

	trees         []orch.TreeInfo
	turn          int  // of the feed
	all           bool // also what has ended
	away          bool // the daemon is
	rows          []uiRow
	wide          uiWidths
	at, top       int // of rows: the chosen one and the first one shown
	width, height int
	filter        string
	ask           *uiAsk   // nil for no question to the person
	page          *uiPage  // nil for none
	notice        []string // what a verb has said, until the next key
	told          answerMsg
	wants         string    // whose last answer is asked for, and as of which state
	lend          *exec.Cmd // that is to have the terminal for a while
	ended         bool
	fault         error
}

func newUI(p *printer, h *hands, f *feed) *ui {
	return &ui{printer: p, hands: h, feed: f, width: 80, height: 24, turn: 1, begin: func(func() any) {}}
}

// take takes what has happened.
func (u *ui) take(news any) {
	switch m := news.(type) {
	case treesMsg:
		if m.turn == u.turn {
			u.trees = m.trees
			u.arrange()
		}
	case linkMsg:
		u.link(m)
	case saidMsg:
		u.said(m)
	case wantMsg:
		u.fetch(m)
	case answerMsg:
		u.told = m
	case faultMsg:
		u.fault, u.ended = m.err, true
	}
	u.want()
}

// resize takes the size of the terminal.
func (u *ui) resize(width, height int) {
	u.width, u.height = width, height
	u.scroll()
}

// arrange makes the rows anew, lets the person stay where they are, and finds the chosen one again; where that is gone its place is kept.
func (u *ui) arrange() {
	was := u.chosen().key
	u.rows = uiRows(u.trees, u.filter)
	u.wide = widths(u.rows)
	if i := slices.IndexFunc(u.rows, func(r uiRow) bool { return r.key == was }); i >= 0 {
		u.at = i
	}
	u.move(0)
}

// chosen is the row that keys are about, an empty one where there is none.
func (u *ui) chosen() uiRow {
	if u.at < 0 || u.at >= len(u.rows) {
		return uiRow{}
	}
	return u.rows[u.at]
}

// move goes some rows down or, with a negative n, up.
func (u *ui) move(n int) {
	u.at = max(0, min(u.at+n, len(u.rows)-1))
	u.scroll()
}

// scroll keeps the chosen row in sight.
func (u *ui) scroll() {
	height := u.listHeight()
	u.top = max(0, min(u.top, u.at, len(u.rows)-height))
	if u.at >= u.top+height {
		u.top = u.at - height + 1
	}
}

func (u *ui) link(m linkMsg) {
	u.away = m.away
	u.notice = nil
	if !m.away {
		u.notice = []string{"the daemon is back"}
	}
}

// said shows what a verb has answered.
func (u *ui) said(m saidMsg) {
	lines := noticeLines(m.text)
	if m.page {
		u.page = &uiPage{title: typed(append([]string{"st"}, spoken(m.args)...)), text: m.text}
		u.notice = nil
		return
	}
	u.notice = lines
}

// spoken are a verb's words as a person would type them.
func spoken(args []string) []string {
	if i := slices.Index(args, "--"); i >= 0 && !slices.ContainsFunc(args[i+1:], func(a string) bool { return len(a) > 0 && a[0] == '-' }) {
		return slices.Concat(args[:i], args[i+1:])
	}
	return args
}

// wantMsg says that the chosen worker has been so for a moment: who runs through the rows asks for nothing.
type wantMsg struct{ key, worker string }

const uiRest = 150 * time.Millisecond

// want asks for the last answer of the chosen worker, where that is another one or may have changed.
func (u *ui) want() {
	w := u.chosen().worker
	if w == nil {
		return
	}
	m := wantMsg{key: w.ID + " " + w.Dispatch + " " + w.State + " " + w.Status + " " + w.Since.String(), worker: w.ID}
	if m.key == u.wants {
		return
	}
	u.wants = m.key
	u.begin(func() any {
		time.Sleep(uiRest)
		return m
	})
}

func (u *ui) fetch(m wantMsg) {
	if m.key == u.wants && !u.away {
		u.begin(u.hands.answer(m.worker))
	}
}
