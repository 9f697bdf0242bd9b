package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"st/orch"
)

// uiRow is one line of the ui. Of worker, gate, question and task that one is set which the line speaks of; a question
// and a dialog have their worker beside.
type uiRow struct {
	key      string // what it is, to find it again in the next state: "worker w3"
	run      *orch.RunInfo
	seat     *orch.AgentInfo // of a run's own line, nil for a person
	worker   *orch.WorkerInfo
	gate     *orch.GateInfo
	question *orch.OpenQuestion
	task     *orch.TaskInfo
	title    string // of the worker's task
	count    int    // of workers that are done with and not shown
	last     bool   // of its run
	search   string
}

// is tells what kind of line it is: gate, question, dialog, run, worker, task, done.
func (r uiRow) is() string { kind, _, _ := strings.Cut(r.key, " "); return kind }

// uiRows are the lines of some runs that hold the filter: what waits for an answer, then the trees.
func uiRows(trees []orch.TreeInfo, filter string) []uiRow {
	var top, tree []uiRow
	for i := range trees {
		t := &trees[i]
		top = append(top, kept(needs(t), filter)...)
		branches := kept(branches(t), filter)
		head := runRow(t)
		if filter != "" && len(branches) == 0 && !holds(head, filter) {
			continue
		}
		if n := len(branches); n > 0 {
			branches[n-1].last = true
		}
		tree = append(append(tree, head), branches...)
	}
	slices.SortStableFunc(top, func(a, b uiRow) int { return cmp.Compare(rank(a), rank(b)) })
	return append(top, tree...)
}

// inRow puts the runs of teams behind those to which they belong.
func inRow(trees []orch.TreeInfo) (row []orch.TreeInfo) {
	for _, t := range trees {
		row = append(append(row, t), inRow(t.Teams)...)
	}
	return row
}

// rank puts gates before questions before dialogs.
func rank(r uiRow) int { return slices.Index([]string{"gate", "question", "dialog"}, r.is()) }

func kept(rows []uiRow, filter string) []uiRow {
	return slices.DeleteFunc(rows, func(r uiRow) bool { return !holds(r, filter) })
}

func holds(r uiRow, filter string) bool { return strings.Contains(r.search, strings.ToLower(filter)) }

// searched is the text that a filter looks in.
func searched(parts ...string) string { return strings.ToLower(strings.Join(parts, " ")) }

// needs are what of a run waits for somebody's answer.
func needs(t *orch.TreeInfo) (rows []uiRow) {
	for i := range t.Run.Gates {
		g := &t.Run.Gates[i]
		r := uiRow{key: "gate " + g.ID, run: &t.Run, gate: g, search: searched(g.ID, "gate", t.Run.ID, g.Question, gateAsker(*g))}
		if w := slices.IndexFunc(t.Workers, func(w orch.WorkerInfo) bool { return w.ID == g.Worker }); w >= 0 {
			r.worker = &t.Workers[w]
		}
		rows = append(rows, r)
	}
	for i := range t.Workers {
		w := &t.Workers[i]
		for k := range w.Questions {
			q := &w.Questions[k]
			rows = append(rows, uiRow{key: "question " + q.ID, run: &t.Run, worker: w, question: q, search: searched(q.ID, "question", t.Run.ID, w.ID, w.Name, q.Question)})
		}
		if dialog(*w) {
			rows = append(rows, uiRow{key: "dialog " + w.ID, run: &t.Run, worker: w, search: searched(w.ID, w.Name, w.WaitingFor, t.Run.ID, w.Waits)})
		}
	}
	return rows
}

// dialog says that a worker waits at a screen of its own program.
func dialog(w orch.WorkerInfo) bool {
	return w.State == "needs_input" && w.WaitingFor != "question" && w.WaitingFor != "gate"
}

func runRow(t *orch.TreeInfo) uiRow {
	r := uiRow{key: "run " + t.Run.ID, run: &t.Run, seat: t.Coordinator, search: searched(t.Run.ID, t.Run.Name, t.Run.Objective)}
	if t.Coordinator != nil {
		r.search += searched("", t.Coordinator.ID, t.Coordinator.Name, t.Coordinator.Kind)
	}
	return r
}

// branches are the workers of a run, its tasks that no worker has, and how many workers are done with.
func branches(t *orch.TreeInfo) (rows []uiRow) {
	titles := map[string]string{}
	for _, task := range t.Run.Tasks {
		titles[task.ID] = task.Title
	}
	for i := range t.Workers {
		w := &t.Workers[i]
		rows = append(rows, uiRow{
			key: "worker " + w.ID, run: &t.Run, worker: w, title: titles[w.Task],
			search: searched(t.Run.ID, t.Run.Name, w.ID, w.Name, w.Kind, w.State, w.Status, w.WaitingFor, w.Task, titles[w.Task]),
		})
	}
	for i := range t.Run.Tasks {
		if task := &t.Run.Tasks[i]; task.Status == "pending" || task.Status == "ready" || task.Status == "blocked" {
			rows = append(rows, uiRow{key: "task " + task.ID, run: &t.Run, task: task, search: searched(t.Run.ID, task.ID, task.Title, task.Status)})
		}
	}
	if t.Completed > 0 {
		rows = append(rows, uiRow{key: "done " + t.Run.ID, run: &t.Run, count: t.Completed, search: searched("completed", t.Run.ID)})
	}
	return rows
}

// census counts the workers by the state of their work.
func census(trees []orch.TreeInfo) string {
	states := []string{"running", "queued", "needs_input", "no_report", "failed", "gone", "gone_resumable", "unknown", "no_task", "finished"}
	count, all := map[string]int{}, 0
	for _, t := range trees {
		for _, w := range t.Workers {
			count[w.State]++
		}
		count["finished"] += t.Completed
		all += len(t.Workers) + t.Completed
	}
	var parts []string
	for _, s := range states {
		if count[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[s], s))
		}
	}
	if all == 0 {
		return "no worker"
	}
	return fmt.Sprintf("%d of %d workers: ", all-count["finished"], all) + strings.Join(parts, ", ")
}
