package hooks

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var updateScreens = flag.Bool("update-screens", false, "write what is seen into testdata; read the diff")

// recordedView reads a recorded screen: a line with cursor, flags and size, then the rows.
func recordedView(t testing.TB, path string) View {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, body, _ := strings.Cut(string(text), "\n")
	var v View
	var visible, alternate int
	_, err = fmt.Sscanf(head, "cursor=%d,%d visible=%d alternate=%d size=%dx%d",
		&v.CursorX, &v.CursorY, &visible, &alternate, &v.Width, &v.Height)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	v.CursorVisible, v.Alternate = visible == 1, alternate == 1
	v.Rows = strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	return v
}

// recordings are the recorded screens of a kind, testdata/KIND/screens/SIZE-NAME.txt; at least so many.
func recordings(t testing.TB, kind string, atLeast int) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/" + kind + "/screens/*.txt")
	if err != nil || len(files) < atLeast {
		t.Fatalf("%d recorded screens of %s, %v", len(files), kind, err)
	}
	return files
}

// screenTable reads every recorded screen of a kind. testdata/KIND/screens.txt says what each is.
func screenTable(t *testing.T, kind string, atLeast int, look func(View) Screen) {
	t.Helper()
	var got strings.Builder
	for _, f := range recordings(t, kind, atLeast) {
		s := look(recordedView(t, f))
		fmt.Fprintf(&got, "%s: %s\n", strings.TrimSuffix(filepath.Base(f), ".txt"), screenWords(s))
	}
	wantTable(t, "testdata/"+kind+"/screens.txt", got.String())
}

// wantTable checks what was read against the table of the kind; with -update-screens it writes that.
func wantTable(t *testing.T, table, got string) {
	t.Helper()
	if *updateScreens {
		if err := os.WriteFile(table, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: read as\n%s\nwant\n%s", table, got, want)
	}
}

func screenWords(s Screen) string {
	words := s.Name
	if s.Popup {
		words += " popup"
	}
	if s.Working {
		words += " working"
	}
	if s.Draft != "" {
		words += fmt.Sprintf(" draft %q", s.Draft)
	}
	if s.Detail != "" {
		words += fmt.Sprintf(" detail %q", s.Detail)
	}
	return words
}
