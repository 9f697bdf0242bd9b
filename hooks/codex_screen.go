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
	return codexDialog(cells, v)
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
	s.Working, s.Detail = codexWorking(textsOf(cells[:top]))
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
		draft.WriteString(strings.TrimRight(plainOf(row[min(2, len(row)):]), " "))
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

// codexSpinner is the row of a running turn: what goes on, since when. Glyph and seconds change.
var codexSpinner = pattern(`^[•◦] (.*) \([0-9hms ]+ • esc to interrupt\)`)

// codexOwed are the rows between the spinner and the input line over prompts that wait for their turn, indented.
var codexOwed = pattern(`^• (Messages to be submitted |Queued follow-up inputs)`)

// codexWorking: the spinner is the lowest row over the input line that is not indented. Its usual word is
// "Working"; another says that the conversation is made smaller, or that a request is sent again and why.
func codexWorking(above []string) (working bool, what string) {
	for y := len(above) - 1; y >= 0; y-- {
		if above[y] == "" || strings.HasPrefix(above[y], " ") || codexOwed().MatchString(above[y]) {
			continue
		}
		m := codexSpinner().FindStringSubmatch(above[y])
		if m == nil {
			return false, ""
		}
		if m[1] != "Working" {
			what = detail(append([]string{m[1]}, codexUnder(above[y+1:])...)...)
		}
		return true, what
	}
	return false, ""
}

// codexUnder are the rows that belong to the one over them, without their sign.
func codexUnder(rows []string) (under []string) {
	for _, r := range rows {
		if r == "" {
			return under
		}
		under = append(under, strings.TrimPrefix(strings.TrimSpace(r), "└ "))
	}
	return under
}
