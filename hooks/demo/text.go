package demo

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// cells measures text as terminals with narrow ambiguous runes do; the locale must not move the input line.
var cells = &runewidth.Condition{StrictEmojiNeutral: true}

// Width is how many cells a text takes on the agent's screen.
func Width(s string) int { return cells.StringWidth(s) }

// clean makes text harmless for a terminal: escape sequences and control characters go, tabs become spaces.
func clean(s string) string {
	s = strings.ReplaceAll(s, "\t", "    ")
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\n' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, s)
}

// wrap cuts text into rows of at most width cells. A row never ends in a space before a cut: whoever reads the
// screen gets rows without their trailing spaces, and could not put the text together again.
func wrap(text string, width int) []string {
	var rows []string
	for _, para := range strings.Split(text, "\n") {
		rows = append(rows, wrapRow([]rune(para), width)...)
	}
	return rows
}

func wrapRow(rest []rune, width int) []string {
	var rows []string
	for {
		n := fit(rest, width)
		if n == len(rest) {
			return append(rows, string(rest))
		}
		cut := n
		for cut > 0 && rest[cut-1] == ' ' {
			cut--
		}
		if cut == 0 { // nothing but spaces
			cut = n
		}
		rows = append(rows, string(rest[:cut]))
		rest = rest[cut:]
	}
}

// fit is how many runes go into width cells, at least one.
func fit(text []rune, width int) int {
	used := 0
	for i, r := range text {
		used += cells.RuneWidth(r)
		if used > width && i > 0 {
			return i
		}
	}
	return len(text)
}

// shorten cuts a row to width cells.
func shorten(s string, width int) string {
	if cells.StringWidth(s) <= width {
		return s
	}
	return cells.Truncate(s, width, "…")
}
