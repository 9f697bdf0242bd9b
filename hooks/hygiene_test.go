package hooks

import (
	"os"
	"path/filepath"
	"testing"
)

// leavesNoTrace installs the plugin of an st, lets act do what it will in the same folder, has another st bring the
// plugin up to date and take it away, and wants the whole folder to be as it was.
func leavesNoTrace(t *testing.T, kind string, s Setup, act func()) {
	t.Helper()
	p, err := PluginOf(kind)
	if err != nil {
		t.Fatal(err)
	}
	before := tree(t, s.Folder)
	change := func(plan pluginPlan, of PluginSetup, changes bool) {
		t.Helper()
		done, err := plan(p, of, false)
		if err != nil || (len(done) > 0) != changes {
			t.Fatalf("%d changes, %v", len(done), err)
		}
	}
	older, newer := setupOf(s.Folder, "0.1.0", "first"), setupOf(s.Folder, "0.2.0", "second")
	change(InstallPlugin, older, true)
	act()
	change(InstallPlugin, older, false)
	change(InstallPlugin, newer, true)
	change(UninstallPlugin, newer, true)
	change(UninstallPlugin, newer, false)
	sameTree(t, "after uninstalling", tree(t, s.Folder), before)
}

// TestForeignFiles: what else lies in the folder of an agent program stays, down to empty folders.
func TestForeignFiles(t *testing.T) {
	for name, files := range map[string][]string{
		"empty folders":       {"skills/", "commands/", "rules/default.rules", "agents/"},
		"skills of others":    {"skills/other/SKILL.md", "skills/.system/a/SKILL.md", "skills/sophonz.md", "rules/x.rules"},
		"commands of others":  {"commands/orchestrate.md", "commands/sophonz/orchestrate.md"},
		"a skill of the name": {"skills/orchestrate/SKILL.md", "skills/worker/SKILL.md"},
		"an old marketplace":  {"plugins/known_marketplaces.json", "plugins/cache/sophonz/sophonz/0.1.0/skills/worker/SKILL.md"},
		"policies of others":  {"policies/auto-saved.toml", "policies/mine.toml", "trustedFolders.json", "extensions/sophonz/gemini-extension.json"},
		"what lies beside":    {"skills/sophonz/notes.txt", "skills/sophonz-orchestrate/notes.txt", "skills/sophonz-worker/deep/"},
	} {
		for _, kind := range Installable() {
			t.Run(kind+"/"+name, func(t *testing.T) {
				k, s := newSettings(t, kind)
				for _, f := range files {
					if path := filepath.Join(s.Folder, f); f[len(f)-1] == '/' {
						writeFile(t, filepath.Join(path, "x"), "")
						if err := os.Remove(filepath.Join(path, "x")); err != nil {
							t.Fatal(err)
						}
					} else {
						writeFile(t, path, "theirs\n")
					}
				}
				leavesNoTrace(t, kind, s, func() { roundTrip(t, k, s) })
			})
		}
	}
}
