package orch

// Process is one process of the operating system. A pid alone is never an identity.
type Process struct {
	PID int `json:"pid"`
	// Start is when it started, in the system's own unit (clock ticks since boot on Linux, microseconds
	// since 1970 on darwin); only ever compared for equality.
	Start uint64 `json:"start"`
}

// Link is one process in a caller's ancestry.
type Link struct {
	Process
	// Kind is the agent kind whose program this process is, "" for anything else.
	Kind string `json:"kind,omitempty"`
	// Shared says that this process serves several agents: what runs below it has the ancestry of any of them.
	Shared bool `json:"shared,omitempty"`
	// Lifts are the arguments of this process that lift permissions, as its kind names them.
	Lifts []string `json:"lifts,omitempty"`
	// Model and Flags (a line each) are those of its arguments that hold for its conversation too, as its kind names them.
	Model string `json:"model,omitempty"`
	Flags string `json:"flags,omitempty"`
}

// Place is where an agent or a caller sits. A pane id means nothing without its server.
type Place struct {
	// Server identifies one run of one multiplexer server: socket path, pid and start time. The same
	// socket after a restart is another server.
	Server  string `json:"server,omitempty"`
	Pane    string `json:"pane,omitempty"`
	Window  string `json:"window,omitempty"`
	Session string `json:"session,omitempty"` // the session's id
	// SessionName, WindowName and Dir are for people and for opening the next window; never for finding the pane.
	SessionName string `json:"session_name,omitempty"`
	WindowName  string `json:"window_name,omitempty"`
	Dir         string `json:"dir,omitempty"`
}

// Caller is who asks, as the daemon proved it.
type Caller struct {
	// Chain is the caller's ancestry, nearest first, the caller itself included, up to the process that
	// the pane runs (or to the top where there is no pane).
	Chain []Link `json:"chain,omitempty"`
	// Place is the pane the caller really sits in (its ancestry leads to the pane's process), or, where
	// that can't be told, the pane its environment names. Zero outside.
	Place Place `json:"place"`
	// Socket is of the multiplexer server that its environment means, also where it sits in none.
	Socket string `json:"socket,omitempty"`
	Nonce  string `json:"nonce,omitempty"` // what its environment says its agent's secret is
	Dir    string `json:"dir,omitempty"`   // its folder
	As     string `json:"as,omitempty"`    // --as: an agent id or a pane id
	Run    string `json:"run,omitempty"`   // --run: an id or a name
	// Inside is the variable by which an agent has told this very command whose it is, "" for none. Only a claim.
	Inside string `json:"inside,omitempty"`
	// Shared is the kind of the agent whose shared process the caller runs below, "" for none. Its chain ends before
	// that process then, it has no place, and Thread and Seats, the agents of that kind that such a process may serve,
	// say who it can be.
	Shared string `json:"shared,omitempty"`
	// Thread is the conversation that a caller says it belongs to, where it has Shared or comes out of a sandbox.
	Thread string `json:"thread,omitempty"`
	Seats  []Seat `json:"seats,omitempty"`
	// Path tells how the input came: "socket", "spool", or "sandbox" for the spool outside of home.
	Path string `json:"path,omitempty"`
}

// Seat is an agent's process in its pane.
type Seat struct {
	Process
	Place  Place  `json:"place"`            // zero outside of panes that are known
	Thread string `json:"thread,omitempty"` // the conversation that it was started with, "" for a new one
}
