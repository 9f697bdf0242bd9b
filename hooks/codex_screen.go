package hooks

import "strings"

// codexMark opens Codex's input line, and the chosen entry of its menus and dialogs.
const codexMark = "› "

// codexLook reads the screen of Codex 0.171.0. The cursor is shown in the input line alone: every dialog hides
// it, so where it is hidden no row is an input line, whatever its text says.
func codexLook(v View) Screen {
	cells := cellsOf(v.Rows)
	if s, ok := codexInputLine(cells, v); ok {
		return s
	}
	return Screen{Name: codexDialog(cells, v)}
}

// codexInputLine finds the input line around the cursor: the row with the mark, further rows indented under
// it, a blank row, and the one or two rows of status at the foot of the screen. An old prompt has a faint
// mark, a chosen entry an inverse one.
func codexInputLine(cells [][]cell, v View) (Screen, bool) {
	foot := codexFoot(cells)
	if !v.CursorVisible || v.CursorY >= foot || v.CursorX < 2 {
		return Screen{}, false
	}
	top := v.CursorY
	for top > 0 && !codexMarked(cells[top]) {
		if !strings.HasPrefix(textOf(cells[top])+"  ", "  ") {
			return Screen{}, false // no further row of an input line
		}
		top--
	}
	if !codexMarked(cells[top]) {
		return Screen{}, false
	}
	s := Screen{Name: Ready, Draft: codexDraft(cells[top:foot])}
	s.Popup = codexPopup(cells[:top], s.Draft)
	s.Working = codexWorking(cells[:top])
	return s, true
}

// codexMarked: the input line's own mark is neither faint nor inverse.
func codexMarked(row []cell) bool {
	return strings.HasPrefix(textOf(row)+" ", codexMark) && !row[0].dim && !row[0].inverse
}

// codexFoot is the row under the last row that an input line can have: the blank one over the status.
func codexFoot(cells [][]cell) int {
	y := len(cells) - 1
	for y > 0 && textOf(cells[y]) == "" {
		y--
	}
	for y > 0 && textOf(cells[y]) != "" {
		y--
	}
	return y
}

// codexDraft joins the rows of an input line by nothing, without their indent. Faint text is a hint.
func codexDraft(rows [][]cell) string {
	var draft strings.Builder
	for _, row := range rows {
		var b strings.Builder
		for x, c := range row {
			if x >= 2 && !c.dim {
				b.WriteRune(c.r)
			}
		}
		draft.WriteString(strings.TrimRight(b.String(), " "))
	}
	return draft.String()
}

// codexPopup reports whether a menu of commands, files or skills stands over the input line and Enter would
// take an entry of it that is not what was typed. Right over the line, but for blank rows and a row of keys,
// stand its entries, the chosen one inverse.
func codexPopup(above [][]cell, draft string) bool {
	gap := 0
	for y := len(above) - 1; y >= 0 && gap < 3; y-- {
		t := textOf(above[y])
		if t == "" {
			gap++
			continue
		}
		if entry, ok := strings.CutPrefix(t, codexMark); ok && above[y][0].inverse {
			entry, _, _ = strings.Cut(entry, " ")
			return entry != draft
		}
	}
	return false
}

// codexSpinner is the row of a running turn; its glyph and the seconds change.
var codexSpinner = pattern(`^[•◦] .*\([0-9hms ]+ • esc to interrupt\)`)

// codexWorking: the spinner is the lowest row over the input line that is not indented.
func codexWorking(above [][]cell) bool {
	for y := len(above) - 1; y >= 0; y-- {
		if t := textOf(above[y]); t != "" && !strings.HasPrefix(t, " ") {
			return codexSpinner().MatchString(t)
		}
	}
	return false
}

// codexTitles are the dialogs known by the bold row over their entries.
var codexTitles = []struct{ starts, screen string }{
	{"Folder access", Trust},
	{"Hooks need review", Review},
	{"Would you like to run the following command?", Permission},
}

// codexDialog names a screen without an input line.
func codexDialog(cells [][]cell, v View) string {
	if v.CursorVisible {
		return Starting
	}
	title := codexTitle(cells)
	for _, t := range codexTitles {
		if strings.HasPrefix(title, t.starts) {
			return t.screen
		}
	}
	if strings.Join(textsOf(cells), "") == "" {
		return Starting
	}
	return Strange
}

// codexTitle is the nearest bold row over the chosen entry, which is the lowest inverse one.
func codexTitle(cells [][]cell) string {
	y := len(cells) - 1
	for y >= 0 && !(strings.HasPrefix(textOf(cells[y]), codexMark) && cells[y][0].inverse) {
		y--
	}
	for ; y >= 0; y-- {
		t := textOf(cells[y])
		if len(cells[y]) > 2 && cells[y][2].bold && strings.HasPrefix(t, "  ") && t[2] != ' ' {
			return t[2:]
		}
	}
	return ""
}
