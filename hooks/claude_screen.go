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
	return Screen{Name: claudeDialog(cells, v)}
}

// claudeRule reports whether a row is a frame's horizontal line. A session's name may stand in it.
func claudeRule(row []cell) bool { return claudeIsRule(textOf(row)) }

func claudeIsRule(text string) bool {
	return strings.HasPrefix(text, "────────") || strings.HasPrefix(text, "▔▔▔▔▔▔▔▔")
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
	s.Working = claudeWorking(cells[:top-1], cells[end+1:])
	return s, true
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

// claudeSpinner is the row of a running turn: a glyph that changes, a word that changes, an ellipsis. At the
// turn's end the same place says how long it took.
var claudeSpinner = pattern(`^[·✢✳✶✻✽*∗] .*…`)

// claudeWorking looks for a running turn's marks where they stand: the spinner is the lowest row over the
// input line that is not indented (tips and queued prompts stand under or over it, indented or with another
// sign), and the status line under the input line says how to interrupt, unless there is a draft.
func claudeWorking(above, below [][]cell) bool {
	if len(below) > 0 && strings.Contains(textOf(below[0]), "esc to interrupt") {
		return true
	}
	for y := len(above) - 1; y >= 0; y-- {
		if t := textOf(above[y]); t != "" && !strings.HasPrefix(t, " ") {
			return claudeSpinner().MatchString(t)
		}
	}
	return false
}

// claudeChoice is the chosen entry of a dialog: the sign, a plain space, and perhaps a number.
var claudeChoice = pattern(`^( {0,4})❯ ([0-9]+\. )?`)

// claudeFirst is a dialog's first numbered entry.
var claudeFirst = pattern(`^ *(?:❯ )?1\. (.*)`)

// claudeTitles are the dialogs known by the first row under their rule.
var claudeTitles = []struct{ starts, screen string }{
	{"Accessing workspace:", Trust},
	{"Detected a custom API key", APIKey},
	{"Make auto mode your default", AutoMode},
	{"Select login method", Login},
	// The usage limit's own question; not seen on the bench, its title is from the program's text.
	{"What do you want to do?", Limit},
}

// claudeDialog names a screen without an input line.
func claudeDialog(cells [][]cell, v View) string {
	rows := textsOf(cells)
	if v.CursorY < len(rows) {
		if choice := claudeChoice().FindStringSubmatch(rows[v.CursorY]); choice != nil {
			return claudeChosen(rows, v, choice[1], choice[2] != "")
		}
	}
	return claudeBare(rows, v)
}

// claudeChosen names the dialog in which the cursor stands on an entry.
func claudeChosen(rows []string, v View, indent string, numbered bool) string {
	dialog := claudeUnderRule(rows, v.CursorY)
	title := claudeNonblank(dialog)
	for _, t := range claudeTitles {
		if strings.HasPrefix(title, t.starts) {
			return t.screen
		}
	}
	switch {
	case numbered && indent == "" && claudeAsks(rows, title):
		return Question
	case numbered && indent != "" && claudeApproves(dialog, rows[:v.CursorY+1]):
		return Permission
	case claudeWelcome(rows, v):
		return Login
	}
	return Strange
}

// claudeAsks: a question's entries stand at column 0. Its foot says how to choose; the last page of several
// questions has none, but the row with their names over it.
func claudeAsks(rows []string, title string) bool {
	for i := len(rows) - 1; i >= 0; i-- {
		if rows[i] != "" {
			return strings.HasPrefix(rows[i], "Enter to select") || strings.HasPrefix(title, "←")
		}
	}
	return false
}

// claudeApproves: whatever is to be permitted, the first entry says yes.
func claudeApproves(dialog, upToCursor []string) bool {
	first := len(upToCursor) - len(dialog)
	for i := len(upToCursor) - 1; i >= first && i >= 0; i-- {
		if m := claudeFirst().FindStringSubmatch(upToCursor[i]); m != nil {
			return strings.HasPrefix(m[1], "Yes")
		}
	}
	return false
}

// claudeUnderRule returns the rows from the nearest rule above row y down to y.
func claudeUnderRule(rows []string, y int) []string {
	for top := y; top > 0; top-- {
		if claudeIsRule(strings.TrimSpace(rows[top-1])) {
			return rows[top : y+1]
		}
	}
	return rows[:y+1]
}

func claudeNonblank(rows []string) string {
	for _, r := range rows {
		if t := strings.TrimSpace(r); t != "" {
			return t
		}
	}
	return ""
}

// claudeWelcome: theme, security notes and sign-in of a first run have no rule, but the main screen with a
// greeting at its very top, and the cursor hidden, which a shell never has.
func claudeWelcome(rows []string, v View) bool {
	return !v.Alternate && !v.CursorVisible && strings.HasPrefix(claudeNonblank(rows), "Welcome to Claude Code")
}

// claudeBare names a screen in which the cursor stands on no entry.
func claudeBare(rows []string, v View) string {
	switch {
	case claudeWelcome(rows, v):
		return Login
	case claudeNonblank(rows) == "", !v.Alternate && v.CursorVisible:
		return Starting
	case v.Alternate && claudeLogoOnly(rows):
		return Starting
	}
	return Strange
}

// claudeLogoOnly: three rows of logo with the name in one of them, and nothing else yet.
func claudeLogoOnly(rows []string) bool {
	filled, named := 0, false
	for _, r := range rows {
		if r != "" {
			filled++
			named = named || strings.Contains(r, "Claude Code")
		}
	}
	return named && filled <= 3
}
