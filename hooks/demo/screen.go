//go:build unix

package demo

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// screen draws frames: only rows that changed are written, all of a frame in one write.
type screen struct {
	out           io.Writer
	width, height int
	alternate     bool
	drawn         []string
}

// frame is what is to be seen.
type frame struct {
	rows []string // at most height; may hold SGR sequences
	x, y int      // the cursor, which is placed but hidden
}

func (s *screen) enter() error {
	s.alternate, s.drawn = true, nil
	_, err := io.WriteString(s.out, "\x1b[?1049h\x1b[?2004h\x1b[?25l\x1b[2J")
	return err
}

func (s *screen) leave() error {
	end := "\x1b[0m\x1b[?2004l\x1b[?25h"
	if s.alternate {
		end += "\x1b[?1049l"
	}
	_, err := io.WriteString(s.out, end+"\r\n")
	return err
}

func (s *screen) resize(width, height int) {
	s.width, s.height, s.drawn = max(width, 8), max(height, 8), nil
}

func (s *screen) draw(f frame) error {
	var b strings.Builder
	if s.drawn == nil {
		b.WriteString("\x1b[?25l\x1b[2J")
		s.drawn = make([]string, s.height)
	}
	for y := range s.height {
		row := ""
		if y < len(f.rows) {
			row = f.rows[y]
		}
		if row != s.drawn[y] {
			fmt.Fprintf(&b, "\x1b[%d;1H\x1b[0m%s\x1b[0m\x1b[K", y+1, row)
			s.drawn[y] = row
		}
	}
	fmt.Fprintf(&b, "\x1b[%d;%dH", f.y+1, f.x+1)
	_, err := io.WriteString(s.out, b.String())
	return err
}

func (s *screen) rule() string {
	return "\x1b[38;5;244m" + strings.Repeat(string(Rule), s.width) + "\x1b[39m"
}

// frame composes what the agent shows: the conversation, what it is doing, then the input line between its
// rules or the dialog that stands there.
func (a *agent) frame() frame {
	if !a.mounted && a.dialog == nil {
		return frame{}
	}
	bottom, x, y := a.bottom()
	room := max(a.screen.height-len(bottom), 0)
	top := a.conversationRows(room)
	cut := max(len(bottom)-a.screen.height, 0)
	return frame{rows: append(top, bottom[cut:]...), x: x, y: max(len(top)+y-cut, 0)}
}

func (a *agent) bottom() (rows []string, x, y int) {
	if a.dialog != nil {
		rows = append(rows, a.screen.rule())
		body, at := a.dialog.rows(a.screen.width)
		for _, row := range body {
			rows = append(rows, shorten(row, a.screen.width))
		}
		return rows, a.dialog.column, at + 1
	}
	rows = append(rows, a.workingRow(), "")
	for i, c := range a.box.menu() {
		if i == 0 {
			c = "\x1b[7m" + c + "\x1b[27m"
		}
		rows = append(rows, "  "+c)
	}
	rows = append(rows, a.screen.rule())
	body, x, y := a.box.rows(a.screen.width)
	if a.box.empty() && len(a.queued) > 0 {
		body = []string{Mark + "\x1b[2m" + shorten("Queued lines join the turn", a.screen.width-3) + "\x1b[22m"}
	}
	y += len(rows)
	rows = append(rows, body...)
	return append(rows, a.screen.rule(), "  "+shorten(a.status(), a.screen.width-2)), x, y
}

var spinner = []string{"·", "✢", "✻", "✽"}

func (a *agent) workingRow() string {
	if a.turn == nil {
		return ""
	}
	seconds := int(time.Since(a.turn.began).Seconds())
	return spinner[a.beats%len(spinner)] + WorkingMark + strconv.Itoa(seconds) + "s)"
}

// status is the last row. With text in the box it doesn't tell that the agent works, as in the real one.
func (a *agent) status() string {
	switch {
	case a.armed:
		return "Press Ctrl-C again to exit"
	case a.turn != nil && a.box.empty():
		return "demo · " + a.o.Model + " · esc to interrupt"
	}
	return "demo · " + a.o.Model + " · ? for shortcuts"
}

// conversationRows are the last rows of the conversation, padded at the top.
func (a *agent) conversationRows(room int) []string {
	var rows []string
	for i := len(a.said) - 1; i >= 0 && len(rows) < room; i-- {
		rows = append(wrap(a.said[i], a.screen.width), rows...)
	}
	if len(rows) > room {
		rows = rows[len(rows)-room:]
	}
	return append(make([]string, room-len(rows)), rows...)
}
