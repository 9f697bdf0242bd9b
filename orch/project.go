package orch

import (
	"encoding/json"
	"fmt"
	"time"
)

// runFileVersion is the version of the shape of RunFile. Fields may be added without a new one.
const runFileVersion = 1

// RunFile is a run as it is written to orch/<run>/run.json in the home folder, for people, for scripts, and
// as the last resort when the store is lost. It says what was wanted and what came of it. It holds no
// secret, no environment and no arguments, and nothing is ever started from it.
//
// Lists are [] and never null. A time that hasn't come is missing.
type RunFile struct {
	Version     int           `json:"version"`
	Run         string        `json:"run"`
	Name        string        `json:"name"`
	Objective   string        `json:"objective"`
	Coordinator string        `json:"coordinator"` // agent id; "" where a person is the coordinator
	Former      []string      `json:"former"`      // agent ids that had the seat and lost it to another
	Created     time.Time     `json:"created"`
	Ended       *time.Time    `json:"ended,omitempty"`
	Workers     []RunWorker   `json:"workers"`
	Tasks       []RunTask     `json:"tasks"`
	Dispatches  []RunDispatch `json:"dispatches"`
	Reports     []RunReport   `json:"reports"`
	Messages    []RunMessage  `json:"messages"`
	Delivery    string        `json:"delivery,omitempty"` // the newest of its boxes
	Gates       []Gate        `json:"gates"`
	Worktrees   []RunWorktree `json:"worktrees"`
}

// RunWorktree is a worker's git worktree in a RunFile.
type RunWorktree struct {
	Worker string     `json:"worker"`
	Repo   string     `json:"repo"`
	Common string     `json:"common"` // the repository's git folder
	Path   string     `json:"path"`
	Branch string     `json:"branch"`
	New    bool       `json:"new,omitempty"` // the branch was made for it
	Base   string     `json:"base,omitempty"`
	Into   string     `json:"into,omitempty"` // the branch to which it comes home
	State  string     `json:"state"`
	How    string     `json:"how,omitempty"` // it came to its end
	Tip    string     `json:"tip,omitempty"`
	Commit string     `json:"commit,omitempty"`
	Backup string     `json:"backup,omitempty"`
	Ended  *time.Time `json:"ended,omitempty"`
}

// RunWorker is a worker in a RunFile.
type RunWorker struct {
	ID       string     `json:"id"`
	Name     string     `json:"name"`
	Kind     string     `json:"kind"`
	Agent    string     `json:"agent"`
	Dispatch string     `json:"dispatch"` // the newest
	Dir      string     `json:"dir"`
	Model    string     `json:"model,omitempty"`
	Scope    []string   `json:"scope"` // which files it may edit; none = all
	By       string     `json:"by"`    // agent id of who started it, "" for a person
	Created  time.Time  `json:"created"`
	Stopping *time.Time `json:"stopping,omitempty"`
	Progress string     `json:"progress,omitempty"`
	Depth    int        `json:"depth"`             // 1 below the run's coordinator
	Request  string     `json:"request,omitempty"` // id of the request that started it
	Retries  string     `json:"retries,omitempty"` // worker whose attempt it repeats
	Adopted  bool       `json:"adopted,omitempty"` // its agent ran before it became a worker
	Released *time.Time `json:"released,omitempty"`
}

// RunTask is a task in a RunFile.
type RunTask struct {
	ID       string    `json:"id"`
	Title    string    `json:"title"`
	Spec     string    `json:"spec"` // the text
	Source   string    `json:"source,omitempty"`
	Deps     []string  `json:"deps"`
	Status   string    `json:"status"`
	Reason   string    `json:"reason,omitempty"`
	Dispatch string    `json:"dispatch"` // the newest
	Attempts int       `json:"attempts"`
	Failures int       `json:"failures,omitempty"` // in a row
	Tries    []string  `json:"tries,omitempty"`    // tasks that are attempts at it
	Picked   string    `json:"picked,omitempty"`
	Of       string    `json:"of,omitempty"`
	Outcome  string    `json:"outcome,omitempty"`
	Summary  string    `json:"summary,omitempty"`
	By       string    `json:"by,omitempty"`      // agent id of who made it, "" for a person
	Request  string    `json:"request,omitempty"` // id of the request that made it
	Created  time.Time `json:"created"`
}

// RunReport is what a worker reported on a dispatch, in a RunFile. One with a why did not count: it came
// after another, after a stop or for an older attempt, and is kept as a note.
type RunReport struct {
	Dispatch string `json:"dispatch"`
	Task     string `json:"task"`
	Worker   string `json:"worker"`
	Report
}

// RunMessage is a message in a RunFile. Its text lies in the file at Path; where it has none and is open, in Body, but for
// a report, which has its own record.
type RunMessage struct {
	ID        string     `json:"id"`
	Type      string     `json:"type"`
	From      string     `json:"from"` // agent id, "" for a person, Us
	To        string     `json:"to"`   // worker id or run id
	Subject   string     `json:"subject,omitempty"`
	Body      string     `json:"body,omitempty"`
	Worker    string     `json:"worker,omitempty"` // of which it speaks
	Dispatch  string     `json:"dispatch,omitempty"`
	Options   []string   `json:"options,omitempty"`
	Reply     string     `json:"reply,omitempty"`
	ReplyTo   string     `json:"reply_to,omitempty"`
	Over      string     `json:"over,omitempty"`
	Settled   *time.Time `json:"settled,omitempty"`
	How       string     `json:"how,omitempty"`
	Path      string     `json:"path"`
	State     string     `json:"state"`
	Why       string     `json:"why,omitempty"`
	Created   time.Time  `json:"created"`
	Submitted *time.Time `json:"submitted,omitempty"`
	Delivered *time.Time `json:"delivered,omitempty"`
}

// RunDispatch is one attempt of one task by one worker in a RunFile.
type RunDispatch struct {
	ID        string     `json:"id"`
	Task      string     `json:"task"`
	Worker    string     `json:"worker"`
	Agent     string     `json:"agent"`
	Delivery  string     `json:"delivery"`
	Why       string     `json:"why,omitempty"`
	Created   time.Time  `json:"created"`
	Queued    *time.Time `json:"queued,omitempty"`
	Ordered   *time.Time `json:"ordered,omitempty"`
	Opened    *time.Time `json:"opened,omitempty"`
	Started   *time.Time `json:"started,omitempty"`
	Ready     *time.Time `json:"ready,omitempty"`
	Typed     *time.Time `json:"typed,omitempty"`
	Verified  *time.Time `json:"verified,omitempty"`
	Submitted *time.Time `json:"submitted,omitempty"`
	Turn      *time.Time `json:"turn,omitempty"`
	TurnEnded *time.Time `json:"turn_ended,omitempty"`
	Finished  *time.Time `json:"finished,omitempty"`
	Answer    string     `json:"answer,omitempty"`
	Closed    string     `json:"closed,omitempty"`
}

// Project tells a run as its file shows it. ok is false where there is no such run.
func Project(v View, run string) (f RunFile, ok bool) {
	r, ok := v.Entity(Run{ID: run}.Key()).(Run)
	if !ok {
		return RunFile{}, false
	}
	f = RunFile{
		Version: runFileVersion, Run: r.ID, Name: r.Name, Objective: r.Objective,
		Coordinator: r.Coordinator, Former: list(r.Former), Created: r.Created, Ended: r.Ended,
		Workers: []RunWorker{}, Tasks: []RunTask{}, Dispatches: []RunDispatch{}, Reports: []RunReport{}, Messages: []RunMessage{}, Gates: []Gate{}, Worktrees: []RunWorktree{},
	}
	each(v, Of("worker", run), func(w Worker) bool {
		f.Workers = append(f.Workers, projectWorker(w))
		return true
	})
	each(v, Of("task", run), func(t Task) bool {
		f.Tasks = append(f.Tasks, RunTask{
			ID: t.ID, Title: t.Title, Spec: t.Spec, Source: t.Source, Deps: list(t.Deps), Status: t.Status, Reason: t.Reason,
			Dispatch: t.Dispatch, Attempts: t.Attempts, Failures: t.Failures, Tries: t.Tries, Picked: t.Picked, Of: t.Of, Outcome: t.Outcome, Summary: t.Summary,
			By: t.By, Request: t.Request, Created: t.Created,
		})
		return true
	})
	each(v, Of("dispatch", run), func(d Dispatch) bool {
		f.Dispatches = append(f.Dispatches, projectDispatch(d))
		f.Reports = append(f.Reports, projectReports(d)...)
		return true
	})
	f.Delivery = lastDelivery(v, r.ID, f.Workers)
	each(v, Of("message", run), func(m Message) bool {
		f.Messages = append(f.Messages, projectMessage(m))
		return true
	})
	each(v, Of("gate", run), func(g Gate) bool {
		g.Evidence = nil // AnsweredBy says it in words
		f.Gates = append(f.Gates, g)
		return true
	})
	each(v, Of("worktree", run), func(t Worktree) bool {
		f.Worktrees = append(f.Worktrees, RunWorktree{Worker: t.Worker, Repo: t.Want.Main, Common: t.Want.Common, Path: t.Path, Branch: t.Branch, New: t.New, Base: t.Base,
			Into: t.Want.Into, State: t.State, How: t.How, Tip: t.Tip, Commit: t.Commit, Backup: t.Backup, Ended: t.Ended})
		return true
	})
	return f, true
}

// lastDelivery is the newest delivery of the boxes of a run and its workers, "" for none.
func lastDelivery(v View, run string, workers []RunWorker) (last string) {
	boxes := []string{run}
	for _, w := range workers {
		boxes = append(boxes, w.ID)
	}
	for _, b := range boxes {
		each(v, Of("delivery", b), func(d MailDelivery) bool {
			if idNumber("v", d.ID) > idNumber("v", last) {
				last = d.ID
			}
			return true
		})
	}
	return last
}

func projectMessage(m Message) RunMessage {
	f := RunMessage{
		ID: m.ID, Type: m.Type, From: m.From, To: m.To, Subject: m.Subject, Worker: m.Worker, Dispatch: m.Dispatch,
		Options: m.Options, Reply: m.Reply, ReplyTo: m.ReplyTo, Over: m.Over, Settled: m.Settled, How: m.How,
		Path: m.Path, State: m.State, Why: m.Why, Created: m.Created, Submitted: m.Submitted, Delivered: m.Delivered,
	}
	if m.open() && m.Path == "" && m.Type != ReportMail {
		f.Body = m.Body
	}
	return f
}

func projectWorker(w Worker) RunWorker {
	return RunWorker{
		ID: w.ID, Name: w.Name, Kind: w.Kind, Agent: w.Agent, Dispatch: w.Dispatch, Dir: w.Dir,
		Model: w.Model, Scope: list([]string(w.Scope)), By: w.By, Created: w.Created, Stopping: w.Stopping, Progress: w.Progress, Depth: w.Depth,
		Request: w.Request, Retries: w.Retries, Adopted: w.Adopted, Released: w.Released,
	}
}

func projectDispatch(d Dispatch) RunDispatch {
	return RunDispatch{
		ID: d.ID, Task: d.Task, Worker: d.Worker, Agent: d.Agent, Delivery: d.Delivery, Why: d.Why,
		Created: d.Created, Queued: d.Queued, Ordered: d.Ordered, Opened: d.Opened, Started: d.Started, Ready: d.Ready, Typed: d.Typed,
		Verified: d.Verified, Submitted: d.Submitted, Turn: d.Turn, TurnEnded: d.TurnEnded,
		Finished: d.Finished, Answer: d.Answer, Closed: d.Closed,
	}
}

func projectReports(d Dispatch) []RunReport {
	all := d.Notes
	if d.Report != nil {
		all = append([]Report{*d.Report}, all...)
	}
	list := make([]RunReport, len(all))
	for i, r := range all {
		r.Files = append([]string{}, r.Files...)
		list[i] = RunReport{Dispatch: d.ID, Task: d.Task, Worker: d.Worker, Report: r}
	}
	return list
}

// reportsOn are the report on a dispatch, nil where there is none, and the notes.
func (f RunFile) reportsOn(dispatch string) (report *Report, notes []Report) {
	for _, r := range f.Reports {
		switch {
		case r.Dispatch != dispatch:
		case r.Why == "" && report == nil:
			report = &r.Report
		default:
			notes = append(notes, r.Report)
		}
	}
	return report, notes
}

// ReadRunFile reads what Project wrote. run is the name of the folder it was found in: a file that speaks
// of another run is refused, and so is one of a version that isn't known.
func ReadRunFile(run string, raw []byte) (RunFile, error) {
	var f RunFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return f, err
	}
	if f.Version != runFileVersion {
		return f, fmt.Errorf("version %d isn't known", f.Version)
	}
	if f.Run != run {
		return f, fmt.Errorf("it tells of run %q", f.Run)
	}
	return f, f.checkIDs()
}

func (f RunFile) checkIDs() error {
	ids := []struct{ letter, id string }{{"r", f.Run}, {"a", f.Coordinator}}
	for _, w := range f.Workers {
		ids = append(ids, []struct{ letter, id string }{{"w", w.ID}, {"a", w.Agent}, {"d", w.Dispatch}, {"a", w.By}, {"w", w.Retries}}...)
	}
	for _, t := range f.Tasks {
		ids = append(ids, []struct{ letter, id string }{{"t", t.ID}, {"d", t.Dispatch}, {"a", t.By}, {"w", t.Picked}, {"t", t.Of}}...)
		for _, d := range append(list(t.Deps), t.Tries...) {
			ids = append(ids, struct{ letter, id string }{"t", d})
		}
	}
	for _, d := range f.Dispatches {
		ids = append(ids, []struct{ letter, id string }{{"d", d.ID}, {"t", d.Task}, {"w", d.Worker}, {"a", d.Agent}}...)
	}
	for _, m := range f.Messages {
		ids = append(ids, []struct{ letter, id string }{{"m", m.ID}, {"w", m.Worker}, {"d", m.Dispatch}, {"m", m.Reply}, {"m", m.ReplyTo}}...)
		if m.From != Us {
			ids = append(ids, struct{ letter, id string }{"a", m.From})
		}
		if m.To != f.Run {
			ids = append(ids, struct{ letter, id string }{"w", m.To})
		}
	}
	for _, g := range f.Gates {
		ids = append(ids, []struct{ letter, id string }{{"g", g.ID}, {"t", g.Task}, {"a", g.By}}...)
	}
	for _, t := range f.Worktrees {
		ids = append(ids, struct{ letter, id string }{"w", t.Worker})
	}
	for _, i := range ids {
		if i.id != "" && idNumber(i.letter, i.id) == 0 {
			return fmt.Errorf("%q is no id", i.id)
		}
	}
	if f.Delivery != "" && idNumber("v", f.Delivery) == 0 {
		return fmt.Errorf("%q is no id", f.Delivery)
	}
	for _, own := range f.ownIDs() {
		if own == "" {
			return fmt.Errorf("a record has no id")
		}
	}
	return nil
}

func (f RunFile) ownIDs() []string {
	ids := []string{f.Run}
	for _, w := range f.Workers {
		ids = append(ids, w.ID)
	}
	for _, t := range f.Tasks {
		ids = append(ids, t.ID)
	}
	for _, d := range f.Dispatches {
		ids = append(ids, d.ID)
	}
	for _, m := range f.Messages {
		ids = append(ids, m.ID)
	}
	for _, g := range f.Gates {
		ids = append(ids, g.ID)
	}
	for _, t := range f.Worktrees {
		ids = append(ids, t.Worker)
	}
	return ids
}

// idNumber is the number of an id such as w12, 0 for anything else. Nine digits are enough for any counter
// and keep a made-up id from carrying the counters to where they overflow.
func idNumber(letter, id string) int {
	if len(id) < 2 || len(id) > 10 || id[:1] != letter || id[1] == '0' {
		return 0
	}
	n := 0
	for _, c := range []byte(id[1:]) {
		if c < '0' || c > '9' {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}
