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
	if r := (Run{ID: f.Run, Name: f.Name, Objective: f.Objective, Coordinator: f.Coordinator, Created: f.Created, Ended: f.Ended}); !m.has(r) {
		m.put(r)
	}
	m.agent(f.Coordinator, "", "", f.Created, false)
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
	}
	if !m.has(w) {
		m.put(w)
	}
}

// message brings back a message as one that nobody owes any more.
func (m *mend) message(run string, f RunMessage) {
	m.counters.Message = max(m.counters.Message, idNumber("m", f.ID))
	o := Message{
		ID: f.ID, Run: run, From: f.From, To: f.To, Path: f.Path, State: f.State, Why: f.Why,
		Created: f.Created, Submitted: f.Submitted, Delivered: f.Delivered,
	}
	switch o.State {
	case Queued:
		o.State, o.Why = NotDelivered, gone
	case Typed:
		o.State = Unknown
	}
	if !m.has(o) {
		m.put(o)
	}
}

func (m *mend) task(run string, f RunTask, closed bool) {
	m.counters.Task = max(m.counters.Task, idNumber("t", f.ID))
	m.counters.Dispatch = max(m.counters.Dispatch, idNumber("d", f.Dispatch))
	t := Task{
		ID: f.ID, Run: run, Title: f.Title, Spec: f.Spec, Source: f.Source, Status: f.Status,
		Dispatch: f.Dispatch, Created: f.Created,
	}
	have, known := m.v.Entity(t.Key()).(Task)
	switch {
	case known && (unfinished(f.Status) || !unfinished(have.Status)):
		return
	case known:
		have.Status, have.Dispatch = f.Status, f.Dispatch
		t = have
	case closed && unfinished(t.Status):
		t.Status = "failed"
	}
	if m.puts[t.Key()] == nil {
		m.put(t)
	}
}

func unfinished(status string) bool { return status == "ready" || status == "dispatched" }

// dispatch reports whether it had to close the dispatch because nobody can report for it any more.
func (m *mend) dispatch(run RunFile, f RunDispatch) (closed bool) {
	m.counters.Dispatch = max(m.counters.Dispatch, idNumber("d", f.ID))
	m.counters.Task = max(m.counters.Task, idNumber("t", f.Task))
	m.counters.Worker = max(m.counters.Worker, idNumber("w", f.Worker))
	m.agent(f.Agent, "", "", f.Created, true)
	d := Dispatch{
		ID: f.ID, Run: run.Run, Task: f.Task, Worker: f.Worker, Agent: f.Agent, Delivery: f.Delivery, Why: f.Why,
		Created: f.Created, Opened: f.Opened, Started: f.Started, Ready: f.Ready, Typed: f.Typed,
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
	if have.Answer == "" && f.Answer != "" {
		have.Answer, changed = f.Answer, true
	}
	if changed {
		m.put(have)
	}
}
