package hooks

import "mvdan.cc/sh/v3/syntax"

// Place is where a hook runs, as far as its answer needs to know.
type Place struct {
	// Agent says that the hook's environment holds the nonce of an agent that st started.
	Agent bool
	// Env is the agent's environment. The commands that it runs have it too.
	Env func(string) string
	// Server is that of the terminals in which the agent runs.
	Server Server
	// Scope reads what the agent's worker may edit: nil where it has no scope. An error means that it has one.
	Scope func() (*Scoped, error)
	// Temporary are the folders for temporary files, in which a worker with a scope may write too.
	Temporary []string
	// Reach says why the daemon can't be reached, nil where it can.
	Reach func() error
}

// Server is a server of terminals.
type Server struct {
	Socket string // "" outside of one
	PID    int    // 0 outside of one
	Usual  string // the socket of the one that a call means which names none
	// Sessions lists its sessions by id and name, and says which of them hold the agent's pane. It asks the server.
	Sessions func() (all []Session, err error)
	// Command is the command line of its process, "" where it can't be read.
	Command func() string
}

// Session is one of a server's.
type Session struct {
	ID, Name string
	Own      bool // the agent's pane is in it
}

func (p Place) env(name string) string {
	if p.Env == nil {
		return ""
	}
	return p.Env(name)
}

// reader reads a command in this place.
func (p Place) reader(dir string) *shellReader {
	return &shellReader{left: newBudget(), env: p.env, dir: dir, vars: map[string]shellWord{}, fed: map[*syntax.CallExpr][]syntax.Node{}, means: &meaning{}}
}
