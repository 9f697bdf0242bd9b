package hooks

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestClaudeScreens: recordings whose name begins with r are older ones, whose cursor was worked out afterwards.
func TestClaudeScreens(t *testing.T) {
	screenTable(t, "claude", 80, claude{}.Look)
}

// TestClaudeOutputIsNoDialog puts every recorded dialog above a ready input line, as output that an agent
// prints (cat of a recording does that): only the line counts.
func TestClaudeOutputIsNoDialog(t *testing.T) {
	ready := recordedView(t, "testdata/claude/screens/120x40-ready.txt")
	box := ready.Rows[ready.CursorY-1:]
	files, err := filepath.Glob("testdata/claude/screens/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		v := recordedView(t, f)
		v.Alternate, v.CursorX = true, 2
		v.Rows = append(append([]string{}, v.Rows...), "\x1b[0m")
		v.CursorY = len(v.Rows) + 1
		v.Rows = append(v.Rows, box...)
		if s := (claude{}).Look(v); s.Name != Ready || s.Draft != "" || s.Popup {
			t.Errorf("%s as output: %+v", f, s)
		}
	}
}

// TestClaudeInputLineInOutput is the other way round: an input line that was only printed, with the cursor
// elsewhere, is none.
func TestClaudeInputLineInOutput(t *testing.T) {
	v := recordedView(t, "testdata/claude/screens/120x40-permission.txt")
	v.Rows[2], v.Rows[3], v.Rows[4] = strings.Repeat("─", 120), "❯\u00a0go on", strings.Repeat("─", 120)
	if s := (claude{}).Look(v); s.Name != Permission {
		t.Errorf("a dialog under a printed input line: %+v", s)
	}
	for y := range v.Rows {
		v.Rows[y] = ""
	}
	v.Rows[10], v.CursorX, v.CursorY = "❯\u00a0no frame around it", 4, 10
	if s := (claude{}).Look(v); s.Name == Ready {
		t.Errorf("a mark without its frame: %+v", s)
	}
}

func TestClaudeHint(t *testing.T) {
	rule := strings.Repeat("─", 80)
	for _, c := range []struct{ row, draft string }{
		{"❯\u00a0\x1b[7mT\x1b[0;2mry \"fix the tests\"\x1b[0m", ""},
		{"❯\u00a0\x1b[7mP\x1b[0;2mress up to edit queued messages\x1b[0m", ""},
		{"❯\u00a0\x1b[7mT\x1b[0mry this", "Try this"},
		{"❯\u00a0\x1b[7mT\x1b[0m", "T"},
		{"❯\u00a0\x1b[38;5;2mgreen\x1b[39m", "green"},
		{"❯\u00a0\x1b[38;2;2;2;2mrgb\x1b[39m", "rgb"},
		{"❯\u00a0/team \x1b[7m[\x1b[0;2margs]\x1b[0m", "/team"},
	} {
		x := 2
		if strings.Contains(c.row, "[args") || strings.Contains(c.row, "margs") {
			x = 8
		}
		v := View{Rows: []string{"", rule, c.row, rule, "  ? for shortcuts"}, CursorX: x, CursorY: 2, Alternate: true, Width: 80, Height: 5}
		if s := (claude{}).Look(v); s.Name != Ready || s.Draft != c.draft {
			t.Errorf("%q: %+v, want draft %q", c.row, s, c.draft)
		}
	}
}

// TestClaudeWordsInDraft: what opens a dialog opens none where it is typed.
func TestClaudeWordsInDraft(t *testing.T) {
	words := []string{"❯ 1. Yes", "Usage limit reached · limit resets 5:15am", "Context low (0% remaining)", "Enter to select"}
	for _, list := range [][]titled{claudeTitles, claudePages} {
		for _, title := range list {
			words = append(words, title.starts)
		}
	}
	rule := strings.Repeat("─", 80)
	for _, w := range words {
		v := View{
			Rows:    []string{"", rule, "❯\u00a0" + w, rule, "  ? for shortcuts"},
			CursorX: 2 + len([]rune(w)), CursorY: 2, Alternate: true, Width: 80, Height: 5,
		}
		if s := (claude{}).Look(v); s.Name != Ready || s.Draft != w || s.Detail != "" {
			t.Errorf("%q as a draft: %+v", w, s)
		}
	}
}

// TestClaudeLimit: the row under the input line tells of a limit, the same row over it is output.
func TestClaudeLimit(t *testing.T) {
	v := recordedView(t, "testdata/claude/screens/80x24-usage-limit.txt")
	if s := (claude{}).Look(v); s.Name != Limit || !strings.Contains(s.Detail, "resets 5:18am") {
		t.Errorf("a limit that Claude waits for: %+v", s)
	}
	for y := range v.Rows {
		if strings.Contains(v.Rows[y], "⚠ Usage limit reached") {
			v.Rows[0], v.Rows[y] = v.Rows[y], ""
		}
	}
	if s := (claude{}).Look(v); s.Name != Ready || s.Detail != "" {
		t.Errorf("a limit that was printed: %+v", s)
	}
}

func FuzzClaudeLook(f *testing.F) {
	f.Add("❯\u00a0\x1b[7m ", 2, 1)
	f.Add("\x1b[;;m❯ 1. Yes\x1b[38;5", 0, 0)
	f.Fuzz(func(t *testing.T, text string, x, y int) {
		if x < 0 || y < 0 {
			return
		}
		rows := strings.Split(text, "\n")
		claude{}.Look(View{Rows: rows, CursorX: x, CursorY: y, Width: 80, Height: len(rows)})
	})
}
