package orch

import "time"

// What a view answers. These are the objects that stand in --json: a noun's object has the same keys
// wherever it appears, lists are never null.

// WorkerInfo is a worker as it is shown.
type WorkerInfo struct {
	ID         string    `json:"id"`
	Name       string    `json:"name"`
	Kind       string    `json:"kind"`
	Run        string    `json:"run"`
	Agent      string    `json:"agent"`  // agent id
	Status     string    `json:"status"` // the agent's: starting ready working ... unknown
	State      string    `json:"state"`  // the work's: running needs_input finished failed no_report gone unknown
	Since      time.Time `json:"since"`  // of Status
	Role       string    `json:"role"`   // worker
	Server     string    `json:"server"`
	Window     string    `json:"window"`
	Pane       string    `json:"pane"`
	Session    string    `json:"session"` // name
	Dir        string    `json:"dir"`
	Worktree   string    `json:"worktree"`
	Branch     string    `json:"branch"`
	WaitingFor string    `json:"waiting_for"`
	Waits      string    `json:"waits"` // for what: tool and command, question, when a limit ends; "" where unknown
	Screen     string    `json:"screen"`
	Task       string    `json:"task"`
	Dispatch   string    `json:"dispatch"`
	Delivery   string    `json:"delivery"`
	Outcome    string    `json:"outcome"` // succeeded, failed, "" without a report
	Summary    string    `json:"summary"`
	Progress   string    `json:"progress"`
	Settled    bool      `json:"settled"`
	LeftOver   []string  `json:"left_over"`
}

// RunInfo is a run as it is shown.
type RunInfo struct {
	ID          string       `json:"id"`
	Name        string       `json:"name"`
	Objective   string       `json:"objective"`
	Coordinator string       `json:"coordinator"` // agent id, "" for a person
	State       string       `json:"state"`       // open, ended
	Created     time.Time    `json:"created"`
	Ended       *time.Time   `json:"ended"`
	Current     bool         `json:"current"` // the caller's own
	Workers     []WorkerInfo `json:"workers"`
}

// AgentInfo is an agent as it is shown.
type AgentInfo struct {
	ID         string    `json:"id"`
	Kind       string    `json:"kind"`
	Role       string    `json:"role"` // coordinator, worker, none
	Name       string    `json:"name"`
	Status     string    `json:"status"`
	Since      time.Time `json:"since"`
	WaitingFor string    `json:"waiting_for"`
	Waits      string    `json:"waits"` // for what: tool and command, question, when a limit ends; "" where unknown
	Screen     string    `json:"screen"`
	Run        string    `json:"run"`
	Worker     string    `json:"worker"`
	Server     string    `json:"server"`
	Session    string    `json:"session"`
	Window     string    `json:"window"`
	Pane       string    `json:"pane"`
	Dir        string    `json:"dir"`
	// Conversation is the agent's own id of what it talks about, by which its program takes it up again; "" before
	// a hook has told it.
	Conversation string `json:"conversation"`
}

// Stage is one step of a worker's start.
type Stage struct {
	Name string `json:"name"` // window agent ready typed verified submitted turn
	OK   bool   `json:"ok"`
	MS   int64  `json:"ms"` // since the start was asked for; 0 where it was not reached
}

// StartInfo is how a worker's start goes.
type StartInfo struct {
	Worker   WorkerInfo `json:"worker"`
	Run      string     `json:"run"`
	Task     string     `json:"task"`
	Dispatch string     `json:"dispatch"`
	Delivery string     `json:"delivery"` // "" while it isn't settled
	Stages   []Stage    `json:"stages"`
	Screen   string     `json:"screen"` // what blocked: a screen's name, draft, copy_mode
	LeftOver []string   `json:"left_over"`
	Next     []string   `json:"next"`
	Code     int        `json:"code"`  // the exit code that the start has come to; meaningless while Delivery is ""
	Error    *Error     `json:"error"` // where no window could be opened or the agent died
}

// WaitInfo is the answer of wait.
type WaitInfo struct {
	Done    bool         `json:"done"`
	Code    int          `json:"code"` // 3 6 4 5 0, meaningless while Done is false
	Workers []WorkerInfo `json:"workers"`
	// New are the states that this answer tells for the first time; hand them to wait-told after printing.
	New      []Told `json:"new"`
	TimedOut bool   `json:"timed_out"`
}

// ReadInfo is what can be read of a worker.
type ReadInfo struct {
	Worker       WorkerInfo `json:"worker"`
	State        string     `json:"state"`
	Outcome      string     `json:"outcome"`
	Summary      string     `json:"summary"`
	Report       string     `json:"report"` // the text of --report
	Answer       string     `json:"answer"`
	AnswerSource string     `json:"answer_source"` // hook, transcript, ""
	Files        []string   `json:"files"`
	Notes        []Report   `json:"notes"`
	Branch       string     `json:"branch"`
	Base         string     `json:"base"`
	Commits      []string   `json:"commits"`
	Cursor       int        `json:"cursor"`           // byte offset behind what Answer shows; 0 when it is whole
	Screen       string     `json:"screen,omitempty"` // the window's text, with --screen
}

// MessageInfo is a message as it is shown.
type MessageInfo struct {
	ID        string     `json:"id"`
	Run       string     `json:"run"`
	From      string     `json:"from"` // agent id, "" for a person
	To        string     `json:"to"`   // worker id
	Path      string     `json:"path"`
	State     string     `json:"state"` // queued typed delivered unknown not_delivered
	Why       string     `json:"why"`   // what holds it back, see WhyHeld; "" for nothing
	Created   time.Time  `json:"created"`
	Submitted *time.Time `json:"submitted"`
	Delivered *time.Time `json:"delivered"`
}

// TreeInfo is a run with its workers, for drawing.
type TreeInfo struct {
	Run         RunInfo      `json:"run"`
	Coordinator *AgentInfo   `json:"coordinator"` // nil for a person
	Workers     []WorkerInfo `json:"workers"`
	Completed   int          `json:"completed"` // settled workers that are left out without --all
}

// SessionInfo is a session of a multiplexer server.
type SessionInfo struct {
	Server   string `json:"server"`
	Name     string `json:"name"`
	Windows  int    `json:"windows"`
	Agents   int    `json:"agents"`
	Attached int    `json:"attached"` // clients
}

// HistoryInfo is what happened, the newest last.
type HistoryInfo struct {
	Events []Event           `json:"events"`
	Names  map[string]string `json:"names"` // of runs, workers and agents, by id; one without a name is missing
}

// StatusInfo is how the daemon is.
type StatusInfo struct {
	PID     int      `json:"pid"`
	UptimeS int64    `json:"uptime_s"`
	Version string   `json:"version"`
	Servers []string `json:"servers"`
	Agents  int      `json:"agents"` // live ones
	Spool   int      `json:"spool"`  // files waiting
	Store   string   `json:"store"`  // ok, or what was recovered
	StoreB  int64    `json:"store_bytes"`
	RSS     int64    `json:"rss_bytes"`
}

// Answers of orders.
type (
	// RunAnswer is the run, and for its end the workers that were told to stop.
	RunAnswer struct {
		Run     RunInfo  `json:"run"`
		Stopped []string `json:"stopped"` // worker ids
		Already bool     `json:"already"` // nothing was to do
	}
	// StartAnswer names what a start has made.
	StartAnswer struct {
		Run      string `json:"run"`
		NewRun   bool   `json:"new_run"`
		Worker   string `json:"worker"`
		Name     string `json:"name"`
		Task     string `json:"task"`
		Dispatch string `json:"dispatch"`
		Agent    string `json:"agent"`
	}
	// WorkerAnswer is the worker that was meant.
	WorkerAnswer struct {
		Worker  WorkerInfo `json:"worker"`
		Already bool       `json:"already"`
	}
	// KeyAnswer is what keys have done.
	KeyAnswer struct {
		Worker  WorkerInfo `json:"worker"`
		Before  string     `json:"before"` // names of screens: ready, draft, permission, ...
		After   string     `json:"after"`
		Pressed int        `json:"pressed"` // how many; fewer than asked where the screen changed meanwhile
		Asked   int        `json:"asked"`
	}
	// SendAnswer is the message that was recorded.
	SendAnswer struct {
		Message MessageInfo `json:"message"`
	}
	// DoneAnswer is what became of a report.
	DoneAnswer struct {
		Worker   string `json:"worker"`
		Name     string `json:"name"`
		Dispatch string `json:"dispatch"`
		Outcome  string `json:"outcome"`
		Taken    string `json:"taken"` // report, again (the same report stood there), note (kept, changes nothing), queued (by the verb)
		Why      string `json:"why"`   // for a note
	}
)

// Arguments of views.
type (
	RunArgs     struct{ Run string }    // "" = the caller's current run
	ListArgs    struct{ All bool }      // also what has ended
	WorkerArgs  struct{ Worker string } // id, or a name in the current run
	StartArgs   struct{ Dispatch string }
	MessageArgs struct{ Message string } // id
	EventArgs   struct {
		Run   string   // of history: id or name, "" = all
		Since uint64   // only what came after this event
		Types []string // none = all
		Limit int      // of history: at most the newest; 0 = all
	}
	WaitArgs struct {
		Workers      []string // ids or names; none = all of the run
		Any          bool
		ThroughInput bool
	}
	ReadArgs struct {
		Worker string
		Limit  int // bytes of the answer; 0 = 64 KiB
		Cursor int
		Screen bool
	}
)
