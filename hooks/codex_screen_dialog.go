package hooks

import (
	"strings"
	"unicode"
)

// codexTitles are the dialogs known by the bold row over their entries. A title with another ending, or one
// that is not here, is an unknown screen: an Enter there may decide anything.
var codexTitles = []titled{
	{"Folder access", Trust},
	{"Hooks need review", Review},
	{"Update available", Update},
	{"Would you like to run the following command?", Permission},
	{"Would you like to make the following edits?", Permission},
	{"Would you like to grant these permissions?", Permission},
	{"Would you like to send input to", Permission},
	{"Do you want to approve network access to", Permission},
	{"Question ", Question},
	{"Approaching rate limits", Limit},
	{"You've reached your workspace credit limit", Limit},
	{"Your workspace is out of credits", Limit},
	{"Resume a previous session", Resume},
	{"Fork a previous session", Resume},
	{"Select Model", Menu},
	{"Update Model Permissions", Menu},
	{"Where should the ", Menu},
	{"Select a review preset", Menu},
	{"Skills", Menu},
	{"Hooks", Menu},
	{"Warnings", Menu},
	{"Agent command center", Menu},
}

// codexBrowsing opens the last row while a person goes through old prompts, to go back to one.
const codexBrowsing = "  Browsing "

// codexDialog names a screen without an input line. Dialogs stand at the foot of the screen or fill it, so the
// lowest title is the dialog's and output is over it. Most hide the cursor; a field in one shows it.
func codexDialog(cells [][]cell, v View) Screen {
	rows := textsOf(cells)
	if v.Alternate && !v.CursorVisible && strings.HasPrefix(lastRow(rows), codexBrowsing) {
		return Screen{Name: Rewind}
	}
	chosen := codexChosen(cells)
	top := codexTitle(cells, rows, chosen)
	if top >= 0 {
		if name := named(codexTitles, strings.TrimSpace(rows[top])); name != "" {
			return Screen{Name: name, Detail: codexDetail(name, rows, top)}
		}
	}
	return Screen{Name: codexPage(rows, v, chosen)}
}

// codexPage names a screen without a known title.
func codexPage(rows []string, v View, chosen int) string {
	last := lastRow(rows)
	switch {
	case !v.Alternate, last == "":
		return Starting
	case v.CursorVisible:
		return Strange
	case codexWelcome(rows):
		return Login
	case chosen >= 0 && last == "  Press enter to confirm or esc to cancel":
		return Permission // whose command is so long that its title is not on the screen any more
	}
	return Strange
}

// codexChosen is the row of the chosen entry, which is inverse; -1 for none.
func codexChosen(cells [][]cell) int {
	for y := len(cells) - 1; y >= 0; y-- {
		for _, c := range cells[y] {
			if c.r != ' ' {
				if c.inverse && c.r == '›' {
					return y
				}
				break
			}
		}
	}
	return -1
}

// codexTitle is the row of the lowest title over the keys at the foot, or over the chosen entry where a long
// dialog leaves no blank row over the keys; -1 for none. A title is bold and indented by one or two; that of a
// question is faint.
func codexTitle(cells [][]cell, rows []string, chosen int) int {
	y := codexFoot(cells)
	if chosen > y {
		y = chosen - 1
	}
	for ; y >= 0; y-- {
		x := len(rows[y]) - len(strings.TrimLeft(rows[y], " "))
		if rows[y] == "" || x < 1 || x > 2 {
			continue
		}
		first := cells[y][x]
		switch {
		case first.inverse, first.r == '›':
		case first.bold, first.dim && strings.HasPrefix(rows[y], "  Question "):
			return y
		}
	}
	return -1
}

// codexWelcome: the pages of signing in have a greeting at their top; a logo over it is of no letters.
func codexWelcome(rows []string) bool {
	for _, r := range rows {
		if strings.ContainsFunc(r, unicode.IsLetter) {
			return strings.HasPrefix(r, "  Welcome to Codex,")
		}
	}
	return false
}
