package orch

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An agent that has forgotten what it is, by a compaction, /clear or its end, is told so by the hook of its session's
// begin: its role, and how things stand. That is no word: nothing is owed, proved or repeated, and no line waits for it.

// forgets are the sources of a session's begin before which the agent knew something.
var forgets = []string{"compact", "resume", "clear"}

// orient answers the hook of a session's begin.
func (s *step) orient(agent string, e AgentEvent) {
	if e.Type != SessionStarted || e.Subagent != "" || !slices.Contains(forgets, e.Source) || s.in.By.Path != "socket" {
		return
	}
	a, _ := get[Agent](s, "agent/"+agent)
	if orientation(s, a) == "" {
		return
	}
	s.answer = func() any { // as all stands at the end of the step
		a, _ := get[Agent](s, "agent/"+agent)
		return HookAnswer{Context: orientation(s, a)}
	}
}

// Most characters of the parts of an orientation, about 2,000 in all.
const (
	orientText    = 160 // somebody's own words, as far as they are shown
	orientWorkers = 500
	orientTasks   = 250
	orientOpen    = 100
)

// orientation is what an agent should know of itself: role, run, objective, workers, tasks, what is open, and what to type
// next. It holds fixed words, ids, states, and names and the objective as quoted strings; "" for an agent without a role.
func orientation(v View, a Agent) string {
	w, works := workerOf(v, a.ID)
	run, leads := openRun(v, func(r Run) bool { return a.ID != "" && r.Coordinator == a.ID })
	var lines []string
	if works {
		lines = orientWorker(v, a, w, leads)
	}
	if leads {
		lines = append(lines, orientCoordinator(v, a, run)...)
	}
	return strings.Join(lines, "\n")
}

// orientWorker is what a worker should know; leads says that more follows, on the run that it has begun itself.
func orientWorker(v View, a Agent, w Worker, leads bool) []string {
	r, _ := get[Run](v, "run/"+w.Run)
	d, _ := get[Dispatch](v, "dispatch/"+w.Dispatch)
	me := fmt.Sprintf("st: you are worker %s %s, agent %s, of run %s%s.", w.ID, strconv.Quote(w.Name), a.ID, r.ID, called(r.Name))
	switch {
	case r.Ended != nil:
		me += " The run has ended."
	case r.Coordinator == "":
		me += " Its coordinator is a person."
	default:
		me += " Its coordinator is agent " + r.Coordinator + "."
	}
	lines := []string{me}
	if !leads {
		lines = append(lines, "Objective of the run: "+cutQuoted(r.Objective))
	}
	task := "Your task is " + d.Task + ", dispatch " + d.ID + ", in this file: " + d.Copy
	if d.ID == "" {
		lines = append(lines, "You have no task of the run yet: one comes as a line that names a file.")
	} else if d.Report != nil {
		lines = append(lines, task, "You have reported on it ("+d.Report.Outcome+"). There is nothing to do until a new line names another file: end your turn.")
	} else {
		lines = append(lines, task+" - read it again, and go on with what is not done yet.",
			"Report once, as the last thing you do: "+shellWord(w.Command)+" worker done --dispatch "+d.ID+" --summary 'what was done and how it was checked'")
	}
	if !leads && alone(v, w) {
		lines = append(lines, "You are at the depth limit: start no workers, do the task yourself.")
	}
	if leads && d.ID != "" && d.Report == nil {
		lines = append(lines, "You lead a team: report once for all of it, after its workers have settled.")
	}
	if !leads {
		lines = append(lines, orientList("Workers that you have started", workersBy(v, a.ID), orientWorkers)...)
	}
	lines = append(lines, orientList("Open gates of yours", gatesStated(v, w.Run, func(g Gate) bool { return g.By == a.ID }), orientOpen)...)
	lines = append(lines, orientList("Your questions without an answer", questionsStated(v, w.Run, func(m Message) bool { return m.Worker == w.ID }), orientOpen)...)
	return append(lines, "How a worker works with st: st skills get worker")
}

func orientCoordinator(v View, a Agent, r Run) []string {
	lines := []string{fmt.Sprintf("st: you are agent %s, the coordinator of run %s%s.", a.ID, r.ID, called(r.Name)), "Objective: " + cutQuoted(r.Objective)}
	lines = append(lines, orientList("Workers", workersOf(v, r.ID), orientWorkers)...)
	lines = append(lines, orientList("Tasks", tasksOf(v, r.ID), orientTasks)...)
	lines = append(lines, orientList("Open gates, which a person answers", gatesStated(v, r.ID, func(Gate) bool { return true }), orientOpen)...)
	lines = append(lines, orientList("Questions that wait for your reply", questionsStated(v, r.ID, func(m Message) bool { return m.To == r.ID }), orientOpen)...)
	return append(lines, "Next: "+nextOf(v, a, r), "How to coordinate with st: st skills get orchestrate")
}

// nextOf is what a coordinator had best do next.
func nextOf(v View, a Agent, r Run) string {
	if asked := questionsStated(v, r.ID, func(m Message) bool { return m.To == r.ID }); len(asked) > 0 {
		return "st check"
	}
	first := map[string]string{} // by state: the newest worker
	each(v, Of("worker", r.ID), func(w Worker) bool {
		first[w.State] = w.ID
		return true
	})
	ready := ""
	each(v, Of("task", r.ID), func(t Task) bool {
		if t.Status == "ready" && t.Start == nil {
			ready = t.ID
		}
		return ready == ""
	})
	for _, state := range []string{failed, gone, noReport} {
		first["trouble"] = cmp.Or(first["trouble"], first[state])
	}
	switch {
	case len(workersOf(v, r.ID)) == 0 && ready == "":
		return "st worker start --agent " + a.Kind + " --name NAME --prompt 'what to do'"
	case first[needsInput] != "":
		return "st worker read " + first[needsInput] + " --screen"
	case ready != "":
		return "st worker start --agent " + a.Kind + " --task-id " + ready
	case first["trouble"] != "":
		return "st worker read " + first["trouble"]
	case first[running] != "" || first[queued] != "" || first[unknown] != "":
		return "end your turn: you are told when a worker settles or asks. What they say now: st worker ls"
	}
	return "st worker read " + first[finished] + "; when all is done: st orch end " + r.ID + " --close"
}

func called(name string) string {
	if name == "" {
		return ""
	}
	return " " + strconv.Quote(name)
}

// cutQuoted is somebody's text as one quoted string of fixed length.
func cutQuoted(text string) string {
	q := strconv.Quote(text)
	if utf8.RuneCountInString(q) <= orientText {
		return q
	}
	return strings.TrimRight(string([]rune(q)[:orientText]), `\`) + `…"`
}

// A stated is something with a state, as an orientation lists it.
type stated struct{ text, state string }

// orientList is one line of things, the first ones by name as far as they fit into most characters, the others counted by
// their state; none for an empty list.
func orientList(head string, all []stated, most int) []string {
	if len(all) == 0 {
		return nil
	}
	var shown []string
	used, rest := 0, map[string]int{}
	for _, o := range all {
		if n := utf8.RuneCountInString(o.text) + 2; len(rest) == 0 && used+n <= most {
			shown, used = append(shown, o.text), used+n
		} else {
			rest[o.state]++
		}
	}
	var counts []string
	for state, n := range rest {
		counts = append(counts, fmt.Sprintf("%d %s", n, state))
	}
	slices.Sort(counts)
	if len(counts) > 0 {
		shown = append(shown, "and more: "+strings.Join(counts, ", "))
	}
	return []string{head + ": " + strings.Join(shown, "; ")}
}

// unsettledFirst puts what still goes on before what is over; of each the newest stand first.
func unsettledFirst(ws []Worker) (list []stated) {
	slices.Reverse(ws)
	slices.SortStableFunc(ws, func(a, b Worker) int {
		switch x, y := settledState(a.State), settledState(b.State); {
		case x == y:
			return 0
		case y:
			return -1
		}
		return 1
	})
	for _, w := range ws {
		list = append(list, stated{w.ID + " " + strconv.Quote(w.Name) + " " + w.State, w.State})
	}
	return list
}

func workersOf(v View, run string) []stated {
	var ws []Worker
	each(v, Of("worker", run), func(w Worker) bool { ws = append(ws, w); return true })
	return unsettledFirst(ws)
}

func workersBy(v View, agent string) []stated {
	var ws []Worker
	each(v, startedBy(agent), func(w Worker) bool { ws = append(ws, w); return true })
	return unsettledFirst(ws)
}

func tasksOf(v View, run string) (list []stated) {
	var over []stated
	each(v, Of("task", run), func(t Task) bool {
		o := stated{t.ID + " " + t.Status, t.Status}
		if t.Status == "completed" || t.Status == "cancelled" {
			over = append(over, o)
		} else {
			list = append(list, o)
		}
		return true
	})
	return append(list, over...)
}

func gatesStated(v View, run string, f func(Gate) bool) (list []stated) {
	each(v, Of("gate", run), func(g Gate) bool {
		if g.Status == GateOpen && f(g) {
			list = append(list, stated{g.ID, "open"})
		}
		return true
	})
	return list
}

func questionsStated(v View, run string, f func(Message) bool) (list []stated) {
	each(v, Of("message", run), func(m Message) bool {
		if m.Type == Question && m.Settled == nil && f(m) {
			list = append(list, stated{m.ID + " of " + m.Worker, "open"})
		}
		return true
	})
	return list
}

// shellWord is how an agent's shell calls us: "" is the default.
func shellWord(command string) string {
	if command == "" {
		return "st"
	}
	return quoteArg(command)
}
