package hooks

import (
	"encoding/json"
	"fmt"

	"st/orch"
)

// codexCall is a hook's payload, as far as st reads it.
type codexCall struct {
	Event      string     `json:"hook_event_name"`
	Session    string     `json:"session_id"`
	Transcript string     `json:"transcript_path"`
	Dir        string     `json:"cwd"`
	Source     string     `json:"source"`
	Reason     string     `json:"reason"`
	Tool       string     `json:"tool_name"`
	Input      codexInput `json:"tool_input"`
	Subagent   string     `json:"agent_id"`
	Answer     string     `json:"last_assistant_message"`
	Continued  bool       `json:"stop_hook_active"`
	Prompt     string     `json:"prompt"`
}

type codexInput struct {
	Command   string  `json:"command"`
	Why       string  `json:"description"`
	Questions []asked `json:"questions"`
}

// codexTrimmed is what leaves the hook process.
type codexTrimmed struct {
	Event      string   `json:"event"`
	Session    string   `json:"session_id,omitempty"`
	Transcript string   `json:"transcript_path,omitempty"`
	Dir        string   `json:"cwd,omitempty"`
	Source     string   `json:"source,omitempty"`
	Reason     string   `json:"reason,omitempty"`
	Tool       string   `json:"tool_name,omitempty"`
	What       string   `json:"what,omitempty"`
	Options    []string `json:"options,omitempty"`
	Subagent   string   `json:"agent_id,omitempty"`
	Answer     string   `json:"last_assistant_message,omitempty"`
	Continued  bool     `json:"stop_hook_active,omitempty"`
	Marks      []string `json:"marks,omitempty"`
}

// codexAsk is the tool by which Codex asks a question; no PermissionRequest comes with it.
const codexAsk = "request_user_input"

func parseCodex(payload []byte) (c codexCall, err error) {
	err = loosely(payload, &c)
	if err == nil && c.Event == "" {
		err = errNoEvent
	}
	return c, err
}

func (codex) Trim(payload []byte) (json.RawMessage, error) {
	c, err := parseCodex(payload)
	if err != nil {
		return nil, err
	}
	t := codexTrimmed{
		Event:      cut(c.Event, fieldMax),
		Session:    cut(c.Session, fieldMax),
		Transcript: cut(c.Transcript, fieldMax),
		Dir:        cut(c.Dir, fieldMax),
		Source:     cut(c.Source, fieldMax),
		Reason:     cut(c.Reason, fieldMax),
		Tool:       cut(c.Tool, whatMax),
		Subagent:   cut(c.Subagent, fieldMax),
		Answer:     cut(c.Answer, answerMax),
		Continued:  c.Continued,
	}
	switch {
	case c.Event == "PermissionRequest" || c.Tool == codexAsk:
		t.What = c.what()
		if c.Tool == codexAsk {
			t.Options = choices(c.Input.Questions)
		}
	case c.Event == "UserPromptSubmit":
		t.Marks = marksIn(c.Prompt)
	}
	return json.Marshal(t)
}

func (codex) Tell(e orch.AgentEvent, line string) []byte { return tell(e, line) }

// what says in a line what a dialog is about: the question, or the tool and what it wants.
func (c codexCall) what() string {
	text := c.Tool
	switch {
	case len(c.Input.Questions) > 0:
		return c.Input.Questions[0].String()
	case c.Input.Command != "":
		text += ": " + firstLine(c.Input.Command)
	case c.Input.Why != "":
		text += ": " + firstLine(c.Input.Why)
	}
	return cut(text, whatMax)
}

func (codex) Decode(trimmed json.RawMessage) (orch.AgentEvent, error) {
	var t codexTrimmed
	if err := json.Unmarshal(trimmed, &t); err != nil {
		return orch.AgentEvent{}, fmt.Errorf("codex: trimmed payload: %w", err)
	}
	e := orch.AgentEvent{Type: orch.Noticed, Conversation: t.Session, Transcript: t.Transcript, Dir: t.Dir, Subagent: t.Subagent}
	switch t.Event {
	case "SessionStart": // with the first prompt of a conversation, right before it
		e.Type, e.Source = orch.SessionStarted, t.Source
	case "SessionEnd": // one for each conversation that was open in the window
		e.Type, e.Reason = orch.SessionEnded, t.Reason
	case "UserPromptSubmit":
		e.Type, e.Marks = orch.PromptIn, t.Marks
	case "PreToolUse":
		e.Type, e.Tool = orch.ToolStarted, t.Tool
		if t.Tool == codexAsk {
			e.Type, e.What, e.Options = orch.QuestionAsked, t.What, t.Options
		}
	case "PostToolUse": // of a command left to itself after about 10 s: only when a later call, in any turn, has seen its end
		e.Type, e.Tool = orch.ToolEnded, t.Tool
	case "PermissionRequest":
		e.Type, e.Tool, e.What = orch.PermissionAsked, t.Tool, t.What
	case "Stop":
		e.Type, e.Answer, e.Continued = orch.TurnEnded, t.Answer, t.Continued
	case "Interrupt":
		e.Type = orch.Interrupted
	case "PreCompact":
		e.Type = orch.Compacting
	case "PostCompact":
		e.Type = orch.Compacted
	case "SubagentStart":
		e.Type = orch.SubagentStarted
	case "SubagentStop":
		e.Type = orch.SubagentEnded
	}
	return e, nil
}
