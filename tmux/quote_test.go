package tmux_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"st/tmux"
	"st/tmux/tmuxtest"
)

var awkward = []string{
	"plain", "two words", " blanks around ", "it's", `say "x"`, "`id`", "$HOME ${HOME}", `back\slash\`, "~", "*?[a-z]",
	"#(touch ran)", "#{pane_id}", "#S #W", "##", "#", "###", "#[fg=red]", "##[fg=red]", "###[", "#,#}", "#{?1,a,b}", "#{==:a,a}",
	";", ";;", "a;", `a\;`, `\;`, "a ; kill-server", "{", "}", "},{", "a,b", ",", "%", "%%", "%0", "%H:%M", "@0", "@st_agent", "$0",
	"-d", "--", "-t%0", "=", "=main", "=main:=x", "!", "+", ":", "main:0.0", ".", "..", "line\nbreak", "tab\there", "\x1b[31mred", "\x7f",
	"😀 👩‍👩‍👧", "작업 하나", "日本語;", "é", strings.Repeat("x", 300), strings.Repeat("#", 301), "\xff\xfe", "",
}

// Whatever a name, a folder or a tag holds, it arrives as it is and runs nothing.
func FuzzQuote(f *testing.F) {
	for _, s := range awkward {
		f.Add(s)
	}
	s := tmuxtest.New(f)
	s.Session("main")
	server := s.Identity()
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsRune(text, 0) || len(text) > 2000 {
			t.Skip("no argument can hold it")
		}
		dir := folder(t, s, text)
		o := tmux.Open{Session: "$0", Name: text, Dir: dir, Argv: []string{"cat", "-"}}
		if !strings.ContainsFunc(text, unicode.IsControl) && utf8.ValidString(text) {
			o.Tag = text
		}
		opened, err := s.Tmux().Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		checkOpened(t, s, opened, o)
		if err := s.Tmux().Kill(t.Context(), opened.ID, server, o.Tag+"x"); !errors.Is(err, tmux.ErrOtherTag) {
			t.Errorf("kill with another tag: %v", err)
		}
		if err := s.Tmux().Kill(t.Context(), opened.ID, server, o.Tag); err != nil {
			t.Errorf("kill with its tag: %v", err)
		}
		if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
			t.Error("a command in the text was run")
		}
	})
}

// folder makes a folder of that name where there can be one.
func folder(t *testing.T, s *tmuxtest.Server, name string) string {
	base, err := os.MkdirTemp(s.Dir(), "d")
	if err != nil {
		t.Fatal(err)
	}
	if name == "" || name == "." || name == ".." || strings.Contains(name, "/") || len(name) > 255 || !utf8.ValidString(name) {
		return base
	}
	dir := filepath.Join(base, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// tmux shows a window's name with backslashes before these.
var escaped = regexp.MustCompile(`\\|\$[A-Za-z_{]`)

func checkOpened(t *testing.T, s *tmuxtest.Server, opened tmux.Pane, o tmux.Open) {
	t.Helper()
	shown := escaped.ReplaceAllString(opened.WindowName, `\${0}`)
	tmuxtest.Wait(t, "the pane is listed as it was opened", func() (bool, string) {
		panes, err := s.Tmux().Panes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range panes {
			if p.ID == opened.ID {
				return p.Tag == o.Tag && p.Path == o.Dir && p.WindowName == shown && p.PID == opened.PID,
					fmt.Sprintf("%+q\nwanted tag %+q path %+q name %+q", []string{p.Tag, p.Path, p.WindowName}, o.Tag, o.Dir, shown)
			}
		}
		return false, "not listed"
	})
	if !strings.ContainsFunc(o.Name, unicode.IsControl) && utf8.ValidString(o.Name) && opened.WindowName != o.Name {
		t.Errorf("window %q is called %q", o.Name, opened.WindowName)
	}
}

// Arguments and keys arrive as they are, too.
func TestArgumentsArriveLiterally(t *testing.T) {
	s := tmuxtest.New(t)
	s.Session("main")
	var argv []string
	for _, a := range awkward {
		if len(a) < 100 {
			argv = append(argv, a)
		}
	}
	out := filepath.Join(s.Dir(), "out")
	script := `printf '%s\0' "$VALUE" "$@" > "$0.new" && mv "$0.new" "$0"; cat`
	_, err := s.Tmux().Open(t.Context(), tmux.Open{
		Session: "$0", Name: "x", Dir: s.Dir(), Env: []string{"VALUE=a #{pane_id};"},
		Argv: append([]string{"sh", "-c", script, out}, argv...),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join(append([]string{"a #{pane_id};"}, argv...), "\x00") + "\x00"
	tmuxtest.Wait(t, "the program has written its arguments", func() (bool, string) {
		got, err := os.ReadFile(out)
		return err == nil && string(got) == want, fmt.Sprintf("%q\nwanted %q", got, want)
	})
}

func TestKeysArriveLiterally(t *testing.T) {
	g := newTarget(t, "")
	for _, k := range []string{"it's; #{x}", "-l", "$HOME ~ {} %0 @1", `\n"q"`, "한글"} {
		if err := g.Tmux().Keys(t.Context(), g.pane.ID, k); err != nil {
			t.Fatal(err)
		}
		g.waitDraft(k)
		if err := g.Tmux().Keys(t.Context(), g.pane.ID, "C-u"); err != nil {
			t.Fatal(err)
		}
		g.waitDraft("")
	}
}
