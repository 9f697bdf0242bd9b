package orch

import (
	"fmt"
	"time"
)

// Counters hands out the short ids; they never go back.
type Counters struct {
	Run      int `json:"run"`
	Agent    int `json:"agent"`
	Task     int `json:"task"`
	Worker   int `json:"worker"`
	Dispatch int `json:"dispatch"`
	Word     int `json:"word"`
	Message  int `json:"message"`
	Delivery int `json:"delivery"`
	Gate     int `json:"gate"`
}

// Run is one coordinator's bundle of work.
type Run struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Objective string `json:"objective"`
	// Coordinator is the seat's agent; "" where a person at a shell is the coordinator.
	Coordinator string `json:"coordinator"`
	// Former are the agents that had the seat and lost it to another by somebody's word: they are fenced.
	Former []string `json:"former,omitempty"`
	// Place is where the run was started, or used last: the pane whose current run it is.
	Place   Place      `json:"place"`
	Created time.Time  `json:"created"`
	Used    time.Time  `json:"used,omitzero"`   // when somebody last took its seat
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
	// Blind says that its program has no hooks and no log: what is typed to it stays unproved, and what it does is unknown.
	Blind bool `json:"blind,omitempty"`
	// ByMark says of a blind one that it shows no input line while its turn runs, so that its screen tells of a turn.
	ByMark bool `json:"by_mark,omitempty"`
	// Proc is the agent's own process; zero until it is known.
	Proc Process `json:"proc"`
	// Runner is the process of the pane itself, Proc's ancestor; zero until it is known.
	Runner Process `json:"runner"`
	Place  Place   `json:"place"`
	// Nonce is the secret in the agent's environment; "" for one that was found.
	Nonce        string `json:"nonce,omitempty"`
	Conversation string `json:"conversation,omitempty"`
	Transcript   string `json:"transcript,omitempty"` // path of the agent's own log, "" where unknown
	Unlogged     string `json:"unlogged,omitempty"`   // a path told so at which no log is kept, "" for none

	// The facts below are what status is computed from; nobody sets a status.
	Hooked  bool `json:"hooked"` // at least one hook of this process has come
	Up      bool `json:"up"`     // its session has started (hook) or its input line was seen
	Turn    bool `json:"turn"`   // a turn runs
	HadTurn bool `json:"had_turn"`
	// Background counts the background tasks that ran when the last turn ended.
	Background int    `json:"background"`
	Asks       string `json:"asks,omitempty"`      // permission, question: an open dialog that a hook told of
	AsksWhat   string `json:"asks_what,omitempty"` // the tool or the question, for people; at most 200 bytes
	// AsksOptions are what may be answered, a line each.
	AsksOptions string    `json:"asks_options,omitempty"`
	AsksTool    string    `json:"asks_tool,omitempty"` // the tool that waits for it, where that was told
	AsksAt      time.Time `json:"asks_at,omitzero"`
	AnsweredAt  time.Time `json:"answered_at,omitzero"` // when the last question was answered
	LookedAt    time.Time `json:"looked_at,omitzero"`   // when the look was taken that last changed something
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
	Quiet  bool `json:"quiet"`
	Open   int  `json:"open,omitempty"`   // tools that are at work
	Silent bool `json:"silent,omitempty"` // see silence.go
	// Queued: a prompt has joined the running turn, and no tool has started since.
	Queued     bool      `json:"queued,omitempty"`
	TurnAt     time.Time `json:"turn_at,omitzero"`  // when Turn last changed: an older event does not change it back
	ReadyAt    time.Time `json:"ready_at,omitzero"` // when the input line was first seen
	Screen     string    `json:"screen,omitempty"`  // name of the screen last seen: ready, trust, login, ...
	Compacting bool      `json:"compacting"`
	// Gone is why the process no longer runs: exited, pane_closed, server_gone, stopped, failed_to_open; "" while it lives.
	Gone     string `json:"gone,omitempty"`
	ExitCode *int   `json:"exit_code,omitempty"`
	// Resumable: it ended with its server and its conversation can be taken up again, by which it has all that it had.
	// False again once that has happened (Next), or somebody wants it no more.
	Resumable bool `json:"resumable,omitempty"`
	// CutOff: its turn ran, or background tasks of it, when its server ended; see inWork.
	CutOff bool `json:"cut_off,omitempty"`
	// Next is the agent that has taken up its conversation and has all that it had, "" for none.
	Next string `json:"next,omitempty"`
	// Resumes is the agent whose conversation it was started to take up, and Restart the one that was started last to
	// take up its own; "" for none.
	Resumes string `json:"resumes,omitempty"`
	Restart string `json:"restart,omitempty"`
	// Opens is the order for its window, as long as that waits for the end of the agent that it resumes. Failed is why it
	// has none.
	Opens  *PaneOpen `json:"opens,omitempty"`
	Failed *Error    `json:"failed,omitempty"`
	// Model and Flags (a line each) are what of its arguments holds for its conversation, of one that somebody else started.
	Model string `json:"model,omitempty"`
	Flags string `json:"flags,omitempty"`
	// Maybe are the ids of resumable agents that it may be, as far as can be seen from outside: somebody has to say which.
	Maybe string `json:"maybe,omitempty"`

	Status     string    `json:"status"` // computed: see status in agent.go
	WaitingFor string    `json:"waiting_for"`
	Since      time.Time `json:"since"`            // when Status last changed
	LastSeen   time.Time `json:"last_seen"`        // last hook, transcript line or screen change
	Answer     string    `json:"answer,omitempty"` // what it last said at a turn's end
}

// Task is named work of a run; see design.md for its states and what leads from one to the other.
type Task struct {
	ID     string   `json:"id"`
	Run    string   `json:"run"`
	Title  string   `json:"title"`
	Spec   string   `json:"spec"`             // the text, at most 1 MiB
	Source string   `json:"source,omitempty"` // path of the file it was read from
	Deps   []string `json:"deps,omitempty"`   // tasks of the same run, all older
	Status string   `json:"status"`           // pending ready dispatched completed failed blocked cancelled
	Reason string   `json:"reason,omitempty"` // of pending, blocked, failed, cancelled: why, with ids
	// Dispatch is the newest, Attempts how many there were, Failures how many in a row have failed.
	Dispatch string `json:"dispatch"`
	Attempts int    `json:"attempts,omitempty"`
	Failures int    `json:"failures,omitempty"`
	// Start is how a worker is started for it as soon as it is ready; nil where somebody does that by hand.
	Start *WorkerStart `json:"start,omitempty"`
	// Tries are the tasks that are attempts at it, and Picked the worker whose attempt was taken; of an attempt, Of is the
	// task at which it is one.
	Tries  []string `json:"tries,omitempty"`
	Picked string   `json:"picked,omitempty"`
	Of     string   `json:"of,omitempty"`
	// Check is the command by which an attempt is checked; see check in attempts.go.
	Check    string    `json:"check,omitempty"`
	Checked  string    `json:"checked,omitempty"`
	CheckLog string    `json:"check_log,omitempty"`
	CheckWhy string    `json:"check_why,omitempty"`
	Outcome  string    `json:"outcome,omitempty"` // of its newest dispatch, or set by hand
	Summary  string    `json:"summary,omitempty"`
	By       string    `json:"by,omitempty"`      // agent id of who made it, "" for a person
	Request  string    `json:"request,omitempty"` // id of the request that made it
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
	Scope    Scope      `json:"scope,omitempty"`     // which files it may edit; none = all
	EnvNames []string   `json:"env_names,omitempty"` // names only; values are never stored
	By       string     `json:"by"`                  // agent id of who started it, "" for a person
	Created  time.Time  `json:"created"`
	Stopping *time.Time `json:"stopping,omitempty"` // since when somebody wants it stopped
	// StoppedBy is the agent that wants it stopped, "" for a person.
	StoppedBy string   `json:"stopped_by,omitempty"`
	Progress  string   `json:"progress,omitempty"`
	Command   string   `json:"command,omitempty"`   // how its agent's shell calls us; "" = st
	LeftOver  []string `json:"left_over,omitempty"` // what stop could not end
	Depth     int      `json:"depth"`               // 1 below the run's coordinator
	Request   string   `json:"request,omitempty"`   // id of the request that started it
	Retries   string   `json:"retries,omitempty"`   // the worker whose attempt it was started to repeat
	// Adopted says that its agent ran already when it became a worker. Files is then what the paths of the files begin
	// with that it is to read.
	Adopted bool   `json:"adopted,omitempty"`
	Files   string `json:"files,omitempty"`
	Tidy    bool   `json:"tidy,omitempty"` // it was released, and they are taken out of its agent's folder
	// Released is since when its agent is no worker of the run any more, and ReleasedBy the agent that wanted that, "" for a
	// person. Nothing leads from the agent to it then but its reports.
	Released   *time.Time `json:"released,omitempty"`
	ReleasedBy string     `json:"released_by,omitempty"`

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
	Queued    *time.Time `json:"queued,omitempty"`  // put in line for its window; nil where that was ordered at once
	Ordered   *time.Time `json:"ordered,omitempty"` // out of the line: its window was ordered
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
	Later    bool       `json:"later,omitempty"`    // Answer is of a turn that ended after the worker had finished
	Closed   string     `json:"closed,omitempty"`   // stopped, released, gone, retried, unwritten: ended without a report for good
	Finished *time.Time `json:"finished,omitempty"` // the report is there and its turn has ended, or its grace has passed
	Error    *Error     `json:"error,omitempty"`    // why no window could be opened
	Reminder string     `json:"reminder,omitempty"` // of the report that is missing: see reminder.go
}

// Report is what a worker says at its end.
type Report struct {
	At      time.Time `json:"at"`
	Outcome string    `json:"outcome"` // succeeded, failed
	Summary string    `json:"summary"`
	Files   []string  `json:"files"`
	Text    string    `json:"text,omitempty"` // of --report FILE, at most 1 MiB
	Why     string    `json:"why,omitempty"`  // for a note: why it did not count
	// Outside are the files that were changed outside the worker's scope since it began, relative to its folder; Unchecked
	// says why that could not be found out, "" where it was, or the worker has no scope.
	Outside   []string `json:"outside_scope,omitempty"`
	Unchecked string   `json:"outside_unchecked,omitempty"`
}

// Word is one line owed to an agent, typed exactly once. An agent's words go in in the order of their first put.
type Word struct {
	ID    string `json:"id"`
	Agent string `json:"agent"`
	// What it is for, one of these: the dispatch that it hands over, the message that it tells of, the dispatch of which
	// no report has come, the gate that has ended, what has happened to a worker, the run whose seat its agent has lost, that
	// with which it is to go on, the worker that it is no more.
	Dispatch string `json:"dispatch,omitempty"`
	Message  string `json:"message,omitempty"`
	Reminds  string `json:"reminds,omitempty"`
	Gate     string `json:"gate,omitempty"`
	News     *News  `json:"news,omitempty"`
	Lost     string `json:"lost,omitempty"`
	GoOn     string `json:"go_on,omitempty"` // the dispatch or the run with which an agent is to go on that was cut off
	Freed    string `json:"freed,omitempty"`
	Text     string `json:"text,omitempty"` // its sentence; of news the line makes one
	Mark     string `json:"mark"`           // the part of its line by which it is known that this very line went in
	State    string `json:"state"`          // see word.go
	Now      bool   `json:"now,omitempty"`  // typed at once or not at all
	Tries    int    `json:"tries"`          // how often it was typed or given to a hook
	// Lead is the first word of the line in which it goes in, itself perhaps; "" where no line is tried.
	Lead string `json:"lead,omitempty"`
	Was  string `json:"was,omitempty"` // the Lead that it had before it was owed anew
	// Stands says that the line, or a part of it, may stand in the input line since an earlier try, beside what a person
	// has written.
	Stands bool   `json:"stands,omitempty"`
	Way    string `json:"way,omitempty"` // by which its line goes in: "" typed, turn_end, prompt
	// Doubt says that only the agent's own log can still prove it.
	Doubt bool `json:"doubt,omitempty"`
	// Ended says that the agent has ended to which it was typed: where its log does not hold it, it is not in.
	Ended bool `json:"ended,omitempty"`
	Again int  `json:"again,omitempty"` // how often it was owed once more since nothing showed that it had gone in
	// Patience is how long after Submitted its proof may take.
	Patience  time.Duration `json:"patience"`
	Submitted *time.Time    `json:"submitted,omitempty"`
	NotUntil  *time.Time    `json:"not_until,omitempty"` // after a refusal: when to look again at the earliest
	GiveUp    *time.Time    `json:"give_up,omitempty"`   // when it comes too late
}

// News is what has happened to a worker.
type News struct {
	Run      string `json:"run"`
	Worker   string `json:"worker"`
	Dispatch string `json:"dispatch"`
	What     string `json:"what"`           // in the words of the line
	State    string `json:"state"`          // what Told remembers of it
	Last     bool   `json:"last,omitempty"` // with it all workers of the run had settled
	// Message is the one of which it tells, "" for none.
	Message string `json:"message,omitempty"`
}

// Types of a message.
const (
	Mail       = "message"
	Question   = "question"
	Answer     = "answer"
	Escalation = "escalation"
	ReportMail = "worker_done"
)

// Message is what somebody has written to a box: that of a worker, or that of a run, which is its seat's. The text of one
// to a worker also lies in a file, and a word tells the agent which.
type Message struct {
	ID      string `json:"id"`
	Run     string `json:"run"`
	Type    string `json:"type"` // see Mail
	From    string `json:"from"` // agent id, "" for a person, Us for what the daemon itself has to say
	To      string `json:"to"`   // the box: worker id or run id
	Subject string `json:"subject,omitempty"`
	Body    string `json:"body,omitempty"`
	Long    bool   `json:"long,omitempty"` // its text has more than BodyMost bytes and stands in the file alone
	// Worker and Dispatch are those that it speaks of: the asker's, the reporter's.
	Worker   string `json:"worker,omitempty"`
	Dispatch string `json:"dispatch,omitempty"`
	// Of a question: what may be answered (nothing = anything), and the message that answers it. ReplyTo is the question
	// of an answer.
	Options []string `json:"options,omitempty"`
	Reply   string   `json:"reply,omitempty"`
	ReplyTo string   `json:"reply_to,omitempty"`
	// News is the state of its worker that an escalation of Us brings, as Told remembers it; "" for anything else.
	News string `json:"news,omitempty"`
	// Over is why a question gets no answer any more: taken_back, run_ended; "" while it may.
	Over string `json:"over,omitempty"`
	// Settled is when it stopped being open, and How: acked, replied, told, past, run_ended.
	Settled *time.Time `json:"settled,omitempty"`
	How     string     `json:"how,omitempty"`

	// How its word fares, for one to a worker.
	Path      string     `json:"path,omitempty"` // of the file; plain characters only
	State     string     `json:"state"`
	Why       string     `json:"why,omitempty"` // what holds its line back: a screen's name, draft, working, gone, NotWritten, …
	Created   time.Time  `json:"created"`
	Submitted *time.Time `json:"submitted,omitempty"`
	Delivered *time.Time `json:"delivered,omitempty"` // proved by a hook
}

// Us is the sender of what the daemon itself has to say.
const Us = "st"

// MailDelivery is what a check has shown.
type MailDelivery struct {
	ID       string    `json:"id"`
	Boxes    []string  `json:"boxes"`
	Messages []string  `json:"messages"`
	At       time.Time `json:"at"`
	Acked    bool      `json:"acked,omitempty"`
}

// Gate is a question that only a person may answer.
type Gate struct {
	ID       string    `json:"id"`
	Run      string    `json:"run"`
	Question string    `json:"question"`
	Options  []string  `json:"options,omitempty"`
	Task     string    `json:"task,omitempty"` // that it holds
	By       string    `json:"by,omitempty"`   // agent id of who asks, "" for a person
	Status   string    `json:"status"`         // open answered cancelled timed_out
	Created  time.Time `json:"created"`
	Deadline time.Time `json:"deadline,omitzero"`
	Choice   string    `json:"choice,omitempty"`
	// AnsweredBy says which person, in words: the terminal and the pane. Evidence is what was seen of the key press.
	AnsweredBy string     `json:"answered_by,omitempty"`
	Evidence   *Evidence  `json:"evidence,omitempty"`
	Closed     *time.Time `json:"closed,omitempty"`
}

// Evidence is what shows that a person acts: found by the daemon, never said by the caller.
type Evidence struct {
	Client string    `json:"client"` // terminal of the attached client
	Place  Place     `json:"place"`  // the active pane
	Key    time.Time `json:"key"`    // when a key was last pressed there
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

func (c Clock) Key() string        { return "clock/" + c.Dispatch }
func (Counters) Key() string       { return "counters/" }
func (Limits) Key() string         { return "limits/" }
func (r Run) Key() string          { return "run/" + r.ID }
func (a Agent) Key() string        { return "agent/" + a.ID }
func (t Task) Key() string         { return "task/" + t.ID }
func (w Worker) Key() string       { return "worker/" + w.ID }
func (d Dispatch) Key() string     { return "dispatch/" + d.ID }
func waitKey(p Process) string     { return fmt.Sprintf("wait/%d-%d", p.PID, p.Start) }
func (w Word) Key() string         { return "word/" + w.ID }
func (m Message) Key() string      { return "message/" + m.ID }
func (d MailDelivery) Key() string { return "delivery/" + d.ID }
func (g Gate) Key() string         { return "gate/" + g.ID }
func (t Told) Key() string         { return "told/" + t.Who + "/" + t.Worker }
func (q QueuedStart) Key() string  { return "queued/" + q.Open.Dispatch }
