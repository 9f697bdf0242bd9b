package orch

import (
	"slices"
	"strings"
	"time"
)

// Statuses of an agent.
const (
	starting   = "starting"
	ready      = "ready"
	working    = "working"
	background = "working_background"
	waiting    = "waiting"
	idle       = "idle"
	compacting = "compacting"
	gone       = "gone"
	unknown    = "unknown"
)

// inputLine is the name of the screen on which a line may be typed; draft is the same with something in it.
const (
	inputLine = "ready"
	draft     = "draft"
)

// blocking are the screens on which an agent waits for a person; their names are what it waits for.
var blocking = []string{"permission", "question", "gate", "limit", "login", "trust", "api_key", "auto_mode", "hooks_review", "update",
	"bypass", "mcp", "imports"}

// status says what an agent is, from facts alone.
func (a Agent) status() (status, waitsFor string) {
	switch {
	case a.Gone != "":
		return gone, ""
	case a.Asks != "":
		return waiting, a.Asks
	case slices.Contains(blocking, a.Screen):
		return waiting, a.Screen
	case a.Compacting:
		return compacting, ""
	case a.Turn:
		return working, ""
	case a.Limit != "":
		return waiting, "limit"
	case a.Background > 0:
		return background, ""
	case !a.Ours && !a.Hooked:
		return unknown, "" // found by its process; nothing has told what it does
	case !a.Up:
		return starting, ""
	case a.HadTurn:
		return idle, ""
	}
	return ready, ""
}

// waitsWhat says in a line, for people, what the agent waits for: the tool and its command, the question, when a
// limit ends. "" where nothing is known of it.
func (a Agent) waitsWhat() string {
	status, _ := a.status()
	switch {
	case status != waiting:
		return ""
	case a.Asks != "" && a.AsksWhat != "":
		return a.AsksWhat
	case a.Asks == "" && !slices.Contains(blocking, a.Screen):
		return a.Limit
	}
	return a.ScreenSays
}

func (a Agent) computed(now time.Time) Agent {
	st, wf := a.status()
	if st != a.Status {
		a.Since = now
	}
	a.Status, a.WaitingFor = st, wf
	return a
}

// grace is how long a ready input line waits for the first hook before it is believed.
func (a Agent) grace() time.Duration {
	if a.Mute {
		return 0
	}
	return hookGrace
}

// turn notes that a turn runs or has ended, unless something newer has been heard.
func (a *Agent) turn(on bool, at time.Time) {
	if at.Before(a.TurnAt) {
		return
	}
	if a.Turn != on {
		a.Turn, a.TurnAt = on, at
		a.Works, a.Worked, a.OddAt = false, false, time.Time{} // what the screen said was of the turn before
	}
	if on {
		a.HadTurn, a.Limit = true, ""
	}
}

// asks notes that a dialog is about to stand on the screen.
func (a *Agent) asks(kind, what string, at time.Time) {
	a.Asks, a.AsksWhat, a.AsksAt, a.AsksSeen = kind, what, at, false
}

// agentStarted is told by the process that runs the agent in its pane.
func (s *step) agentStarted(w AgentStarted) *Error {
	a, err := s.told(w.Agent)
	if err != nil {
		return err
	}
	a.Proc = w.Proc
	if len(s.in.By.Chain) > 0 {
		a.Runner = s.in.By.Chain[0].Process
	}
	s.put(a)
	if d, ok := s.dispatchOf(a.ID); ok && d.Started == nil {
		d.Started = ptr(s.at)
		s.put(d)
	}
	return nil
}

func (s *step) agentExited(w AgentExited) *Error {
	a, err := s.told(w.Agent)
	if err != nil {
		return err
	}
	if a.Gone != "" && (a.ExitCode != nil || w.Code < 0) {
		return nil // the pane, the process and its runner all tell of one end
	}
	if w.Code >= 0 {
		a.ExitCode = ptr(w.Code)
	}
	s.end(a, w.Why)
	return nil
}

// told returns the agent that a fact is about; a fact that came over the socket must bring its secret.
func (s *step) told(id string) (Agent, *Error) {
	a, ok := get[Agent](s, "agent/"+id)
	if !ok {
		return a, refuse("agent_not_found", "st agents", "agent %q: no such agent", id)
	}
	if s.in.By.Path != "" && (a.Nonce == "" || s.in.By.Nonce != a.Nonce) {
		return a, refuse("not_yours", "", "agent %q: the secret of whoever tells of it does not fit", id)
	}
	return a, nil
}

// end notes that an agent's process has ended, and what that means for its work.
func (s *step) end(a Agent, why string) {
	first := a.Gone == ""
	if first {
		a.Gone = why
	}
	a.Turn, a.Asks, a.Compacting, a.Background = false, "", false, 0
	s.put(a)
	if !first {
		return
	}
	s.log("agent-gone", Event{Agent: a.ID, Text: why})
	s.withdraw(a.ID, gone)
	d, ok := s.dispatchOf(a.ID)
	if !ok {
		return
	}
	w, _ := get[Worker](s, "worker/"+d.Worker)
	switch {
	case d.Report != nil:
		s.finish(d)
	case w.Stopping != nil:
		s.closeDispatch(d, "stopped")
	default:
		s.closeDispatch(d, "gone")
	}
}

// screenSeen takes a look at the agent's screen.
func (s *step) screenSeen(w ScreenSeen) {
	a, ok := get[Agent](s, "agent/"+w.Agent)
	if !ok || a.Gone != "" {
		return
	}
	before := a
	a.Screen, a.ScreenSays = w.Screen, w.Says
	line := w.Screen == inputLine || w.Screen == draft
	a.Works = line && w.Working
	if line && a.ReadyAt.IsZero() {
		a.ReadyAt = s.at
	}
	a.AsksSeen = a.Asks != "" && (a.AsksSeen || slices.Contains(blocking, w.Screen))
	if line && (a.AsksSeen || s.at.Sub(a.AsksAt) >= dialogGrace) {
		a.Asks, a.AsksWhat = "", "" // the dialog was answered; no hook tells of that
	}
	if line && !a.Up && s.at.Sub(a.ReadyAt) >= a.grace() {
		a.Up = true
	}
	flipped := a.believe(line, s.at)
	if a == before {
		return
	}
	s.memory = a.Up == before.Up && a.ReadyAt.Equal(before.ReadyAt) && !flipped && a.Compacting == before.Compacting
	s.put(a)
	if flipped && !a.Turn {
		s.turnEnded(a, AgentEvent{Type: Interrupted})
	}
	if d, ok := s.dispatchOf(a.ID); ok && line && d.Ready == nil {
		d.Ready = ptr(s.at)
		s.put(d)
		s.memory = false
	}
}

// believe takes the screen's word on whether a turn runs, once it has contradicted everything else for long
// enough: an Esc before the first output leaves neither a hook nor a line in the agent's log, and a prompt that
// was queued goes on after the interrupt of the turn before it. True where that changes whether a turn runs.
func (a *Agent) believe(line bool, at time.Time) bool {
	if at.After(a.WatchTo) {
		a.WatchTo = time.Time{}
	}
	runs := a.Turn || a.Compacting
	if a.Works && runs {
		a.Worked = true
	}
	if !line || a.Works == runs || a.Asks != "" || a.Background > 0 && a.Works {
		a.OddAt = time.Time{}
		return false
	}
	if a.OddAt.IsZero() {
		a.OddAt = at
	}
	if at.Sub(a.OddAt) < a.patience() {
		return false
	}
	shown, before := a.Works, a.Turn
	a.Compacting, a.Worked, a.OddAt = false, false, time.Time{}
	a.turn(shown, at)
	return a.Turn != before
}

// patience is how long the screen must say otherwise than what was told before it is believed.
func (a *Agent) patience() time.Duration {
	switch {
	case (a.Turn || a.Compacting) && !a.Worked:
		return unshownTime
	case a.Turn && a.Quiet && a.Screen == draft:
		return backTime // taken back before the first word, a prompt goes back into the input line
	}
	return oddTime
}

// head is a text's first line, of at most 200 bytes.
func head(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if len(line) > 200 {
		line = strings.ToValidUTF8(line[:200], "")
	}
	return line
}

// hook takes one event from an agent's own hooks.
func (s *step) hook(w Hook) *Error {
	id := s.who(s.in.By)
	if id.child || id.agent == nil {
		s.memory = true
		return nil // an agent process below an agent is not that agent; a hook outside of any is nobody's
	}
	s.event(*id.agent, w.Event, true)
	return nil
}

// transcript takes one event from an agent's own log: what no hook tells.
func (s *step) transcript(w Transcript) {
	if a, ok := get[Agent](s, "agent/"+w.Agent); ok && a.Gone == "" {
		s.event(a, w.Event, false)
	}
}

func (s *step) event(a Agent, e AgentEvent, hook bool) {
	if a.Gone != "" { // told late: only what it proves of the past still counts
		s.turnOf(a, e)
		return
	}
	if !hook && e.Type == PromptIn {
		s.takenUp(a, e)
		return
	}
	a.Hooked = a.Hooked || hook
	a.LastSeen = s.at
	if e.Subagent == "" {
		if e.Conversation != "" {
			a.Conversation = e.Conversation
		}
		if e.Transcript != "" {
			a.Transcript = e.Transcript
		}
	}
	was := a
	s.apply(&a, e, hook)
	s.memory = a.Turn == was.Turn && (e.Type == ToolStarted || e.Type == ToolEnded || e.Type == Noticed || e.Type == SubagentStarted || e.Type == SubagentEnded)
	if before, ok := get[Agent](s, a.Key()); !ok || before.Hooked != a.Hooked || before.Conversation != a.Conversation || before.Transcript != a.Transcript {
		s.memory = false
	}
	s.put(a)
	s.turnOf(a, e)
}

// takenUp takes a prompt from the agent's own log: its hook told when it was queued, and now it has a turn of its
// own, unless that has ended by the time the log is read. Where the log doesn't say when, the screen does.
func (s *step) takenUp(a Agent, e AgentEvent) {
	s.memory = true
	if a.Turn {
		return
	}
	if e.At.After(a.TurnAt) {
		a.turn(true, s.at)
		a.Quiet, s.memory = true, false
	}
	a.WatchTo = s.at.Add(watchTime)
	s.put(a)
	if a.Turn {
		s.worksOn(a)
	}
}

// apply changes an agent's facts by one event; hook says that it did not come from the agent's log.
func (s *step) apply(a *Agent, e AgentEvent, hook bool) {
	if e.Subagent != "" { // its turn is not the agent's, but its dialogs stand on the agent's screen
		switch e.Type {
		case PermissionAsked:
			a.asks("permission", e.What, s.at)
		case ToolEnded:
			a.Asks, a.AsksWhat = "", ""
		}
		return
	}
	switch e.Type {
	case SessionStarted:
		a.Up = true
		if e.Source != "compact" { // that comes in the middle of it
			a.Compacting = false
			a.turn(false, s.at)
			a.Asks, a.AsksWhat, a.Background = "", "", 0
		}
	case PromptIn:
		a.Up = true
		a.Compacting = false
		a.Queued = a.Turn
		a.turn(true, s.at)
		a.Asks, a.AsksWhat, a.Quiet = "", "", true
	case ToolStarted:
		a.turn(true, s.at)
		a.Quiet, a.Queued, a.Compacting = false, false, false
	case ToolEnded:
		a.turn(true, s.at)
		a.Quiet = false
		a.Asks, a.AsksWhat = "", ""
	case PermissionAsked:
		a.turn(true, s.at)
		a.asks("permission", e.What, s.at)
	case QuestionAsked:
		a.turn(true, s.at)
		a.asks("question", e.What, s.at)
	case TurnEnded, TurnFailed, Interrupted:
		// What only the log tells of was an interrupt of the turn before, where a prompt is queued: that one goes on.
		// Where it had reached the agent already, the screen shows that no turn runs.
		a.turn(e.Type == Interrupted && a.Queued && !hook, s.at)
		a.Asks, a.AsksWhat, a.Queued = "", "", false
		if e.Type != Interrupted {
			a.Background = e.Background
		} else {
			a.WatchTo = s.at.Add(watchTime)
		}
		if e.Answer != "" {
			a.Answer = e.Answer
		}
		if e.Limit {
			a.Limit = head(e.Answer)
		}
	case Compacting:
		a.Compacting = true
	case Compacted:
		a.Compacting = false
	case SessionEnded:
		if e.Reason == "clear" {
			a.turn(false, s.at)
			a.Asks, a.AsksWhat, a.Background = "", "", 0
		}
	}
}
