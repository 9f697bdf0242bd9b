package hooks

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func newPlugin(t *testing.T, kind string) (Plugin, PluginSetup) {
	t.Helper()
	p, err := PluginOf(kind)
	if err != nil {
		t.Fatal(err)
	}
	return p, setupOf(filepath.Join(t.TempDir(), "config"), "0.1.0", "first")
}

func setupOf(folder, version, text string) PluginSetup {
	guide := func(name, hint string) Guide {
		return Guide{Name: name, About: "when: \"so\"", Hint: hint, Text: func(asked string) string { return "# " + text + " " + name + "\n" + asked + "\n" }}
	}
	return PluginSetup{Folder: folder, Version: version, Guides: []Guide{guide("orchestrate", "what"), guide("worker", "")}}
}

// tree is what lies in a folder: files with their texts, folders with a slash.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			all[path+"/"] = ""
			return nil
		}
		text, err := os.ReadFile(path)
		all[path] = string(text)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return all
}

func sameTree(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for path, text := range want {
		if is, ok := got[path]; !ok || is != text {
			t.Errorf("%s: %s is %q (%v), want %q", what, path, clip([]byte(is)), ok, clip([]byte(text)))
		}
	}
	for path := range got {
		if _, ok := want[path]; !ok {
			t.Errorf("%s: %s is left", what, path)
		}
	}
}

type pluginPlan = func(Plugin, PluginSetup, bool) ([]Change, error)

func act(t *testing.T, plan pluginPlan, p Plugin, s PluginSetup) []Change {
	t.Helper()
	changes, err := plan(p, s, false)
	if err != nil {
		t.Fatal(err)
	}
	return changes
}

func states(t *testing.T, p Plugin, s PluginSetup) map[string]int {
	t.Helper()
	files, _, err := LookAtPlugin(p, s)
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for _, f := range files {
		n[f.State]++
	}
	return n
}

// TestPluginUpgrades: another st brings all files up to date, also back, and what it has no use for goes.
func TestPluginUpgrades(t *testing.T) {
	for _, kind := range Pluggable() {
		t.Run(kind, func(t *testing.T) {
			p, s := newPlugin(t, kind)
			act(t, InstallPlugin, p, s)
			if n := states(t, p, s); len(n) != 1 || n[PluginCurrent] < 2 {
				t.Errorf("after installing %v", n)
			}
			if again := act(t, InstallPlugin, p, s); len(again) != 0 {
				t.Errorf("once more changed %s", again[0].Path)
			}
			newer := setupOf(s.Folder, "0.2.0", "second")
			newer.Guides = newer.Guides[:1]
			if n := states(t, p, newer); n[PluginOutdated] == 0 || n[PluginStale] != 1 {
				t.Errorf("seen by a newer st %v", n)
			}
			act(t, InstallPlugin, p, newer)
			if n := states(t, p, newer); len(n) != 1 || n[PluginCurrent] == 0 {
				t.Errorf("after an upgrade %v", n)
			}
			for path, text := range tree(t, s.Folder) {
				if strings.Contains(path, "worker") || strings.Contains(text, "first") {
					t.Errorf("%s is left", path)
				}
			}
			act(t, UninstallPlugin, p, s) // by the older one
			sameTree(t, "after uninstalling", tree(t, s.Folder), nil)
		})
	}
}

// TestPluginKeepsEdits: what a person has changed is never written over, and stays when the rest goes.
func TestPluginKeepsEdits(t *testing.T) {
	for _, kind := range Pluggable() {
		t.Run(kind, func(t *testing.T) {
			p, s := newPlugin(t, kind)
			act(t, InstallPlugin, p, s)
			before := tree(t, s.Folder)
			path := fileWith(t, p, s, "worker")
			writeFile(t, path, "mine")
			var kept *KeptError
			if _, err := InstallPlugin(p, setupOf(s.Folder, "0.2.0", "second"), false); !errors.As(err, &kept) || kept.Path != path || kept.State != PluginEdited {
				t.Errorf("it said %v", err)
			}
			before[path] = "mine"
			sameTree(t, "after a refusal", tree(t, s.Folder), before)
			act(t, UninstallPlugin, p, s)
			for left, text := range tree(t, s.Folder) {
				if text != "mine" && !strings.HasSuffix(left, "/") || !strings.HasPrefix(path, left) {
					t.Errorf("%s is left", left)
				}
			}
			if _, err := InstallPlugin(p, s, false); !errors.As(err, &kept) || kept.State != PluginForeign {
				t.Errorf("a file of unknown origin: it said %v", err)
			}
		})
	}
}

// fileWith is the file of a plugin that holds a guide.
func fileWith(t *testing.T, p Plugin, s PluginSetup, guide string) string {
	t.Helper()
	for _, f := range p.Layout(s) {
		if strings.Contains(f.Path, guide) && strings.HasSuffix(f.Path, ".md") {
			return filepath.Join(s.Folder, f.Path)
		}
	}
	t.Fatalf("no file of %s", guide)
	return ""
}

// TestBareCommand: a person's own command or skill of that name stays the only one, and one that is taken away or
// changed is theirs.
func TestBareCommand(t *testing.T) {
	bare := filepath.Join("commands", "orchestrate.md")
	for _, c := range []struct {
		name, file, text string
		late             bool // after the first installation
		want             string
	}{
		{"nothing of theirs", "", "", false, "# second orchestrate"},
		{"a command", bare, "theirs", false, "theirs"},
		{"a skill", filepath.Join("skills", "orchestrate", "SKILL.md"), "theirs", false, ""},
		{"a skill, later", filepath.Join("skills", "orchestrate", "SKILL.md"), "theirs", true, ""},
		{"changed", bare, "changed", true, "changed"},
		{"taken away", bare, "", true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, s := newPlugin(t, "claude")
			if !c.late && c.file != "" {
				writeFile(t, filepath.Join(s.Folder, c.file), c.text)
			}
			act(t, InstallPlugin, p, s)
			if c.late && c.text != "" {
				writeFile(t, filepath.Join(s.Folder, c.file), c.text)
			} else if c.late {
				if err := os.Remove(filepath.Join(s.Folder, c.file)); err != nil {
					t.Fatal(err)
				}
			}
			act(t, InstallPlugin, p, setupOf(s.Folder, "0.2.0", "second"))
			text, err := readOne(filepath.Join(s.Folder, bare))
			if err != nil || !strings.Contains(string(text), c.want) || (c.want == "") != (text == nil) {
				t.Errorf("it is %q, %v, want %q", text, err, c.want)
			}
			act(t, UninstallPlugin, p, s)
			for path, text := range tree(t, s.Folder) {
				if !strings.HasSuffix(path, "/") && text != c.text {
					t.Errorf("%s is left", path)
				}
			}
		})
	}
}

// TestLocalPlugin: nothing of a project's plugin lies where a repository sees it.
func TestLocalPlugin(t *testing.T) {
	for _, kind := range Pluggable() {
		p, s := newPlugin(t, kind)
		s.Local = true
		act(t, InstallPlugin, p, s)
		for path := range tree(t, s.Folder) {
			rel, err := filepath.Rel(s.Folder, path)
			words := strings.Split(filepath.ToSlash(rel), "/")
			if err != nil || strings.HasSuffix(path, "/") || len(words) < 3 {
				if len(words) == 1 && !strings.HasSuffix(path, "/") {
					t.Errorf("%s lies open", path)
				}
				continue
			}
			if got := string(readFile(t, filepath.Join(s.Folder, words[0], words[1], ".gitignore"))); got != ignoreAll {
				t.Errorf("%s: beside it stands %q", path, got)
			}
		}
	}
}

// TestPluginDryRun: nothing is written.
func TestPluginDryRun(t *testing.T) {
	for _, kind := range Pluggable() {
		p, s := newPlugin(t, kind)
		changes, err := InstallPlugin(p, s, true)
		if err != nil || len(changes) < 3 {
			t.Errorf("%s: %v, %v", kind, changes, err)
		}
		sameTree(t, kind, tree(t, s.Folder), nil)
	}
}

// TestPluginReceipts: a receipt that can't be read, or that leads elsewhere, is refused before anything changes; where
// it is lost, what is as st writes it is still known.
func TestPluginReceipts(t *testing.T) {
	for _, kind := range Pluggable() {
		for _, text := range []string{"", "{", "[]", `{"files": {"/etc/passwd": "sha256:0"}}`, `{"files": {"..\\x": ""}}`, `{"folders": ["/tmp"]}`, `{"files": {"../../x": ""}}`} {
			p, s := newPlugin(t, kind)
			act(t, InstallPlugin, p, s)
			writeFile(t, filepath.Join(s.Folder, p.Receipt()), text)
			before := tree(t, s.Folder)
			for _, plan := range []pluginPlan{InstallPlugin, UninstallPlugin} {
				if _, err := plan(p, s, false); err == nil || !strings.Contains(err.Error(), "rm ") {
					t.Errorf("%s: %q: it said %v", kind, text, err)
				}
			}
			sameTree(t, text, tree(t, s.Folder), before)
		}
		p, s := newPlugin(t, kind)
		act(t, InstallPlugin, p, s)
		if err := os.Remove(filepath.Join(s.Folder, p.Receipt())); err != nil {
			t.Fatal(err)
		}
		act(t, UninstallPlugin, p, s)
		for path := range tree(t, s.Folder) {
			if !strings.HasSuffix(path, "/") || strings.Contains(path, pluginName) {
				t.Errorf("%s: %s is left", kind, path)
			}
		}
	}
}

// TestManifest is what Claude reads, as any reader of JSON does.
func TestManifest(t *testing.T) {
	var m struct{ Name, Version, Description string }
	if err := json.Unmarshal([]byte(claudeManifest("0.3.1")), &m); err != nil || m.Name != pluginName || m.Version != "0.3.1" || m.Description == "" {
		t.Errorf("%+v, %v", m, err)
	}
}
