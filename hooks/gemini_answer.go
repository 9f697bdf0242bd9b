package hooks

import (
	"encoding/json"
	"strings"

	"st/orch"
)

// Answer refuses what only a person may do, what would stop the server of the terminals, what is outside of a scope, and of an
// agent that st has started a report that is not plain, with the line to write instead. A hook of Gemini can refuse a tool and
// can't allow one: whether a report is asked about is up to the person's policies (0.61.0).
func (g gemini) Answer(payload []byte, at Place) []byte {
	call, err := parseGemini(payload)
	if err != nil || call.Event != "BeforeTool" {
		return nil
	}
	if why := call.refusal(g.selves(), at, payload); why != "" {
		return geminiRefusal(why)
	}
	if !at.Agent || call.Tool != geminiShell {
		return nil
	}
	if r, ok := readReport(call.Input.Command, g.selves()); ok && !r.plain {
		return geminiRefusal(r.refusal())
	}
	return nil
}

// geminiShell is the tool that runs a command.
const geminiShell = "run_shell_command"

// geminiEdits are the tools that edit the one file which they name.
var geminiEdits = map[string]bool{"write_file": true, "replace": true}

func (c geminiCall) refusal(selves []string, at Place, payload []byte) string {
	switch {
	case c.Tool == geminiShell:
		return refusal(c.Input.Command, selves, at, c.folder())
	case geminiEdits[c.Tool]:
		return scopeRefusal(at, c.Dir, func(e *edits) { e.file(c.Input.File, inside) })
	}
	return foreignRefusal(at, c.Tool, c.Dir, payload)
}

func geminiRefusal(why string) []byte {
	return geminiSays(map[string]any{"decision": "deny", "reason": why})
}

func geminiSays(v map[string]any) []byte {
	answer, err := json.Marshal(v)
	if err != nil {
		return nil // can't be: strings
	}
	return answer
}

// Tell: the end of a turn that is denied goes on with the reason as a prompt, whose hook proves it. What is said beside a
// prompt, or at a session's begin, gets there with < and > replaced.
func (gemini) Tell(e orch.AgentEvent, line string) []byte {
	if line == "" || e.Subagent != "" {
		return nil
	}
	switch {
	case e.Type == orch.TurnEnded && !e.Continued:
		return geminiSays(map[string]any{"decision": "block", "reason": line})
	case e.Type == orch.PromptIn:
		return geminiBeside("BeforeAgent", line)
	case e.Type == orch.SessionStarted:
		return geminiBeside("SessionStart", line)
	}
	return nil
}

func geminiBeside(event, line string) []byte {
	return geminiSays(map[string]any{"hookSpecificOutput": map[string]string{"hookEventName": event, "additionalContext": strings.TrimSpace(line)}})
}
