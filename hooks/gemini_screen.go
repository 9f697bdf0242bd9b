package hooks

import (
	"slices"
	"strings"
)

// Look reads the screen of Gemini 0.61.0, which keeps to the ordinary screen and hides the terminal's cursor: its own is the
// inverse cell of the input line.
func (gemini) Look(v View) Screen {
	cells := cellsOf(v.Rows)
	rows := textsOf(cells)
	if s, ok := geminiInputLine(cells, rows); ok {
		return s
	}
	return geminiDialog(rows)
}

// geminiIndent is the width of the mark, and of the blanks under it in further rows.
const geminiIndent = 3

// geminiMarks open the input line: in the usual modes, where nothing is asked, and of a shell command.
var geminiMarks = []string{" > ", " * ", " ! "}

// geminiMarked tells that a row begins with a mark. A capture has no blanks at a row's end.
func geminiMarked(row string) bool {
	return slices.ContainsFunc(geminiMarks, func(m string) bool { return strings.HasPrefix(row+" ", m) })
}

// geminiInputLine finds the cursor's row, and from there up the row with the mark; between the two stand rows without a mark, some
// of them blank. An old prompt has the same mark and no cursor.
func geminiInputLine(cells [][]cell, rows []string) (Screen, bool) {
	cursor := len(rows) - 1
	for cursor >= 0 && !hasInverse(cells[cursor]) {
		cursor--
	}
	top := cursor
	for top >= 0 && !geminiMarked(rows[top]) {
		if rows[top] != "" && !strings.HasPrefix(rows[top], "   ") {
			return Screen{}, false
		}
		top--
	}
	if top < 0 {
		return Screen{}, false
	}
	end := cursor + 1
	for end < len(rows) && strings.HasPrefix(rows[end], "   ") {
		end++
	}
	s := Screen{Name: Ready, Draft: geminiDraft(cells[top:end])}
	if strings.HasPrefix(rows[top], " !") {
		s.Draft = "!" + s.Draft
	}
	s.Popup = geminiPopup(rows[end:], s.Draft)
	s.Working = geminiWorking(rows[:top])
	return s, true
}

func hasInverse(row []cell) bool {
	return slices.ContainsFunc(row, func(c cell) bool { return c.inverse })
}

// geminiDraft joins the rows of an input line by nothing, without their indent. In an empty one the cursor stands on the first
// blank of a hint.
func geminiDraft(rows [][]cell) string {
	if first := rows[0]; len(first) > geminiIndent && first[geminiIndent].inverse && first[geminiIndent].r == ' ' {
		return ""
	}
	var draft strings.Builder
	for _, row := range rows {
		draft.WriteString(strings.TrimRight(textOf(row[min(geminiIndent, len(row)):]), " "))
	}
	return draft.String()
}

// geminiPopup reports whether a menu of commands or files stands under the input line and Enter would take an entry of it that
// is not what was typed.
func geminiPopup(below []string, draft string) bool {
	if !strings.HasPrefix(draft, "/") && !strings.Contains(draft, "@") {
		return false
	}
	for _, row := range below {
		if strings.HasPrefix(row, " workspace (/directory)") {
			return false // the foot
		}
		if fields := strings.Fields(row); len(fields) > 0 {
			return !strings.HasSuffix(draft, fields[0])
		}
	}
	return false
}

// geminiSpinner opens the row of a running turn: one of the turning dots. Behind it stands what goes on, which may be anything.
var geminiSpinner = pattern(`^ ?[⠁-⣿] `)

// geminiWorking looks for that row right over the rule above the input line.
func geminiWorking(above []string) bool {
	rule := len(above) - 1
	for rule >= 0 && !strings.HasPrefix(above[rule], "────────") {
		rule--
	}
	return rule > 0 && slices.ContainsFunc(above[max(0, rule-4):rule], geminiSpinner().MatchString)
}

// geminiTitles are the dialogs known by a row over their entries.
var geminiTitles = []titled{
	{"Do you trust the files in this folder?", Trust},
	{"Do you trust the following folders being added to this workspace?", Trust},
	{"Allow execution of", Permission},
	{"Apply this change?", Permission},
	{"Do you want to proceed?", Permission},
	{"How would you like to authenticate for this project?", Login},
	{"Enter Gemini API Key", APIKey},
	{"Answer Questions", Question},
	{"Usage limit reached for", Limit},
}

// geminiChosen is the entry of a dialog that Enter would take.
var geminiChosen = pattern(`^ ?│? ?● ?[0-9]+\. `)

// geminiDialog names a screen without an input line: the lowest dialog is the one that stands there.
func geminiDialog(rows []string) Screen {
	chosen := len(rows) - 1
	for chosen >= 0 && !geminiChosen().MatchString(rows[chosen]) {
		chosen--
	}
	if chosen < 0 {
		return Screen{Name: Starting}
	}
	for y := chosen - 1; y >= 0; y-- {
		text := strings.Trim(rows[y], " │")
		if name := named(geminiTitles, text); name != "" {
			return Screen{Name: name, Detail: geminiDetail(name, rows[:y+1], rows[chosen:])}
		}
		if strings.HasPrefix(strings.TrimPrefix(rows[y], " "), "╭") {
			break // the top of the dialog's frame
		}
	}
	return Screen{Name: Strange}
}

// geminiDetail says what a dialog asks: of a permission what stands in its frame over the question.
func geminiDetail(name string, over, entries []string) string {
	if name == Permission {
		for y := len(over) - 2; y >= 0; y-- {
			if strings.HasPrefix(strings.TrimPrefix(over[y], " "), "╭") {
				return detail(strings.Trim(over[min(y+1, len(over)-1)], " │?"))
			}
		}
	}
	return detail(strings.Trim(over[len(over)-1], " │"))
}
