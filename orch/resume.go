package orch

import (
	"cmp"
	"slices"
	"strings"
)

// Orders that an agent's conversation is taken up in a window of ours: of a worker that somebody restarts, or of any agent
// that may come back. What comes of it follows from its first hook or its input line, as for any other (see succeed).
type (
	// WorkerRestart ends a worker's agent, where it lives, and starts it again with its conversation. Answer: ResumeAnswer.
	WorkerRestart struct {
		Worker string `json:"worker"`
		Yes    bool   `json:"yes,omitempty"` // also where a turn runs, or somebody has begun to write to it
		// Found is the agent that is meant, where that is named by its pane: one that is no worker.
		Found *PaneAgent `json:"found,omitempty"`
		// Start is how: a place, a program and an environment.
		Start WorkerStart `json:"start"`
	}
	// AgentResume starts an agent that may come back. Answer: ResumeAnswer.
	AgentResume struct {
		Agent string      `json:"agent"`
		Start WorkerStart `json:"start"`
	}
	// ResumeAnswer says who takes the conversation up.
	ResumeAnswer struct {
		Worker  string `json:"worker"` // id, "" for an agent that is none
		Agent   string `json:"agent"`
		From    string `json:"from"`
		EnvFile string `json:"env_file"`
	}
	// ResumeInfo is how that goes.
	ResumeInfo struct {
		Worker WorkerInfo `json:"worker"`
		Agent  AgentInfo  `json:"agent"` // the one that takes the conversation up
		From   string     `json:"from"`
		Taken  bool       `json:"taken"` // it has all that the other had, in a window that is known
		Gone   bool       `json:"gone"`  // it has ended without that
		Error  *Error     `json:"error"` // why no window was opened, or the other was not ended
		// TimedOut says that whoever asked has waited too long; Shows is what its window shows then, "" where that can't be told.
		TimedOut bool     `json:"timed_out"`
		Shows    string   `json:"shows"`
		Next     []string `json:"next"` // commands to type
	}
	// ResumeArgs name an agent that takes a conversation up; Shows asks for what its window shows.
	ResumeArgs struct {
		Agent string
		Shows bool
	}
)

// Types on the wire.
func (WorkerRestart) Type() string { return "worker-restart" }
func (AgentResume) Type() string   { return "agent-resume" }

// workerRestart takes up a worker's conversation in a new window.
func (s *step) workerRestart(o WorkerRestart) *Error {
	if o.Found != nil {
		return s.foundRestart(o, *o.Found)
	}
	w, id, err := s.ordersNamed(o.Worker)
	if err != nil {
		return err
	}
	// What its arguments lift they have lifted before, by whoever started it.
	if err := s.mayStart(id, WorkerStart{Kind: w.Kind, EnvNames: o.Start.EnvNames, May: o.Start.May}); err != nil {
		return err
	}
	old, _ := get[Agent](s, "agent/"+w.Agent)
	if err = s.related(w); err == nil && old.Gone == "" { // it would be ended
		err = s.mayStop(w, id)
	}
	if err != nil {
		return err
	}
	if err := s.mayRestart(w, old, o.Yes); err != nil {
		return err
	}
	for _, name := range w.EnvNames {
		if !slices.Contains(o.Start.EnvNames, name) {
			return refuse("usage", "st worker restart "+w.ID+" --env "+name+"=…", "worker %s was started with --env %s, and its value is kept nowhere: say it again", w.ID, name)
		}
	}
	next := s.resume(old, o.Start, o.Yes)
	s.log("worker-restarted", Event{Worker: w.ID, Agent: next.ID, By: id.name(), Text: "from " + old.ID})
	s.answerResume(next, o.Start)
	return nil
}

// foundRestart starts an agent again that is no worker, in its conversation, so that it has our hooks.
func (s *step) foundRestart(o WorkerRestart, f PaneAgent) *Error {
	pane := f.Place.Pane
	if id := s.who(s.in.By); id.agent != nil {
		return refuse("refused_agent", "st worker restart "+pane+" --yes", "the agent in %s is no worker, so only a person may end and start it", pane)
	}
	if f.Mate {
		return refuse("refused", "st agents", "the agent in %s is a member of another agent's own team, which manages it", pane)
	}
	a, known := agentWhere(s, AtProcess(f.Process), func(a Agent) bool { return a.Gone == "" && a.Proc == f.Process })
	if w, ok := workerOf(s, a.ID); ok && known && w.Released == nil {
		return refuse("refused", "st worker restart "+w.ID, "the agent in %s is worker %s", pane, w.ID)
	}
	if !known {
		a = Agent{ID: s.next("a"), Kind: f.Kind, Proc: f.Process, Place: f.Place, Since: s.at, LastSeen: s.at, Model: f.Model, Flags: f.Flags, Status: unknown}
	}
	if a.Conversation == "" {
		a.Conversation, a.Transcript = f.Conversation, f.Log
	}
	switch {
	case a.Conversation == "":
		return restartedByHand(refuse("no_conversation", "", "the agent in %s (%s) can't be started again in its conversation: nothing tells which that is", pane, f.Kind), f)
	case !o.Yes && a.Status != idle && a.Status != ready:
		e := refuse("unsettled", "st agents", "the agent in %s was not restarted: its turn may run, and would be cut off", pane)
		e.Next = append(e.Next, "st worker restart "+pane+" --yes")
		return e
	}
	if err := s.resumedAlready(a); err != nil {
		return err
	}
	s.put(a)
	next := s.resume(a, o.Start, o.Yes)
	s.log("agent-restarted", Event{Agent: next.ID, By: s.who(s.in.By).name(), Text: "from " + a.ID})
	s.answerResume(next, o.Start)
	return nil
}

// agentResume takes up the conversation of an agent that may come back.
func (s *step) agentResume(o AgentResume) *Error {
	old, ok := get[Agent](s, "agent/"+o.Agent)
	if !ok {
		return refuse("agent_not_found", "st agents", "agent %q: no such agent", o.Agent)
	}
	if !old.Resumable {
		return refuse("not_ready", "st agents", "agent %s is none that may come back: it is %s", old.ID, old.Status)
	}
	w, _ := worksAs(s, old.ID)
	if err := s.treeTaken(w); err != nil {
		return err
	}
	if err := s.resumedAlready(old); err != nil {
		return err
	}
	s.answerResume(s.resume(old, o.Start, false), o.Start)
	return nil
}

func (s *step) answerResume(next Agent, o WorkerStart) {
	w, _ := worksAs(s, next.Resumes)
	s.answer = func() any {
		return ResumeAnswer{Worker: w.ID, Agent: next.ID, From: next.Resumes, EnvFile: o.EnvFile}
	}
}

// mayRestart says why a worker's conversation can't be taken up, or not now.
func (s *step) mayRestart(w Worker, a Agent, yes bool) *Error {
	d, _ := get[Dispatch](s, "dispatch/"+w.Dispatch)
	anew := func(format string, args ...any) *Error {
		e := refuse("no_conversation", "st worker retry "+w.ID, format, args...)
		if a.Gone == "" {
			e.Next = append([]string{"st worker stop " + w.ID + " --yes"}, e.Next...)
		}
		e.Hint = "its task can be begun anew:"
		return e
	}
	switch {
	case w.Stopping != nil:
		return refuse("stopped", "st worker retry "+w.ID, "worker %s %q was stopped, so there is nothing to go on with", w.ID, w.Name)
	case s.unordered(d):
		return refuse("not_ready", "st worker show "+w.ID, "worker %s %q has no window yet", w.ID, w.Name)
	case a.Conversation == "":
		return anew("the conversation of worker %s %q is not known: no hook has told of it", w.ID, w.Name)
	case a.Ours && !a.HadTurn && d.Submitted == nil:
		return anew("worker %s %q has had no turn, so there is no conversation to take up", w.ID, w.Name)
	case d.Closed == gone && !s.mayReopen(d):
		return refuse("not_ready", "st task show "+d.Task, "worker %s %q is gone, and its task %s has gone on without it", w.ID, w.Name, d.Task)
	case a.Gone == "" && !yes:
		if err := s.disturbs(w, a); err != nil {
			return err
		}
	}
	if err := s.treeTaken(w); err != nil {
		return err
	}
	return s.resumedAlready(a)
}

// disturbs refuses to end an agent that is at something.
func (s *step) disturbs(w Worker, a Agent) *Error {
	what := ""
	switch {
	case a.Status == unknown:
		what = "nothing tells whether its turn runs"
	case a.Screen == draft:
		what = "somebody has begun to write in its input line"
	case a.Status != idle && a.Status != ready:
		what = "it is " + strings.ReplaceAll(a.Status, "_", " ")
	default:
		return nil
	}
	e := refuse("unsettled", "st worker wait "+w.ID, "worker %s %q was not restarted: %s", w.ID, w.Name, what)
	e.Next = append(e.Next, "st worker restart "+w.ID+" --yes")
	return e
}

// resumedAlready refuses a second program with one conversation, and to give back what has gone over to another.
func (s *step) resumedAlready(a Agent) *Error {
	if next, ok := get[Agent](s, "agent/"+a.Restart); ok && next.Gone == "" {
		return refuse("not_ready", "st agents", "the conversation of agent %s is being taken up already, by agent %s", a.ID, next.ID)
	}
	return s.goesOnAlready(a)
}

// goesOnAlready refuses to take up a conversation that another agent has than the one that was started last for it.
func (s *step) goesOnAlready(a Agent) *Error {
	next, runs := agentWhere(s, ofConversation(a.Kind, a.Conversation), func(o Agent) bool { return o.ID != a.ID && o.ID != a.Restart && o.Gone == "" })
	if !runs && a.Next == "" {
		return nil
	}
	e := refuse("not_ready", "st agents", "the conversation of agent %s goes on already, in agent %s", a.ID, cmp.Or(next.ID, a.Next))
	if w, ok := worksAs(s, a.ID); ok {
		e.Next = append(e.Next, "st worker retry "+w.ID)
	}
	return e
}

// resume makes the agent that is to take up another's conversation. Its window is ordered as soon as the other has ended.
func (s *step) resume(old Agent, o WorkerStart, yes bool) Agent {
	w, works := worksAs(s, old.ID)
	dir := cmp.Or(w.Dir, old.Place.Dir)
	a := Agent{ID: s.next("a"), Kind: old.Kind, Name: old.Name, Ours: true, Mute: o.Mute, Blind: old.Blind, ByMark: old.ByMark, Nonce: s.in.Nonce, Conversation: old.Conversation,
		Transcript: old.Transcript, Resumes: old.ID, Model: old.Model, Flags: old.Flags, Place: o.Target, Since: s.at, LastSeen: s.at}
	a.Place.Dir = dir
	open := PaneOpen{Agent: a.ID, Worker: w.ID, Dispatch: w.Dispatch, Kind: a.Kind, Target: o.Target, Name: cmp.Or(o.Name, old.windowName(), a.ID), Dir: dir,
		Program: o.Program, Model: cmp.Or(w.Model, old.Model), Args: append(slices.Clone(w.Args), old.flags()...), Scope: w.Scope, EnvFile: o.EnvFile, Nonce: a.Nonce,
		Run: w.Run, Command: w.Command, Resume: a.Conversation, Log: old.Transcript, Shell: !works, Leaves: old.Place}
	if works {
		open.Copy = firstCopy(s, old.ID)
	}
	stop := old.hasPane() && !old.Resumable
	old.Restart = a.ID
	if old.Gone != "" && !old.Resumable { // somebody wants it back, however it went
		old.Resumable = true
		if !old.comesBack() {
			old.Gone = exited
		}
		if d, ok := get[Dispatch](s, "dispatch/"+w.Dispatch); ok {
			s.reopen(d)
		}
	}
	back := old.Gone != ""
	if stop {
		a.Opens = &open
		end := old.stop()
		end.Gently, end.Keeps = !yes, true
		s.do(end)
	} else {
		s.do(open)
	}
	s.put(old)
	s.put(a)
	if back {
		s.answersAgain(old)
	}
	return a
}

// answersAgain gives an agent that may come back what its workers' mail and news were given to another since it was gone.
func (s *step) answersAgain(a Agent) {
	each(s, startedBy(a.ID), func(w Worker) bool {
		s.rebox(w)
		for _, o := range wordsOf(s, w.ID, func(o Word) bool { return o.News != nil && !o.onWay() && o.State != unproved && o.strays(s) }) {
			s.again(o)
		}
		return true
	})
}

// flags are the arguments of an agent that somebody else has started which hold for its conversation.
func (a Agent) flags() []string {
	if a.Flags == "" {
		return nil
	}
	return strings.Split(a.Flags, "\n")
}

// quitFor takes the end of an agent whose conversation another is to take up; false where none is.
func (s *step) quitFor(a Agent, o AgentStopped) bool {
	next, ok := get[Agent](s, "agent/"+a.Restart)
	if !ok || next.Opens == nil || next.Gone != "" {
		return false
	}
	open := *next.Opens
	w, works := worksAs(s, a.ID)
	stays, stopping := o.Lives != "" && a.Gone == "", works && w.Stopping != nil
	if stays || stopping {
		s.notResumed(next, refuse("unsettled", "st worker restart "+w.ID+" --yes", "worker %s %q was not restarted: %s", w.ID, w.Name, cmp.Or(o.Lives, "it was stopped")))
		if stays && stopping {
			s.stopAgent(a)
		}
		return stays
	}
	if a.Gone == "" {
		s.end(a, exited)
	}
	a, _ = get[Agent](s, a.Key())
	if err := s.goesOnAlready(a); err != nil { // somebody has taken it up meanwhile
		s.notResumed(next, err)
		if o.Kept {
			s.stopAgent(a)
		}
		return true
	}
	next.Opens = nil
	next.Conversation, next.Transcript = a.Conversation, a.Transcript // it may have begun another since that was ordered
	open.Resume, open.Log = a.Conversation, a.Transcript
	s.put(next)
	s.do(open)
	return true
}

// notResumed ends the start of an agent that was to take up a conversation, before it has a window.
func (s *step) notResumed(a Agent, why *Error) {
	s.do(LaunchDrop{Agent: a.ID, EnvFile: a.Opens.EnvFile})
	a.Failed = why
	s.end(a, "failed_to_open")
}

// quits says that an agent is being ended so that another may take up its conversation.
func (s *step) quits(a Agent) bool {
	next, ok := get[Agent](s, "agent/"+a.Restart)
	return ok && next.Opens != nil && next.Gone == ""
}

// resumedOpened takes the window that was opened for an agent which takes up a conversation.
func (s *step) resumedOpened(a Agent, o PaneOpened) {
	if a.Opens != nil {
		return // it is not ordered yet
	}
	dir, known := a.Place.Dir, a.Place.Pane != "" // who had it ended then has done so
	a.Place = o.Place
	a.Place.Dir = cmp.Or(dir, a.Place.Dir) // a conversation belongs to the folder in which it began
	if a.Runner.PID == 0 {
		a.Runner = o.Runner
	}
	s.put(a)
	s.log("window-opened", Event{Agent: a.ID, Text: o.Place.Pane})
	if w, ok := worksAs(s, a.Resumes); ok && w.Stopping != nil && !known {
		s.stopAgent(a)
	}
}

// dropResumes ends the agents that were to take up the conversation of one that nobody wants back.
func (s *step) dropResumes(old Agent) {
	next, ok := get[Agent](s, "agent/"+old.Restart)
	if !ok || next.Gone != "" || old.Next != "" {
		return
	}
	if next.Opens != nil {
		s.do(LaunchDrop{Agent: next.ID, EnvFile: next.Opens.EnvFile})
		s.end(next, "stopped")
	} else if next.Place.Pane != "" {
		s.stopAgent(next)
	}
}

// Resuming is how the taking up of a conversation goes.
func Resuming(v View, by Caller, args ResumeArgs) (ResumeInfo, *Error) {
	a, ok := get[Agent](v, "agent/"+args.Agent)
	if !ok || a.Resumes == "" {
		return ResumeInfo{}, refuse("agent_not_found", "st agents", "agent %q: no such agent that takes up a conversation", args.Agent)
	}
	old, _ := get[Agent](v, "agent/"+a.Resumes)
	i := ResumeInfo{Agent: agentInfo(v, a), From: old.ID, Taken: old.Next == a.ID && a.Place.Window != "", Gone: a.Gone != "", Error: a.Failed, Next: []string{}}
	if w, ok := workerOf(v, old.ID); ok {
		i.Worker = workerInfo(v, w.ID)
	}
	return i, nil
}

// Rising are the agents at any server that take up a conversation and do not have it yet: they are being started, or wait for
// a person.
func Rising(v View) (list []ResumeInfo) {
	each(v, LiveAgents, func(a Agent) bool {
		if old, ok := get[Agent](v, "agent/"+a.Resumes); ok && old.Next == "" && (a.resuming() || a.Opens != nil) {
			if i, err := Resuming(v, Caller{}, ResumeArgs{Agent: a.ID}); err == nil && !i.Taken {
				list = append(list, i)
			}
		}
		return true
	})
	return list
}

// PlaceOfWorker is where a worker's agent sits, or sat last; zero where there is no such worker.
func PlaceOfWorker(v View, by Caller, worker string) Place {
	w, err := workerNamed(v, by, worker)
	if err != nil {
		return Place{}
	}
	a, _ := get[Agent](v, "agent/"+w.Agent)
	return a.Place
}

// MayRestore refuses who runs inside of an agent: neither it nor a person has asked for that. What is a person's to decide it
// refuses any agent: to forget what was lost, and, with asked, to build what is kept from before the store was lost.
func MayRestore(v View, by Caller, forget, asked bool) *Error {
	if len(agents(by.Chain)) > 1 {
		return refuse("not_yours", "st restore", "an agent that was started inside another may not restore anything for it")
	}
	if whoIs(v, by).agent == nil && by.Shared == "" && len(agents(by.Chain)) == 0 {
		return nil
	}
	var e *Error
	switch {
	case forget:
		e = refuse("refused_agent", "st restore --forget --yes", "an agent may not say that nobody wants back what was lost")
	case asked:
		e = refuse("refused_agent", "st restore", "the store was lost since, so a person decides on what is built again")
	default:
		return nil
	}
	e.Hint = "a person types it into a shell of their own:"
	return e
}
