package hooks

import "strings"

// claudeSpinner is the row of a running turn: a glyph that changes, a word that changes, an ellipsis; or why
// and when the last request is sent again. At the turn's end the same place says how long it took.
var claudeSpinner = pattern(`^[·✢✳✶✻✽*∗] (.*…|.* · retrying in .*)`)

// claudeLimit is the row that stands first under the input line while Claude waits for a usage limit to reset,
// and may say when. The next row says whether it goes on by itself then; a line that is typed meanwhile would end
// that. While it still wraps up the row goes on in another way, and a turn runs (the program's text, not seen).
var claudeLimit = pattern(`^  ⚠ Usage limit reached( · limit resets .*)?$`)

// claudeStatus adds what the rows over and under an input line tell. They are the program's own: output ends
// over the spinner.
func claudeStatus(s Screen, above, below []string) Screen {
	spinner := claudeSpinnerRow(above)
	if spinner == "" && len(below) > 0 && claudeLimit().MatchString(below[0]) {
		return Screen{Name: Limit, Detail: detail(below[:min(2, len(below))]...)}
	}
	s.Working = spinner != "" || len(below) > 0 && strings.Contains(below[0], "esc to interrupt")
	s.Detail = claudeWorkDetail(spinner)
	if s.Detail == "" {
		s.Detail = claudeNotice(above)
	}
	return s
}

// claudeSpinnerRow is the spinner without its glyph, "" for none. It is the lowest row over the input line
// that is not indented: tips and queued prompts stand under or over it, indented or with another sign.
func claudeSpinnerRow(above []string) string {
	for y := len(above) - 1; y >= 0; y-- {
		if t := above[y]; t != "" && !strings.HasPrefix(t, " ") {
			if m := claudeSpinner().FindStringSubmatch(t); m != nil {
				return m[1]
			}
			return ""
		}
	}
	return ""
}

// claudeWorkDetail is what a spinner tells beyond that a turn runs; its usual word is drawn by lot.
func claudeWorkDetail(spinner string) string {
	if strings.HasPrefix(spinner, "Compacting ") || strings.Contains(spinner, " · retrying in ") {
		return detail(spinner)
	}
	return ""
}

// claudeNotice is a warning at the right edge of the row over the frame: that the conversation is nearly full.
func claudeNotice(above []string) string {
	if len(above) == 0 {
		return ""
	}
	last := above[len(above)-1]
	if t := strings.TrimLeft(last, " "); len(last)-len(t) > 8 && strings.HasPrefix(t, "Context low ") {
		return detail(t)
	}
	return ""
}
