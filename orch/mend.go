package orch

import "time"

// Mend is what a state lacks against the runs' own files: everything, where the store was lost, or what
// came after the copy that stands in for it. What comes back is history: its agents are gone, what was
// under way is closed, and the counters stand above any id that was found, so that no id is used twice.
func Mend(v View, files []RunFile, at time.Time) []Entity {
	m := mend{v: v, at: at, puts: map[string]Entity{}}
	m.counters, _ = v.Entity(Counters{}.Key()).(Counters)
	for _, f := range files {
		m.run(f)
	}
	for _, q := range inLine(v) { // its turn may have come since
		q.Open.Look = true
		m.put(q)
	}
	if old, _ := v.Entity(Counters{}.Key()).(Counters); m.counters != old {
		m.put(m.counters)
	}
	list := make([]Entity, len(m.keys))
	for i, k := range m.keys {
		list[i] = m.puts[k]
	}
	return list
}

type mend struct {
	v        View
	at       time.Time
	counters Counters
	keys     []string
	puts     map[string]Entity
}

func (m *mend) put(e Entity) {
	k := e.Key()
	if m.puts[k] == nil {
		m.keys = append(m.keys, k)
	}
	m.puts[k] = e
}

// has reports whether the state has the entity already, of itself or through an earlier file.
func (m *mend) has(e Entity) bool { return m.puts[e.Key()] != nil || m.v.Entity(e.Key()) != nil }

func (m *mend) run(f RunFile) {
	m.counters.Run = max(m.counters.Run, idNumber("r", f.Run))
	m.counters.Delivery = max(m.counters.Delivery, idNumber("v", f.Delivery))
	if r := (Run{ID: f.Run, Name: f.Name, Objective: f.Objective, Coordinator: f.Coordinator, Former: f.Former, Created: f.Created, Ended: f.Ended}); !m.has(r) {
		m.put(r)
	}
	m.agent(f.Coordinator, "", "", f.Created, false)
	for _, a := range f.Former {
		m.agent(a, "", "", f.Created, false)
	}
	closed := map[string]bool{} // dispatches that ended without a report
	for _, d := range f.Dispatches {
		closed[d.ID] = m.dispatch(f, d)
	}
	for _, w := range f.Workers {
		m.worker(f.Run, w)
	}
	for _, o := range f.Messages {
		m.message(f.Run, o)
	}
	for _, g := range f.Gates {
		m.gate(f, g)
	}
	for _, t := range f.Worktrees {
		m.worktree(f.Run, t)
	}
	for _, t := range f.Tasks {
		m.task(f.Run, t, closed[t.Dispatch])
	}
}

func (m *mend) agent(id, kind, name string, since time.Time, ours bool) {
	m.counters.Agent = max(m.counters.Agent, idNumber("a", id))
	a := Agent{
		ID: id, Kind: kind, Name: name, Ours: ours, Gone: "exited", Status: "gone", Since: m.at, LastSeen: since,
	}
	if id != "" && !m.has(a) {
		m.put(a)
	}
}

func (m *mend) worker(run string, f RunWorker) {
	m.counters.Worker = max(m.counters.Worker, idNumber("w", f.ID))
	m.counters.Agent = max(m.counters.Agent, idNumber("a", f.By))
	m.counters.Dispatch = max(m.counters.Dispatch, idNumber("d", f.Dispatch))
	m.agent(f.Agent, f.Kind, f.Name, f.Created, true)
	w := Worker{
		ID: f.ID, Run: run, Name: f.Name, Kind: f.Kind, Agent: f.Agent, Dispatch: f.Dispatch, Dir: f.Dir,
		Model: f.Model, By: f.By, Created: f.Created, Stopping: f.Stopping, Progress: f.Progress, Depth: f.Depth,
		Request: f.Request, Retries: f.Retries, Adopted: f.Adopted, Released: f.Released,
	}
	if have, known := m.v.Entity(w.Key()).(Worker); known && idNumber("d", w.Dispatch) > idNumber("d", have.Dispatch) {
		have.Dispatch = w.Dispatch // it was assigned a further task since
		w = have
	} else if m.has(w) {
		return
	}
	m.put(w)
}

// message brings back a message as one that nobody owes any more.
func (m *mend) message(run string, f RunMessage) {
	m.counters.Message = max(m.counters.Message, idNumber("m", f.ID))
	o := Message{
		ID: f.ID, Run: run, Type: f.Type, From: f.From, To: f.To, Subject: f.Subject, Body: f.Body, Worker: f.Worker, Dispatch: f.Dispatch,
		Options: f.Options, Reply: f.Reply, ReplyTo: f.ReplyTo, Over: f.Over, Settled: f.Settled, How: f.How,
		Long: f.Path != "", Path: f.Path, State: f.State, Why: f.Why,
		Created: f.Created, Submitted: f.Submitted, Delivered: f.Delivered,
	}
	switch {
	case !o.toWorker(): // it lies in its box until somebody reads it
	case o.State == Queued:
		o.State, o.Why = NotDelivered, gone
	case o.State == Typed:
		o.State = Unknown
	}
	if !m.has(o) {
		m.put(o)
	}
}

// gate brings back a gate as it was: a person may still answer it, and then it holds nothing any more. Of one that is known
// the file may tell how it has ended.
func (m *mend) gate(f RunFile, g Gate) {
	m.counters.Gate = max(m.counters.Gate, idNumber("g", g.ID))
	m.counters.Task = max(m.counters.Task, idNumber("t", g.Task))
	m.agent(g.By, "", "", g.Created, false)
	g.Run = f.Run
	have, known := m.v.Entity(g.Key()).(Gate)
	if !known && !m.has(g) || known && have.Closed == nil && g.Closed != nil {
		m.put(g)
	}
}

// worktree brings back what stands on disk: nothing is made or taken away by it. Of one that is known the file may tell
// that it has come to its end.
func (m *mend) worktree(run string, f RunWorktree) {
	t := Worktree{Worker: f.Worker, Run: run, Want: TreeWant{Main: f.Repo, Common: f.Common, Into: f.Into}, Path: f.Path, Branch: f.Branch, New: f.New, Base: f.Base,
		State: f.State, How: f.How, Tip: f.Tip, Commit: f.Commit, Backup: f.Backup, Ended: f.Ended}
	if t.State == treeMaking || t.State == treeLeaving || t.State == treeAwaited {
		t.State, t.How = treeReady, "" // git tells how far it came
	}
	have, known := m.v.Entity(t.Key()).(Worktree)
	switch {
	case known && have.stands() && !t.stands():
		have.State, have.How, have.Tip, have.Commit, have.Backup, have.Ended = t.State, t.How, t.Tip, t.Commit, t.Backup, t.Ended
		have.Open, have.Finish = nil, nil
		m.put(have)
	case !known && !m.has(t):
		m.put(t)
	}
}

func (m *mend) task(run string, f RunTask, closed bool) {
	m.counters.Task = max(m.counters.Task, idNumber("t", f.ID))
	m.counters.Dispatch = max(m.counters.Dispatch, idNumber("d", f.Dispatch))
	t := Task{
		ID: f.ID, Run: run, Title: f.Title, Spec: f.Spec, Source: f.Source, Deps: f.Deps, Status: f.Status, Reason: f.Reason,
		Dispatch: f.Dispatch, Attempts: f.Attempts, Failures: f.Failures, Tries: f.Tries, Picked: f.Picked, Of: f.Of, Outcome: f.Outcome, Summary: f.Summary,
		By: f.By, Request: f.Request, Created: f.Created,
	}
	have, known := m.v.Entity(t.Key()).(Task)
	later := idNumber("d", f.Dispatch) > idNumber("d", have.Dispatch)
	switch {
	case known && !later && (!(Task{Status: f.Status}).over() || have.over()):
		return
	case known: // its start is kept: what failed since is not begun again by itself
		have.Status, have.Reason, have.Dispatch, have.Attempts = t.Status, t.Reason, t.Dispatch, t.Attempts
		have.Failures, have.Outcome, have.Summary, have.Picked = t.Failures, t.Outcome, t.Summary, t.Picked
		t = have
	}
	if closed && t.Status == taskDispatched {
		t.Status, t.Reason = taskFailed, "what became of it was lost"
	}
	if m.puts[t.Key()] == nil {
		m.put(t)
	}
}

// dispatch reports whether it had to close the dispatch because nobody can report for it any more.
func (m *mend) dispatch(run RunFile, f RunDispatch) (closed bool) {
	m.counters.Dispatch = max(m.counters.Dispatch, idNumber("d", f.ID))
	m.counters.Task = max(m.counters.Task, idNumber("t", f.Task))
	m.counters.Worker = max(m.counters.Worker, idNumber("w", f.Worker))
	m.agent(f.Agent, "", "", f.Created, true)
	d := Dispatch{
		ID: f.ID, Run: run.Run, Task: f.Task, Worker: f.Worker, Agent: f.Agent, Delivery: f.Delivery, Why: f.Why,
		Created: f.Created, Queued: f.Queued, Ordered: f.Ordered, Opened: f.Opened, Started: f.Started, Ready: f.Ready, Typed: f.Typed,
		Verified: f.Verified, Submitted: f.Submitted, Turn: f.Turn, TurnEnded: f.TurnEnded,
		Finished: f.Finished, Answer: f.Answer, Closed: f.Closed,
	}
	d.Report, d.Notes = run.reportsOn(d.ID)
	have, known := m.v.Entity(d.Key()).(Dispatch)
	if known {
		m.later(have, d)
		return false
	}
	if d.Report != nil && d.Finished == nil {
		d.Finished = &d.Report.At
	} else if d.Report == nil && d.Closed == "" {
		d.Closed, closed = "gone", true
	}
	if m.puts[d.Key()] == nil {
		m.put(d)
	}
	return closed
}

// later adds to a known dispatch what its file tells beyond it: the reports, which nobody says twice.
func (m *mend) later(have, f Dispatch) {
	changed := false
	if have.Report == nil && f.Report != nil {
		have.Report, have.Finished, changed = f.Report, f.Finished, true
	}
	if len(have.Notes) < len(f.Notes) {
		have.Notes, changed = f.Notes, true
	}
	if have.Closed == "" && f.Closed != "" {
		have.Closed, changed = f.Closed, true
	}
	if have.Queued != nil && have.Ordered == nil && f.Ordered != nil {
		have.Ordered, changed = f.Ordered, true
	}
	if have.Answer == "" && f.Answer != "" {
		have.Answer, changed = f.Answer, true
	}
	if changed {
		m.put(have)
	}
}
