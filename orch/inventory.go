package orch

import (
	"slices"
	"strings"
)

// AgentFound is a pane in which an agent program runs, as an inventory of its server has found it.
type AgentFound struct {
	Kind   string  `json:"kind"`
	Proc   Process `json:"proc"`
	Runner Process `json:"runner"` // the process of the pane itself
	Place  Place   `json:"place"`
	Nonce  string  `json:"nonce,omitempty"` // the secret in its environment, "" for none or where it can't be read
	// Resumes: its arguments take up a conversation again; Conversation is which, "" where they don't say.
	Resumes      bool   `json:"resumes,omitempty"`
	Conversation string `json:"conversation,omitempty"`
}

type (
	// ServerSeen is an inventory of one server: all panes in which an agent program runs.
	ServerSeen struct {
		Server string       `json:"server"`
		Agents []AgentFound `json:"agents"`
	}
	// AgentMoved says that an agent's pane stands elsewhere than is known: its window, its session or a name is another.
	AgentMoved struct {
		Agent string `json:"agent"`
		Place Place  `json:"place"`
	}
	// WorkerAttach says which agent a worker is that may come back. Answer: WorkerAnswer.
	WorkerAttach struct {
		Worker string `json:"worker"`
		// Found is what runs in the pane that the caller has named, found by the daemon.
		Found AgentFound `json:"found"`
	}
)

func (ServerSeen) Type() string   { return "server-seen" }
func (AgentMoved) Type() string   { return "agent-moved" }
func (WorkerAttach) Type() string { return "worker-attach" }

// serverSeen gives what resumable agents had to those that are found to run their conversations. Where that can't be told
// nobody gets anything, and what may be is kept for people to decide.
func (s *step) serverSeen(o ServerSeen) {
	s.memory = true
	s.forgetDoubts(o.Server)
	lost := Resumables(s)
	if len(lost) == 0 {
		return
	}
	var open []AgentFound
	for _, f := range o.Agents {
		if a, known := s.foundAgent(f); s.mayTakeUp(a, known) {
			if a.Conversation != "" { // a hook knows better than the arguments
				f.Conversation = a.Conversation
			}
			open = append(open, f)
		}
	}
	for i, is := range assign(lost, open) {
		switch {
		case is.agent != "":
			s.takeUp(s.found(open[i], is.agent))
		case len(is.maybe) > 0:
			a := s.found(open[i], "")
			a.Maybe = strings.Join(is.maybe, " ")
			s.put(a)
			s.memory = false
		}
	}
}

// forgetDoubts forgets what agents of a server may be.
func (s *step) forgetDoubts(server string) {
	each(s, doubtful, func(a Agent) bool {
		if a.Place.Server == server || a.Gone != "" {
			a.Maybe = ""
			s.put(a)
			s.memory = false
		}
		return true
	})
}

// foundAgent is the agent that a found process is known as.
func (s *step) foundAgent(f AgentFound) (Agent, bool) {
	if a, ok := agentWhere(s, AtProcess(f.Proc), func(a Agent) bool { return a.Proc == f.Proc }); ok {
		return a, true
	}
	// One that we have started: known is the process of its pane, which may run its program by way of another.
	if a, ok := agentWhere(s, AtProcess(f.Runner), func(a Agent) bool { return a.Ours && a.Gone == "" && a.Runner == f.Runner }); ok && f.Runner.PID != 0 {
		return a, true
	}
	if f.Nonce == "" {
		return Agent{}, false
	}
	// One that we are just starting: its pane may be known before its process is.
	return agentWhere(s, ofNonce(f.Nonce), func(a Agent) bool { return a.Ours && a.Gone == "" && a.Proc.PID == 0 })
}

// mayTakeUp says that a found agent may be one that has come back: it is none that has something to do already.
func (s *step) mayTakeUp(a Agent, known bool) bool {
	return !known || a.Gone == "" && !a.unbound() && !a.resuming() && !s.hasRole(a.ID)
}

// hasRole says that an agent is a worker or has a run's seat.
func (s *step) hasRole(agent string) bool {
	_, works := worksAs(s, agent)
	_, leads := openRun(s, func(r Run) bool { return r.Coordinator == agent })
	return works || leads
}

// found is the agent that runs in a found pane, from now on known. It has the conversation of the one that it is.
func (s *step) found(f AgentFound, is string) Agent {
	a, known := s.foundAgent(f)
	if !known {
		a = Agent{ID: s.next("a"), Kind: f.Kind, Proc: f.Proc, Place: f.Place, Since: s.at, LastSeen: s.at}
		s.put(a)
		s.log("agent-seen", Event{Agent: a.ID})
	}
	if old, ok := get[Agent](s, "agent/"+is); ok && a.Conversation == "" {
		a.Conversation = old.Conversation
		if a.Transcript == "" {
			a.Transcript = old.Transcript
		}
	}
	s.put(a)
	s.memory = false
	return a
}

// agentMoved takes the place where an agent's pane stands now.
func (s *step) agentMoved(o AgentMoved) {
	a, ok := get[Agent](s, "agent/"+o.Agent)
	if !ok || a.Gone != "" || a.Place.Server != o.Place.Server || a.Place.Pane != o.Place.Pane {
		s.memory = true
		return
	}
	o.Place.Dir = a.Place.Dir // where it was started, whatever its shell does
	a.Place = o.Place
	s.put(a)
}

// An assigned is what is known of a found agent: which lost one it is, or else which it may be.
type assigned struct {
	agent string
	maybe []string
}

// assign says of each found agent which lost one it is. By weight: the conversation that it runs; then the secret that we
// gave to one. Each is an assignment only where it is unique. That the kind, the folder and the names fit says what may
// be, and never decides: another conversation in a window of the same name would get what is not its own.
func assign(lost []Agent, found []AgentFound) []assigned {
	list := make([]assigned, len(found))
	taken := map[string]bool{}
	claim := func(fits func(f AgentFound, a Agent) bool) {
		for i, f := range found {
			if list[i].agent != "" || len(list[i].maybe) > 0 {
				continue
			}
			var ids []string
			for _, a := range lost {
				if !taken[a.ID] && fits(f, a) {
					ids = append(ids, a.ID)
				}
			}
			rivals := slices.ContainsFunc(found, func(o AgentFound) bool {
				return o.Proc != f.Proc && slices.ContainsFunc(lost, func(a Agent) bool { return slices.Contains(ids, a.ID) && fits(o, a) })
			})
			switch {
			case len(ids) == 0:
			case rivals || len(ids) > 1:
				list[i].maybe = ids
			default:
				list[i].agent = ids[0]
			}
		}
		for _, is := range list {
			taken[is.agent] = true
		}
	}
	claim(func(f AgentFound, a Agent) bool {
		return f.Conversation != "" && f.Conversation == a.Conversation && f.Kind == a.Kind
	})
	claim(func(f AgentFound, a Agent) bool {
		return f.Conversation == "" && f.Resumes && f.Nonce != "" && f.Nonce == a.Nonce && f.Kind == a.Kind
	})
	for i, f := range found {
		if list[i].agent == "" && len(list[i].maybe) == 0 && f.Conversation == "" && f.Resumes {
			list[i].maybe = likest(lost, taken, f)
		}
	}
	return list
}

// likest are the lost agents that a found one is most like: those of its kind and folder, and of these the ones whose
// window, and then session, has its name.
func likest(lost []Agent, taken map[string]bool, f AgentFound) (ids []string) {
	best := 0
	for _, a := range lost {
		n := likeness(a, f)
		switch {
		case n == 0 || taken[a.ID] || n < best:
		case n > best:
			best, ids = n, []string{a.ID}
		default:
			ids = append(ids, a.ID)
		}
	}
	return ids
}

func likeness(a Agent, f AgentFound) int {
	if a.Kind != f.Kind || a.Place.Dir != f.Place.Dir {
		return 0
	}
	n := 1
	if name := a.windowName(); name != "" && name == f.Place.WindowName {
		n += 2
	}
	if a.Place.SessionName != "" && a.Place.SessionName == f.Place.SessionName {
		n++
	}
	return n
}

// windowName is how the window of an agent was called.
func (a Agent) windowName() string {
	if a.Place.WindowName != "" {
		return a.Place.WindowName
	}
	return a.Name
}
