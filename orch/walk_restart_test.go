package orch

import (
	"fmt"
	"strings"
)

// restart is what happens to servers and panes, and what an inventory finds.
func (w *walk) restart() What {
	c, _ := get[Counters](w, "counters/")
	id := fmt.Sprint("a", w.agent())
	switch w.Intn(9) {
	case 6:
		return WorkerRestart{Worker: fmt.Sprint("w", w.Intn(c.Worker+1)), Yes: w.Intn(2) == 0, Start: WorkerStart{Target: Place{Server: "s", Session: "$0"}}}
	case 7:
		if held := Sessionless(w); len(held) > 0 && w.Intn(2) == 0 {
			q := held[w.Intn(len(held))]
			w.back[q.Open.Worker] = true
			return SessionBack{Dispatch: q.Open.Dispatch, Target: q.Open.Target}
		}
		if lost := Resumables(w); len(lost) > 0 {
			return AgentResume{Agent: lost[w.Intn(len(lost))].ID, Start: WorkerStart{Target: Place{Server: "s", Session: "$0", Pane: "%0"}}}
		}
		return Tick{}
	case 8:
		return w.ended(w.stopping(), []string{"", "", "its turn has begun"}[w.Intn(3)])
	case 0, 1:
		return AgentExited{Agent: id, Code: w.Intn(3) - 1, Why: []string{"exited", "pane_closed", "server_gone", "server_gone", "server_gone"}[w.Intn(5)]}
	case 2:
		o := ServerSeen{Server: "s"}
		for range w.Intn(4) {
			o.Agents = append(o.Agents, w.found())
		}
		return o
	case 3:
		return WorkerAttach{Worker: fmt.Sprint("w", w.Intn(c.Worker+1)), Found: w.found()}
	case 4:
		return AgentMoved{Agent: id, Place: Place{Server: "s", Pane: "%" + id[1:], Window: "@7"}}
	}
	if w.Intn(20) == 0 {
		return Booted{Boot: fmt.Sprint("boot ", w.Intn(3))}
	}
	return Tick{}
}

// ended is what comes of the order to end an agent. One that still lives, or whose pane was kept, may be ended once more.
func (w *walk) ended(agent, lives string) AgentStopped {
	o := AgentStopped{Agent: agent, Lives: lives, Kept: lives == "" && w.keeps[agent]}
	if o.Lives != "" || o.Kept {
		delete(w.stopped, agent)
	}
	delete(w.keeps, agent)
	return o
}

// stopping is an agent that another waits for, or any.
func (w *walk) stopping() string {
	id := fmt.Sprint("a", w.agent())
	each(w, LiveAgents, func(a Agent) bool {
		if a.Opens != nil && w.Intn(2) == 0 {
			id = a.Resumes
		}
		return true
	})
	return id
}

// holdResume: of one conversation at most one program is being started, and none while that lives which it follows, or
// where it goes on in another.
func (w *walk) holdResume(in Input, effects []Effect) {
	for _, e := range effects {
		o, ok := e.Do.(PaneOpen)
		if !ok || o.Resume == "" {
			continue
		}
		each(w, ofConversation(o.Kind, o.Resume), func(a Agent) bool {
			if a.Gone == "" && a.ID != o.Agent {
				w.Errorf("the window of %s is ordered with the conversation of %s, which lives, after %T", o.Agent, a.ID, in.What)
			}
			return true
		})
	}
	begun := map[string]string{}
	each(w, LiveAgents, func(a Agent) bool {
		old, _ := get[Agent](w, "agent/"+a.Resumes)
		switch {
		case a.Resumes == "" || old.Next == a.ID:
		case begun[old.ID] != "":
			w.Errorf("%s and %s take up the conversation of %s, after %T", begun[old.ID], a.ID, old.ID, in.What)
		case old.Gone == "" && a.Opens == nil:
			w.Errorf("%s has its window while %s lives, after %T", a.ID, old.ID, in.What)
		default:
			begun[old.ID] = a.ID
		}
		return true
	})
}

// found is a pane as an inventory may find it: often with the conversation of one that is lost.
func (w *walk) found() AgentFound {
	n := w.Intn(90)
	f := AgentFound{Kind: "demo", Proc: Process{n*10 + 6, 7}, Runner: Process{n*10 + 5, 7}, Place: Place{Server: "s", Pane: fmt.Sprint("%", n)}, Resumes: w.Intn(4) > 0}
	if lost := Resumables(w); len(lost) > 0 && w.Intn(4) > 0 {
		f.Conversation = lost[w.Intn(len(lost))].Conversation
	}
	if !f.Resumes {
		f.Conversation = ""
	}
	return f
}

// holdRestart: who may come back is gone, and keeps its work and what is owed to it; who was succeeded has nothing left;
// nothing goes over to another conversation, unless somebody has said so.
func (w *walk) holdRestart(in Input, before map[string]Dispatch, c Changes) {
	_, attached := in.What.(WorkerAttach)
	for _, e := range c.Events {
		if e.Type != "agent-resumed" {
			continue
		}
		to, _ := get[Agent](w, "agent/"+e.Agent)
		from, _ := get[Agent](w, "agent/"+strings.TrimPrefix(e.Text, "from "))
		if !attached && !from.sameTalk(to) || from.Gone == "" || from.Next != to.ID || from.Resumable {
			w.Errorf("what %+v had went to %+v after %T", from, to, in.What)
		}
		_, leads := openRun(w, func(r Run) bool { return r.Coordinator == from.ID })
		if k, works := worksAs(w, from.ID); leads || works && from.comesBack() && k.Stopping == nil {
			w.Errorf("%s was succeeded by %s and leads: %v, works: %s, after %T", from.ID, to.ID, leads, k.ID, in.What)
		}
	}
	each(w, ResumableAgents, func(a Agent) bool {
		k, works := worksAs(w, a.ID)
		d, _ := get[Dispatch](w, "dispatch/"+k.Dispatch)
		closed := d.Closed == gone && before[d.ID].Closed != gone // one that was so before stays, where nothing opens it again
		if a.Gone == "" || a.Conversation == "" || a.Next != "" || works && (closed || k.Stopping != nil || k.State == gone && d.Closed != gone && d.Closed != "stopped") {
			w.Errorf("%s may come back and its work is %s (%s), after %T: %+v", a.ID, k.State, d.Closed, in.What, a)
		}
		return true
	})
}
