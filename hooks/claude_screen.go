package hooks

import (
	"strings"
	"unicode/utf8"
)

// claudeMarkInput opens Claude's input line: the prompt sign and a no-break space. Old prompts in the
// transcript and entries of menus have the sign too, but a plain space after it.
const claudeMarkInput = "❯\u00a0"

// Look reads Claude's screen by the row of the cursor, which the program places in its input line or on the
// chosen entry of a dialog, and by the frame around that row. Words elsewhere on the screen are output:
// the same words appear there.
func (claude) Look(v View) Screen {
	cells := claudeCells(v.Rows)
	if d, popup, ok := claudeInputLine(cells, v); ok {
		return Screen{Name: Ready, Draft: d, Popup: popup}
	}
	return Screen{Name: claudeDialog(cells, v)}
}

// claudeCell is one character of the screen.
type claudeCell struct {
	r   rune
	dim bool
}

// claudeCells reads rows with SGR sequences. Attributes carry over from row to row, as the capture writes them.
func claudeCells(rows []string) [][]claudeCell {
	dim := false
	out := make([][]claudeCell, len(rows))
	for i, row := range rows {
		for len(row) > 0 {
			if strings.HasPrefix(row, "\x1b[") {
				end := strings.IndexByte(row, 'm')
				if end < 0 {
					break
				}
				dim = claudeDim(row[2:end], dim)
				row = row[end+1:]
				continue
			}
			r, n := utf8.DecodeRuneInString(row)
			out[i] = append(out[i], claudeCell{r, dim})
			row = row[n:]
		}
	}
	return out
}

// claudeDim follows the attribute "faint" through one SGR sequence.
func claudeDim(sgr string, dim bool) bool {
	codes := strings.Split(sgr, ";")
	for i := 0; i < len(codes); i++ {
		switch codes[i] {
		case "", "0", "22":
			dim = false
		case "2":
			dim = true
		case "38", "48", "58": // a colour's own numbers follow
			if i+1 < len(codes) && codes[i+1] == "5" {
				i += 2
			} else if i+1 < len(codes) && codes[i+1] == "2" {
				i += 4
			}
		}
	}
	return dim
}

// claudeText is a row's plain text without the blanks at its end.
func claudeText(row []claudeCell) string {
	var b strings.Builder
	for _, c := range row {
		b.WriteRune(c.r)
	}
	return strings.TrimRight(b.String(), " ")
}

// claudeRule reports whether a row is a frame's horizontal line. A session's name may stand in it.
func claudeRule(row []claudeCell) bool {
	t := claudeText(row)
	return strings.HasPrefix(t, "────────") || strings.HasPrefix(t, "▔▔▔▔▔▔▔▔")
}

// claudeInputLine finds the input line around the cursor: the row with the mark, right under a rule, and
// the rows down to the next rule, the cursor in one of them and right of the mark.
func claudeInputLine(cells [][]claudeCell, v View) (draft string, popup, ok bool) {
	if v.CursorY >= len(cells) || v.CursorX < 2 {
		return "", false, false
	}
	top := v.CursorY
	for top > 0 && !claudeRule(cells[top-1]) {
		if strings.HasPrefix(claudeText(cells[top]), claudeMarkInput) {
			return "", false, false // a mark that is not right under its rule
		}
		top--
	}
	if top == 0 || !strings.HasPrefix(claudeText(cells[top])+" ", claudeMarkInput) {
		return "", false, false
	}
	end := v.CursorY + 1
	for end < len(cells) && !claudeRule(cells[end]) {
		end++
	}
	if end == len(cells) {
		return "", false, false
	}
	draft = claudeDraft(cells[top:end], v.CursorX, v.CursorY-top, v.Width)
	return draft, claudePopup(cells[:top-1], draft), true
}

// claudeDraft joins the rows of an input line. Faint text is a hint and no draft; the cursor's own cell is
// shown inverse, never faint, and belongs to the hint that follows it.
func claudeDraft(rows [][]claudeCell, cursorX, cursorY, width int) string {
	var out string
	var last string
	for y, row := range rows {
		var b strings.Builder
		for x, c := range row {
			hint := c.dim || y == cursorY && x == cursorX && x+1 < len(row) && row[x+1].dim && row[x+1].r != ' '
			if x >= 2 && !hint {
				b.WriteRune(c.r)
			}
		}
		text := strings.TrimRight(b.String(), " ")
		if y > 0 {
			out += claudeBreak(last, text, width)
		}
		out += text
		last = text
	}
	return out
}

// claudeBreak says what stood between two rows of a draft: nothing where a long word was cut at the edge,
// a blank where a word went over to the next row.
func claudeBreak(row, next string, width int) string { return " " }

// claudePopup reports whether a menu of commands or files stands over the input line and Enter would take
// something else than what was typed.
func claudePopup(above [][]claudeCell, draft string) bool {
	for y := len(above) - 1; y >= 0; y-- {
		t := claudeText(above[y])
		switch {
		case t == "":
			return false
		case strings.HasPrefix(t, "  ❯ "):
			entry, _, _ := strings.Cut(t[len("  ❯ "):], " ")
			return entry != draft
		case strings.HasPrefix(t, "    + "), strings.HasPrefix(t, "    /") && strings.HasPrefix(draft, "/"):
			// entries that are not chosen; a chosen one may stand above
			if strings.HasPrefix(t, "    + ") {
				return true
			}
		}
	}
	return false
}

func claudeDialog(cells [][]claudeCell, v View) string { return Strange }
