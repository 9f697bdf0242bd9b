package hooks

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// detailBytes is how long a detail may be.
const detailBytes = 200

// detail makes one line of pieces of a screen: blanks run together, control characters left out, cut at a
// character's end with an ellipsis where it is too long.
func detail(pieces ...string) string {
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, strings.Join(pieces, " "))
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= detailBytes {
		return text
	}
	end := detailBytes - len("…")
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// options is how a detail lists what may be chosen.
func options(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "(" + strings.Join(names, " / ") + ")"
}

// paragraphs returns the rows of the first n paragraphs.
func paragraphs(rows []string, n int) (first []string) {
	for i, r := range rows {
		switch {
		case r != "":
			first = append(first, r)
		case i > 0 && rows[i-1] != "":
			n--
		}
		if n == 0 {
			return first
		}
	}
	return first
}
