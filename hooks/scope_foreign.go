package hooks

import (
	"encoding/json"
	"strings"
)

// Tools that come from a server of tools name their files as they like. What is told here is what most of them do. Claude Code and
// Codex call such a tool mcp__SERVER__TOOL, Gemini mcp_SERVER_TOOL.

var (
	foreignVerbs = pattern(`(?i)(write|edit|create|delete|remove|move|rename|patch|insert|replace|append)`)
	foreignKeys  = pattern(`(?i)^(file|path|file_?path|file_?name|source|destination|from|to|old_?path|new_?path|target|paths|files)$`)
)

// foreignRefusal is why a tool of such a server may not be used so, "" where nothing speaks against it.
func foreignRefusal(at Place, tool, dir string, payload []byte) string {
	if !strings.HasPrefix(tool, "mcp_") || !foreignVerbs().MatchString(tool) {
		return ""
	}
	var call struct {
		Input map[string]json.RawMessage `json:"tool_input"`
	}
	if json.Unmarshal(payload, &call) != nil {
		return ""
	}
	return scopeRefusal(at, dir, func(e *edits) {
		for key, raw := range call.Input {
			if foreignKeys().MatchString(key) {
				e.foreign(raw)
			}
		}
	})
}

// foreign judges a value that names a file, or several.
func (e *edits) foreign(raw json.RawMessage) {
	var name string
	var names []string
	if json.Unmarshal(raw, &name) == nil {
		names = []string{name}
	} else if json.Unmarshal(raw, &names) != nil {
		return
	}
	for _, n := range names {
		e.file(strings.TrimPrefix(n, "file://"), inside)
	}
}
