package orch

import (
	"encoding/json"
	"fmt"
	"time"
)

// May is what an agent may ask beyond the rule, from config.toml [agents_may].
type May struct {
	Args []string `json:"args,omitempty"` // --arg values that lift permissions and are let through all the same
	Env  bool     `json:"env,omitempty"`
	// Verbs are a person's verbs that agents may use too; KeyVerb is the one there is.
	Verbs []string `json:"verbs,omitempty"`
	// DemoRun lets an agent give the built-in agent tasks with lines that run commands.
	DemoRun bool `json:"demo_run,omitempty"`
}

// Orders, given by a verb.
type (
	// RunStart makes a run. Answer: RunAnswer.
	RunStart struct {
		Objective string `json:"objective"`
		Name      string `json:"name,omitempty"`
	}
	// RunEnd ends a run: the caller's current one unless Caller.Run names another. Answer: RunAnswer.
	RunEnd struct {
		Close bool `json:"close,omitempty"` // stop its settled workers
		Force bool `json:"force,omitempty"` // even while a worker is unsettled
	}
	// WorkerStart opens a worker with a task. Answer: StartAnswer, given at once: how the start goes on is
	// read from the dispatch.
	WorkerStart struct {
		Kind         string        `json:"kind"`
		Name         string        `json:"name,omitempty"` // "" = kind and number
		Spec         string        `json:"spec"`           // the task's text
		Source       string        `json:"source,omitempty"`
		Title        string        `json:"title,omitempty"` // "" = first line of the text
		Dir          string        `json:"dir"`             // absolute
		Program      string        `json:"program"`         // absolute path of the agent's program
		Model        string        `json:"model,omitempty"`
		Args         []string      `json:"args,omitempty"`
		EnvNames     []string      `json:"env_names,omitempty"` // names given with --env
		EnvFile      string        `json:"env_file"`            // 0600 file with the agent's whole environment
		ReadyTimeout time.Duration `json:"ready_timeout"`       // 0 = 90 s
		TurnTimeout  time.Duration `json:"turn_timeout"`        // 0 = 30 s

		// Found by the daemon before the order reaches Step.
		Target  Place    `json:"target"`          // server, session, session name in which the window is opened
		CopyDir string   `json:"copy_dir"`        // folder of the task copies, of plain characters
		Lifts   []string `json:"lifts,omitempty"` // those of Args that lift permissions
		Mute    bool     `json:"mute,omitempty"`  // the kind calls no hook before its first prompt
		Runs    bool     `json:"runs,omitempty"`  // the task's text itself runs commands (the built-in agent)
		Command string   `json:"command"`         // how the agent's shell calls us: "st"
		May     May      `json:"may"`
	}
	// WorkerStop ends a worker's agent and closes its pane. Answer: WorkerAnswer.
	WorkerStop struct {
		Worker string `json:"worker"`
	}
	// WorkerDone is a worker's report. Answer: DoneAnswer.
	WorkerDone struct {
		Dispatch string   `json:"dispatch,omitempty"` // "" = the newest of the caller
		Outcome  string   `json:"outcome"`
		Summary  string   `json:"summary"`
		Files    []string `json:"files,omitempty"`
		Text     string   `json:"text,omitempty"`
	}
	// WorkerProgress is a line about what a worker does just now. Answer: WorkerAnswer.
	WorkerProgress struct {
		Text string `json:"text"`
	}
	// WorkerSend is a message to a worker: a file, and a line that names it, typed when the agent's turn has ended,
	// or with Now at once or not at all. Answer: SendAnswer.
	WorkerSend struct {
		Worker string `json:"worker"`
		Text   string `json:"text"`
		Now    bool   `json:"now,omitempty"`
	}
	// WorkerKey asks whether keys may be pressed in a worker's window. Answer: WorkerAnswer.
	WorkerKey struct {
		Worker string `json:"worker"`
		Screen string `json:"screen"` // what stands there, as the daemon has seen it
		May    May    `json:"may"`
	}
	// WaitTold says that a waiting caller has printed these states.
	WaitTold struct {
		States []Told `json:"states"` // Who is filled in by Step
	}
)

// Facts, found by the daemon or sent by hooks and by the process in the pane.
type (
	// Hook is one hook call of an agent. Whose it is follows from Input.By.
	Hook struct {
		Kind  string     `json:"kind"`
		Event AgentEvent `json:"event"`
	}
	// Transcript is what an agent's own log says.
	Transcript struct {
		Agent string     `json:"agent"`
		Event AgentEvent `json:"event"`
	}
	// PaneOpened and PaneFailed are the results of PaneOpen.
	PaneOpened struct {
		Agent  string  `json:"agent"`
		Place  Place   `json:"place"`
		Runner Process `json:"runner"`
	}
	PaneFailed struct {
		Agent string `json:"agent"`
		Error *Error `json:"error"`
	}
	// AgentStarted and AgentExited come from the process that runs the agent in its pane.
	AgentStarted struct {
		Agent string  `json:"agent"`
		Proc  Process `json:"proc"`
	}
	AgentExited struct {
		Agent string `json:"agent"`
		Code  int    `json:"code"` // exit status; 128+n for signal n; -1 where it isn't known
		Why   string `json:"why"`  // exited, pane_closed, server_gone
	}
	// ScreenSeen is a look at an agent's screen that differs from the last.
	ScreenSeen struct {
		Agent   string `json:"agent"`
		Screen  string `json:"screen"`            // a name of hooks.Screen, draft or copy_mode
		Working bool   `json:"working,omitempty"` // beside the input line a running turn is shown
		Says    string `json:"says,omitempty"`    // what it asks, for people; at most 200 bytes
	}
	// WordTyped is the result of WordType.
	WordTyped struct {
		Word string `json:"word"`
		// Outcome: submitted (Enter went in while exactly the line stood there), or withheld: nothing has been
		// submitted and nothing of ours stands in the input line.
		Outcome   string     `json:"outcome"`
		Why       string     `json:"why,omitempty"` // for withheld: draft, copy_mode, a screen's name, gone, busy
		Typed     *time.Time `json:"typed,omitempty"`
		Verified  *time.Time `json:"verified,omitempty"`
		Submitted *time.Time `json:"submitted,omitempty"`
	}
	// FileWritten is the result of FileWrite.
	FileWritten struct {
		Word  string `json:"word"`
		Error string `json:"error,omitempty"` // why it could not be written; "" where it was
	}
	// KeysPressed says what became of keys in a worker's window.
	KeysPressed struct {
		Worker  string `json:"worker"`
		Pressed int    `json:"pressed"` // how many
		Before  string `json:"before"`  // names of screens
		After   string `json:"after"`
	}
	// AgentStopped is the result of AgentStop.
	AgentStopped struct {
		Agent    string   `json:"agent"`
		LeftOver []string `json:"left_over,omitempty"` // processes that detached themselves: "pid name"
	}
	// Tick says only that time has passed.
	Tick struct{}
)

// Types of AgentEvent. What a kind can't tell, it doesn't send.
const (
	SessionStarted  = "session-started"  // Source; Conversation may be new
	SessionEnded    = "session-ended"    // Reason; "clear" is not an end of the agent
	PromptIn        = "prompt-in"        // a turn begins or a prompt joins the running one; Marks, Machine
	ToolStarted     = "tool-started"     // Tool
	ToolEnded       = "tool-ended"       // Tool
	PermissionAsked = "permission-asked" // Tool, What: a dialog stands on the screen
	QuestionAsked   = "question-asked"   // What
	TurnEnded       = "turn-ended"       // Answer, Background
	TurnFailed      = "turn-failed"      // Reason, Answer
	Interrupted     = "interrupted"      // the person stopped the turn or refused a dialog
	Compacting      = "compacting"
	Compacted       = "compacted"
	SubagentStarted = "subagent-started"
	SubagentEnded   = "subagent-ended"
	Noticed         = "noticed" // anything else: proves that the agent lives
)

// AgentEvent is one thing that an agent program told, in words that all kinds share.
type AgentEvent struct {
	Type         string    `json:"type"`
	At           time.Time `json:"at,omitzero"` // when it happened, as the agent's own log says; zero for a hook: now
	Conversation string    `json:"conversation,omitempty"`
	Transcript   string    `json:"transcript,omitempty"`
	Dir          string    `json:"dir,omitempty"`
	Subagent     string    `json:"subagent,omitempty"` // id of the subagent in which it happened
	Source       string    `json:"source,omitempty"`   // startup, resume, clear, compact, fork
	Reason       string    `json:"reason,omitempty"`
	Marks        []string  `json:"marks,omitempty"`   // marks of our own lines found in the prompt
	Machine      bool      `json:"machine,omitempty"` // a prompt that nobody typed
	Tool         string    `json:"tool,omitempty"`
	What         string    `json:"what,omitempty"` // at most 200 bytes
	Answer       string    `json:"answer,omitempty"`
	Limit        bool      `json:"limit,omitempty"` // of turn-failed: a usage limit ended it, and Answer tells of it
	Background   int       `json:"background,omitempty"`
}

// Lasts tells whether an event still matters when it is heard of later. That a tool ran does not.
func (e AgentEvent) Lasts() bool { return e.Type != ToolStarted && e.Type != ToolEnded }

// Orders to the outside world.
type (
	// PaneOpen writes the task copy, opens a window and starts the agent in it, tagged with its id.
	PaneOpen struct {
		Agent    string   `json:"agent"`
		Worker   string   `json:"worker"`
		Dispatch string   `json:"dispatch"`
		Kind     string   `json:"kind"`
		Target   Place    `json:"target"`
		Name     string   `json:"name"` // of the window
		Dir      string   `json:"dir"`
		Program  string   `json:"program"`
		Model    string   `json:"model,omitempty"`
		Args     []string `json:"args,omitempty"`
		EnvFile  string   `json:"env_file"`
		Nonce    string   `json:"nonce"`
		// The task copy: its path, and what goes into it beside the fixed recipe.
		Copy    string `json:"copy"`
		Run     string `json:"run"`
		Task    string `json:"task"`
		Spec    string `json:"spec"`
		Command string `json:"command"` // how the agent's shell calls us
	}
	// WordType types one line into an agent's input line and submits it, or does neither.
	WordType struct {
		Agent string `json:"agent"`
		Kind  string `json:"kind"`
		Place Place  `json:"place"`
		Word  string `json:"word"`
		Text  string `json:"text"`
		Now   bool   `json:"now,omitempty"` // the screen may show a running turn: then not
	}
	// FileWrite writes the file that a word names, whole or not at all. It is the only place where its text is kept.
	FileWrite struct {
		Word string `json:"word"`
		Path string `json:"path"`
		Note Note   `json:"note"`
	}
	// AgentStop asks an agent to quit, closes its pane and ends its process tree.
	AgentStop struct {
		Agent  string  `json:"agent"`
		Kind   string  `json:"kind"`
		Place  Place   `json:"place"`
		Proc   Process `json:"proc"`
		Runner Process `json:"runner"`
	}
)

func (RunStart) Type() string       { return "run-start" }
func (RunEnd) Type() string         { return "run-end" }
func (WorkerStart) Type() string    { return "worker-start" }
func (WorkerStop) Type() string     { return "worker-stop" }
func (WorkerDone) Type() string     { return "worker-done" }
func (WorkerProgress) Type() string { return "worker-progress" }
func (WorkerSend) Type() string     { return "worker-send" }
func (WorkerKey) Type() string      { return "worker-key" }
func (KeysPressed) Type() string    { return "keys-pressed" }
func (WaitTold) Type() string       { return "wait-told" }
func (Hook) Type() string           { return "hook" }
func (Transcript) Type() string     { return "transcript" }
func (PaneOpened) Type() string     { return "pane-opened" }
func (PaneFailed) Type() string     { return "pane-failed" }
func (AgentStarted) Type() string   { return "agent-started" }
func (AgentExited) Type() string    { return "agent-exited" }
func (ScreenSeen) Type() string     { return "screen-seen" }
func (WordTyped) Type() string      { return "word-typed" }
func (FileWritten) Type() string    { return "file-written" }
func (AgentStopped) Type() string   { return "agent-stopped" }
func (Tick) Type() string           { return "tick" }
func (PaneOpen) Type() string       { return "pane-open" }
func (WordType) Type() string       { return "word-type" }
func (FileWrite) Type() string      { return "file-write" }
func (AgentStop) Type() string      { return "agent-stop" }

// DecodeWhat reads an input's happening from its name and JSON, as it stands on the wire.
func DecodeWhat(name string, raw []byte) (What, error) {
	switch name {
	case "run-start":
		return decode[RunStart](raw)
	case "run-end":
		return decode[RunEnd](raw)
	case "worker-start":
		return decode[WorkerStart](raw)
	case "worker-stop":
		return decode[WorkerStop](raw)
	case "worker-done":
		return decode[WorkerDone](raw)
	case "worker-progress":
		return decode[WorkerProgress](raw)
	case "worker-send":
		return decode[WorkerSend](raw)
	case "worker-key":
		return decode[WorkerKey](raw)
	case "keys-pressed":
		return decode[KeysPressed](raw)
	case "wait-told":
		return decode[WaitTold](raw)
	case "hook":
		return decode[Hook](raw)
	case "transcript":
		return decode[Transcript](raw)
	case "pane-opened":
		return decode[PaneOpened](raw)
	case "pane-failed":
		return decode[PaneFailed](raw)
	case "agent-started":
		return decode[AgentStarted](raw)
	case "agent-exited":
		return decode[AgentExited](raw)
	case "screen-seen":
		return decode[ScreenSeen](raw)
	case "word-typed":
		return decode[WordTyped](raw)
	case "file-written":
		return decode[FileWritten](raw)
	case "agent-stopped":
		return decode[AgentStopped](raw)
	case "tick":
		return decode[Tick](raw)
	}
	return nil, fmt.Errorf("no input is called %q", name)
}

// DecodeOrder reads an effect's order from its name and JSON, as it stands in the journal.
func DecodeOrder(name string, raw []byte) (Order, error) {
	switch name {
	case "pane-open":
		return decode[PaneOpen](raw)
	case "word-type":
		return decode[WordType](raw)
	case "file-write":
		return decode[FileWrite](raw)
	case "agent-stop":
		return decode[AgentStop](raw)
	}
	return nil, fmt.Errorf("no effect is called %q", name)
}

// DecodeEntity reads an entity from its key and JSON, as it stands in the journal.
func DecodeEntity(key string, raw []byte) (Entity, error) {
	noun, _, _ := cut(key)
	switch noun {
	case "counters":
		return decode[Counters](raw)
	case "run":
		return decode[Run](raw)
	case "agent":
		return decode[Agent](raw)
	case "task":
		return decode[Task](raw)
	case "worker":
		return decode[Worker](raw)
	case "dispatch":
		return decode[Dispatch](raw)
	case "word":
		return decode[Word](raw)
	case "message":
		return decode[Message](raw)
	case "told":
		return decode[Told](raw)
	case "clock":
		return decode[Clock](raw)
	}
	return nil, fmt.Errorf("no entity has the key %q", key)
}

func decode[T any](raw []byte) (T, error) {
	var v T
	if len(raw) == 0 {
		return v, nil
	}
	err := json.Unmarshal(raw, &v)
	return v, err
}

// cut splits a key into noun and id.
func cut(key string) (noun, id string, ok bool) {
	for i := 0; i < len(key); i++ {
		if key[i] == '/' {
			return key[:i], key[i+1:], true
		}
	}
	return key, "", false
}
