package hooks

import (
	"encoding/json"
	"fmt"
	"strings"

	"st/orch"
)

// claudeCall is a hook's payload, as far as st reads it. Everything else is skipped while parsing.
type claudeCall struct {
	Event            string          `json:"hook_event_name"`
	Session          string          `json:"session_id"`
	Transcript       string          `json:"transcript_path"`
	Dir              string          `json:"cwd"`
	Source           string          `json:"source"`
	Reason           string          `json:"reason"`
	Tool             string          `json:"tool_name"`
	Input            claudeInput     `json:"tool_input"`
	Subagent         string          `json:"agent_id"`
	StopHookActive   bool            `json:"stop_hook_active"`
	BackgroundTasks  []claudeRunning `json:"background_tasks"`
	LastMessage      string          `json:"last_assistant_message"`
	Error            string          `json:"error"`
	NotificationType string          `json:"notification_type"`
	Prompt           string          `json:"prompt"`
}

type claudeRunning struct {
	Status string `json:"status"`
}

// claudeInput are those fields of a tool's input that say in a line what it is about.
type claudeInput struct {
	Command   string  `json:"command"`
	FilePath  string  `json:"file_path"`
	Notebook  string  `json:"notebook_path"`
	URL       string  `json:"url"`
	Query     string  `json:"query"`
	Skill     string  `json:"skill"`
	Questions []asked `json:"questions"`
	NoSandbox bool    `json:"dangerouslyDisableSandbox"`
}

// claudeTrimmed is what leaves the hook process.
type claudeTrimmed struct {
	Event            string   `json:"event"`
	Session          string   `json:"session_id,omitempty"`
	Transcript       string   `json:"transcript_path,omitempty"`
	Dir              string   `json:"cwd,omitempty"`
	Source           string   `json:"source,omitempty"`
	Reason           string   `json:"reason,omitempty"`
	Tool             string   `json:"tool_name,omitempty"`
	What             string   `json:"what,omitempty"`
	Options          []string `json:"options,omitempty"`
	Subagent         string   `json:"agent_id,omitempty"`
	StopHookActive   bool     `json:"stop_hook_active,omitempty"`
	Background       int      `json:"background,omitempty"`
	LastMessage      string   `json:"last_assistant_message,omitempty"`
	Error            string   `json:"error,omitempty"`
	NotificationType string   `json:"notification_type,omitempty"`
	Marks            []string `json:"marks,omitempty"`
	Machine          bool     `json:"machine,omitempty"`
}

// claudeAsk is the tool by which Claude asks a question.
const claudeAsk = "AskUserQuestion"

func (claude) Trim(payload []byte) (json.RawMessage, error) {
	c, err := parseClaude(payload)
	if err != nil {
		return nil, err
	}
	t := claudeTrimmed{
		Event:            cut(c.Event, fieldMax),
		Session:          cut(c.Session, fieldMax),
		Transcript:       cut(c.Transcript, fieldMax),
		Dir:              cut(c.Dir, fieldMax),
		Source:           cut(c.Source, fieldMax),
		Reason:           cut(c.Reason, fieldMax),
		Tool:             cut(c.Tool, whatMax),
		Subagent:         cut(c.Subagent, fieldMax),
		StopHookActive:   c.StopHookActive,
		LastMessage:      cut(c.LastMessage, answerMax),
		NotificationType: cut(c.NotificationType, fieldMax),
		Machine:          strings.HasPrefix(strings.TrimSpace(c.Prompt), "<task-notification>"),
	}
	switch c.Event {
	case "PermissionRequest":
		t.What = c.what()
		if c.Tool == claudeAsk {
			t.Options = choices(c.Input.Questions)
		}
	case "UserPromptSubmit":
		t.Marks = marksIn(c.Prompt)
	case "StopFailure":
		t.Error = cut(c.Error, fieldMax) // a failed tool's error is its output
	}
	for _, b := range c.BackgroundTasks {
		if b.Status == "running" || b.Status == "" {
			t.Background++
		}
	}
	return json.Marshal(t)
}

func parseClaude(payload []byte) (c claudeCall, err error) {
	err = loosely(payload, &c)
	if err == nil && c.Event == "" {
		err = errNoEvent
	}
	return c, err
}

func (claude) Tell(e orch.AgentEvent, line string) []byte { return tell(e, line) }

// what says in at most 200 bytes what a dialog is about: the tool and the first line of what it wants.
func (c claudeCall) what() string {
	in := c.Input
	if c.Tool == claudeAsk && len(in.Questions) > 0 {
		return in.Questions[0].String()
	}
	text := c.Tool
	for _, s := range []string{in.Command, in.FilePath, in.Notebook, in.URL, in.Query, in.Skill} {
		if s != "" {
			text += ": " + firstLine(s)
			break
		}
	}
	return cut(text, whatMax)
}

func (claude) Decode(trimmed json.RawMessage) (orch.AgentEvent, error) {
	var t claudeTrimmed
	if err := json.Unmarshal(trimmed, &t); err != nil {
		return orch.AgentEvent{}, fmt.Errorf("claude: trimmed payload: %w", err)
	}
	e := orch.AgentEvent{
		Type:         orch.Noticed,
		Conversation: t.Session,
		Transcript:   t.Transcript,
		Dir:          t.Dir,
		Subagent:     t.Subagent,
	}
	switch t.Event {
	case "SessionStart":
		e.Type, e.Source = orch.SessionStarted, t.Source
	case "SessionEnd":
		e.Type, e.Reason = orch.SessionEnded, t.Reason
	case "UserPromptSubmit":
		e.Type, e.Marks, e.Machine = orch.PromptIn, t.Marks, t.Machine
	case "PreToolUse":
		e.Type, e.Tool = orch.ToolStarted, t.Tool
	case "PostToolUse", "PostToolUseFailure":
		e.Type, e.Tool = orch.ToolEnded, t.Tool
	case "PermissionRequest":
		e.Type, e.Tool, e.What = orch.PermissionAsked, t.Tool, t.What
		if t.Tool == claudeAsk {
			e.Type, e.Options = orch.QuestionAsked, t.Options
		}
	case "Stop":
		e.Type, e.Answer, e.Background, e.Continued = orch.TurnEnded, t.LastMessage, t.Background, t.StopHookActive
	case "StopFailure":
		e.Type, e.Reason, e.Answer = orch.TurnFailed, t.Error, t.LastMessage
	case "PreCompact":
		e.Type = orch.Compacting
	case "PostCompact":
		e.Type = orch.Compacted
	case "SubagentStart":
		e.Type = orch.SubagentStarted
	case "SubagentStop":
		e.Type = orch.SubagentEnded
	case "Notification":
		// permission_prompt comes 6 s after its PermissionRequest and may meet a dialog that is answered;
		// idle_prompt 60 s after Stop. Neither says anything that wasn't known.
		e.Reason = t.NotificationType
	}
	return e, nil
}
