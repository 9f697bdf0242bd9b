package orch

import "time"

// Counters hands out the short ids; they never go back.
type Counters struct {
	Run      int `json:"run"`
	Agent    int `json:"agent"`
	Task     int `json:"task"`
	Worker   int `json:"worker"`
	Dispatch int `json:"dispatch"`
	Word     int `json:"word"`
	Message  int `json:"message"`
}

// Run is one coordinator's bundle of work.
type Run struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Objective string `json:"objective"`
	// Coordinator is the seat's agent; "" where a person at a shell is the coordinator.
	Coordinator string `json:"coordinator"`
	// Place is where the run was started: the pane whose current run it is.
	Place   Place      `json:"place"`
	Created time.Time  `json:"created"`
	Ended   *time.Time `json:"ended,omitempty"` // nil while it is open
}

// Agent is one agent process that was seen, or that is about to be started.
type Agent struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Ours says that a worker start opened its pane; else it was found there.
	Ours bool `json:"ours"`
	// Mute says that its program calls no hook before its first prompt: a ready input line is all there is to know.
	Mute bool `json:"mute,omitempty"`
	// Proc is the agent's own process; zero until it is known.
	Proc Process `json:"proc"`
	// Runner is the process of the pane itself, Proc's ancestor; zero until it is known.
	Runner Process `json:"runner"`
	Place  Place   `json:"place"`
	// Nonce is the secret in the agent's environment; "" for one that was found.
	Nonce        string `json:"nonce,omitempty"`
	Conversation string `json:"conversation,omitempty"`
	Transcript   string `json:"transcript,omitempty"` // path of the agent's own log, "" where unknown

	// The facts below are what status is computed from; nobody sets a status.
	Hooked  bool `json:"hooked"` // at least one hook of this process has come
	Up      bool `json:"up"`     // its session has started (hook) or its input line was seen
	Turn    bool `json:"turn"`   // a turn runs
	HadTurn bool `json:"had_turn"`
	// Background counts the background tasks that ran when the last turn ended.
	Background int       `json:"background"`
	Asks       string    `json:"asks,omitempty"`      // permission, question: an open dialog that a hook told of
	AsksWhat   string    `json:"asks_what,omitempty"` // the tool or the question, for people; at most 200 bytes
	AsksAt     time.Time `json:"asks_at,omitzero"`
	// Limit is what its program said of a usage limit on which the last turn ended, "" for none; it may name when
	// the limit ends. ScreenSays is what the screen last seen says beside its name. For people, at most 200 bytes.
	Limit      string `json:"limit,omitempty"`
	ScreenSays string `json:"screen_says,omitempty"`
	// AsksSeen: that dialog has been seen on the screen.
	AsksSeen bool `json:"asks_seen,omitempty"`
	// What its screen says of a turn. Works: it showed a running turn when last seen; Worked: it has done so in
	// this turn. OddAt: since when it says otherwise than Turn. WatchTo: until when it is looked at although
	// nothing else asks for it.
	Works   bool      `json:"works"`
	Worked  bool      `json:"worked"`
	OddAt   time.Time `json:"odd_at,omitzero"`
	WatchTo time.Time `json:"watch_to,omitzero"`
	// Quiet: nothing has been heard of this turn since its prompt.
	Quiet bool `json:"quiet"`
	// Queued: a prompt has joined the running turn, and no tool has started since.
	Queued     bool      `json:"queued,omitempty"`
	TurnAt     time.Time `json:"turn_at,omitzero"`  // when Turn last changed: an older event does not change it back
	ReadyAt    time.Time `json:"ready_at,omitzero"` // when the input line was first seen
	Screen     string    `json:"screen,omitempty"`  // name of the screen last seen: ready, trust, login, ...
	Compacting bool      `json:"compacting"`
	// Gone is why the process no longer runs: exited, pane_closed, server_gone, stopped, failed_to_open; "" while it lives.
	Gone     string `json:"gone,omitempty"`
	ExitCode *int   `json:"exit_code,omitempty"`

	Status     string    `json:"status"` // computed: see status in agent.go
	WaitingFor string    `json:"waiting_for"`
	Since      time.Time `json:"since"`            // when Status last changed
	LastSeen   time.Time `json:"last_seen"`        // last hook, transcript line or screen change
	Answer     string    `json:"answer,omitempty"` // what it last said at a turn's end
}

// Task is named work.
type Task struct {
	ID       string    `json:"id"`
	Run      string    `json:"run"`
	Title    string    `json:"title"`
	Spec     string    `json:"spec"`             // the text, at most 1 MiB
	Source   string    `json:"source,omitempty"` // path of the file it was read from
	Status   string    `json:"status"`           // ready dispatched completed failed cancelled
	Dispatch string    `json:"dispatch"`         // the newest
	Created  time.Time `json:"created"`
}

// Worker is an agent that works for a run.
type Worker struct {
	ID       string     `json:"id"`
	Run      string     `json:"run"`
	Name     string     `json:"name"`
	Kind     string     `json:"kind"`
	Agent    string     `json:"agent"`
	Dispatch string     `json:"dispatch"` // the newest
	Dir      string     `json:"dir"`
	Model    string     `json:"model,omitempty"`
	Args     []string   `json:"args,omitempty"`
	EnvNames []string   `json:"env_names,omitempty"` // names only; values are never stored
	By       string     `json:"by"`                  // agent id of who started it, "" for a person
	Created  time.Time  `json:"created"`
	Stopping *time.Time `json:"stopping,omitempty"` // since when somebody wants it stopped
	Progress string     `json:"progress,omitempty"`
	LeftOver []string   `json:"left_over,omitempty"` // what stop could not end
	Depth    int        `json:"depth"`               // 1 below the run's coordinator

	State      string    `json:"state"`       // computed: see work in worker.go
	StateSince time.Time `json:"state_since"` // when State last changed
}

// Delivery values of a dispatch.
const (
	Pending      = "" // not settled yet
	Delivered    = "delivered"
	Unknown      = "unknown"
	NotDelivered = "not_delivered"
)

// Dispatch is one attempt of one task by one worker.
type Dispatch struct {
	ID       string `json:"id"`
	Run      string `json:"run"`
	Task     string `json:"task"`
	Worker   string `json:"worker"`
	Agent    string `json:"agent"`
	Copy     string `json:"copy"` // path of the task copy that the line names; plain characters only
	Word     string `json:"word"` // the task line, a word owed to the agent
	Delivery string `json:"delivery"`
	Why      string `json:"why,omitempty"` // for not_delivered and unknown: a screen's name, draft, copy_mode, exited, ...

	// Timeouts of the start, counted from Opened and from Submitted.
	ReadyTimeout time.Duration `json:"ready_timeout"`
	TurnTimeout  time.Duration `json:"turn_timeout"`

	// When each stage of the start was reached; nil before.
	Created   time.Time  `json:"created"`
	Opened    *time.Time `json:"opened,omitempty"`
	Started   *time.Time `json:"started,omitempty"` // the agent's process
	Ready     *time.Time `json:"ready,omitempty"`
	Typed     *time.Time `json:"typed,omitempty"`
	Verified  *time.Time `json:"verified,omitempty"`
	Submitted *time.Time `json:"submitted,omitempty"`
	Turn      *time.Time `json:"turn,omitempty"` // proved by a hook
	TurnEnded *time.Time `json:"turn_ended,omitempty"`

	Report   *Report    `json:"report,omitempty"`
	Notes    []Report   `json:"notes,omitempty"`    // reports that came too late or for something older
	Answer   string     `json:"answer,omitempty"`   // what the agent last said at the end of a turn of this dispatch
	Closed   string     `json:"closed,omitempty"`   // stopped, gone: ended without a report for good
	Finished *time.Time `json:"finished,omitempty"` // the report is there and its turn has ended, or its grace has passed
	Error    *Error     `json:"error,omitempty"`    // why no window could be opened
}

// Report is what a worker says at its end.
type Report struct {
	At      time.Time `json:"at"`
	Outcome string    `json:"outcome"` // succeeded, failed
	Summary string    `json:"summary"`
	Files   []string  `json:"files"`
	Text    string    `json:"text,omitempty"` // of --report FILE, at most 1 MiB
	Why     string    `json:"why,omitempty"`  // for a note: why it did not count
}

// Word is one line owed to an agent, typed exactly once. An agent's words go in in the order of their first put.
type Word struct {
	ID    string `json:"id"`
	Agent string `json:"agent"`
	// What it is for, one of the two: the dispatch that it hands over, the message that it tells of.
	Dispatch string `json:"dispatch,omitempty"`
	Message  string `json:"message,omitempty"`
	Text     string `json:"text"`
	Mark     string `json:"mark"`          // the part of Text by which a hook proves that this very line went in
	State    string `json:"state"`         // see word.go
	Now      bool   `json:"now,omitempty"` // typed at once or not at all
	Tries    int    `json:"tries"`
	// Patience is how long after Submitted its proof may take.
	Patience  time.Duration `json:"patience"`
	Submitted *time.Time    `json:"submitted,omitempty"`
	NotUntil  *time.Time    `json:"not_until,omitempty"` // after a refusal: when to look again at the earliest
}

// Message is what somebody has written to a worker. Its text lies in a file, and a word tells the agent which.
type Message struct {
	ID        string     `json:"id"`
	Run       string     `json:"run"`
	From      string     `json:"from"` // agent id, "" for a person
	To        string     `json:"to"`   // worker id
	Path      string     `json:"path"` // of the file; plain characters only
	State     string     `json:"state"`
	Why       string     `json:"why,omitempty"` // what holds its line back: a screen's name, draft, working, gone, NotWritten, …
	Created   time.Time  `json:"created"`
	Submitted *time.Time `json:"submitted,omitempty"`
	Delivered *time.Time `json:"delivered,omitempty"` // proved by a hook
}

// Told remembers which state of a worker a waiting caller has been told, so that wait does not return
// twice for one thing.
type Told struct {
	Who    string `json:"who"` // agent id, pane or "person"
	Worker string `json:"worker"`
	State  string `json:"state"`
}

// Clock marks a dispatch that has a deadline to come, so that finding the next one does not mean looking
// at everything that ever was.
type Clock struct {
	Dispatch string `json:"dispatch"`
}

func (c Clock) Key() string    { return "clock/" + c.Dispatch }
func (Counters) Key() string   { return "counters/" }
func (r Run) Key() string      { return "run/" + r.ID }
func (a Agent) Key() string    { return "agent/" + a.ID }
func (t Task) Key() string     { return "task/" + t.ID }
func (w Worker) Key() string   { return "worker/" + w.ID }
func (d Dispatch) Key() string { return "dispatch/" + d.ID }
func (w Word) Key() string     { return "word/" + w.ID }
func (m Message) Key() string  { return "message/" + m.ID }
func (t Told) Key() string     { return "told/" + t.Who + "/" + t.Worker }
