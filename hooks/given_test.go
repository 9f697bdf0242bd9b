package hooks

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"st/orch"
)

// described writes the file of a kind into a new home.
func described(t *testing.T, text string) (home string) {
	t.Helper()
	home = t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "agents"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(givenPath(home, "pen"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

// TestGivenLook: the input line is where the mark stands at the begin of the cursor's row, or of one that wraps down to it.
func TestGivenLook(t *testing.T) {
	k := givenKind{}
	if err := k.parse("argv = ['pen']\nmark = 'pen\\[\\d+\\]> '"); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, rows, want, draft string
		x, y                    int
	}{
		{"blank", "||", Starting, "", 0, 0},
		{"empty", "hello|pen[1]>|", Ready, "", 8, 1},
		{"a draft", "pen[1]> do it|", Ready, "do it", 13, 0},
		{"a draft that wraps", "pen[12]> 01234567890|0123 56|", Ready, "012345678900123 56", 7, 1},
		{"output below an old line", "pen[1]> do it|working|", Strange, "", 7, 1},
		{"the mark as output", "pen[1]> x|see pen[2]> |", Strange, "", 12, 1},
		{"the cursor elsewhere", "pen[1]> |more|", Strange, "", 4, 1},
		{"the cursor in the mark", "pen[1]> |", Strange, "", 3, 0},
		{"in colours", "\x1b[32mpen[1]> \x1b[0mdo|", Ready, "do", 10, 0},
	}
	for _, test := range tests {
		got := k.Look(View{Rows: strings.Split(test.rows, "|"), CursorX: test.x, CursorY: test.y, Width: 20, Height: 5})
		if got.Name != test.want || got.Draft != test.draft {
			t.Errorf("%s: %q, draft %q; want %q, %q", test.name, got.Name, got.Draft, test.want, test.draft)
		}
	}
}

// TestGivenRefuses: what can't be meant is refused, and says what.
func TestGivenRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                             "argv names no program",
		"argv = ['pen']":                               "mark is missing",
		"argv = ['']\nmark = '> '":                     "argv names no program",
		"argv = 'pen'\nmark = '> '":                    "argv",
		"argv = ['pen']\nmark = '('":                   "error parsing regexp",
		"argv = ['pen']\nmark = 'x*'":                  "fits an empty line",
		"argv = ['pen']\nmark = '> '\nlives = 9":       "unknown key lives",
		"argv = ['pen']\nmark = '> '\nresume = 'r'":    "resume",
		"argv = ['pen']\nmark = '> '\nresume = ['-r']": "does not say which conversation",
		"argv = ['pen']\nmark = '> '\nresume = ['-r', '{conversation}']": "a new conversation has to get its name too",
		"argv = ['pen', '{conversation}']\nmark = '> '":                  "with resume only",
		"argv = ['pen']\nmark = '> '\nturn_end = 'never'":                "turn_end is \"never\"",
		"argv = ['pen']\nmark = '> '\nsubmit = ['x']":                    "\"x\" is no key that submits",
		"argv = ['pen']\nmark = '> '\nsubmit = ['C-s', 'Enter now']":     "\"Enter now\" is no key",
		"argv = ['pen']\nmark = '> '\nquit = \"a\\nb\"":                  "quit: a text holds the control character U+000A",
		"argv = ['pen']\nmark = '> '\nenv = {'A=' = 'x'}":                "env: a name",
		"argv = [\"pen\\u0000\"]\nmark = '> '":                           "argv: a text holds the control character U+0000",
		"argv = ['pen', \"\\u001b[2Kls\"]\nmark = '> '":                  "argv: a text holds the control character U+001B",
		"argv = ['pen', \"\\u202Ex\"]\nmark = '> '":                      "argv: a text holds the control character U+202E",
		"argv = ['pen']\nmark = \"> \\t\"":                               "mark: a text holds the control character U+0009",
		"argv = ['pen']\nmark = '> '\nenv = {A = \"b\\rc\"}":             "env: a name or a value holds the control character U+000D",
		"argv = ['pen']\nmark = '> '\npass_env = [\"A\\u0007\"]":         "pass_env: a text holds the control character U+0007",
		"argv = ['pen\x00']\nmark = '> '":                                "line 1 holds the control character U+0000",
		"argv = ['pen']\n# \x1b[1A\nmark = '> '":                         "line 2 holds the control character U+001B",
		"argv = ['pen']\nmark = '> '\nenv = {ST_AGENT = 'x'}":            "env: ST_AGENT can't be given: st sets ST_* itself",
		"argv = ['pen']\nmark = '> '\nenv = {TMUX_PANE = '%1'}":          "env: TMUX_PANE can't be given: tmux sets TMUX* itself",
		"argv = ['pen']\nmark = '> '\npass_env = ['ST_HOME']":            "pass_env: ST_HOME can't be given",
		"argv = ['pen']\nmark = '> '\npass_env = ['S*']":                 "pass_env: S* can't be given",
		"argv = ['pen']\nmark = '> '\npass_env = ['*']":                  "pass_env: * can't be given",
		"argv = ['pen']\nmark = '> '\npass_env = ['']":                   "pass_env: a name is empty",
	} {
		_, _, err := Describe(described(t, text), "pen")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}

// TestGivenSteers: variables that decide which code runs are named, whether they are given or passed, also by a prefix.
func TestGivenSteers(t *testing.T) {
	g := Given{
		Env:     map[string]string{"LD_PRELOAD": "/x.so", "INK": "blue", "PATH": "/x", "PATHS": "x"},
		PassEnv: []string{"DYLD_INSERT_LIBRARIES", "PYTHON*", "NODE_*", "PEN_KEY", "L*"},
	}
	if got, want := g.Steers(), []string{"LD_PRELOAD", "PATH", "DYLD_INSERT_LIBRARIES", "PYTHON*", "NODE_*", "L*"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestGivenTrust: a kind counts as a person has trusted it, byte by byte; an agent that runs keeps the kind with which it
// was started.
func TestGivenTrust(t *testing.T) {
	home := described(t, "argv = ['pen', '-x']\nmark = '> '\npass_env = ['PEN_KEY']\n")
	UseHome(home)
	defer UseHome("")
	refused := func(what, code string) {
		t.Helper()
		_, err := Fresh("pen")
		var e *orch.Error
		if !errors.As(err, &e) || e.Code != code {
			t.Errorf("%s: %v; want %s", what, err, code)
		}
	}
	refused("never trusted", "kind_not_trusted")
	_, hash, err := Describe(home, "pen")
	if err != nil {
		t.Fatal(err)
	}
	if err := TrustKind(home, "pen", hash); err != nil {
		t.Fatal(err)
	}
	k, err := Fresh("pen")
	if err != nil {
		t.Fatal(err)
	}
	launch, err := k.Launch(Spec{Program: "/bin/pen", Args: []string{"-y"}})
	if err != nil || !slices.Equal(launch.Argv, []string{"/bin/pen", "-x", "-y"}) {
		t.Errorf("launch %q, %v", launch.Argv, err)
	}
	if _, err := k.Launch(Spec{Program: "/bin/pen", Model: "m"}); err == nil {
		t.Error("a model was taken")
	}
	if !slices.Contains(PassEnv(), "PEN_KEY") || !IsGiven(k) || slices.Contains(Names(), "pen") {
		t.Errorf("passes %q, given %v, built in %q", PassEnv(), IsGiven(k), Names())
	}
	if err := os.WriteFile(givenPath(home, "pen"), []byte("argv = ['other']\nmark = '> '\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("changed", "kind_not_trusted")
	if old, err := Lookup("pen"); err != nil || old.Program() != "pen" {
		t.Errorf("the kind of an agent that runs: %v, %v", old, err)
	}
	if err := os.Chmod(givenPath(home, "pen"), 0o640); err != nil {
		t.Fatal(err)
	}
	refused("open to others", "kind_bad")
	if err := os.Remove(givenPath(home, "pen")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/null", givenPath(home, "pen")); err != nil {
		t.Fatal(err)
	}
	refused("a link", "kind_bad")
	for _, name := range []string{"nobody", "../pen", "Pen", ""} {
		if _, err := Fresh(name); err == nil || !strings.Contains(err.Error(), "no agent kind is called") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestGivenConversation: the name that st makes up stands in the arguments of a start, and of one that takes it up again.
func TestGivenConversation(t *testing.T) {
	k := givenKind{name: "pen"}
	if err := k.parse("argv = ['pen', '--talk={conversation}']\nmark = '> '\nresume = ['-r', '{conversation}']\nenv = {TALK = '{conversation}'}\nsubmit = ['C-s']\nturn_end = 'mark'"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		spec Spec
		want string
	}{
		{Spec{Program: "/bin/pen", Conversation: "c1", Args: []string{"-x"}}, "/bin/pen --talk=c1 -x"},
		{Spec{Program: "/bin/pen", Resume: "c1", Args: []string{"-x"}}, "/bin/pen -r c1 -x"},
	} {
		l, err := k.Launch(c.spec)
		if err != nil || strings.Join(l.Argv, " ") != c.want || l.Env["TALK"] != "c1" {
			t.Errorf("%+v: %q, %v, %v", c.spec, l.Argv, l.Env, err)
		}
	}
	if !TurnsByMark(k) || !NamesConversation(k) || !slices.Equal(SubmitKeys(k), []string{"C-s"}) {
		t.Errorf("by mark %v, named %v, submitted by %q", TurnsByMark(k), NamesConversation(k), SubmitKeys(k))
	}
	plain := givenKind{name: "pen"}
	if err := plain.parse("argv = ['pen']\nmark = '> '"); err != nil || TurnsByMark(plain) || NamesConversation(plain) || !slices.Equal(SubmitKeys(plain), []string{"Enter"}) {
		t.Errorf("%v, submitted by %q", err, SubmitKeys(plain))
	}
}
