package hooks

import (
	"slices"
	"strings"
	"testing"
)

// TestCodexScreens: looks at Codex 0.171.0.
func TestCodexScreens(t *testing.T) {
	screenTable(t, "codex", 80, codexLook)
}

// codexReady is a recorded empty input line with its foot, and the row of the line in it.
func codexReady(t testing.TB) (rows []string, y int) {
	t.Helper()
	ready := recordedView(t, "testdata/codex/screens/120x40-ready.txt")
	return ready.Rows[ready.CursorY-1:], 1
}

// TestCodexOutputIsNoDialog puts every recorded screen above a ready input line, as output that an agent
// prints: only the line counts.
func TestCodexOutputIsNoDialog(t *testing.T) {
	box, line := codexReady(t)
	for _, f := range recordings(t, "codex", 80) {
		v := recordedView(t, f)
		v.CursorVisible, v.Alternate, v.CursorX, v.CursorY = true, true, 2, len(v.Rows)+3+line
		v.Rows = slices.Concat(v.Rows, []string{"\x1b[0m", "", ""}, box)
		if s := codexLook(v); s.Name != Ready || s.Draft != "" || s.Popup {
			t.Errorf("%s as output: %+v", f, s)
		}
	}
}

// TestCodexWordsInDraft: what opens a dialog opens none where it is typed.
func TestCodexWordsInDraft(t *testing.T) {
	words := []string{"Browsing ", "Welcome to Codex, OpenAI's", "Press enter to confirm or esc to cancel", "1. Yes, proceed (y)"}
	for _, title := range codexTitles {
		words = append(words, title.starts)
	}
	for _, w := range words {
		box, line := codexReady(t)
		box = slices.Clone(box)
		box[line] = "\x1b[1m›\x1b[0m " + w
		v := View{Rows: box, CursorX: len(w) + 2, CursorY: line, CursorVisible: true, Alternate: true, Width: 120, Height: len(box)}
		if s := codexLook(v); s.Name != Ready || s.Draft != strings.TrimRight(w, " ") || s.Working || s.Detail != "" {
			t.Errorf("%q as a draft: %+v", w, s)
		}
	}
}

// TestCodexCursor: only a shown cursor is in an input line, and a shown one makes none of a dialog.
func TestCodexCursor(t *testing.T) {
	for _, f := range recordings(t, "codex", 80) {
		v := recordedView(t, f)
		was := codexLook(v)
		v.CursorVisible = !v.CursorVisible
		s := codexLook(v)
		if s.Name == Ready {
			t.Errorf("%s with the cursor turned over: %+v", f, s)
		}
		if was.Name == Permission && s.Name != Permission {
			t.Errorf("%s with a shown cursor: %+v", f, s)
		}
	}
}

// TestCodexPrintedDialog: a real dialog counts, not one that was printed over it.
func TestCodexPrintedDialog(t *testing.T) {
	printed := recordedView(t, "testdata/codex/screens/120x40-hooks-review.txt").Rows
	for _, f := range recordings(t, "codex", 80) {
		v := recordedView(t, f)
		was := codexLook(v)
		if v.CursorVisible || !v.Alternate || was.Name == Login || was.Name == Resume || strings.Contains(f, "agents-center") {
			continue // nothing is printed over a page that fills the screen
		}
		v.Rows = slices.Concat(printed, []string{"\x1b[0m"}, v.Rows)
		v.CursorY += len(printed) + 1
		if s := codexLook(v); s.Name != was.Name {
			t.Errorf("%s under a printed dialog: %+v", f, s)
		}
	}
}

// TestCodexLongCommand: a command so long that its dialog's title is over the screen's edge.
func TestCodexLongCommand(t *testing.T) {
	v := recordedView(t, "testdata/codex/screens/80x24-permission-long.txt")
	for y, row := range v.Rows {
		if strings.Contains(row, "$ ") {
			v.Rows = slices.Concat(v.Rows[y+1:], slices.Repeat([]string{""}, y+1))
			break
		}
	}
	if s := codexLook(v); s.Name != Permission {
		t.Errorf("without its title: %+v", s)
	}
}

func FuzzCodexLook(f *testing.F) {
	f.Add("\x1b[1m›\x1b[0m \x1b[2mAsk\x1b[0m\n\n  model", 2, 0, true)
	f.Add("  \x1b[1mFolder access\x1b[0m\n\x1b[1;7m› 1. Yes\x1b[0m\n  enter", 0, 0, false)
	f.Fuzz(func(t *testing.T, text string, x, y int, visible bool) {
		if x < 0 || y < 0 {
			return
		}
		rows := strings.Split(text, "\n")
		s := codexLook(View{Rows: rows, CursorX: x, CursorY: y, CursorVisible: visible, Alternate: true, Width: 80, Height: len(rows)})
		if len(s.Detail) > detailBytes {
			t.Errorf("a detail of %d bytes", len(s.Detail))
		}
	})
}

// Prompts that wait for the next tool call stand under the spinner (0.171.0, as seen); the same words as output do not
// make a turn of their own.
func TestCodexWorkingWithPromptsWaiting(t *testing.T) {
	waiting := []string{"", "• Messages to be submitted after next tool call (press esc to interrupt and send immediately)", "  ↳ echo joined", ""}
	if working, _ := codexWorking(append([]string{"› do it", "", "◦ Working (4s • esc to interrupt) · 1 background terminal running · /ps to view"}, waiting...)); !working {
		t.Error("a turn with prompts waiting is not seen")
	}
	if working, _ := codexWorking(append([]string{"› do it", "", "• done", ""}, waiting...)); working {
		t.Error("waiting prompts alone are taken for a turn")
	}
}
