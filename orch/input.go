package orch

import "time"

// May is what an agent may ask beyond the rule, from config.toml [agents_may].
type May struct {
	Args []string `json:"args,omitempty"` // --arg values that lift permissions and are let through all the same
	Env  bool     `json:"env,omitempty"`
	// Verbs are a person's verbs that agents may use too; KeyVerb is the one there is.
	Verbs []string `json:"verbs,omitempty"`
	// DemoRun lets an agent give the built-in agent tasks with lines that run commands.
	DemoRun bool `json:"demo_run,omitempty"`
	// Kinds lets an agent start agents of the kinds that a person has described.
	Kinds bool `json:"kinds,omitempty"`
	// Setup lets an agent say by which command a worker's worktree is made ready.
	Setup bool `json:"setup,omitempty"`
	Check bool `json:"check,omitempty"` // and by which attempts are checked
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
		Task         string        `json:"task,omitempty"` // id of a task that is ready; "" = a new one of Spec
		Spec         string        `json:"spec"`           // the task's text
		Source       string        `json:"source,omitempty"`
		Title        string        `json:"title,omitempty"` // "" = first line of the text
		Dir          string        `json:"dir"`             // absolute
		Program      string        `json:"program"`         // absolute path of the agent's program
		Model        string        `json:"model,omitempty"`
		Args         []string      `json:"args,omitempty"`
		Scope        Scope         `json:"scope,omitempty"`     // which files it may edit; none = all
		EnvNames     []string      `json:"env_names,omitempty"` // names given with --env
		EnvFile      string        `json:"env_file"`            // 0600 file with the agent's whole environment
		ReadyTimeout time.Duration `json:"ready_timeout"`       // 0 = 90 s
		TurnTimeout  time.Duration `json:"turn_timeout"`        // 0 = 30 s
		// Tree is the git worktree in which it works, instead of Dir; nil for none.
		Tree *TreeWant `json:"tree,omitempty"`

		// Found by the daemon before the order reaches Step.
		Target  Place    `json:"target"`            // server, session, session name in which the window is opened
		CopyDir string   `json:"copy_dir"`          // folder of the task copies, of plain characters
		Lifts   []string `json:"lifts,omitempty"`   // those of Args that lift permissions
		Mute    bool     `json:"mute,omitempty"`    // the kind calls no hook before its first prompt
		Blind   bool     `json:"blind,omitempty"`   // the kind has no hooks and no log: nothing proves a turn, or tells of its end
		ByMark  bool     `json:"by_mark,omitempty"` // of a blind kind: a turn runs as long as its input line is away
		Named   bool     `json:"named,omitempty"`   // of a blind kind: we name its conversation, by which it is taken up again
		Given   bool     `json:"given,omitempty"`   // a person has described the kind
		Runs    bool     `json:"runs,omitempty"`    // the task's text itself runs commands (the built-in agent)
		Command string   `json:"command"`           // how the agent's shell calls us: "st"
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
		// LeaveWorkers says that the workers of the caller's own run may go on after it.
		LeaveWorkers bool `json:"leave_workers,omitempty"`

		// Found by the daemon before the order reaches Step: what was changed outside the worker's scope since it began, relative
		// to its folder, and why that could not be found out.
		Outside   []string `json:"outside,omitempty"`
		Unchecked string   `json:"unchecked,omitempty"`
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
		// News says that only news of them have been told: a wait still returns with them.
		News bool `json:"news,omitempty"`
	}
)

// Facts, found by the daemon or sent by hooks and by the process in the pane.
type (
	// Hook is one hook call of an agent. Whose it is follows from Input.By.
	Hook struct {
		Kind  string     `json:"kind"`
		Event AgentEvent `json:"event"`
	}
	// HookUnheard says that the hook of an event was answered with a line and has not got the answer: it had given up, or
	// the daemon ended before it was sent. Whose it is follows from Input.By.
	HookUnheard struct {
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
		// Again is the order, where the server of its session has ended: it may be given again once that is back.
		Again *PaneOpen `json:"again,omitempty"`
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
		Agent   string    `json:"agent"`
		Screen  string    `json:"screen"`            // a name of hooks.Screen, draft or copy_mode
		Working bool      `json:"working,omitempty"` // beside the input line a running turn is shown
		Says    string    `json:"says,omitempty"`    // what it asks, for people; at most 200 bytes
		Looked  time.Time `json:"looked,omitzero"`   // when the look was taken, at the latest; zero = when it is told
	}
	// WordTyped is the result of WordType.
	WordTyped struct {
		Word string `json:"word"`
		// Outcome: submitted (Enter went in while exactly the line stood there), or withheld: nothing has been
		// submitted.
		Outcome string `json:"outcome"`
		// Stands says that the line, or a part of it, may stand in the input line all the same.
		Stands    bool       `json:"stands,omitempty"`
		Why       string     `json:"why,omitempty"` // for withheld: draft, copy_mode, a screen's name, gone, busy
		Typed     *time.Time `json:"typed,omitempty"`
		Verified  *time.Time `json:"verified,omitempty"`
		Submitted *time.Time `json:"submitted,omitempty"`
	}
	// FileWritten is the result of FileWrite.
	FileWritten struct {
		Word    string `json:"word"`              // "" where none names it
		Message string `json:"message,omitempty"` // whose text it is
		Error   string `json:"error,omitempty"`   // why it could not be written; "" where it was
	}
	// LogSearched is the result of LogSearch.
	LogSearched struct {
		Word  string `json:"word"`
		Found bool   `json:"found,omitempty"`
		Error string `json:"error,omitempty"` // why the log could not be read
		None  string `json:"none,omitempty"`  // path of the log where there is none
	}
	// KeysPressed says what became of keys in a worker's window. Answer: KeyAnswer, none where none was pressed.
	KeysPressed struct {
		Worker  string `json:"worker"`
		Pressed int    `json:"pressed"` // how many
		Asked   int    `json:"asked"`   // of how many
		Before  string `json:"before"`  // names of screens
		After   string `json:"after"`
	}
	// AgentStopped is the result of AgentStop.
	AgentStopped struct {
		Agent    string   `json:"agent"`
		LeftOver []string `json:"left_over,omitempty"` // processes that detached themselves: "pid name"
		Lives    string   `json:"lives,omitempty"`     // why it was left as it is, where it was only asked; "" where it has ended
		Kept     bool     `json:"kept,omitempty"`      // its pane stands
	}
	// WaitBegan says that the caller begins to wait; Deaf are the kinds whose agents do not hear what a command prints
	// once the turn has ended that ran it.
	WaitBegan struct {
		Args WaitArgs `json:"args"`
		For  string   `json:"for,omitempty"` // see Waiter.For; then Args mean nothing
		// Types are those of the mail that it waits for; none = any.
		Types []string        `json:"types,omitempty"`
		Deaf  map[string]bool `json:"deaf,omitempty"` // by kind
	}
	// WaitOver says that the process of a wait has ended.
	WaitOver struct {
		Process Process `json:"process"`
	}
	// LaunchDropped is the result of LaunchDrop.
	LaunchDropped struct {
		Agent string `json:"agent"`
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
	WordIn          = "word-in" // Marks: the agent's own log holds our lines, so they are in its conversation
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
	What         string    `json:"what,omitempty"`    // at most 200 bytes
	Options      []string  `json:"options,omitempty"` // what may be answered: a line each, at most 20 of at most 200 bytes
	Answer       string    `json:"answer,omitempty"`
	Continued    bool      `json:"continued,omitempty"`  // of turn-ended: a hook's answer has made this turn go on before
	Limit        bool      `json:"limit,omitempty"`      // of turn-failed: a usage limit ended it, and Answer tells of it
	Background   int       `json:"background,omitempty"` // of turn-ended: how many tasks run on
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
		Scope    Scope    `json:"scope,omitempty"` // which files it may edit; none = all
		EnvFile  string   `json:"env_file"`
		Keep     bool     `json:"keep,omitempty"` // EnvFile is its task's, and is kept for the next attempt
		Nonce    string   `json:"nonce"`
		// The task copy: its path, and what goes into it beside the fixed recipe.
		Copy    string `json:"copy"`
		Run     string `json:"run"`
		Task    string `json:"task"`
		Spec    string `json:"spec"`
		Command string `json:"command"`          // how the agent's shell calls us
		Branch  string `json:"branch,omitempty"` // of its worktree, "" without one
		// Conversation is what we call the new one, "" where its program does.
		Conversation string `json:"conversation,omitempty"`
		// Resume is the conversation that the agent takes up again, "" for a new one. Then no task copy is written.
		Resume string `json:"resume,omitempty"`
		Log    string `json:"log,omitempty"` // path of that conversation's own log, "" where unknown
		// Shell says that the window stays as a shell when the agent has ended: a person had started it in one.
		Shell bool `json:"shell,omitempty"`
		// Leaves is the pane of the agent whose conversation that is. Where it was kept for this one, it is closed when this one
		// has its own.
		Leaves Place `json:"leaves,omitzero"`
		// Look says that the window may be there already: the store was lost and is older than the order.
		Look   bool   `json:"look,omitempty"`
		Status Status `json:"status,omitzero"`
	}
	// LaunchDrop removes what was kept for a start that will not come.
	LaunchDrop struct {
		Agent   string `json:"agent"` // "" for that of a task
		EnvFile string `json:"env_file"`
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
		// Task, where it is set, is what stands in it instead of the note.
		Task *TaskCopy `json:"task,omitempty"`
	}
	// TaskCopy is a task as it is handed to a worker that is there.
	TaskCopy struct {
		Worker   string `json:"worker"`
		Run      string `json:"run"`
		Task     string `json:"task"`
		Dispatch string `json:"dispatch"`
		Command  string `json:"command"` // how the agent's shell calls us
		Spec     string `json:"spec"`
		Scope    Scope  `json:"scope,omitempty"`  // which files the worker may edit; none = all
		Branch   string `json:"branch,omitempty"` // of its worktree, "" without one
		Status   Status `json:"status,omitzero"`
	}
	// Status is what a worker should know of its place in the run beside its task.
	Status struct {
		Alone   bool   `json:"alone,omitempty"`   // it may start no workers
		Adopted bool   `json:"adopted,omitempty"` // it does not only work for the run
		Team    string `json:"team,omitempty"`    // the run that it coordinates itself
	}
	// LogSearch looks for a mark in an agent's own log: whether a line of ours is in its conversation.
	LogSearch struct {
		Word string `json:"word"`
		Kind string `json:"kind"`
		Path string `json:"path"`
		Mark string `json:"mark"`
		// Ended says that the agent's process has: then what nothing has followed yet is in the conversation too.
		Ended bool `json:"ended,omitempty"`
	}
	// AgentStop asks an agent to quit, closes its pane and ends its process tree.
	AgentStop struct {
		Agent  string  `json:"agent"`
		Kind   string  `json:"kind"`
		Place  Place   `json:"place"`
		Proc   Process `json:"proc"`
		Runner Process `json:"runner"`
		// Gently says that it is only asked to: where a turn runs by then, or it does not go, it stays.
		Gently bool `json:"gently,omitempty"`
		// Keeps leaves its pane standing until another has the next window: it may be the last of its session, or of the server.
		Keeps bool `json:"keeps,omitempty"`
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
func (HookUnheard) Type() string    { return "hook-unheard" }
func (Transcript) Type() string     { return "transcript" }
func (PaneOpened) Type() string     { return "pane-opened" }
func (PaneFailed) Type() string     { return "pane-failed" }
func (AgentStarted) Type() string   { return "agent-started" }
func (AgentExited) Type() string    { return "agent-exited" }
func (ScreenSeen) Type() string     { return "screen-seen" }
func (WordTyped) Type() string      { return "word-typed" }
func (FileWritten) Type() string    { return "file-written" }
func (AgentStopped) Type() string   { return "agent-stopped" }
func (LogSearched) Type() string    { return "log-searched" }
func (LogSearch) Type() string      { return "log-search" }
func (LaunchDropped) Type() string  { return "launch-dropped" }
func (Configured) Type() string     { return "configured" }
func (WaitBegan) Type() string      { return "wait-began" }
func (WaitOver) Type() string       { return "wait-over" }
func (Tick) Type() string           { return "tick" }
func (PaneOpen) Type() string       { return "pane-open" }
func (WordType) Type() string       { return "word-type" }
func (FileWrite) Type() string      { return "file-write" }
func (AgentStop) Type() string      { return "agent-stop" }
func (LaunchDrop) Type() string     { return "launch-drop" }
