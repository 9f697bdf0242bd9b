package hooks

import "path/filepath"

// codexPlugin are the guides as skills of Codex (0.171.0), which finds each in a folder of its own below skills/.
type codexPlugin struct{ codexInstall }

func init() { plugins["codex"] = codexPlugin{} }

func (codexPlugin) Local(project string) string { return filepath.Join(project, ".codex") }

func (codexPlugin) Receipt() string { return skillFolder("orchestrate") + ".st.json" }

func (codexPlugin) Calls(s PluginSetup) []string {
	var calls []string
	for _, g := range s.Guides {
		calls = append(calls, "$"+pluginName+"-"+g.Name)
	}
	return calls
}

// Layout: what a person writes beside the name of a skill is a message of its own, before the skill's text.
func (codexPlugin) Layout(s PluginSetup) []PluginFile { return skillFiles(s) }
