package hooks

import (
	"encoding/json"
	"path/filepath"
	"strconv"
)

// claudePlugin is the plugin in Claude Code (2.1.332). A folder below skills/ that holds a manifest is loaded as a
// plugin at the next start, with no word in any settings file and no copy elsewhere: what is written is all there is,
// and all that has to go.
type claudePlugin struct{ claudeInstall }

func init() { plugins["claude"] = claudePlugin{} }

const claudePluginFolder = "skills/" + pluginName + "/"

func (claudePlugin) Local(project string) string { return filepath.Join(project, ".claude") }

func (claudePlugin) Receipt() string { return claudePluginFolder + ".st.json" }

// Calls: the plugin's name stands before each of its skills.
func (claudePlugin) Calls(s PluginSetup) []string {
	var calls []string
	for _, g := range s.Guides {
		calls = append(calls, "/"+pluginName+":"+g.Name)
	}
	return calls
}

func (c claudePlugin) Layout(s PluginSetup) []PluginFile {
	files := []PluginFile{{Path: claudePluginFolder + ".claude-plugin/plugin.json", Text: claudeManifest(s.Version)}}
	if s.Local {
		files = append(files, PluginFile{Path: claudePluginFolder + ".gitignore", Text: ignoreAll})
	}
	for _, g := range s.Guides {
		files = append(files, PluginFile{Path: claudePluginFolder + "skills/" + g.Name + "/SKILL.md", Text: claudeSkill(g)})
	}
	for _, g := range s.Guides {
		if g.Hint != "" && !s.Local { // in a project's commands git would see it
			files = append(files, claudeBare(g))
		}
	}
	return files
}

func claudeManifest(version string) string {
	text, err := json.MarshalIndent(struct {
		Name        string            `json:"name"`
		Version     string            `json:"version"`
		Description string            `json:"description"`
		Author      map[string]string `json:"author"`
		License     string            `json:"license"`
	}{pluginName, version, "Hand work to other coding agents in tmux. Written by st plugin install, removed by st plugin uninstall.",
		map[string]string{"name": "st"}, "MIT"}, "", "  ")
	if err != nil {
		panic("hooks: plain words are always JSON: " + err.Error())
	}
	return string(text) + "\n"
}

func claudeSkill(g Guide) string {
	head := []string{"name", g.Name, "description", strconv.Quote(g.About)}
	if g.Hint != "" {
		head = append(head, "argument-hint", strconv.Quote(g.Hint))
		return skillHead(head...) + g.Text("$ARGUMENTS")
	}
	return skillHead(head...) + g.Text("")
}

// claudeBare is a guide as a command without the plugin's name, for people alone: the model knows the skill.
func claudeBare(g Guide) PluginFile {
	return PluginFile{
		Path:     "commands/" + g.Name + ".md",
		Text:     skillHead("description", strconv.Quote(g.About), "argument-hint", strconv.Quote(g.Hint), "disable-model-invocation", "true") + g.Text("$ARGUMENTS"),
		Optional: true, Unless: []string{"skills/" + g.Name + "/SKILL.md"},
	}
}
