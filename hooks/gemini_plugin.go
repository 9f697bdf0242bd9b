package hooks

import "path/filepath"

// geminiPlugin are the guides as skills of Gemini (0.61.0), which finds each in a folder of its own below skills/.
type geminiPlugin struct{ geminiInstall }

func init() { plugins["gemini"] = geminiPlugin{} }

func (geminiPlugin) Local(project string) string { return filepath.Join(project, ".gemini") }

func (geminiPlugin) Receipt() string { return skillFolder("orchestrate") + ".st.json" }

// Calls: a skill has no name that a person types; the model loads it where its description fits.
func (geminiPlugin) Calls(PluginSetup) []string { return []string{} }

func (geminiPlugin) Layout(s PluginSetup) []PluginFile { return skillFiles(s) }
