package hooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailscale/hujson"
)

// settingsTexts are settings files as people and programs write them. None of them holds anything of ours.
var settingsTexts = map[string]string{
	"empty":            "",
	"blank":            " \n\n",
	"mark only":        "\ufeff",
	"no members":       "{}",
	"no members, line": "{}\n",
	"a blank inside":   "{ }\n",
	"a line inside":    "{\n}\n",
	"as programs":      "{\n  \"theme\": \"dark\",\n  \"env\": {\n    \"A\": \"1\"\n  }\n}\n",
	"no final newline": "{\n  \"theme\": \"dark\"\n}",
	"tabs":             "{\n\t\"theme\": \"dark\",\n\t\"permissions\": {\n\t\t\"allow\": [\n\t\t\t\"Read(/x)\"\n\t\t]\n\t}\n}\n",
	"CRLF":             "{\r\n  \"theme\": \"dark\",\r\n  \"hooks\": {\r\n    \"Stop\": []\r\n  }\r\n}\r\n",
	"mark":             "\ufeff{\n  \"theme\": \"dark\"\n}\n",
	"mark and CRLF":    "\ufeff{\r\n    \"theme\": \"dark\"\r\n}\r\n",
	"compact":          `{"theme":"dark","hooks":{"Stop":[{"hooks":[{"type":"command","command":"date"}]}],"Other":[]},"permissions":{}}`,
	"compact, empty":   `{"hooks":{},"permissions":{"allow":[]}}`,
	"one line":         `{ "theme": "dark", "hooks": { } }` + "\n",
	"comments":         "// mine\n{\n  // the theme\n  \"theme\": \"dark\", // dark\n  /* no\n  hooks */\n  \"hooks\": {\n    // none yet\n  } // end\n  // last\n}\n// bye\n",
	"comment at end":   "{\n  \"theme\": \"dark\" // dark\n}\n",
	"comment inline":   "{\"theme\": \"dark\" /* dark */}",
	"trailing commas":  "{\n  \"theme\": \"dark\",\n  \"permissions\": {\n    \"allow\": [\n      \"Read(/x)\",\n    ],\n  },\n}\n",
	"trailing inline":  `{"hooks": {"Stop": [{"hooks": [],},],},}`,
	"odd numbers":      "{\n  \"a\": 1e400,\n  \"b\": 1.0,\n  \"c\": 123456789012345678901234567890,\n  \"d\": -0,\n  \"e\": 1E+2\n}\n",
	"duplicate keys":   "{\n  \"a\": 1,\n  \"hooks\": 7,\n  \"a\": 2,\n  \"hooks\": {},\n  \"hooks\": {\"Stop\": [], \"Stop\": []}\n}\n",
	"escapes":          "{\n  \"\\u0061\": \"\\/ \\ud83d\\ude00 <>&\",\n  \"ä\": \"\u2028\"\n}\n",
	"foreign hooks": "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"stern hook claude\",\n" +
		"            \"timeout\": 5\n          }\n        ]\n      }\n    ],\n    \"PreToolUse\": [\n      {\n        \"matcher\": \"Bash\",\n        \"hooks\": [{\"type\": \"command\", \"command\": \"st -e top\"}]\n      },\n      7\n    ],\n    \"$note\": \"x\"\n  }\n}\n",
	"as Claude rewrites it":   "{\n  \"env\": {\n    \"DISABLE_AUTOUPDATER\": \"1\"\n  },\n  \"permissions\": {\n    \"defaultMode\": \"default\"\n  },\n  \"enabledPlugins\": {},\n  \"extraKnownMarketplaces\": {}\n}",
	"plugins of others":       "{\n  \"enabledPlugins\": {\"sophonz@other\": true, \"sophonz@skills-dir\": false},\n  \"extraKnownMarketplaces\": {\"other\": {\"source\": {\"source\": \"directory\", \"path\": \"/x\"}}}\n}\n",
	"hooks switched off":      "{\n  \"disableAllHooks\": true,\n  \"statusLine\": {\"type\": \"command\", \"command\": \"st hook claude\"}\n}\n",
	"only denied":             "{\"permissions\": {\"deny\": [\"Bash(st worker start:*)\", \"Bash(st:*)\"], \"ask\": []}}\n",
	"blank lines":             "\n\n{\n\n  \"theme\": \"dark\",\n\n\n  \"hooks\": {\n\n  }\n\n}\n\n\n",
	"commas first":            "{ \"theme\": \"dark\"\n, \"hooks\": { \"Stop\": [ ]\n  , \"Other\": [ ]\n  }\n}\n",
	"tabs and CRLF":           "{\r\n\t\"permissions\": {\r\n\t\t\"allow\": []\r\n\t}\r\n}",
	"eight blanks":            "{\n        \"theme\": \"dark\",\n        \"permissions\": {\n                \"allow\": [\"Read(/x)\",\n                          \"Read(/y)\"]\n        }\n}\n",
	"a matcher that is empty": "{\"hooks\": {\"PreToolUse\": [{\"matcher\": \"\", \"hooks\": [{\"type\": \"command\", \"command\": \"date\"}]}], \"Stop\": [{\"hooks\": []}]}}\n",
	"two megabytes":           bigSettings(2 << 20),
	"flush left":              "{\n\"theme\": \"dark\",\n\"hooks\": {\n\"Stop\": []\n}\n}\n",
	"as Gemini writes it":     "{\n  \"general\": {\n    \"preferredEditor\": \"vim\"\n  },\n  \"security\": {\n    \"auth\": {\n      \"selectedType\": \"oauth-personal\"\n    }\n  },\n  \"hooksConfig\": {\n    \"enabled\": true,\n    \"disabled\": [\n      \"lint\"\n    ]\n  }\n}",
	"hooks of Gemini":         "{\n  // lint what was written\n  \"hooks\": {\n    \"BeforeTool\": [\n      {\n        \"matcher\": \"write_file|replace\",\n        \"sequential\": true,\n        \"hooks\": [\n          {\n            \"name\": \"lint\",\n            \"type\": \"command\",\n            \"command\": \"$GEMINI_PROJECT_DIR/lint.sh\",\n            \"timeout\": 5000\n          }\n        ]\n      }\n    ],\n    \"AfterAgent\": [{\"hooks\": []}]\n  }\n}\n",
	"switches among hooks":    "{\"hooks\": {\"enabled\": true, \"disabled\": [\"lint\"]}}\n",
	"deep empties":            "{\n  \"hooks\": {\n    \"Stop\": [\n    ],\n    \"PreToolUse\": [ ],\n    \"Notification\": [\n      // none\n    ]\n  },\n  \"permissions\": {\n    \"allow\": [\n    ]\n  }\n}\n",
}

func bigSettings(n int) string {
	var b strings.Builder
	b.WriteString("{\n")
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "  \"key %d\": {\"value\": [%d, 1.50, \"ümläut\"]},\n", i, i)
	}
	b.WriteString("  \"last\": null\n}\n")
	return b.String()
}

const (
	oldSt = "/opt/old place/st"
	newSt = "/usr/local/bin/st"
)

// TestSettingsRoundTrip installs hooks and plugin, installs again, moves st, and uninstalls in each file, for each kind,
// and wants every byte of the folder back.
func TestSettingsRoundTrip(t *testing.T) {
	for _, kind := range Installable() {
		for name, text := range settingsTexts {
			t.Run(kind+"/"+name, func(t *testing.T) {
				k, s := newSettings(t, kind)
				writeFile(t, k.Files(s.Folder)[0], text)
				leavesNoTrace(t, kind, s, func() { roundTrip(t, k, s) })
			})
		}
	}
}

func TestSettingsMissing(t *testing.T) {
	for _, kind := range Installable() {
		t.Run(kind, func(t *testing.T) {
			k, s := newSettings(t, kind)
			s.Folder = filepath.Join(s.Folder, "deep", "folder")
			roundTrip(t, k, s)
			for _, path := range k.Files(s.Folder) {
				if text, err := readOne(path); text != nil || err != nil {
					t.Errorf("%s is left: %q, %v", path, text, err)
				}
			}
		})
	}
}

// roundTrip ends with st uninstalled.
func roundTrip(t *testing.T, k Settings, s Setup) {
	t.Helper()
	path := k.Files(s.Folder)[0]
	before, err := readOne(path)
	if err != nil {
		t.Fatal(err)
	}
	s.Self = oldSt
	if len(apply(t, k, s, k.Install)) == 0 {
		t.Fatal("installing changed nothing")
	}
	old := readFile(t, path)
	if !within(before, old) {
		t.Errorf("installing took something away:\n%s", clip(old))
	}
	wantInstalled(t, k, s)
	if again := apply(t, k, s, k.Install); len(again) != 0 {
		t.Errorf("installing again changed %s:\n%s", again[0].Path, clip(again[0].New))
	}
	s.Self = newSt
	apply(t, k, s, k.Install)
	moved := readFile(t, path)
	if want := bytes.ReplaceAll(old, []byte(ShellWord(oldSt)), []byte(newSt)); sorted(want) != sorted(moved) {
		t.Errorf("after moving st:\n%s\nwant\n%s", clip(moved), clip(want))
	}
	wantInstalled(t, k, s)
	apply(t, k, s, k.Uninstall)
	if again := apply(t, k, s, k.Uninstall); len(again) != 0 {
		t.Errorf("uninstalling again changed %s", again[0].Path)
	}
}

// sorted are the bytes of a text in order: rules that name the old place are replaced at the list's end.
func sorted(text []byte) string {
	var n [256]int
	for _, c := range text {
		n[c]++
	}
	return fmt.Sprint(n)
}

// within tells whether a text is what is left of a longer one after taking bytes away.
func within(short, long []byte) bool {
	for _, c := range long {
		if len(short) > 0 && short[0] == c {
			short = short[1:]
		}
	}
	return len(short) == 0
}

// wantInstalled holds what Installed says against the file as any reader of JSON sees it.
func wantInstalled(t *testing.T, k Settings, s Setup) {
	t.Helper()
	in, err := LookAt(k, s)
	if err != nil {
		t.Fatal(err)
	}
	seen := commands(t, readFile(t, k.Files(s.Folder)[0]))
	for _, e := range in.Events {
		if !e.Installed || !e.Current || e.Trusted != nil && !*e.Trusted {
			t.Errorf("%+v after installing", e)
		}
		ours := 0
		for _, c := range seen[e.Event] {
			if strings.HasPrefix(c, ShellWord(s.Self)+" hook ") {
				ours++
			}
		}
		if ours != 1 {
			t.Errorf("%s has our command %d times: %q", e.Event, ours, seen[e.Event])
		}
	}
	for _, c := range in.Consents {
		if !c.Given || !c.Current {
			t.Errorf("%+v after installing", c)
		}
	}
}

// commands are the commands of all groups without a matcher, by event.
func commands(t *testing.T, text []byte) map[string][]string {
	t.Helper()
	plain, err := hujson.Standardize(bytes.TrimPrefix(bytes.Clone(text), byteOrderMark))
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Hooks map[string]json.RawMessage `json:"hooks"`
	}
	if err := json.Unmarshal(plain, &all); err != nil && !strings.Contains(err.Error(), "number") {
		t.Fatal(err)
	}
	seen := map[string][]string{}
	for event, raw := range all.Hooks {
		var groups []any
		if json.Unmarshal(raw, &groups) != nil {
			continue // no event
		}
		for _, g := range groups {
			group, _ := g.(map[string]any)
			calls, _ := group["hooks"].([]any)
			for _, c := range calls {
				command, _ := c.(map[string]any)["command"].(string)
				seen[event] = append(seen[event], command)
			}
		}
	}
	return seen
}

// newSettings are a kind's settings in a folder of the test, with all consents.
func newSettings(t *testing.T, kind string) (Settings, Setup) {
	t.Helper()
	k, err := SettingsOf(kind)
	if err != nil {
		t.Fatal(err)
	}
	s := Setup{Folder: t.TempDir(), Self: newSt}
	for _, c := range k.Consents() {
		s.Given = append(s.Given, c.Flag)
	}
	return k, s
}

func apply(t *testing.T, k Settings, s Setup, plan func(Setup) (Texts, error)) []Change {
	t.Helper()
	changes, err := Apply(k, s, false, plan)
	if err != nil {
		t.Fatal(err)
	}
	return changes
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// clip keeps a failure readable.
func clip(text []byte) string {
	if len(text) > 3000 {
		return string(text[:1500]) + "\n…\n" + string(text[len(text)-1500:])
	}
	return string(text)
}

// FuzzSettings: whatever a settings file looks like, uninstalling undoes installing, or it is refused.
func FuzzSettings(f *testing.F) {
	for _, text := range settingsTexts {
		if len(text) < 1<<12 {
			f.Add([]byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, kind := range Installable() {
			k, err := SettingsOf(kind)
			if err != nil {
				t.Fatal(err)
			}
			s := Setup{Folder: "/f", Self: newSt, Given: []string{"allow"}, Have: Texts{k.Files("/f")[0]: append([]byte{}, text...)}}
			if in, err := k.Installed(s); err != nil || len(in.programs) > 0 || in.Consents[0].Given {
				continue
			}
			changed, err := k.Install(s)
			if err != nil {
				continue
			}
			back := s
			back.Have = changed
			undone, err := k.Uninstall(back)
			if err != nil {
				t.Fatal(err)
			}
			if got := undone[k.Files("/f")[0]]; string(got) != string(text) {
				t.Errorf("%s: %q became %q and then %q", kind, text, changed[k.Files("/f")[0]], got)
			}
		}
	})
}
