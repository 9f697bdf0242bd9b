package orch

import "strings"

// identity is who a caller is.
type identity struct {
	agent *Agent // nil for a person
	// child says that the caller is an agent process below that agent, and so not the agent itself.
	child bool
}

// who finds the agent that is nearest above a caller. An agent that has never been seen is put. An agent
// is a process: a hook or a call belongs to it when exactly one agent process stands between the caller and
// the pane, and that one is the agent's.
func (s *step) who(by Caller) identity {
	id := whoIs(s, by)
	if by.Shared != "" && id.agent != nil && id.agent.ID != "" {
		s.put(*id.agent) // it may have got its conversation
	}
	if id.agent != nil && id.agent.ID == "" {
		id.agent.ID = s.next("a")
		s.put(*id.agent)
		a, _ := get[Agent](s, id.agent.Key())
		id.agent = &a
		s.log("agent-seen", Event{Agent: a.ID})
	} else if id.agent != nil && !id.child && by.Shared == "" {
		s.rebind(id.agent, by)
	}
	return id
}

// rebind takes the agent's own process where only a wrapper was known.
func (s *step) rebind(a *Agent, by Caller) {
	links := agents(by.Chain)
	if len(links) == 0 || a.Gone != "" {
		return
	}
	if top := links[len(links)-1]; top.Process != a.Proc && len(links) == 1 {
		a.Proc = top.Process
		s.put(*a)
	}
}

// IsAgent tells whether a caller is an agent, or something below one.
func IsAgent(v View, by Caller) bool { return whoIs(v, by).agent != nil }

// whoIs is who without changing anything; an agent that has never been seen has no id.
func whoIs(v View, by Caller) identity {
	if by.Shared != "" {
		a, err := seatOf(v, by)
		if err != nil {
			return identity{}
		}
		return identity{agent: &a, child: len(agents(by.Chain)) > 0}
	}
	if by.As != "" {
		if a, ok := agentAs(v, by); ok {
			return identity{agent: &a, child: len(agents(by.Chain)) > 1}
		}
	}
	links := agents(by.Chain)
	if a, ok := boundIn(v, by.Chain); ok {
		return identity{agent: &a, child: len(links) > 1}
	}
	if len(by.Chain) == 0 && by.Nonce != "" { // a sandbox without processes
		if a, ok := agentWhere(v, ofNonce(by.Nonce), func(Agent) bool { return true }); ok {
			return identity{agent: &a, child: elsewhere(a, by)}
		}
	}
	if a, ok := talking(v, by); ok { // it was found, and so has no secret
		return identity{agent: &a}
	}
	if len(links) == 0 {
		return identity{}
	}
	if a, ok := agentWhere(v, ofNonce(by.Nonce), Agent.unbound); ok && by.Nonce != "" {
		return identity{agent: &a, child: len(links) > 1}
	}
	top := links[len(links)-1]
	a := Agent{Kind: top.Kind, Proc: top.Process, Place: by.Place, Model: top.Model, Flags: top.Flags}
	return identity{agent: &a, child: len(links) > 1}
}

// talking finds the adopted worker whose conversation a caller out of a sandbox without processes tells, where it has no secret
// to tell. The id of a conversation can't be guessed.
func talking(v View, by Caller) (Agent, bool) {
	if len(by.Chain) > 0 || by.Nonce != "" || by.Thread == "" || by.Path != "sandbox" {
		return Agent{}, false
	}
	return agentWhere(v, LiveAgents, func(a Agent) bool {
		w, ok := workerOf(v, a.ID)
		return !a.Ours && a.Conversation == by.Thread && ok && w.Adopted
	})
}

// unbound tells that of an agent that we started neither its process nor its pane's is known yet: where a daemon was
// killed meanwhile, a hook may overtake whoever tells of them. Then its secret says whose it is.
func (a Agent) unbound() bool {
	return a.Ours && a.Gone == "" && a.Proc.PID == 0 && a.Runner.PID == 0
}

// elsewhere tells that a caller belongs to another conversation than the agent whose secret it has: a further agent
// that runs inside of that one inherits its environment.
func elsewhere(a Agent, by Caller) bool {
	return by.Thread != "" && a.Conversation != "" && by.Thread != a.Conversation
}

// CheckAs refuses a caller who speaks as an agent that nobody knows, since what is asked would else be answered
// for somebody else, an agent that speaks as another one, and one of which it can't be told which it is.
func CheckAs(v View, by Caller) *Error {
	if by.Shared != "" {
		_, err := seatOf(v, by)
		return err
	}
	if by.As == "" {
		return nil
	}
	a, ok := agentAs(v, by)
	if !ok {
		return refuse("agent_not_found", "st agents", "--as %s: no such agent", by.As)
	}
	if own, ok := boundIn(v, by.Chain); ok && own.ID != a.ID {
		return refuse("not_yours", "", "%s may not speak as %s", own.ID, a.ID)
	}
	return nil
}

// boundIn finds the newest agent whose process, or whose pane's process, stands in the chain.
func boundIn(v View, chain []Link) (found Agent, ok bool) {
	for _, l := range chain {
		each(v, AtProcess(l.Process), func(a Agent) bool {
			if !ok || idNumber("a", a.ID) > idNumber("a", found.ID) {
				found, ok = a, true
			}
			return true
		})
	}
	return found, ok
}

func agents(chain []Link) []Link {
	var links []Link
	for _, l := range chain {
		if l.Kind != "" {
			links = append(links, l)
		}
	}
	return links
}

func agentAs(v View, by Caller) (Agent, bool) {
	if strings.HasPrefix(by.As, "%") {
		return agentWhere(v, LiveAgents, func(a Agent) bool {
			return a.Place.Pane == by.As && a.Place.Server == by.Place.Server
		})
	}
	return get[Agent](v, "agent/"+by.As)
}

// agentWhere returns the newest agent on a shelf for which f holds.
func agentWhere(v View, shelf string, f func(Agent) bool) (Agent, bool) {
	var found Agent
	each(v, shelf, func(a Agent) bool {
		if f(a) {
			found = a
		}
		return true
	})
	return found, found.ID != ""
}

// name is how the history calls a caller.
func (id identity) name() string {
	if id.agent == nil {
		return "person"
	}
	return id.agent.ID
}

// ear is the key under which a caller's wait remembers what it has been told.
func ear(v View, by Caller) string {
	if id := whoIs(v, by); id.agent != nil && id.agent.ID != "" {
		return id.agent.ID
	}
	return earAt(by.Place)
}

// earAt is the ear of a person who sits there.
func earAt(p Place) string {
	if p.Pane != "" {
		return p.Server + p.Pane
	}
	return "person"
}
