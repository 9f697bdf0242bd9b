package hooks

import "encoding/json"

// Answer lets an agent that st started report without asking anybody: its own two verbs, written so plainly
// that the shell changes nothing in them. A rule in the settings is not enough, Claude asks all the same
// about double quotes with a dollar or backticks in them, heredocs and absolute paths. Where one of the two
// verbs is called in any other form, the answer is a refusal with the line to write instead. About anything
// else it says nothing, and Claude's own permissions stand. A subagent's report is refused: it is not the worker, and its
// process is the worker's.
func (c claude) Answer(payload []byte, agent bool) []byte {
	if !agent {
		return nil
	}
	call, err := parseClaude(payload)
	if err != nil || call.Event != "PreToolUse" || call.Tool != "Bash" {
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
		return claudeDecision("allow", "a worker's own report")
	}
	return claudeDecision("deny", r.refusal())
}

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
