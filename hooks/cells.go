package hooks

import (
	"strings"
	"unicode/utf8"
)

// cell is one character of the screen, with those of its attributes that tell an input line from what is
// merely printed: hints are faint, titles bold, chosen entries inverse.
type cell struct {
	r rune
	style
}

type style struct{ bold, dim, inverse bool }

// cellsOf reads rows with SGR sequences. Attributes carry over from row to row, as a capture writes them.
func cellsOf(rows []string) [][]cell {
	var now style
	out := make([][]cell, len(rows))
	for i, row := range rows {
		for len(row) > 0 {
			if strings.HasPrefix(row, "\x1b[") {
				end := strings.IndexByte(row, 'm')
				if end < 0 {
					break
				}
				now = now.after(row[2:end])
				row = row[end+1:]
				continue
			}
			r, n := utf8.DecodeRuneInString(row)
			out[i] = append(out[i], cell{r, now})
			row = row[n:]
		}
	}
	return out
}

// after is the style behind one SGR sequence with these codes.
func (s style) after(sgr string) style {
	codes := strings.Split(sgr, ";")
	for i := 0; i < len(codes); i++ {
		switch codes[i] {
		case "", "0":
			s = style{}
		case "1":
			s.bold = true
		case "2":
			s.dim = true
		case "7":
			s.inverse = true
		case "22":
			s.bold, s.dim = false, false
		case "27":
			s.inverse = false
		case "38", "48", "58": // a colour's own numbers follow
			i += colourNumbers(codes[i+1:])
		}
	}
	return s
}

// colourNumbers is how many codes after 38, 48 or 58 belong to the colour.
func colourNumbers(rest []string) int {
	switch {
	case len(rest) > 0 && rest[0] == "5":
		return 2
	case len(rest) > 0 && rest[0] == "2":
		return 4
	}
	return 0
}

// textOf is a row's plain text without the blanks at its end.
func textOf(row []cell) string {
	var b strings.Builder
	for _, c := range row {
		b.WriteRune(c.r)
	}
	return strings.TrimRight(b.String(), " ")
}

func textsOf(cells [][]cell) []string {
	rows := make([]string, len(cells))
	for i, c := range cells {
		rows[i] = textOf(c)
	}
	return rows
}

// plainOf is what of a row is not faint: a hint is no draft.
func plainOf(row []cell) string {
	var b strings.Builder
	for _, c := range row {
		if !c.dim {
			b.WriteRune(c.r)
		}
	}
	return b.String()
}

// firstWords is the uppermost row that is not blank, without blanks around it.
func firstWords(rows []string) string {
	for _, r := range rows {
		if t := strings.TrimSpace(r); t != "" {
			return t
		}
	}
	return ""
}

// lastRow is the lowest row that is not blank.
func lastRow(rows []string) string {
	for i := len(rows) - 1; i >= 0; i-- {
		if rows[i] != "" {
			return rows[i]
		}
	}
	return ""
}

// named returns the screen whose title text begins with; "" for none.
func named(titles []titled, text string) string {
	for _, t := range titles {
		if strings.HasPrefix(text, t.starts) {
			return t.screen
		}
	}
	return ""
}

// titled is a screen that is known by how its title begins.
type titled struct{ starts, screen string }
