package orch

import (
	"cmp"
	"slices"
	"strings"
)

// An agent that runs already becomes a worker. Nothing is done to it but what a task of the run asks for, and nothing else of
// it changes: its person goes on to use it, and what it coordinates stays its own.

// WorkerAdopt makes a running agent a worker of the caller's run. Answer: AdoptAnswer.
type WorkerAdopt struct {
	Target string `json:"target"`         // as the caller names it: a pane, a window, an agent, a name
	Name   string `json:"name,omitempty"` // "" = that of its agent, else kind and number
	Task   string `json:"task,omitempty"` // id of a task that is ready, "" for none

	// Found by the daemon before the order reaches Step.
	Found   []PaneAgent `json:"found"`
	CopyDir string      `json:"copy_dir"`       // folder of the files that it is to read, of plain characters
	Runs    bool        `json:"runs,omitempty"` // as in TaskAssign
	Command string      `json:"command"`        // as in WorkerStart
	May     May         `json:"may"`
}

// PaneAgent is an agent program that runs in a pane, below no other.
type PaneAgent struct {
	Process Process `json:"process"`
	Kind    string  `json:"kind"`
	Place   Place   `json:"place"`
	// Lifts are those of its arguments that lift permissions. Mate says that another agent has started it for itself and
	// tells it what to do.
	Lifts []string `json:"lifts,omitempty"`
	Mate  bool     `json:"mate,omitempty"`
	// Model and Flags (a line each) are those of its arguments that hold for its conversation. Which that is its program
	// records: "" where nothing tells. Log is that conversation's own log, Last the line by which a person takes up the last
	// conversation of a folder.
	Model        string `json:"model,omitempty"`
	Flags        string `json:"flags,omitempty"`
	Conversation string `json:"conversation,omitempty"`
	Log          string `json:"log,omitempty"`
	Last         string `json:"last,omitempty"`
}

// Type is the name on the wire.
func (WorkerAdopt) Type() string { return "worker-adopt" }

func (s *step) workerAdopt(o WorkerAdopt) *Error {
	id := s.who(s.in.By)
	if id.child {
		return refuse("not_yours", "", "an agent that was started inside %s may not adopt workers for it; only %[1]s itself may", id.name())
	}
	a, f, err := s.adoptee(o, id)
	if err != nil {
		return err
	}
	if w, d, ok := s.adoptedFor(a, o.Task); ok {
		s.answerAdopt(w.ID, d, false, true)
		return nil
	}
	run, t, fresh, err := s.adopter(o, id)
	if err != nil {
		return err
	}
	if w, ok := workerOf(s, a.ID); ok && w.Run == run.ID {
		return s.adoptedAlready(w, o, fresh)
	}
	depth, err := s.mayAdopt(a, f, run, id, o)
	if err != nil {
		return err
	}
	name, err := s.adoptedName(run, a, o.Name)
	if err != nil {
		return err
	}
	w := s.adopt(a, Worker{Run: run.ID, Name: name, By: id.id(), Depth: depth, Command: o.Command}, o)
	d := Dispatch{}
	if t.ID != "" {
		d = s.furtherDispatch(t, w, a, TaskAssign{Command: o.Command})
		s.log("task-assigned", Event{Worker: w.ID, Agent: a.ID, Task: t.ID, Dispatch: d.ID, By: id.name()})
	}
	s.answerAdopt(w.ID, d, fresh, false)
	return nil
}

// adoptedFor is the worker that an agent is already for that very task: whoever asks again hears so.
func (s *step) adoptedFor(a Agent, task string) (Worker, Dispatch, bool) {
	if task == "" {
		return Worker{}, Dispatch{}, false
	}
	t, _, _, err := s.taskOrdered(task)
	d, ok := get[Dispatch](s, "dispatch/"+t.Dispatch)
	w, works := workerOf(s, a.ID)
	return w, d, err == nil && ok && works && w.Adopted && d.Worker == w.ID && w.Released == nil
}

func (s *step) answerAdopt(worker string, d Dispatch, fresh, already bool) {
	s.answer = func() any {
		w, _ := get[Worker](s, "worker/"+worker)
		return AdoptAnswer{StartAnswer: StartAnswer{Run: w.Run, NewRun: fresh, Worker: w.ID, Name: w.Name, Task: d.Task, Dispatch: d.ID, Agent: w.Agent}, Already: already}
	}
}

// adoptee is the agent that is meant, which its hooks have told of.
func (s *step) adoptee(o WorkerAdopt, id identity) (a Agent, f PaneAgent, err *Error) {
	switch {
	case len(o.Found) == 0:
		return a, f, refuse("agent_not_found", "st agents", "no agent runs in %s", o.Target)
	case len(o.Found) > 1:
		return a, f, severalFound(o)
	}
	f = o.Found[0]
	if f.Mate {
		return a, f, refuse("refused", "st agents", "the agent in %s is a member of another agent's own team, which manages it", f.Place.Pane)
	}
	a, ok := agentWhere(s, AtProcess(f.Process), func(a Agent) bool { return a.Gone == "" && a.Proc == f.Process })
	switch {
	case ok && id.agent != nil && id.agent.ID == a.ID:
		return a, f, refuse("refused", "st agents", "%s is you: an agent can't be its own worker", a.ID)
	case ok && s.quits(a):
		return a, f, refuse("not_ready", "st agents", "the agent %s in %s is being ended, to be started again", a.ID, f.Place.Pane)
	case ok && s.stopping(a):
		return a, f, refuse("not_ready", "st agents", "the agent %s in %s is being stopped", a.ID, f.Place.Pane)
	case ok && a.Hooked:
		return a, f, nil
	case ok && a.Ours:
		return a, f, refuse("not_ready", "st agents", "the agent %s in %s has only been started, and no hook of it has come yet", a.ID, f.Place.Pane)
	}
	return a, f, noHooks(f, cmp.Or(a.Conversation, f.Conversation))
}

// noHooks says how an agent gets hooks that has none, in the same conversation: a program reads them when it starts.
func noHooks(f PaneAgent, conversation string) *Error {
	pane := f.Place.Pane
	e := refuse("no_hooks", "st worker restart "+pane+" --yes", "no hook of the agent in %s (%s) has come, so nothing would tell what it does", pane, f.Kind)
	if conversation != "" {
		e.Hint = "a program reads its hooks when it starts: a person starts it again, in its conversation; nothing tells whether its turn runs, so look first. Then adopt the agent that this names"
		return e
	}
	return restartedByHand(e, f)
}

// restartedByHand says how a person takes up an agent's conversation with hooks where nothing tells which that is.
func restartedByHand(e *Error, f PaneAgent) *Error {
	e.Hint = "a program reads its hooks when it starts, and nothing tells which conversation this one has: with hooks installed, end it, take its conversation up again in the same pane, and adopt it then"
	e.Next = []string{"st hooks install --agent " + f.Kind}
	if f.Last != "" {
		e.Next = append(e.Next, f.Last)
	}
	e.Next = append(e.Next, "st worker adopt "+f.Place.Pane)
	return e
}

func severalFound(o WorkerAdopt) *Error {
	e := refuse("refused", "", "%s means several agents: say which by its pane", o.Target)
	for _, f := range o.Found {
		e.Next = append(e.Next, "st worker adopt "+f.Place.Pane)
	}
	return e
}

// adopter is the run that gets the worker, and the task that is to be its first; where there is no run one is made.
func (s *step) adopter(o WorkerAdopt, id identity) (run Run, t Task, fresh bool, err *Error) {
	if o.Task != "" {
		if t, run, _, err = s.taskOrdered(o.Task); err == nil {
			err = s.notReady(t)
		}
		return run, t, false, err
	}
	if run, fresh, err = s.runForStart(id, WorkerStart{Title: "with " + o.Target}); err != nil {
		return run, t, fresh, err
	}
	if run.Ended != nil {
		return run, t, fresh, refuse("run_ended", "st orch start --objective '…'", "run %s has ended", run.ID)
	}
	if err := fence(run, id); err != nil {
		return run, t, fresh, err
	}
	if w, ok := workerOf(s, id.id()); id.agent != nil && id.agent.ID != run.Coordinator && (!ok || w.Run != run.ID) {
		return run, t, fresh, refuse("not_yours", "st orch show "+run.ID, "%s is neither the coordinator nor a worker of run %s", id.name(), run.ID)
	}
	return run, t, fresh, nil
}

func (s *step) adoptedAlready(w Worker, o WorkerAdopt, fresh bool) *Error {
	if o.Task != "" {
		return refuse("refused", "st task assign "+o.Task+" "+w.ID, "%s is worker %s of run %s already: give it the task", w.Agent, w.ID, w.Run)
	}
	s.answerAdopt(w.ID, Dispatch{}, fresh, true)
	return nil
}

// mayAdopt says why an agent can't become a worker of a run, or how deep it will be.
func (s *step) mayAdopt(a Agent, f PaneAgent, run Run, id identity, o WorkerAdopt) (depth int, err *Error) {
	w, works := workerOf(s, a.ID)
	theirs, _ := get[Run](s, "run/"+w.Run)
	switch {
	case a.Place.Pane == "" && f.Place.Pane == "":
		return 0, refuse("refused", "st agents", "%s sits in no pane in which a line could be typed to it", a.ID)
	case a.ID == run.Coordinator:
		return 0, refuse("refused", "st orch show "+run.ID, "%s is the coordinator of run %s and can't be its worker too", a.ID, run.ID)
	case works && theirs.Ended == nil:
		e := refuse("refused", "st worker release "+w.ID, "%s is worker %s of run %s, and an agent works for one run", a.ID, w.ID, w.Run)
		e.Next = append(e.Next, "st orch use "+w.Run)
		return 0, e
	case under(s, id.id(), a.ID), under(s, run.Coordinator, a.ID):
		return 0, refuse("refused", "st tree", "%s stands above run %s, and can't work for it too", a.ID, run.ID)
	}
	if err := s.mayStart(id, WorkerStart{Kind: a.Kind, Lifts: f.Lifts, Runs: o.Runs, May: o.May}); err != nil {
		return 0, err
	}
	if own, ok := workerOf(s, id.id()); ok && id.agent != nil && len(own.Scope) > 0 {
		return 0, refuse("scope", "st escalate '…'", "worker %s has a scope (%s), and an agent that runs already can't be held to it", own.ID, own.Scope)
	}
	return s.depth(id, run, height(s, a.ID))
}

// adoptedName is what an adopted worker is called.
func (s *step) adoptedName(run Run, a Agent, wished string) (string, *Error) {
	if wished == "" && a.Name != "" && taken(s, run.ID, a.Name) == "" {
		wished = a.Name
	}
	return s.newName(run, WorkerStart{Name: wished, Kind: a.Kind})
}

// adopt makes the worker. What its agent has been in a run that has ended it is no more.
func (s *step) adopt(a Agent, w Worker, o WorkerAdopt) Worker {
	if was, ok := workerOf(s, a.ID); ok {
		s.release(was, s.who(s.in.By))
	}
	s.dropFreed(a.ID)
	if f := o.Found[0]; f.Place.Pane != "" {
		a.Place = f.Place
	}
	w.ID, w.Kind, w.Agent, w.Dir, w.Created, w.Request, w.Adopted = s.next("w"), a.Kind, a.ID, a.Place.Dir, s.at, s.in.Request, true
	w.State, w.StateSince = taskless, s.at
	if !a.Ours || firstCopy(s, a.ID) == "" { // it was started by us with the files of a worker, or without any
		w.Files = strings.TrimSuffix(o.CopyDir, "/") + "/" + w.Run + "/" + w.ID
	}
	if a.Name == "" {
		a.Name = w.Name
	}
	s.put(a)
	s.put(w)
	s.log("worker-adopted", Event{Run: w.Run, Worker: w.ID, Agent: a.ID, Text: w.Name})
	return w
}

// KnownAgents lists the panes of the live agents that a name means: an id, or what they are called.
func KnownAgents(v View, name string) (places []Place) {
	each(v, LiveAgents, func(a Agent) bool {
		if (a.ID == name || a.Name == name) && a.Place.Pane != "" && !slices.Contains(places, a.Place) {
			places = append(places, a.Place)
		}
		return true
	})
	return places
}
