package hooks

import (
	"encoding/json"

	"st/orch"
)

// Deaf is a kind that reads nothing of what a command of its own prints once its turn has ended.
type Deaf interface{ Deaf() bool }

// IsDeaf tells that agents of a kind hear nothing of a command that outlives their turn.
func IsDeaf(kind string) bool {
	d, ok := kinds[kind].(Deaf)
	return ok && d.Deaf()
}

// tell is what Claude Code understands, and who took its hooks over from it. The end of a turn goes on with the line
// as its reason, once: the line is owed no more when the next end comes, and an agent that is kept from ending over
// and over gives its hooks up. A prompt gets the line beside it, and so does a session that begins again.
func tell(e orch.AgentEvent, line string) []byte {
	if line == "" || e.Subagent != "" {
		return nil
	}
	type beside struct {
		Event   string `json:"hookEventName"`
		Context string `json:"additionalContext"`
	}
	type output struct {
		Decision string  `json:"decision,omitempty"`
		Reason   string  `json:"reason,omitempty"`
		Beside   *beside `json:"hookSpecificOutput,omitempty"`
	}
	var o output
	switch {
	case e.Type == orch.TurnEnded && !e.Continued:
		o.Decision, o.Reason = "block", line
	case e.Type == orch.PromptIn:
		o.Beside = &beside{"UserPromptSubmit", line}
	case e.Type == orch.SessionStarted:
		o.Beside = &beside{"SessionStart", line}
	default:
		return nil
	}
	answer, err := json.Marshal(o)
	if err != nil {
		return nil // can't be: strings
	}
	return answer
}
