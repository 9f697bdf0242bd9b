package hooks

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// codexEvent is one hook that st wants of Codex.
type codexEvent struct {
	name    string // as in hooks.json
	snake   string // as in the keys of its trust
	timeout int    // seconds after which Codex gives up on one call
}

// codexEvents are all events of Codex 0.171.0. SessionEnd and Interrupt get 3 s at the most, whatever is asked for.
var codexEvents = []codexEvent{
	{"SessionStart", "session_start", 10},
	{"SessionEnd", "session_end", 3},
	{"UserPromptSubmit", "user_prompt_submit", 10},
	{"PreToolUse", "pre_tool_use", 20}, // a report is handed in here
	{"PostToolUse", "post_tool_use", 10},
	{"PermissionRequest", "permission_request", 10},
	{"PreCompact", "pre_compact", 10},
	{"PostCompact", "post_compact", 10},
	{"SubagentStart", "subagent_start", 10},
	{"SubagentStop", "subagent_stop", 10},
	{"Stop", "stop", 10},
	{"Interrupt", "interrupt", 3},
}

// codexTrust is the hash by which Codex knows a hook that a person has trusted: of its definition with sorted keys
// and no blanks. A hook with a matcher has another definition, and none of ours has one.
func codexTrust(e codexEvent, command string) (string, error) {
	type call struct {
		Async   bool   `json:"async"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
		Type    string `json:"type"`
	}
	definition := struct {
		Event string `json:"event_name"`
		Hooks []call `json:"hooks"`
	}{e.snake, []call{{Command: command, Timeout: e.timeout, Type: "command"}}}
	text, err := plainJSON(definition)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// plainJSON is compact JSON in which <, > and & stand as they are.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
