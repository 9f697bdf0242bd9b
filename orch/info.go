package orch

import (
	"encoding/json"
	"strings"
	"time"
)

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
	State      string    `json:"state"`  // the work's: queued running needs_input finished failed no_report no_task released gone gone_resumable unknown
	Since      time.Time `json:"since"`  // of Status
	Role       string    `json:"role"`   // worker, team_lead
	Server     string    `json:"server"`
	Window     string    `json:"window"`
	Pane       string    `json:"pane"`
	Session    string    `json:"session"` // name
	Dir        string    `json:"dir"`
	Worktree   string    `json:"worktree"`
	Branch     string    `json:"branch"`
	Base       string    `json:"base"`           // the commit at which its worktree began
	TreeState  string    `json:"worktree_state"` // how its worktree stands: making ready failed finishing gone; "" without one
	Setup      string    `json:"setup"`          // how far what makes it ready is: running done failed; "" for none
	SetupLog   string    `json:"setup_log"`      // path of the file with what that wrote
	WaitingFor string    `json:"waiting_for"`
	Waits      string    `json:"waits"`   // for what: tool and command, question, when a limit ends; "" where unknown
	Options    []string  `json:"options"` // what may be answered to that, as far as is known
	Gate       string    `json:"gate"`    // the open gate for which it waits
	Screen     string    `json:"screen"`
	Task       string    `json:"task"`
	Dispatch   string    `json:"dispatch"`
	Delivery   string    `json:"delivery"`
	Outcome    string    `json:"outcome"` // succeeded, failed, "" without a report
	Summary    string    `json:"summary"`
	Progress   string    `json:"progress"`
	Scope      []string  `json:"scope"` // which files it may edit, relative to dir; none = all
	// OutsideScope are the files that were changed outside of it by its report; OutsideUnchecked says why that is not known.
	OutsideScope     []string `json:"outside_scope"`
	OutsideUnchecked string   `json:"outside_unchecked"`
	Silent           bool     `json:"silent"` // its turn runs and nothing has been heard of it for long; of a blind one: it is at its task
	Blind            bool     `json:"blind"`  // its kind has no hooks: only what it says itself is heard of
	Settled          bool     `json:"settled"`
	Queued           int      `json:"queued"` // place in line for its window, 1 for the next; 0 where it does not wait
	// Sessionless is the session that has ended with its server, and that it waits for before its window is opened; "" for none.
	Sessionless string   `json:"sessionless"`
	LeftOver    []string `json:"left_over"`
	// Outlives is the process of its agent that still runs although the server with its terminal has ended; 0 for none.
	Outlives int `json:"outlives"`
	// Team is how many workers the open runs have that it coordinates itself, TeamRuns; none where it leads no team.
	Team     int        `json:"team"`
	TeamRuns []string   `json:"team_runs"`
	Orphan   bool       `json:"orphan"`   // the agent that answers for it is gone
	Adopted  bool       `json:"adopted"`  // its agent ran before it became a worker
	Released *time.Time `json:"released"` // since when it is no worker of the run any more
	// Questions are those that it has asked and that nobody has answered.
	Questions []OpenQuestion `json:"questions"`
	// Conversation is the agent's own id of what it talks about, "" before a hook has told it.
	Conversation string `json:"conversation"`
	// Maybe are the panes in which it may run again; somebody has to say in which.
	Maybe []string `json:"maybe"`
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
	Gates       []GateInfo   `json:"gates"`  // the open ones
	Former      []string     `json:"former"` // agent ids that had the seat and are fenced
	Tasks       []TaskInfo   `json:"tasks"`  // in brief
	Lead        string       `json:"lead"`   // the worker of another run that its coordinator is, "" for none
}

// AgentInfo is an agent as it is shown.
type AgentInfo struct {
	ID         string    `json:"id"`
	Kind       string    `json:"kind"`
	Role       string    `json:"role"` // coordinator, worker, team_lead, none
	Name       string    `json:"name"`
	Status     string    `json:"status"`
	Since      time.Time `json:"since"`
	WaitingFor string    `json:"waiting_for"`
	Waits      string    `json:"waits"`   // for what: tool and command, question, when a limit ends; "" where unknown
	Options    []string  `json:"options"` // what may be answered to that, as far as is known
	Screen     string    `json:"screen"`
	Run        string    `json:"run"`
	Worker     string    `json:"worker"`
	Server     string    `json:"server"`
	Session    string    `json:"session"`
	Window     string    `json:"window"`
	Pane       string    `json:"pane"`
	Dir        string    `json:"dir"`
	Queued     int       `json:"queued"` // as of its worker
	Team       int       `json:"team"`   // of a coordinator: how many workers its open runs have
	TeamRuns   []string  `json:"team_runs"`
	// Conversation is the agent's own id of what it talks about, by which its program takes it up again; "" before
	// a hook has told it.
	Conversation string `json:"conversation"`
	// Maybe are the workers, and the agents with a run's seat, that it may be after its server has ended.
	Maybe []string `json:"maybe"`
}

// Stage is one step of a worker's start.
type Stage struct {
	Name string `json:"name"` // window agent ready typed verified submitted turn
	OK   bool   `json:"ok"`
	MS   int64  `json:"ms"` // since the start was asked for, or came out of the line; 0 where it was not reached
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
	// Unheard is the agent that answers for the worker where st has seen no hook of it: without hooks it can't be told of
	// what happens, and has to wait. "" where it can, and for a person.
	Unheard string `json:"unheard"`
	// New is what this answer tells of the worker that is news; hand it to wait-told after printing.
	New []Told `json:"new,omitempty"`
	// Overlaps are the live workers whose scope may hold a file that is in its own too.
	Overlaps []Overlap `json:"overlaps"`
	// Queued is its place in line for its window, 0 where it does not wait; MaxWorkers is what it waits for.
	Queued     int `json:"queued"`
	MaxWorkers int `json:"max_workers"`
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
	AnswerLater  bool       `json:"answer_later"`  // it was said in a turn that ended after the worker had finished; false also where that is not known
	Files        []string   `json:"files"`
	OutsideScope []string   `json:"outside_scope"` // files that were changed outside its scope by then
	Notes        []Report   `json:"notes"`
	Branch       string     `json:"branch"`
	Base         string     `json:"base"`
	Commits      []string   `json:"commits"`
	Cursor       int        `json:"cursor"`           // byte offset behind what Answer shows; 0 when it is whole
	Screen       string     `json:"screen,omitempty"` // the window's text, with --screen
}

// MessageInfo is a message as it is shown.
type MessageInfo struct {
	ID   string `json:"id"`
	Run  string `json:"run"`
	Type string `json:"type"` // message question answer escalation worker_done
	From string `json:"from"` // agent id, "" for a person, st
	// FromWorker and FromName are the id and the name of the worker that the sender is, "" for none.
	FromWorker string     `json:"from_worker"`
	FromName   string     `json:"from_name"`
	To         string     `json:"to"` // the box: worker id or run id
	Subject    string     `json:"subject"`
	Body       string     `json:"body"`
	Long       bool       `json:"long"`   // its text is longer than BodyMost and stands in the file at Path alone
	Worker     string     `json:"worker"` // of which it speaks
	Dispatch   string     `json:"dispatch"`
	Options    []string   `json:"options"`  // of a question
	Reply      string     `json:"reply"`    // of a question: the message that answers it
	ReplyTo    string     `json:"reply_to"` // of an answer: the question
	Path       string     `json:"path"`
	State      string     `json:"state"` // queued typed delivered unknown not_delivered
	Why        string     `json:"why"`   // what holds it back, see WhyHeld; "" for nothing
	Created    time.Time  `json:"created"`
	Submitted  *time.Time `json:"submitted"`
	Delivered  *time.Time `json:"delivered"`
	Settled    *time.Time `json:"settled"` // since when it is not open any more
	How        string     `json:"how"`     // acked replied told past run_ended
	Over       string     `json:"over"`    // of a question: why it gets no answer any more: taken_back, run_ended
}

// RequestInfo is a request that was taken.
type RequestInfo struct {
	ID     string          `json:"id"`
	Input  string          `json:"input"` // name of the input, "" where an older program took it
	At     time.Time       `json:"at"`
	By     string          `json:"by"`     // agent id or "person", "" where an older program took it
	Answer json.RawMessage `json:"answer"` // null where the input has none
	Worker *WorkerInfo     `json:"worker"` // the one that was started by it, as it is now; else nil
}

// TreeInfo is a run with its workers, for drawing.
type TreeInfo struct {
	Run         RunInfo      `json:"run"`
	Coordinator *AgentInfo   `json:"coordinator"` // nil for a person
	Workers     []WorkerInfo `json:"workers"`
	Completed   int          `json:"completed"` // settled workers that are left out without --all
	Teams       []TreeInfo   `json:"teams"`     // the runs that its workers coordinate: Run.Lead says which worker
}

// SessionInfo is a session of a multiplexer server.
type SessionInfo struct {
	Server   string `json:"server"`
	Name     string `json:"name"`
	Windows  int    `json:"windows"`  // how many
	Agents   int    `json:"agents"`   // that live in it
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
	UptimeS int64    `json:"uptime_s"` // seconds
	Version string   `json:"version"`
	Servers []string `json:"servers"`
	Agents  int      `json:"agents"` // live ones
	Gates   []string `json:"gates"`  // ids of the open ones
	Spool   int      `json:"spool"`  // files waiting
	Store   string   `json:"store"`  // ok, or what was recovered
	StoreB  int64    `json:"store_bytes"`
	RSS     int64    `json:"rss_bytes"`
	// Lost is what was lost with servers that have ended, and is not restored yet.
	Lost []LostInfo `json:"lost"`
}

// Answers of orders.
type (
	// RunAnswer is the run, and for its end the workers that were told to stop.
	RunAnswer struct {
		Run     RunInfo  `json:"run"`
		Stopped []string `json:"stopped"` // worker ids
		Already bool     `json:"already"` // nothing was to do
		Left    int      `json:"left"`    // of an end: how many of its tasks nobody has begun
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
		// EnvFile is the environment that it was started with: a request that is repeated brings another one.
		EnvFile string `json:"env_file,omitempty"`
		Queued  int    `json:"queued,omitempty"` // place in line for its window, 0 where that is ordered
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
	// AdoptAnswer names what an adoption has made.
	AdoptAnswer struct {
		StartAnswer
		Already bool `json:"already"` // it was a worker of the run before
	}
	// SendAnswer is the message that was recorded.
	SendAnswer struct {
		Message MessageInfo `json:"message"`
	}
	// HookAnswer is what a hook is to tell its agent: a line of fixed words and ids, "" for nothing. Context is what
	// an agent that has forgotten it should know of itself; nobody is owed it, so nobody asks whether it was heard.
	HookAnswer struct {
		Line    string `json:"line,omitempty"`
		Context string `json:"context,omitempty"`
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

// Arguments of views. A view refuses, by the code of its *Error, what is named and not there (worker_not_found, task_not_found and
// so on), and a caller who names no run and has none (no_run).
type (
	RunArgs     struct{ Run string }    // "" = the caller's current run
	WorkerArgs  struct{ Worker string } // id, or a name in the current run
	StartArgs   struct{ Dispatch string }
	MessageArgs struct{ Message string } // id
	RequestArgs struct{ Request string } // id
	ListArgs    struct {
		All   bool // also what has ended
		Brief bool // of a tree: each worker once, and of long texts the beginning, for who draws a line of each
	}
	EventArgs struct {
		Run   string   // of history: id or name, "" = all
		Since uint64   // only what came after this event
		Types []string // none = all
		Limit int      // of history: at most the newest; 0 = all
		// Of history: only what speaks of this task (id), and of this worker (id, or a name in the run).
		Task, Worker string
	}
	WaitArgs struct {
		Workers      []string // ids or names; none = all of the run
		Any          bool     // until the first has settled
		ThroughInput bool     // a need for input is told only at the end
	}
	ReadArgs struct {
		Worker string
		Limit  int  // bytes of the answer; 0 = 64 KiB
		Cursor int  // the byte of the answer at which to begin
		Screen bool // what its window shows too
	}
)

// LostInfo is what was lost with a server that has ended.
type LostInfo struct {
	Socket   string    `json:"socket"`
	Sessions []string  `json:"sessions"` // names
	Windows  int       `json:"windows"`  // how many
	At       time.Time `json:"at"`       // when it was seen
}

// RestoreInfo is what a restore has done, or would do.
type RestoreInfo struct {
	DryRun  bool             `json:"dry_run"`
	Already bool             `json:"already"` // there was nothing to do
	Windows []RestoredWindow `json:"windows"`
}

// RestoredWindow is what became of a window.
type RestoredWindow struct {
	Server  string         `json:"server"` // socket
	Session string         `json:"session"`
	Index   int            `json:"index"` // in its session, as the server counted
	Name    string         `json:"name"`
	Window  string         `json:"window"` // its id now, "" where it has none
	What    string         `json:"what"`   // restored, left, skipped
	Why     string         `json:"why"`
	Panes   []RestoredPane `json:"panes"`
}

// RestoredPane is what became of a pane of it.
type RestoredPane struct {
	Pane   string `json:"pane"` // its id now, "" where it has none
	Dir    string `json:"dir"`
	What   string `json:"what"` // shell, resumed, starting, waiting, back, gone, failed
	Why    string `json:"why"`
	Kind   string `json:"kind"`   // of its agent, "" for a shell
	Worker string `json:"worker"` // id
	From   string `json:"from"`   // agent id of who was there
	Agent  string `json:"agent"`  // agent id of who is there now
	// Env are names of variables that it was started with and does not have now: their values are kept nowhere.
	Env []string `json:"env"`
}

// Fate is what has become of an agent that sat in a pane of a server that has ended.
type Fate struct {
	Agent     Agent
	Worker    string   // id
	Env       []string // names of the variables that were given by hand
	Resumable bool     // and nobody is taking its conversation up yet
	Next      string   // the agent that has its conversation, "" for none
}

// FatesOf are those of the agents of servers at a socket, by server and pane, the newest of each pane; a server that runs is
// left out.
func FatesOf(v View, socket, running string) map[string]Fate {
	fates := map[string]Fate{}
	each(v, "agent", func(a Agent) bool {
		if a.Place.Pane == "" || a.Place.Server == running || !strings.HasPrefix(a.Place.Server, socket+"|") || a.Gone != serverGone && !a.Resumable {
			return true
		}
		f := Fate{Agent: a, Resumable: a.Resumable, Next: successor(v, a)}
		if w, ok := workerOf(v, a.ID); ok {
			f.Worker, f.Env = w.ID, w.EnvNames
		}
		if next, ok := get[Agent](v, "agent/"+a.Restart); ok && next.Gone == "" && f.Next == "" {
			f.Resumable, f.Next = false, next.ID
		}
		fates[a.Place.Server+a.Place.Pane] = f
		return true
	})
	return fates
}

// successor is the last that took up the conversation of an agent that has ended, where it lives or may come back itself;
// "" for none.
func successor(v View, a Agent) (id string) {
	for range successorsMost {
		next, ok := get[Agent](v, "agent/"+a.Next)
		if !ok {
			break
		}
		if a, id = next, ""; a.there() {
			id = a.ID
		}
	}
	return id
}
