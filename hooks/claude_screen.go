package hooks

import "strings"

// claudeMarkInput opens Claude's input line: the prompt sign and a no-break space. Old prompts in the
// transcript and entries of menus have the sign too, but a plain space after it.
const (
	claudeMarkInput = "❯\u00a0"
	claudeMarkShell = "!\u00a0"
)

// Look reads Claude's screen by the row of the cursor, which the program places in its input line or on the
// chosen entry of a dialog, and by the frame around that row. Words elsewhere on the screen are output:
// the same words appear there.
func (claude) Look(v View) Screen {
	cells := cellsOf(v.Rows)
	if s, ok := claudeInputLine(cells, v); ok {
		return s
	}
	return claudeDialog(textsOf(cells), v)
}

// claudeRule reports whether a row is a frame's horizontal line. A session's name may stand in it.
func claudeRule(row []cell) bool { return claudeIsRule(textOf(row)) }

// claudeOverlayRule begins the rule over a page that a person opened.
const claudeOverlayRule = "▔▔▔▔▔▔▔▔"

func claudeIsRule(text string) bool {
	return strings.HasPrefix(text, "────────") || strings.HasPrefix(text, claudeOverlayRule)
}

// claudeIndent is the width of the mark, and of the blanks under it in further rows.
const claudeIndent = 2

// claudeInputLine finds the input line around the cursor: the row with the mark, right under a rule, and
// the rows down to the next rule, the cursor in one of them and right of the mark. A line that a person
// turned into a shell command has another mark, and counts as a draft that begins with it.
func claudeInputLine(cells [][]cell, v View) (Screen, bool) {
	if v.CursorY >= len(cells) || v.CursorX < claudeIndent {
		return Screen{}, false
	}
	top := v.CursorY
	for top > 0 && !claudeRule(cells[top-1]) {
		if !strings.HasPrefix(textOf(cells[top])+"  ", "  ") {
			return Screen{}, false // no further row of an input line
		}
		top--
	}
	first := textOf(cells[top])
	shell := strings.HasPrefix(first, claudeMarkShell)
	if top == 0 || !shell && !strings.HasPrefix(first, claudeMarkInput) {
		return Screen{}, false
	}
	end := v.CursorY + 1
	for end < len(cells) && !claudeRule(cells[end]) {
		end++
	}
	if end == len(cells) {
		return Screen{}, false
	}
	s := Screen{Name: Ready, Draft: claudeDraft(cells[top:end], v.CursorX, v.CursorY-top)}
	if shell {
		s.Draft = "!" + s.Draft
	}
	s.Popup = claudePopup(cells[:top-1], s.Draft)
	return claudeStatus(s, textsOf(cells[:top-1]), textsOf(cells[end+1:])), true
}

// claudeDraft joins the rows of an input line by nothing: where a row is full the screen does not tell a
// word cut at the edge from a blank that was left out there. Faint text is a hint and no draft; the
// cursor's own cell is shown inverse, never faint, and belongs to the hint that follows it.
func claudeDraft(rows [][]cell, cursorX, cursorY int) string {
	var draft strings.Builder
	for y, row := range rows {
		var b strings.Builder
		for x, c := range row {
			underCursor := y == cursorY && x == cursorX
			hint := c.dim || underCursor && x+1 < len(row) && row[x+1].dim && row[x+1].r != ' '
			if x >= claudeIndent && !hint {
				b.WriteRune(c.r)
			}
		}
		draft.WriteString(strings.TrimRight(b.String(), " "))
	}
	return draft.String()
}

// claudePopup reports whether a menu of commands or files stands over the input line and Enter would take
// an entry of it that is not what was typed. above are the rows over the line's rule. A menu in which
// nothing is chosen (that of files) takes nothing.
func claudePopup(above [][]cell, draft string) bool {
	if !strings.HasPrefix(draft, "/") && !strings.Contains(draft, "@") {
		return false // the same sign in the output above is output
	}
	for y := len(above) - 1; y >= 0; y-- {
		t := textOf(above[y])
		if t == "" {
			return false
		}
		if entry, ok := strings.CutPrefix(t, "  ❯ "); ok {
			entry, _, _ = strings.Cut(entry, " ")
			return entry != draft
		}
	}
	return false
}
