package hooks

import (
	"encoding/json"

	"st/orch"
)

// codexLine is a line of a rollout, as far as st reads it.
type codexLine struct {
	Type    string `json:"type"`
	Payload struct {
		Type    string `json:"type"`
		Role    string `json:"role"`
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		LastMessage string `json:"last_agent_message"`
		Error       struct {
			Message string          `json:"message"`
			Info    json.RawMessage `json:"codex_error_info"` // a word, or an object of one key
		} `json:"error"`
	} `json:"payload"`
}

// codexLogTypes are the lines worth parsing; the others, copies of requests and of tools' output, are the bulk.
var codexLogTypes = [][]byte{
	[]byte(`"type":"task_complete"`), []byte(`"type":"turn_aborted"`), []byte(`"type":"task_started"`), []byte(`"role":"assistant"`),
}

// Line tells of a turn that ended with an error of the model's service: Codex calls no hook for it. It repeats an
// interrupt, whose hook has 3 s at the most, and the begin of a turn.
func (codex) Line(line []byte) (orch.AgentEvent, bool) {
	l, ok := logLine[codexLine](line, codexLogTypes)
	if !ok || l.Type != "event_msg" {
		return orch.AgentEvent{}, false
	}
	var e orch.AgentEvent
	switch l.Payload.Type {
	case "task_started":
		e.Type = orch.PromptIn
	case "turn_aborted":
		e.Type = orch.Interrupted
	case "task_complete":
		e.Type, e.Answer = orch.TurnEnded, cut(l.Payload.LastMessage, answerMax)
		if l.Payload.Error.Message != "" {
			e.Type, e.Reason, e.Answer = orch.TurnFailed, codexReason(l.Payload.Error.Info), cut(l.Payload.Error.Message, answerMax)
			e.Limit = e.Reason == "usage_limit_exceeded"
		}
	default:
		return orch.AgentEvent{}, false
	}
	return e, true
}

// codexReason is an error's name: "usage_limit_exceeded", or the key of {"response_too_many_failed_attempts":{…}}.
func codexReason(info json.RawMessage) string {
	var word string
	if json.Unmarshal(info, &word) == nil {
		return cut(word, fieldMax)
	}
	var named map[string]json.RawMessage
	if json.Unmarshal(info, &named) == nil {
		for name := range named {
			return cut(name, fieldMax)
		}
	}
	return "error"
}

// codexWords finds our lines in a rollout: prompts, what a hook has said beside one (of the role developer), and what
// has kept a turn from ending. All of it stays in the conversation, whatever is interrupted.
type codexWords struct{}

// codexWordTypes are the lines that may hold one.
var codexWordTypes = [][]byte{[]byte(`"role":"user"`), []byte(`"role":"developer"`)}

func (codex) Log() Log { return codexWords{} }

func (codexWords) Words(line []byte) (marks []string) {
	if !mayMark(line) {
		return nil
	}
	l, ok := logLine[codexLine](line, codexWordTypes)
	if !ok || l.Type != "response_item" || l.Payload.Role != "user" && l.Payload.Role != "developer" {
		return nil
	}
	for _, c := range l.Payload.Content {
		marks = append(marks, marksIn(c.Text)...)
	}
	return marks
}

func (codexWords) End() []string { return nil }

// LastAnswer reads the rollout.
func (codex) LastAnswer(path string) (string, error) { return lastInLog(path, codexSaid) }

// codexSaid is what the agent itself said in one line of its rollout, "" for any other line.
func codexSaid(line []byte) string {
	l, ok := logLine[codexLine](line, codexLogTypes)
	if !ok || l.Type != "response_item" || l.Payload.Role != "assistant" {
		return ""
	}
	var text string
	for _, c := range l.Payload.Content {
		if c.Type == "output_text" {
			text += c.Text
		}
	}
	return cut(text, answerMax)
}
