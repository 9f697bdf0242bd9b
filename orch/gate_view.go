package orch

import "time"

// GateInfo is a gate as it is shown.
type GateInfo struct {
	ID         string        `json:"id"`
	Run        string        `json:"run"`
	Question   string        `json:"question"`
	Options    []string      `json:"options"` // none = any choice
	Task       string        `json:"task"`    // that it holds
	By         string        `json:"by"`      // agent id of who asks, "" for a person
	Worker     string        `json:"worker"`  // that this agent is
	Status     string        `json:"status"`  // open answered cancelled timed_out
	Created    time.Time     `json:"created"`
	Deadline   *time.Time    `json:"deadline"`
	Choice     string        `json:"choice"`
	AnsweredBy string        `json:"answered_by"` // which person: terminal, pane and time of the key
	Evidence   *EvidenceInfo `json:"evidence"`
	Closed     *time.Time    `json:"closed"`
}

// EvidenceInfo is what was seen of the person who answered.
type EvidenceInfo struct {
	Client  string    `json:"client"` // terminal
	Server  string    `json:"server"`
	Session string    `json:"session"` // name
	Pane    string    `json:"pane"`
	Key     time.Time `json:"key"` // when a key was last pressed there
}

// Arguments of views of gates.
type (
	GateArgs  struct{ Gate string } // id
	GatesArgs struct{ All bool }    // also those that are closed
)

// GateOf is one gate by its id.
func GateOf(v View, _ Caller, a GateArgs) (GateInfo, *Error) {
	g, err := gateNamed(v, a.Gate)
	if err != nil {
		return GateInfo{}, err
	}
	return gateInfo(v, g.ID), nil
}

// Gates lists the open gates, or with All every gate: of the run that is named, else of an agent's own run and for a
// person of all.
func Gates(v View, by Caller, a GatesArgs) ([]GateInfo, *Error) {
	if by.Run == "" && whoIs(v, by).agent == nil {
		if a.All {
			return gatesOn(v, "gate", true), nil
		}
		return gatesOn(v, openGatesShelf, false), nil
	}
	run, err := currentRun(v, by)
	if err != nil {
		if by.Run == "" {
			return []GateInfo{}, nil // an agent without a run
		}
		return nil, err
	}
	return gatesOn(v, Of("gate", run.ID), a.All), nil
}

func gatesOn(v View, shelf string, closed bool) []GateInfo {
	list := []GateInfo{}
	each(v, shelf, func(g Gate) bool {
		if closed || g.Status == GateOpen {
			list = append(list, gateInfo(v, g.ID))
		}
		return true
	})
	return list
}

// OpenGates are the ids of all open gates, the oldest first.
func OpenGates(v View) []string {
	ids := []string{}
	each(v, openGatesShelf, func(g Gate) bool {
		ids = append(ids, g.ID)
		return true
	})
	return ids
}

func gateInfo(v View, id string) GateInfo {
	g, _ := get[Gate](v, "gate/"+id)
	i := GateInfo{ID: g.ID, Run: g.Run, Question: g.Question, Options: list(g.Options), Task: g.Task, By: g.By, Status: g.Status, Created: g.Created,
		Choice: g.Choice, AnsweredBy: g.AnsweredBy, Closed: g.Closed}
	if w, ok := workerOf(v, g.By); ok && g.By != "" {
		i.Worker = w.ID
	}
	if !g.Deadline.IsZero() {
		i.Deadline = ptr(g.Deadline)
	}
	if e := g.Evidence; e != nil {
		i.Evidence = &EvidenceInfo{Client: e.Client, Server: e.Place.Server, Session: e.Place.SessionName, Pane: e.Place.Pane, Key: e.Key}
	}
	return i
}

// Servers are the multiplexer servers in which persons may look: those of live agents and of open runs.
func Servers(v View) []string {
	var list []string
	seen := map[string]bool{"": true}
	add := func(server string) {
		if !seen[server] {
			seen[server] = true
			list = append(list, server)
		}
	}
	each(v, LiveAgents, func(a Agent) bool { add(a.Place.Server); return true })
	each(v, openRuns, func(r Run) bool { add(r.Place.Server); return true })
	return list
}
