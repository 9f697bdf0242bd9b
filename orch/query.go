package orch

import (
	"slices"
	"time"
)

// Look is a pane that wants to be looked at.
type Look struct {
	Agent string
	Kind  string
	Place Place
	// Every is how often. The first look is due at once.
	Every time.Duration
	// Last is the name of the screen that is known, and Works what it said of a turn; a look that sees the same
	// needs no telling. An empty Last wants to be told whatever is seen.
	Last  string
	Works bool
	// Up says that the agent has told that its session began: its input line is about to come.
	Up bool
	// Line is the text of a word of which a try has left open whether it stands in the input line, "" for none. Where
	// just that stands there it is nobody's draft: the typing goes on with it.
	Line string
	// Since is when that began what the look is to see the end of: a dialog, a turn that has said nothing yet, a
	// screen that disagrees. Zero where there is nothing of the kind. An end is likelier soon than late.
	Since time.Time
}

// How often a screen is looked at.
const (
	lookStarting = 100 * time.Millisecond
	lookWaiting  = time.Second
	lookWorking  = 2 * time.Second
	lookOdd      = 500 * time.Millisecond // the screen and what was told disagree
)

// Looks says which panes want looking at now; none when all agents are settled.
func Looks(v View) []Look {
	next := map[string]line{}
	for _, l := range lines(v) {
		next[l[0].Agent] = l
	}
	var looks []Look
	each(v, LiveAgents, func(a Agent) bool {
		var head Word
		if l := next[a.ID]; len(l) > 0 {
			head = l[0]
		}
		if every := a.lookEvery(v, head); every > 0 {
			l := Look{Agent: a.ID, Kind: a.Kind, Place: a.Place, Every: every, Last: a.Screen, Works: a.Works, Up: a.Up, Since: a.lookSince()}
			if a.Asks != "" || !a.Up || a.odd() || a.contradicted() {
				l.Last = ""
			}
			if head.State == owed && head.Lead != "" {
				l.Line = next[a.ID].text()
			}
			looks = append(looks, l)
		}
		return true
	})
	return looks
}

// lookEvery is how often an agent's screen is looked at; next is the word whose turn it is, if there is one.
func (a Agent) lookEvery(v View, next Word) time.Duration {
	if a.Gone != "" || a.Place.Pane == "" || !a.attended(v) && (next.ID == "" || !a.Hooked) {
		return 0
	}
	d, task := get[Dispatch](v, "dispatch/"+next.Dispatch)
	switch {
	case next.State == owed && !a.Turn:
		if task && d.Delivery == Pending && a.Screen != draft && a.Asks == "" {
			return lookStarting
		}
		return lookWaiting
	case a.resuming():
		return lookStarting
	case a.Status == waiting:
		return lookWaiting
	case a.odd():
		return lookOdd
	case a.Status == working && a.Quiet:
		return lookWaiting // before its first output nothing but the screen tells of its end
	case a.Status == working || a.Status == compacting || a.Status == background:
		return lookWorking
	}
	return 0
}

// lookSince is when that began of which only the screen tells the end.
func (a Agent) lookSince() time.Time {
	switch {
	case a.Asks != "":
		return a.AsksAt
	case a.Status == waiting:
		return a.Since
	case !a.OddAt.IsZero():
		return a.OddAt
	case !a.WatchTo.IsZero():
		return a.WatchTo.Add(-watchTime)
	case a.Status == working && a.Quiet:
		return a.TurnAt
	}
	return time.Time{}
}

// odd says that the agent's screen has to be looked at again before it is believed.
func (a Agent) odd() bool { return !a.OddAt.IsZero() || !a.WatchTo.IsZero() }

// Due is when something will have to be said though nothing happens; zero for never.
func Due(v View) time.Time {
	var next time.Time
	each(v, "clock", func(c Clock) bool {
		d, w, _ := clocked(v, c)
		if at := d.deadline(w); !at.IsZero() {
			next = sooner(next, at, true)
		}
		return true
	})
	wordDeadlines(v, func(_ Word, at time.Time) { next = sooner(next, at, true) })
	silences(v, func(_ Agent, at time.Time) { next = sooner(next, at, true) })
	gateDeadlines(v, func(at time.Time) { next = sooner(next, at, true) })
	return next
}

// Live lists the agents whose process is not known to have ended. Of those that have none yet, it lists the ones whose
// window is ordered.
func Live(v View) []Agent {
	var live []Agent
	waits := map[string]bool{}
	for _, q := range inLine(v) {
		waits[q.Open.Agent] = true
	}
	each(v, LiveAgents, func(a Agent) bool {
		if !waits[a.ID] {
			live = append(live, a)
		}
		return true
	})
	return live
}

// Runs lists the open runs, or with All every run, the newest last.
func Runs(v View, by Caller, a ListArgs) ([]RunInfo, *Error) {
	runs := []RunInfo{}
	shelf := openRuns
	if a.All {
		shelf = "run"
	}
	each(v, shelf, func(r Run) bool {
		runs = append(runs, runInfo(v, r.ID, by))
		return true
	})
	return runs, nil
}

// RunOf is one run, the caller's current one where none is named.
func RunOf(v View, by Caller, a RunArgs) (RunInfo, *Error) {
	if a.Run != "" {
		by.Run = a.Run
	}
	r, err := currentRun(v, by)
	if err != nil {
		return RunInfo{}, err
	}
	return runInfo(v, r.ID, by), nil
}

func runInfo(v View, id string, by Caller) RunInfo {
	r, _ := get[Run](v, "run/"+id)
	cur, err := currentRun(v, Caller{Chain: by.Chain, Place: by.Place, Nonce: by.Nonce, As: by.As})
	info := RunInfo{ID: r.ID, Name: r.Name, Objective: r.Objective, Coordinator: r.Coordinator, Former: list(r.Former), State: "open", Created: r.Created, Ended: r.Ended,
		Current: err == nil && cur.ID == r.ID, Lead: leadOf(v, r), Workers: workersIn(v, Of("worker", id), Worker.related), Gates: gatesOn(v, Of("gate", id), false),
		Tasks: tasksIn(v, id, func(TaskInfo) bool { return true }, false)}
	if r.Ended != nil {
		info.State = "ended"
	}
	return info
}

// Workers lists the workers of the current run, or with All those of every run. A caller with no run at all
// gets an empty list.
func Workers(v View, by Caller, a ListArgs) ([]WorkerInfo, *Error) {
	if a.All {
		return workersIn(v, "worker", anyWorker), nil
	}
	r, err := currentRun(v, by)
	if err != nil {
		if by.Run == "" && err.Data == nil {
			return []WorkerInfo{}, nil
		}
		return nil, err
	}
	return workersIn(v, Of("worker", r.ID), Worker.related), nil
}

func workersIn(v View, shelf string, wanted func(Worker) bool) []WorkerInfo {
	list := []WorkerInfo{}
	each(v, shelf, func(w Worker) bool {
		if wanted(w) {
			list = append(list, workerInfo(v, w.ID))
		}
		return true
	})
	return list
}

func anyWorker(Worker) bool { return true }

// related says that a worker is one of its run, and not released.
func (w Worker) related() bool { return w.Released == nil }

// WorkerOf is one worker, by id or by name in the current run.
func WorkerOf(v View, by Caller, a WorkerArgs) (WorkerInfo, *Error) {
	w, err := workerNamed(v, by, a.Worker)
	if err != nil {
		return WorkerInfo{}, err
	}
	return workerInfo(v, w.ID), nil
}

func workerInfo(v View, id string) WorkerInfo {
	w, _ := get[Worker](v, "worker/"+id)
	a, _ := get[Agent](v, "agent/"+w.Agent)
	d, _ := get[Dispatch](v, "dispatch/"+w.Dispatch)
	a.Status, a.WaitingFor = a.status()
	i := WorkerInfo{ID: w.ID, Name: w.Name, Kind: w.Kind, Run: w.Run, Agent: w.Agent, Status: a.Status, State: work(v, w, d, a), Since: a.Since, Role: "worker",
		Server: a.Place.Server, Window: a.Place.Window, Pane: a.Place.Pane, Session: a.Place.SessionName, Dir: w.Dir, WaitingFor: a.WaitingFor, Waits: a.waitsWhat(), Screen: a.Screen,
		Options: a.options(), Questions: openQuestions(v, w.ID), Task: d.Task, Dispatch: d.ID, Delivery: d.Delivery, Progress: w.Progress, Scope: list([]string(w.Scope)), OutsideScope: []string{}, Silent: a.Silent && a.Gone == "", Blind: a.Blind, LeftOver: list(w.LeftOver), Queued: placeInLine(v, d), Sessionless: missingSession(v, d),
		TeamRuns: []string{}, Orphan: orphaned(v, w), Adopted: w.Adopted, Released: w.Released}
	if runs, n := teamOf(v, w.Agent); len(runs) > 0 && w.Released == nil {
		i.Role, i.TeamRuns, i.Team = teamLead, runs, n
	}
	if t, ok := get[Worktree](v, Worktree{Worker: id}.Key()); ok {
		i.Worktree, i.Branch, i.Base, i.TreeState, i.Setup, i.SetupLog = t.Path, t.Branch, t.Base, t.State, t.Setup, t.SetupLog
	}
	if d.Report != nil {
		i.Outcome, i.Summary = d.Report.Outcome, d.Report.Summary
		i.OutsideScope, i.OutsideUnchecked = list(d.Report.Outside), d.Report.Unchecked
	}
	i.Conversation, i.Maybe = a.Conversation, panesOf(mayBe(v, a.ID))
	if a.Gone != "" {
		i.Screen = "" // of a pane that is no more
	}
	if a.Gone == serverGone {
		i.Window, i.Pane = "", "" // they are somebody else's, where there are any of these ids
	}
	if p, ok := awaits(v, w.ID, a); ok && i.State == needsInput && a.Status != waiting {
		i.Status, i.Since, i.WaitingFor, i.Waits, i.Options = waiting, p.since, p.kind, p.text, list(p.options)
		if p.kind == gateWait {
			i.Gate = p.id
		}
	}
	i.Settled = settledState(i.State) && !busy(v, d, a)
	return i
}

// busy says that more comes of a worker although its dispatch has settled: a message is on its way to it, or its turn
// began after that.
func busy(v View, d Dispatch, a Agent) bool {
	if a.Gone != "" {
		return false
	}
	more := d.Finished != nil && a.Turn && a.TurnAt.After(*d.Finished) || d.ID == "" && a.Turn
	return more || len(wordsOf(v, a.ID, func(w Word) bool { return (w.Message != "" || w.Gate != "") && w.State != unproved })) > 0
}

// Agents lists the agents, without All only the living and those that somebody waits for to come back.
func Agents(v View, _ Caller, a ListArgs) ([]AgentInfo, *Error) {
	list := []AgentInfo{}
	shelf := LiveAgents
	if a.All {
		shelf = "agent"
	}
	each(v, shelf, func(ag Agent) bool {
		list = append(list, agentInfo(v, ag))
		return true
	})
	if !a.All {
		for _, ag := range Awaited(v) {
			list = append(list, agentInfo(v, ag))
		}
	}
	return list, nil
}

func agentInfo(v View, a Agent) AgentInfo {
	st, wf := a.status()
	i := AgentInfo{ID: a.ID, Kind: a.Kind, Role: "none", Name: a.Name, Status: st, Since: a.Since, WaitingFor: wf, Waits: a.waitsWhat(), Options: a.options(), Screen: a.Screen,
		Server: a.Place.Server, Session: a.Place.SessionName, Window: a.Place.Window, Pane: a.Place.Pane, Dir: a.Place.Dir,
		Conversation: a.Conversation, TeamRuns: []string{}}
	if a.Gone != "" {
		i.Screen = ""
	}
	if a.Gone == serverGone {
		i.Window, i.Pane = "", ""
	}
	i.Maybe = rolesOf(v, a.maybe())
	if w, ok := workerOf(v, a.ID); ok {
		d, _ := get[Dispatch](v, "dispatch/"+w.Dispatch)
		i.Role, i.Worker, i.Run, i.Queued = "worker", w.ID, w.Run, placeInLine(v, d)
		if p, ok := awaits(v, w.ID, a); ok && w.State == needsInput && st != waiting {
			i.Status, i.Since, i.WaitingFor, i.Waits, i.Options = waiting, p.since, p.kind, p.text, list(p.options)
		}
	}
	if r, ok := openRun(v, func(r Run) bool { return r.Coordinator == a.ID }); ok {
		runs, n := teamOf(v, a.ID)
		i.Role, i.Team, i.TeamRuns = map[bool]string{true: teamLead, false: "coordinator"}[i.Role == "worker"], n, runs
		if i.Run == "" {
			i.Run = r.ID
		}
	}
	return i
}

func treeRuns(v View, by Caller, a ListArgs) ([]RunInfo, *Error) {
	if by.Run == "" {
		return Runs(v, by, a)
	}
	r, err := RunOf(v, by, RunArgs{})
	if err != nil {
		return nil, err
	}
	return []RunInfo{r}, nil
}

// Start is how a worker's start goes.
func Start(v View, by Caller, args StartArgs) (StartInfo, *Error) {
	d, ok := get[Dispatch](v, "dispatch/"+args.Dispatch)
	if !ok {
		return StartInfo{}, refuse("dispatch_not_found", "st worker ls", "dispatch %q: no such dispatch", args.Dispatch)
	}
	w := workerInfo(v, d.Worker)
	i := StartInfo{Worker: w, Run: d.Run, Task: d.Task, Dispatch: d.ID, Delivery: d.Delivery, Stages: d.stages(v), LeftOver: []string{}, Next: []string{}, Error: d.Error,
		Queued: w.Queued, MaxWorkers: limitsOf(v).MaxWorkers, Unheard: unheard(v, d.Worker), Overlaps: overlaps(v, d.Worker)}
	switch {
	case w.Sessionless != "":
		i.Code, i.Next = 4, []string{"st restore", "st worker wait " + w.ID, "st worker stop " + w.ID + " --yes"}
		return i, nil
	case d.Delivery == Pending:
		return i, nil
	case d.Delivery == Delivered:
		i.Next = []string{"st worker wait " + w.ID}
		return i, nil
	case d.Error != nil:
		i.Code, i.Next = 1, list(d.Error.Next)
	case d.Closed != "" && w.Pane == "": // there is no screen to read
		i.Code, i.Next = 6, []string{"st worker retry " + w.ID, "st log " + d.Run}
	case d.Closed != "":
		i.Code, i.Next = 6, []string{"st worker read " + w.ID + " --screen", "st log " + d.Run} // its last words may stand there
	case w.State == resumable:
		i.Code, i.Next = 6, []string{"st restore", "st worker restart " + w.ID + " --session S"}
	case d.Delivery == Unknown:
		i.Code = 9
		i.LeftOver = []string{"window " + w.Window + " with the task line typed and submitted"}
		i.Next = []string{"st worker read " + w.ID + " --screen", "st worker wait " + w.ID, "st doctor --agent " + w.Kind}
	default:
		i.Code, i.Screen = 4, d.Why
		i.LeftOver = []string{"window " + w.Window + ", where nothing has been submitted; the task line is typed as soon as the input line is free"}
		i.Next = []string{"st worker read " + w.ID + " --screen", "st worker wait " + w.ID, "st worker stop " + w.ID + " --yes"}
		if ailing[d.Why] {
			i.Next = append(i.Next, "st doctor --agent "+w.Kind)
		}
	}
	if worker, ok := get[Worker](v, "worker/"+w.ID); ok {
		i.New = []Told{{Who: ear(v, by), Worker: w.ID, State: worker.mark()}}
	}
	return i, nil
}

// unheard is the agent that answers for a worker and of which no hook has come.
func unheard(v View, worker string) string {
	w, _ := get[Worker](v, "worker/"+worker)
	if a, ok := get[Agent](v, "agent/"+answersFor(v, w)); ok && !a.Hooked {
		return a.ID
	}
	return ""
}

// ailing are the reasons of a start that came to nothing where the agent's program or its settings may be at fault, not a
// person's answer that is missing: its input line never came, nobody knows its screen, its hooks are not trusted.
var ailing = map[string]bool{"": true, "starting": true, "unknown": true, "hooks_review": true}

func (d Dispatch) stages(v View) []Stage {
	var list []Stage
	from := d.Created
	if d.Ordered != nil {
		from = *d.Ordered
	}
	type stage struct {
		name string
		at   *time.Time
	}
	all := []stage{{"window", d.Opened}, {"agent", d.Started}, {"ready", d.Ready}, {"typed", d.Typed}, {"verified", d.Verified}, {"submitted", d.Submitted}, {"turn", d.Turn}}
	if t, ok := get[Worktree](v, Worktree{Worker: d.Worker}.Key()); ok && t.Want.Setup != "" && !t.Want.Async {
		all = append([]stage{{"worktree", t.Made}, {"setup", t.setUp()}}, all...)
	} else if ok {
		all = append([]stage{{"worktree", t.Made}}, all...)
	}
	for _, s := range all {
		st := Stage{Name: s.name, OK: s.at != nil}
		if st.OK {
			st.MS = s.at.Sub(from).Milliseconds()
		}
		list = append(list, st)
	}
	return list
}

// Wait says whether a waiting caller has its answer.
func Wait(v View, by Caller, a WaitArgs) (WaitInfo, *Error) {
	workers, err := waitFor(v, by, a)
	if err != nil {
		return WaitInfo{}, err
	}
	i := WaitInfo{Workers: []WorkerInfo{}, New: []Told{}}
	who, ended, urgent := ear(v, by), true, false
	var news []WorkerInfo
	for _, w := range workers {
		info := workerInfo(v, w.ID)
		i.Workers = append(i.Workers, info)
		ended = ended && (info.Settled || a.ThroughInput && info.State == needsInput)
		if !info.Settled && info.State != needsInput {
			continue
		}
		told := Told{Who: who, Worker: w.ID, State: w.mark()}
		if old, _ := get[Told](v, told.Key()); old.State == told.State {
			continue
		}
		i.New = append(i.New, told)
		if a.stops(info) {
			urgent = true
			news = append(news, info)
		}
	}
	i.Done = ended || urgent
	i.Code = waitCode(i.Workers)
	if a.Any && urgent {
		i.Code = waitCode(news)
	}
	return i, nil
}

// stops says whether a state that is told for the first time ends the wait at once.
func (a WaitArgs) stops(w WorkerInfo) bool {
	switch w.State {
	case needsInput:
		return !a.ThroughInput
	case noReport, gone, released:
		return true
	}
	return a.Any
}

func waitFor(v View, by Caller, a WaitArgs) ([]Worker, *Error) {
	var list []Worker
	for _, n := range a.Workers {
		w, err := workerNamed(v, by, n)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(list, func(o Worker) bool { return o.ID == w.ID }) {
			list = append(list, w)
		}
	}
	if len(a.Workers) > 0 {
		return list, nil
	}
	infos, err := Workers(v, by, ListArgs{})
	for _, i := range infos {
		w, _ := get[Worker](v, "worker/"+i.ID)
		list = append(list, w)
	}
	return list, err
}

// waitCode is the first that holds of 3, 6, 4, 5, 0.
func waitCode(ws []WorkerInfo) int {
	rank := map[string]int{failed: 0, gone: 1, needsInput: 2, noReport: 3, released: 3}
	codes := []int{3, 6, 4, 5, 0}
	best := 4
	for _, w := range ws {
		if r, ok := rank[w.State]; ok {
			best = min(best, r)
		}
	}
	return codes[best]
}

// waitTold remembers what a waiting caller has printed.
func (s *step) waitTold(o WaitTold) *Error {
	who := ear(s, s.in.By)
	if chain := s.in.By.Chain; len(chain) > 0 {
		if w, ok := get[Waiter](s, waitKey(chain[0].Process)); ok && !w.heard(s) {
			return nil // nobody has read what was printed
		}
	}
	for _, t := range o.States {
		if _, ok := get[Worker](s, "worker/"+t.Worker); ok {
			t.Who = who
			if !o.News {
				s.put(t)
			}
			s.toldByWait(t)
			s.mailByWait(t)
		}
	}
	return nil
}

// Read is what is known of a worker's result. Where the agent's last words did not come by a hook, Answer
// is empty and whoever has the agent's own log may fill it in.
func Read(v View, by Caller, a ReadArgs) (ReadInfo, *Error) {
	w, err := workerNamed(v, by, a.Worker)
	if err != nil {
		return ReadInfo{}, err
	}
	d, _ := get[Dispatch](v, "dispatch/"+w.Dispatch)
	info := workerInfo(v, w.ID)
	i := ReadInfo{Worker: info, State: info.State, Outcome: info.Outcome, Summary: info.Summary, Answer: d.Answer, Files: []string{}, OutsideScope: info.OutsideScope, Notes: list(d.Notes), Commits: []string{}}
	if d.Report != nil {
		i.Report, i.Files = d.Report.Text, list(d.Report.Files)
	}
	if i.Answer != "" {
		i.AnswerSource, i.AnswerLater = "hook", d.Later
	}
	return i, nil
}
