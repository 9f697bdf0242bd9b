package main

import (
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/mattn/go-runewidth"
)

// columns counts the columns of a text as tmux does: an ambiguous character has one, whatever the locale says.
var columns = &runewidth.Condition{StrictEmojiNeutral: true}

// uiMost is how many bytes of a text are looked at for one line: one may have a mebibyte.
const uiMost = 1 << 10

// oneLine is the beginning of a text, on one line and without anything that terminals draw in different widths: what
// joins characters or varies them.
func oneLine(s string) string {
	if len(s) > uiMost {
		s = strings.ToValidUTF8(s[:uiMost], "")
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r != '\t' && r != ' ' && columns.RuneWidth(r) == 0 {
			return -1
		}
		return r
	}, clean(s)))
}

// firstLine is the first line of a text that has anything on it.
func firstLine(s string) string {
	s = strings.TrimLeft(s, "\r\n\t ")
	first, _, _ := strings.Cut(s, "\n")
	return oneLine(first)
}

// across is how many columns a text has that is drawn character by character, as those of oneLine are.
func across(s string) (width int) {
	for _, r := range s {
		width += columns.RuneWidth(r)
	}
	return width
}

// head is the beginning of a text, as far as it fits into a width.
func head(s string, width int) string {
	for i, r := range s {
		if width -= columns.RuneWidth(r); width < 0 {
			return s[:i]
		}
	}
	return s
}

// cut shortens a text to a width.
func cut(s string, width int) string {
	if fitting := head(s, width); fitting == s || width <= 0 {
		return fitting
	}
	return head(s, width-1) + "…"
}

// fit is a text at exactly that width.
func fit(s string, width int) string { return pad(cut(s, width), width) }

// pad fills up a text that may hold our own SGR sequences.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-lipgloss.Width(s)))
}

// wrapped breaks a text into lines of a width, at spaces where there are any.
func wrapped(s string, width int) []string {
	width = max(width, 2) // of the widest character
	var lines []string
	for _, line := range strings.Split(cleanBlock(s), "\n") {
		line = strings.ReplaceAll(line, "\t", "    ")
		for part := head(line, width); part != line; part = head(line, width) {
			if space := strings.LastIndexByte(part, ' '); space > 0 && line[len(part)] != ' ' {
				part = part[:space]
			}
			lines = append(lines, part)
			line = strings.TrimPrefix(line[len(part):], " ")
		}
		lines = append(lines, line)
	}
	return lines
}
