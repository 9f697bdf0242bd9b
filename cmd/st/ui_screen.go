package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// screen is the terminal while the ui has it. Nothing is ever asked of it: its size comes from the system, and whatever
// answers a question late would be taken for keys.
type screen struct {
	in, out *os.File
	was     *term.State
	drawn   []string // rows as they stand there; nil where that is unknown
}

// What is written to take a terminal and to give it back: its other screen, no cursor, pastes that are marked, and no
// line that goes on in the next.
const (
	screenTake = "\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[?7l\x1b[H\x1b[2J"
	screenGive = "\x1b[?7h\x1b[?2004l\x1b[?25h\x1b[?1049l"
)

// take makes the terminal ours.
func (s *screen) take() (err error) {
	if s.was, err = term.MakeRaw(int(s.in.Fd())); err != nil {
		return err
	}
	s.drawn = nil
	_, err = io.WriteString(s.out, screenTake)
	return err
}

// give makes the terminal again what it was.
func (s *screen) give() error {
	_, err := io.WriteString(s.out, screenGive)
	if back := term.Restore(int(s.in.Fd()), s.was); err == nil {
		err = back
	}
	return err
}

// size is the terminal's, in columns and rows.
func (s *screen) size() (width, height int, err error) {
	width, height, err = term.GetSize(int(s.out.Fd()))
	return max(width, 1), max(height, 1), err
}

// clear makes the next frame write all rows: the terminal was resized, or somebody else has drawn on it.
func (s *screen) clear() { s.drawn = nil }

// draw writes the rows that differ from what stands there, in one write.
func (s *screen) draw(rows []string) error {
	frame := s.frame(rows)
	if frame == "" {
		return nil
	}
	_, err := io.WriteString(s.out, frame)
	return err
}

func (s *screen) frame(rows []string) string {
	var b strings.Builder
	if s.drawn == nil {
		b.WriteString("\x1b[H\x1b[2J")
	}
	for i := range max(len(rows), len(s.drawn)) {
		row, old := "", ""
		if i < len(rows) {
			row = rows[i]
		}
		if i < len(s.drawn) {
			old = s.drawn[i]
		}
		if row != old {
			fmt.Fprintf(&b, "\x1b[%d;1H%s\x1b[0m\x1b[K", i+1, row)
		}
	}
	s.drawn = rows
	return b.String()
}
