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
	resumable  = "gone_resumable" // its server has ended, and its conversation can be taken up again
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
	case a.Resumable:
		return resumable, ""
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
	case !a.Up && !a.HadTurn: // one whose first hooks nobody has heard is up with its first turn
		return starting, ""
	case a.Blind && !a.ByMark:
		return unknown, "" // nothing tells whether it works
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

// options are what may be answered to the dialog that a hook has told of, as far as it has.
func (a Agent) options() []string {
	if a.Asks == "" || a.AsksOptions == "" {
		return []string{}
	}
	return strings.Split(a.AsksOptions, "\n")
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
	if a.Mute || a.Blind {
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
		a.unsee()
	}
	if on {
		a.HadTurn, a.Limit = true, ""
	}
}

// unsee forgets what the screen said of the turn before.
func (a *Agent) unsee() { a.Works, a.Worked, a.OddAt = false, false, time.Time{} }

// asks notes that a dialog is about to stand on the screen.
func (a *Agent) asks(kind string, e AgentEvent, at time.Time) {
	a.Asks, a.AsksWhat, a.AsksTool, a.AsksAt, a.AsksSeen = kind, e.What, e.Tool, at, false
	a.AsksOptions = strings.Join(e.Options, "\n")
}

// question is the dialog that a tool of its own shows: that tool's end, and nothing else, says that it was answered.
const question = "question"

// toolEnded notes what the end of a tool says of a dialog. The next question may follow at once, sooner than any look
// at the screen; what that showed is over.
func (a *Agent) toolEnded(tool string, at time.Time) {
	if a.Asks == question && a.AsksTool != "" {
		if tool != a.AsksTool {
			return // one that ran beside it
		}
		a.Screen, a.ScreenSays, a.AnsweredAt = "", "", at
	}
	a.Asks, a.AsksWhat, a.AsksTool = "", "", ""
}

// outdated says that a look was taken before the last dialog was asked for or answered, or before a look that has told
// something else meanwhile.
func (a Agent) outdated(looked time.Time) bool {
	return !looked.IsZero() && (looked.Before(a.AsksAt) || looked.Before(a.AnsweredAt) || looked.Before(a.LookedAt))
}

// agentStarted is told by the process that runs the agent in its pane.
func (s *step) agentStarted(w AgentStarted) *Error {
	a, err := s.told(w.Agent)
	if err != nil {
		return err
	}
	d, ok := s.dispatchOf(a.ID)
	if s.unordered(d) {
		return nil // without a window it has no process
	}
	a.Proc = w.Proc
	if len(s.in.By.Chain) > 0 {
		a.Runner = s.in.By.Chain[0].Process
	}
	s.put(a)
	if ok && d.Started == nil {
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
	if a.Opens != nil {
		return nil // without a window it has no process
	}
	if a.Gone != "" && (a.ExitCode != nil || w.Code < 0) {
		return nil // the pane, the process and its runner all tell of one end
	}
	if w.Code >= 0 {
		a.ExitCode = ptr(w.Code)
	}
	s.end(a, w.Why)
	s.endOutliving(a.ID)
	return nil
}

// endOutliving has the process ended of an agent of ours whose server has ended and that does not come back, where nobody has
// seen that end: it may take no notice of its terminal's, and nobody gets at it any more.
func (s *step) endOutliving(agent string) {
	a, _ := get[Agent](s, "agent/"+agent)
	if w, ok := worksAs(s, a.ID); ok && w.Stopping != nil {
		return // that is ordered already
	}
	if a.Gone == serverGone && a.Ours && !a.Resumable && a.Next == "" && a.ExitCode == nil {
		s.stopAgent(a)
	}
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
		a = s.cut(a)
	}
	a.Turn, a.Asks, a.Compacting, a.Background = false, "", false, 0
	s.put(a)
	s.tidy(a.ID)
	if !first {
		return
	}
	s.log("agent-gone", Event{Agent: a.ID, Text: why})
	if why == serverGone && a.Place.Server != "" {
		s.holdStarts(a.Place.Server)
	}
	if a.Resumable {
		s.suspend(a)
		return
	}
	s.leftUnproved(a.ID)
	if s.workBack(a) {
		s.handOver(a) // its work goes on where somebody runs its conversation already
	}
	if a, _ = get[Agent](s, a.Key()); a.Next == "" {
		s.part(a)
	}
}

// part ends what an agent has left behind that will not come back by itself.
func (s *step) part(a Agent) {
	s.withdraw(a.ID, gone)
	s.handOver(a)
	s.reboxOf(a.ID)
	s.readdress(a.ID)
	if w, ok := workerOf(s, a.ID); ok {
		s.takeBack(w.ID)
	}
	for _, d := range openOf(s, a.ID) {
		w, _ := get[Worker](s, "worker/"+d.Worker)
		switch {
		case d.Report != nil:
			s.finish(d)
		case w.Stopping != nil:
			s.closeDispatch(d, "stopped")
		default:
			s.closeDispatch(d, gone)
		}
	}
}

// screenSeen takes a look at the agent's screen.
func (s *step) screenSeen(w ScreenSeen) {
	a, ok := get[Agent](s, "agent/"+w.Agent)
	if !ok || a.Gone != "" || a.Opens != nil || a.outdated(w.Looked) { // before its window is ordered it has no screen
		s.memory = true
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
	came := line && !a.Up && s.at.Sub(a.ReadyAt) >= a.grace()
	a.Up = a.Up || came
	began := a.beganByMark(s.at)
	flipped := a.believe(line, s.at)
	if a == before {
		return
	}
	a.LookedAt = w.Looked
	s.memory = a.Up == before.Up && a.ReadyAt.Equal(before.ReadyAt) && !flipped && !began && a.Compacting == before.Compacting
	s.put(a)
	if came && s.awaited(a) {
		s.takeUp(a)
		a, _ = get[Agent](s, a.Key())
	}
	if began {
		s.worksOn(a)
	}
	if flipped && !a.Turn {
		s.notCarried(a.ID)
		e := AgentEvent{Type: Interrupted}
		if a.ByMark { // that is how each turn of it ends
			e.Type = TurnEnded
		}
		s.turnEnded(a, e)
	}
	if d, ok := s.dispatchOf(a.ID); ok && line && d.Ready == nil {
		d.Ready = ptr(s.at)
		s.put(d)
		s.memory = false
	}
}

// beganByMark takes the beginning of a turn from the screen, soon after a line has gone in: the input line is away.
func (a *Agent) beganByMark(at time.Time) bool {
	if !a.ByMark || !a.Up || a.Turn || a.Screen != unknown || at.After(a.WatchTo) {
		return false
	}
	a.turn(true, at)
	a.Worked, a.WatchTo = true, time.Time{}
	return a.Turn
}

// contradicted says that the screen, as it was last seen, shows otherwise of a turn than what was told. It may stay so
// for good: the turn's end was lost, and its beginning was never on the screen.
func (a Agent) contradicted() bool { return a.Works != (a.Turn || a.Compacting) }

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
	if !line || !a.contradicted() || a.Asks != "" || a.Background > 0 && a.Works {
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
	a := *id.agent
	if s.goesOn(a, w.Event) {
		return nil
	}
	s.event(a, w.Event, true)
	if now, ok := get[Agent](s, a.Key()); ok && w.Event.Type == PromptIn && w.Event.Subagent == "" && !w.Event.Machine && len(w.Event.Marks) == 0 &&
		now.Turn && !a.Turn {
		s.beside(now)
	}
	s.orient(a.ID, w.Event)
	return nil
}

// transcript takes one event from an agent's own log: what no hook tells.
func (s *step) transcript(w Transcript) {
	a, ok := get[Agent](s, "agent/"+w.Agent)
	switch {
	case !ok:
	case w.Event.Type == WordIn: // also of one that has ended meanwhile
		s.inTalk(a, w.Event.Marks)
	case a.Gone == "":
		s.event(a, w.Event, false)
	}
}

// hear takes what every event tells of its agent beside what it is about.
func (a *Agent) hear(e AgentEvent) {
	if e.Subagent != "" {
		return
	}
	if e.Conversation != "" {
		a.Conversation, a.Maybe = e.Conversation, ""
	}
	if e.Transcript != "" {
		a.Transcript = e.Transcript
	}
	if e.Answer != "" {
		a.Answer = e.Answer
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
	s.lives(&a)
	a.hear(e)
	fresh := e.Conversation != "" && !a.known(s)
	if hook && e.Type == QuestionAsked && e.Subagent == "" {
		a = s.answered(a)
	}
	was := a
	s.apply(&a, e, hook)
	s.memory = a.Turn == was.Turn && (e.Type == ToolStarted || e.Type == ToolEnded || e.Type == Noticed || e.Type == SubagentStarted || e.Type == SubagentEnded)
	if before, ok := get[Agent](s, a.Key()); !ok || before.Hooked != a.Hooked || before.Conversation != a.Conversation || before.Transcript != a.Transcript ||
		before.Silent != a.Silent {
		s.memory = false
	}
	s.put(a)
	if a.Conversation != "" && (fresh || s.awaited(a)) {
		s.takeUp(a)
		a, _ = get[Agent](s, a.Key())
	}
	s.heard(a, e, hook, was.Turn)
	s.turnOf(a, e)
}

// answered takes an agent's question for answered that has another one: nobody has told of that. The end of a tool is no
// event that waits for a daemon that is away, and one question follows the other.
func (s *step) answered(a Agent) Agent {
	if a.Asks != question {
		return a
	}
	a.Asks, a.AsksWhat, a.Screen, a.ScreenSays = "", "", "", ""
	s.put(a)
	s.states()
	return a
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
			a.asks("permission", e, s.at)
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
		if !a.Queued {
			a.Open = 0
		}
	case ToolStarted:
		a.turn(true, s.at)
		a.Open++
		a.Quiet, a.Queued, a.Compacting = false, false, false
	case ToolEnded:
		a.turn(true, s.at)
		a.Open = max(a.Open-1, 0)
		a.Quiet = false
		a.toolEnded(e.Tool, s.at)
	case PermissionAsked:
		a.turn(true, s.at)
		a.asks("permission", e, s.at)
	case QuestionAsked:
		a.turn(true, s.at)
		a.asks(question, e, s.at)
	case TurnEnded, TurnFailed, Interrupted:
		a.HadTurn = a.HadTurn || hook // though nobody has heard of its beginning
		// What only the log tells of was an interrupt of the turn before, where a prompt is queued: that one goes on.
		// Where it had reached the agent already, the screen shows that no turn runs.
		a.turn(e.Type == Interrupted && a.Queued && !hook, s.at)
		a.Asks, a.AsksWhat, a.Queued = "", "", false
		if e.Type != Interrupted {
			a.Background = e.Background
		} else {
			a.WatchTo = s.at.Add(watchTime)
		}
		a.Open = 0
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
