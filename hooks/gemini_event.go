package hooks

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"st/orch"
)

// geminiEvents are the hooks that st wants of Gemini, each with the milliseconds after which Gemini gives up on one call. Those
// about the model's requests say nothing of a turn, and PreCompress comes with each request, whether it compresses or not.
var geminiEvents = []wantedHook{
	{"AfterAgent", 10_000}, {"AfterTool", 10_000}, {"BeforeAgent", 10_000}, {"BeforeTool", 10_000}, {"Notification", 10_000},
	{"SessionEnd", 5_000}, {"SessionStart", 10_000},
}

// geminiCall is a hook's payload, as far as st reads it.
type geminiCall struct {
	Event      string        `json:"hook_event_name"`
	Session    string        `json:"session_id"`
	Transcript string        `json:"transcript_path"`
	Dir        string        `json:"cwd"`
	Source     string        `json:"source"`
	Reason     string        `json:"reason"`
	Tool       string        `json:"tool_name"`
	Input      geminiInput   `json:"tool_input"`
	Prompt     string        `json:"prompt"`
	Answer     string        `json:"prompt_response"`
	Continued  bool          `json:"stop_hook_active"`
	Notice     string        `json:"notification_type"`
	Details    geminiDetails `json:"details"`
}

type geminiInput struct {
	Command   string  `json:"command"`
	Dir       string  `json:"dir_path"`
	File      string  `json:"file_path"`
	Questions []asked `json:"questions"`
}

// geminiDetails are what a dialog about a tool asks.
type geminiDetails struct {
	Type    string `json:"type"`
	Title   string `json:"title"`
	Command string `json:"command"`
	File    string `json:"filePath"`
	Prompt  string `json:"prompt"`
	Server  string `json:"serverName"`
	Tool    string `json:"toolName"`
}

// geminiTrimmed is what leaves the hook process.
type geminiTrimmed struct {
	Event      string   `json:"event"`
	Session    string   `json:"session_id,omitempty"`
	Transcript string   `json:"transcript_path,omitempty"`
	Dir        string   `json:"cwd,omitempty"`
	Source     string   `json:"source,omitempty"`
	Reason     string   `json:"reason,omitempty"`
	Tool       string   `json:"tool_name,omitempty"`
	What       string   `json:"what,omitempty"`
	Options    []string `json:"options,omitempty"`
	Answer     string   `json:"prompt_response,omitempty"`
	Continued  bool     `json:"stop_hook_active,omitempty"`
	Notice     string   `json:"notification_type,omitempty"`
	Dialog     string   `json:"dialog,omitempty"`
	Marks      []string `json:"marks,omitempty"`
}

// geminiSilent is the answer of a turn that was stopped, or failed, before its first word.
const geminiSilent = "[no response text]"

// geminiAsk is the tool by which Gemini asks a question.
const geminiAsk = "ask_user"

func parseGemini(payload []byte) (c geminiCall, err error) {
	err = loosely(payload, &c)
	if err == nil && c.Event == "" {
		err = errNoEvent
	}
	return c, err
}

func (gemini) Trim(payload []byte) (json.RawMessage, error) {
	c, err := parseGemini(payload)
	if err != nil {
		return nil, err
	}
	t := geminiTrimmed{
		Event: cut(c.Event, fieldMax), Session: cut(c.Session, fieldMax), Transcript: cut(c.Transcript, fieldMax), Dir: cut(c.Dir, fieldMax),
		Source: cut(c.Source, fieldMax), Reason: cut(c.Reason, fieldMax), Tool: cut(c.Tool, whatMax), Continued: c.Continued,
		Notice: cut(c.Notice, fieldMax),
	}
	switch {
	case c.Event == "BeforeAgent":
		t.Marks = marksIn(c.Prompt)
	case c.Event == "AfterAgent":
		t.Answer = cut(strings.TrimSpace(c.Answer), answerMax)
	case c.Event == "Notification":
		t.What, t.Dialog = c.Details.what(), cut(c.Details.Type, fieldMax)
	case c.Event == "BeforeTool" && c.Tool == geminiAsk && len(c.Input.Questions) > 0:
		t.What, t.Options = c.Input.Questions[0].String(), choices(c.Input.Questions)
	}
	return json.Marshal(t)
}

// what says in at most 200 bytes what a dialog is about.
func (d geminiDetails) what() string {
	for _, about := range []string{d.Command, d.File, d.Prompt, d.Tool} {
		if about != "" {
			return detail(d.Title+":", firstLine(about))
		}
	}
	return detail(d.Title)
}

func (gemini) Decode(trimmed json.RawMessage) (orch.AgentEvent, error) {
	var t geminiTrimmed
	if err := json.Unmarshal(trimmed, &t); err != nil {
		return orch.AgentEvent{}, fmt.Errorf("gemini: trimmed payload: %w", err)
	}
	e := orch.AgentEvent{Type: orch.Noticed, Conversation: t.Session, Transcript: t.Transcript, Dir: t.Dir}
	switch t.Event {
	case "SessionStart":
		e.Type, e.Source = orch.SessionStarted, t.Source
	case "SessionEnd":
		e.Type, e.Reason = orch.SessionEnded, t.Reason
	case "BeforeAgent":
		e.Type, e.Marks = orch.PromptIn, t.Marks
	case "AfterAgent": // none where a dialog was refused; the log tells
		e.Type, e.Answer, e.Continued = orch.TurnEnded, t.Answer, t.Continued
		if t.Answer == geminiSilent {
			e.Type, e.Answer = orch.Interrupted, ""
		}
	case "BeforeTool":
		e.Type, e.Tool = orch.ToolStarted, t.Tool
		if t.Tool == geminiAsk {
			e.Type, e.What, e.Options = orch.QuestionAsked, t.What, t.Options
		}
	case "AfterTool":
		e.Type, e.Tool = orch.ToolEnded, t.Tool
	case "Notification":
		e.Reason = t.Notice
		if t.Notice == "ToolPermission" && t.Dialog != geminiAsk { // of a question its tool has told
			e.Type, e.What = orch.PermissionAsked, t.What
		}
	}
	return e, nil
}

// folder is where a shell command of the call runs.
func (c geminiCall) folder() string {
	if filepath.IsAbs(c.Input.Dir) {
		return c.Input.Dir
	}
	return filepath.Join(c.Dir, c.Input.Dir)
}
