package hooks

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"st/hooks/demo"
	"st/orch"
)

func init() { register(demoKind{}) }

// demoKind is the built-in agent: the same binary under a hidden verb. Its payloads and its transcript have the
// field names of Claude Code's where both have a thing.
type demoKind struct{}

func (demoKind) Name() string    { return "demo" }
func (demoKind) Program() string { return "" }

func (demoKind) Owns(exe string, argv []string) bool {
	if len(argv) < 2 || argv[1] != demo.Verb {
		return false
	}
	// Linux says so of a program that has been replaced while it runs.
	exe = strings.TrimSuffix(exe, " (deleted)")
	return filepath.Base(exe) == "st" || demoSelf(exe)
}

// demoSelf reports whether exe is the file that runs here: a binary under another name.
func demoSelf(exe string) bool {
	self, err := os.Executable()
	if err != nil {
		return false
	}
	a, errA := os.Stat(self)
	b, errB := os.Stat(exe)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// Lifts is empty: the agent asks nobody, except where a task line wants it to.
func (demoKind) Lifts([]string) []string { return nil }

func (demoKind) Runs(spec string) bool { return demo.Runs(spec) }

func (demoKind) Launch(s Spec) (Launch, error) {
	path := filepath.Join(s.Scratch, "settings.json")
	text, err := json.Marshal(map[string]any{"hooks": demoHooks(hookCommand(s.Self, "demo"))})
	if err != nil {
		return Launch{}, err
	}
	argv := []string{s.Self, demo.Verb, "--settings", path}
	switch {
	case s.Resume != "" && s.Log != "":
		argv = append(argv, "--folder", filepath.Dir(s.Log))
	case s.Home != "":
		argv = append(argv, "--folder", demo.Folder(s.Home))
	}
	if s.Resume != "" {
		argv = append(argv, "--resume", s.Resume)
	}
	if s.Model != "" {
		argv = append(argv, "--model", s.Model)
	}
	return Launch{
		Argv:  append(argv, s.Args...),
		Unset: []string{"DEMO_*"},
		Files: map[string][]byte{path: text},
	}, nil
}

// demoHooks installs one command for all events. 20 s is what a hook may take while the daemon starts.
func demoHooks(command string) map[string]any {
	entry := []map[string]any{{"hooks": []map[string]any{{"type": "command", "command": command, "timeout": 20}}}}
	all := map[string]any{}
	for _, event := range demo.Events {
		all[event] = entry
	}
	return all
}

// Resume finds the transcript by ST_HOME.
func (demoKind) Resume(conversation string) []string {
	return []string{demo.Verb, "--resume", conversation}
}

func (demoKind) Resumed(argv []string) (string, bool) {
	n := slices.Index(argv, "--resume")
	if n < 0 {
		return "", false
	}
	if n+1 == len(argv) {
		return "", true
	}
	return argv[n+1], true
}

// Recorded reads what the agent has noted of itself, as Claude Code does.
func (demoKind) Recorded(pid int, getenv func(string) string) (conversation, log string) {
	var env []string
	for _, name := range []string{"HOME", "XDG_STATE_HOME"} {
		if value := getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	dir, err := demo.Sessions(env)
	if err != nil {
		return "", ""
	}
	return recorded(dir, pid)
}

// Last: it takes up a conversation by its id alone.
func (demoKind) Last() []string { return nil }

var demoKept = flagSet{"--log": 1, "--script": 1, "--nasty": 1}

// Kept: the log is where a test reads what the agent was told.
func (demoKind) Kept(argv []string) (model string, args []string) {
	return demoKept.kept(argv, "--model")
}

// demoPayload is a hook's payload, and, with the fields that the agent doesn't send, what is left of it.
type demoPayload struct {
	Event        string `json:"hook_event_name,omitempty"`
	Conversation string `json:"session_id,omitempty"`
	Transcript   string `json:"transcript_path,omitempty"`
	Dir          string `json:"cwd,omitempty"`
	Source       string `json:"source,omitempty"`
	Reason       string `json:"reason,omitempty"`
	Error        string `json:"error,omitempty"`
	Trigger      string `json:"trigger,omitempty"`
	Tool         string `json:"tool_name,omitempty"`
	AgentID      string `json:"agent_id,omitempty"`
	Answer       string `json:"last_assistant_message,omitempty"`
	Continued    bool   `json:"stop_hook_active,omitempty"`

	// Ours, made by Trim.
	Marks      []string `json:"marks,omitempty"`
	Machine    bool     `json:"machine,omitempty"`
	What       string   `json:"what,omitempty"`
	Options    []string `json:"options,omitempty"`
	Background int      `json:"background,omitempty"`
}

// demoBody are the fields of which only a part passes.
type demoBody struct {
	Prompt string `json:"prompt"`
	Input  struct {
		Questions []asked `json:"questions"`
	} `json:"tool_input"`
	Tasks []struct{} `json:"background_tasks"`
}

func (demoKind) Trim(payload []byte) (json.RawMessage, error) {
	var p demoPayload
	if err := json.Unmarshal(payload, &p); err != nil {
		return nil, err
	}
	var body demoBody
	if err := json.Unmarshal(payload, &body); err != nil {
		return nil, err
	}
	p.Marks = marksIn(body.Prompt)
	p.Machine = strings.HasPrefix(body.Prompt, demo.Notification)
	p.Background = len(body.Tasks)
	p.What, p.Options = "", choices(body.Input.Questions)
	if len(body.Input.Questions) > 0 {
		p.What = body.Input.Questions[0].String()
	}
	p.Answer = cut(p.Answer, answerMax)
	return json.Marshal(p)
}

func (demoKind) Decode(trimmed json.RawMessage) (orch.AgentEvent, error) {
	var p demoPayload
	if err := json.Unmarshal(trimmed, &p); err != nil {
		return orch.AgentEvent{}, err
	}
	e := orch.AgentEvent{
		Type: demoEvent(p), Conversation: p.Conversation, Transcript: p.Transcript, Dir: p.Dir, Subagent: p.AgentID,
		Source: p.Source, Reason: p.Reason, Marks: p.Marks, Machine: p.Machine, Tool: p.Tool, What: p.What,
		Answer: p.Answer, Background: p.Background, Continued: p.Continued,
	}
	switch e.Type {
	case orch.TurnFailed:
		e.Reason = p.Error
	case orch.Compacting, orch.Compacted:
		e.Reason = p.Trigger
	case orch.PermissionAsked:
		e.What = p.Tool
	case orch.QuestionAsked:
		e.Options = p.Options
	}
	return e, nil
}

func demoEvent(p demoPayload) string {
	switch p.Event {
	case "SessionStart":
		return orch.SessionStarted
	case "SessionEnd":
		return orch.SessionEnded
	case "UserPromptSubmit":
		return orch.PromptIn
	case "PreToolUse":
		return orch.ToolStarted
	case "PostToolUse":
		return orch.ToolEnded
	case "PermissionRequest":
		if p.Tool == "AskUserQuestion" {
			return orch.QuestionAsked
		}
		return orch.PermissionAsked
	case "Stop":
		return orch.TurnEnded
	case "StopFailure":
		return orch.TurnFailed
	case "PreCompact":
		return orch.Compacting
	case "PostCompact":
		return orch.Compacted
	case "SubagentStart":
		return orch.SubagentStarted
	case "SubagentStop":
		return orch.SubagentEnded
	}
	return orch.Noticed
}

// Answer refuses what would stop the terminals, and what is outside of a scope. About anything else it says nothing: the agent's
// rules let every report through, and an answer to a gate is left to the daemon.
func (demoKind) Answer(payload []byte, at Place) []byte {
	call, err := parseClaude(payload)
	if err != nil || call.Event != "PreToolUse" {
		return nil
	}
	why := ""
	if call.Tool == "Bash" {
		why = harm(call.Input.Command, at, call.Dir)
	} else {
		why = call.refusal(nil, at, payload)
	}
	if why == "" {
		return nil
	}
	return claudeDecision("deny", why)
}

func (demoKind) Tell(e orch.AgentEvent, line string) []byte { return tell(e, line) }

// demoNote is a line of the transcript.
type demoNote struct {
	Type         string `json:"type"`
	Conversation string `json:"sessionId"`
	Dir          string `json:"cwd"`
	Message      struct {
		Content string `json:"content"`
	} `json:"message"`
}

// Line tells only what no hook does: that the person stopped the turn.
func (demoKind) Line(line []byte) (orch.AgentEvent, bool) {
	var n demoNote
	if json.Unmarshal(line, &n) != nil || n.Type != "user" {
		return orch.AgentEvent{}, false
	}
	if n.Message.Content != demo.Interrupted && n.Message.Content != demo.InterruptedTool {
		return orch.AgentEvent{}, false
	}
	return orch.AgentEvent{Type: orch.Interrupted, Conversation: n.Conversation, Dir: n.Dir}, true
}

// Log: the transcript's lines follow each other as Claude Code's do.
func (demoKind) Log() Log { return &claudeWords{} }

func (demoKind) LastAnswer(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	rows := strings.Split(string(text), "\n")
	for _, row := range slices.Backward(rows) {
		var n demoNote
		if json.Unmarshal([]byte(row), &n) == nil && n.Type == "assistant" {
			return n.Message.Content, nil
		}
	}
	return "", nil
}

func (demoKind) Quit() Quit { return Quit{Line: "/exit"} }

// Look goes by the place of the cursor, never by words anywhere on the screen: ordinary output may hold the
// same words, and old prompts have the same mark.
func (demoKind) Look(v View) Screen {
	cells := cellsOf(v.Rows)
	rows := textsOf(cells)
	if v.CursorY < 0 || v.CursorY >= len(rows) || demoBlank(rows) {
		return Screen{Name: Starting}
	}
	top := v.CursorY - 1
	for top >= 0 && !demoRule(rows[top], v.Width) {
		top--
	}
	if top < 0 {
		return Screen{Name: demoNowhere(v)}
	}
	if v.Alternate && strings.HasPrefix(rows[top+1], demo.Mark) && v.CursorX >= len(demo.Indent) {
		s := demoReady(v, cells, rows, top)
		s.Working = top >= 2 && strings.Contains(rows[top-2], demo.WorkingMark)
		return s
	}
	title := strings.TrimSpace(rows[top+1])
	option := strings.HasPrefix(strings.TrimPrefix(rows[v.CursorY], " "), "❯ ")
	for name, t := range demo.Titles {
		if option && t == title {
			return Screen{Name: name}
		}
	}
	return Screen{Name: demoNowhere(v)}
}

// demoNowhere names a screen without input line and dialog: before the agent draws, a shell's or a logo.
func demoNowhere(v View) string {
	if v.Alternate {
		return Strange
	}
	return Starting
}

func demoReady(v View, cells [][]cell, rows []string, top int) Screen {
	end := v.CursorY + 1
	for end < len(rows) && !demoRule(rows[end], v.Width) {
		end++
	}
	if end == len(rows) {
		return Screen{Name: Strange}
	}
	var draft strings.Builder
	for y := top + 1; y < end; y++ {
		lead := demo.Indent
		if y == top+1 {
			lead = demo.Mark
		}
		row := strings.TrimPrefix(plainOf(cells[y]), lead)
		row = strings.TrimRight(row, " ")
		// A capture has no trailing spaces, but the cursor stands behind those that were typed.
		if y == v.CursorY {
			row += strings.Repeat(" ", max(v.CursorX-len(demo.Indent)-demo.Width(row), 0))
		}
		draft.WriteString(row)
	}
	menu := strings.HasPrefix(draft.String(), "/") && top > 0 && strings.HasPrefix(rows[top-1], demo.Indent+"/")
	return Screen{Name: Ready, Draft: draft.String(), Popup: menu}
}

func demoBlank(rows []string) bool {
	return !slices.ContainsFunc(rows, func(r string) bool { return strings.TrimSpace(r) != "" })
}

// demoRule reports whether a row is a rule over the whole width.
func demoRule(row string, width int) bool {
	row = strings.TrimRight(row, " ")
	return row != "" && strings.Trim(row, string(demo.Rule)) == "" && strings.Count(row, string(demo.Rule)) >= width
}
