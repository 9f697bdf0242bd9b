package hooks

import (
	"path/filepath"
	"strings"
	"testing"
)

// call is one line of a hooks list, as the tests write it.
func callJSON(command string, timeout string) string {
	return `{"type": "command", "command": "` + command + `", "timeout": ` + timeout + `}`
}

// TestInstallUpgrades: what an older st wrote is changed where it stands, what it wrote too much goes, and a
// foreign hook in the same group stays.
func TestInstallUpgrades(t *testing.T) {
	k, s := newSettings(t, "claude")
	path := k.Files(s.Folder)[0]
	foreign := callJSON("stern hook claude", "7")
	writeFile(t, path, `{"hooks": {
  "Gone": [
    {"hooks": [`+callJSON("'/old place/st' hook claude", "3")+`]}
  ],
  "Stop": [{"hooks": [`+foreign+`, `+callJSON("/old/st-0.1 hook claude", "3")+`]}, {"hooks": [`+callJSON("st hook claude", "3")+`]}],
  "PreToolUse": [{"matcher": "Bash", "hooks": [`+callJSON(`\"/old/st\" hook claude`, "10")+`, `+foreign+`]}]
}}
`)
	apply(t, k, s, k.Install)
	wantInstalled(t, k, s)
	text := string(readFile(t, path))
	for _, want := range []string{
		`"Stop": [{"hooks": [` + foreign + `, ` + callJSON(newSt+" hook claude", "10") + `]}],`,
		`"PreToolUse": [{"matcher": "Bash", "hooks": [` + foreign + `]}`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	for _, gone := range []string{"old", `"st hook`, "Gone"} {
		if strings.Contains(text, gone) {
			t.Errorf("%s is left in\n%s", gone, text)
		}
	}
	if again := apply(t, k, s, k.Install); len(again) != 0 {
		t.Errorf("once more changed\n%s", again[0].New)
	}
	apply(t, k, s, k.Uninstall)
	if want := `{"hooks": {
  "Stop": [{"hooks": [` + foreign + `]}],
  "PreToolUse": [{"matcher": "Bash", "hooks": [` + foreign + `]}]
}}
`; string(readFile(t, path)) != want {
		t.Errorf("after uninstalling\n%s\nwant\n%s", readFile(t, path), want)
	}
}

func TestHookProgram(t *testing.T) {
	for command, want := range map[string]string{
		"/usr/bin/st hook claude":           "/usr/bin/st",
		"st hook claude":                    "st",
		"'/a b/st' hook claude":             "/a b/st",
		`'/it'\''s/st' hook claude`:         "/it's/st",
		`"/a b/st" hook claude`:             "/a b/st",
		"/opt/st-0.1.0 hook claude":         "/opt/st-0.1.0",
		"/opt/mine hook claude":             "/opt/mine", // how this one is called
		"/opt/other hook claude":            "",
		"/usr/bin/st hook codex":            "",
		"/usr/bin/st hook claude; date":     "",
		"date; /usr/bin/st hook claude":     "",
		"/a b/st hook claude":               "",
		"stern hook claude":                 "",
		"/usr/bin/st -e top":                "",
		"env X=1 /usr/bin/st hook claude":   "",
		"$(which st) hook claude":           "",
		"/usr/bin/st hook claude --verbose": "",
	} {
		if got := hookProgram(command, "claude", "/usr/local/bin/mine"); got != want {
			t.Errorf("%q: got %q, want %q", command, got, want)
		}
	}
}

// TestGrants: rules that name an st at another place go, a person's own rules stay.
func TestGrants(t *testing.T) {
	k, s := newSettings(t, "claude")
	path := k.Files(s.Folder)[0]
	own := `{"permissions": {"allow": ["Bash(stern worker start:*)", "Bash(st *)", "Bash(st worker start)", "Bash(st gate answer:*)"], "deny": ["Bash(st orch end:*)"]}}`
	writeFile(t, path, strings.Replace(own, `"Bash(stern`, `"Bash(/old/st worker start:*)", "Bash(stern`, 1))
	apply(t, k, s, k.Install)
	text := string(readFile(t, path))
	if strings.Contains(text, "/old/") || strings.Count(text, "Bash(st worker start:*)") != 1 || strings.Count(text, newSt+" tree:*") != 1 {
		t.Errorf("after installing\n%s", text)
	}
	apply(t, k, s, k.Uninstall)
	if got := string(readFile(t, path)); got != own {
		t.Errorf("after uninstalling\n%s\nwant\n%s", got, own)
	}
}

// TestNoConsentIsImplied: without their flags neither trust nor rules are written.
func TestNoConsentIsImplied(t *testing.T) {
	for _, kind := range Installable() {
		k, s := newSettings(t, kind)
		s.Given = nil
		changes := apply(t, k, s, k.Install)
		if len(changes) != 1 || changes[0].Path != k.Files(s.Folder)[0] || strings.Contains(string(changes[0].New), "Bash(") {
			t.Errorf("%s: changed %v", kind, changes)
		}
		in, err := LookAt(k, s)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range in.Consents {
			if c.Given || c.Current {
				t.Errorf("%s: %+v", kind, c)
			}
		}
	}
}

// TestRefused: what can't be read, or has another shape than expected, is refused with its place, and stays.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ kind, file, text, want string }{
		{"claude", "settings.json", "{\n  \"a\": 1,\n  b\n}\n", "settings.json: line 3, column 3"},
		{"claude", "settings.json", "{\"a\": 1", "line 1, column 8"},
		{"claude", "settings.json", "[]", "no object"},
		{"claude", "settings.json", "{\n\"hooks\": 7}", `line 2: "hooks"`},
		{"claude", "settings.json", "{\"hooks\": {\"Stop\": {}}}", `"Stop"`},
		{"claude", "settings.json", "{\"permissions\": {\n\"allow\": \"all\"}}", `line 2: "allow"`},
		{"codex", "hooks.json", "nope", "hooks.json: line 1, column 1"},
		{"codex", "config.toml", "a = 1\nb = \n", "config.toml: line 2"},
		{"codex", "config.toml", "a = 1\na = 2\n", "config.toml: line 2"},
		{"codex", "config.toml", "hooks = 7\n", "config.toml: hooks is not written as tables"},
		{"codex", "config.toml", "hooks = { state = { x = { enabled = true } } }\n", "config.toml: hooks is not written as tables"},
		{"codex", "rules/st.rules", "# mine\n", "did not write this file"},
	} {
		k, s := newSettings(t, c.kind)
		path := filepath.Join(s.Folder, c.file)
		writeFile(t, path, c.text)
		_, err := Apply(k, s, false, k.Install)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %v, want %q", c.file, c.text, err, c.want)
		}
		if got := string(readFile(t, path)); got != c.text {
			t.Errorf("%s %q became %q", c.file, c.text, got)
		}
		for _, other := range k.Files(s.Folder) {
			if text, err := readOne(other); other != path && (text != nil || err != nil) {
				t.Errorf("%s was written although %s was refused (%v)", other, path, err)
			}
		}
	}
}
