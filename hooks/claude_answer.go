package hooks

import "encoding/json"

// Answer lets an agent that st started report without asking anybody: and ask: its own verbs, written so plainly
// that the shell changes nothing in them. A rule in the settings is not enough, Claude asks all the same
// about double quotes with a dollar or backticks in them, heredocs and absolute paths. Where one of these
// verbs is called in any other form, the answer is a refusal with the line to write instead. About anything
// else it says nothing, and Claude's own permissions stand. A subagent's report is refused: it is not the worker, and its
// process is the worker's. What only a person may do, and what would stop the server of the terminals, is refused to every agent.
func (c claude) Answer(payload []byte, at Place) []byte {
	call, err := parseClaude(payload)
	if err != nil || call.Event != "PreToolUse" {
		return nil
	}
	if why := call.refusal(c.selves(), at, payload); why != "" { // whoever started the agent
		return claudeDecision("deny", why)
	}
	if !at.Agent || call.Tool != "Bash" {
		return nil
	}
	r, ok := readReport(call.Input.Command, c.selves())
	switch {
	case !ok:
		return nil
	case call.Subagent != "":
		return claudeDecision("deny", subagentReports)
	case call.Input.NoSandbox:
		return nil
	case r.plain:
		return claudeDecision("allow", "a worker's own report or question")
	}
	return claudeDecision("deny", r.refusal())
}

// refusal is why a tool may not be used so, "" where nothing speaks against it.
func (c claudeCall) refusal(selves []string, at Place, payload []byte) string {
	switch {
	case c.Tool == "Bash":
		return refusal(c.Input.Command, selves, at, c.Dir)
	case claudeEdits[c.Tool]:
		return scopeRefusal(at, c.Dir, func(e *edits) { e.file(c.Input.FilePath+c.Input.Notebook, inside) })
	}
	return foreignRefusal(at, c.Tool, c.Dir, payload)
}

// claudeEdits are the tools that edit the one file which they name.
var claudeEdits = map[string]bool{"Edit": true, "Write": true, "MultiEdit": true, "NotebookEdit": true}

func claudeDecision(decision, reason string) []byte {
	type output struct {
		Event    string `json:"hookEventName"`
		Decision string `json:"permissionDecision"`
		Reason   string `json:"permissionDecisionReason"`
	}
	answer, err := json.Marshal(map[string]output{"hookSpecificOutput": {"PreToolUse", decision, reason}})
	if err != nil {
		return nil // can't be: three strings
	}
	return answer
}
