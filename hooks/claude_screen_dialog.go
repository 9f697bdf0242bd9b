package hooks

import "strings"

// claudeChoice is the chosen entry of a dialog: the sign, a plain space, and perhaps a number.
var claudeChoice = pattern(`^( {0,4})❯ ([0-9]+\. )?`)

// claudeFirst is a dialog's first numbered entry.
var claudeFirst = pattern(`^ *(?:❯ )?1\. (.*)`)

// claudeTitles are the dialogs known by the first row under their rule, in which the cursor stands on an entry.
var claudeTitles = []titled{
	{"Accessing workspace:", Trust},
	{"Detected a custom API key", APIKey},
	{"Make auto mode your default", AutoMode},
	{"Select login method", Login},
	{"WARNING: Claude Code running in Bypass Permissions mode", Bypass},
	{"New MCP server", Servers},
	{"Allow external CLAUDE.md file imports?", Imports},
	{"What do you want to do?", Limit},
}

// claudePages are what a person opens over the conversation, by the same row. The cursor may stand anywhere in
// them: on an entry, in a search box, at the foot.
var claudePages = []titled{
	{"Rewind", Rewind},
	{"Resume session", Resume},
	{"Search prompts", Menu},
}

// claudeTranscript opens the last row of the full transcript.
const claudeTranscript = "  Showing detailed transcript"

// claudeDialog names a screen without an input line.
func claudeDialog(rows []string, v View) Screen {
	dialog := claudeUnderRule(rows, v.CursorY)
	title := firstWords(dialog)
	if v.CursorY < len(rows) {
		if choice := claudeChoice().FindStringSubmatch(rows[v.CursorY]); choice != nil {
			if s := claudeChosen(rows, v.CursorY, title, choice[1], choice[2] != ""); s.Name != "" {
				return s
			}
		}
	}
	return Screen{Name: claudePage(rows, dialog, title, v)}
}

// claudeChosen names the dialog in which the cursor stands on an entry; no name for none that is known.
func claudeChosen(rows []string, y int, title, indent string, numbered bool) Screen {
	if name := named(claudeTitles, title); name != "" {
		return Screen{Name: name, Detail: claudeDetail(name, rows, y)}
	}
	switch {
	case numbered && indent == "" && claudeAsks(rows, title):
		return Screen{Name: Question, Detail: claudeDetail(Question, rows, y)}
	case numbered && indent != "" && claudeApproves(rows, y):
		return Screen{Name: Permission, Detail: claudeDetail(Permission, rows, y)}
	}
	return Screen{}
}

// claudeAsks: a question's entries stand at column 0. Its foot says how to choose; the last page of several
// questions has none, but the row with their names over it.
func claudeAsks(rows []string, title string) bool {
	return strings.HasPrefix(lastRow(rows), "Enter to select") || strings.HasPrefix(title, "←")
}

// claudeApproves: whatever is to be permitted, the first entry says yes.
func claudeApproves(rows []string, y int) bool {
	for i := y; i >= 0 && !claudeIsRule(strings.TrimSpace(rows[i])); i-- {
		if m := claudeFirst().FindStringSubmatch(rows[i]); m != nil {
			return strings.HasPrefix(m[1], "Yes")
		}
	}
	return false
}

// claudePage names a screen in which the cursor stands on no entry of a known dialog.
func claudePage(rows, dialog []string, title string, v View) string {
	page := named(claudePages, title)
	switch {
	case page != "" && v.Alternate && len(dialog) <= v.CursorY:
		return page
	case claudeWelcome(rows, v):
		return Login
	case firstWords(rows) == "", !v.Alternate:
		return Starting
	case claudeLogoOnly(rows):
		return Starting
	case claudeOverlay(rows, v.CursorY), strings.HasPrefix(lastRow(rows), claudeTranscript):
		return Menu
	}
	return Strange
}

// claudeOverlay: pages that a person opens lie under a rule of their own kind. A dialog in one has a rule too.
func claudeOverlay(rows []string, y int) bool {
	top := min(y, len(rows)) - len(claudeUnderRule(rows, y))
	return top >= 0 && strings.HasPrefix(strings.TrimSpace(rows[top]), claudeOverlayRule)
}

// claudeUnderRule returns the rows from the nearest rule above row y down to y; all of them down to y if there
// is no rule.
func claudeUnderRule(rows []string, y int) []string {
	y = min(y, len(rows)-1)
	for top := y; top > 0; top-- {
		if claudeIsRule(strings.TrimSpace(rows[top-1])) {
			return rows[top : y+1]
		}
	}
	return rows[:y+1]
}

// claudeWelcome: theme, security notes and sign-in of a first run have no rule, but the main screen with a
// greeting at its very top, and the cursor hidden, which a shell never has.
func claudeWelcome(rows []string, v View) bool {
	return !v.Alternate && !v.CursorVisible && strings.HasPrefix(firstWords(rows), "Welcome to Claude Code")
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
