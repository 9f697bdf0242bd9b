package orch

// briefMost is how much of a text a brief tree has, in bytes.
const briefMost = 1 << 10

// brief leaves of long texts the beginning, and of the workers one list: a tree of hundreds is told again with each change,
// and what is told at once has a limit.
func (t *TreeInfo) brief() {
	t.Run.Workers = []WorkerInfo{}
	t.Run.Objective = beginning(t.Run.Objective, briefMost)
	for i := range t.Workers {
		t.Workers[i].brief()
	}
	for i := range t.Run.Gates {
		g := &t.Run.Gates[i]
		g.Question, g.Options = beginning(g.Question, briefMost), beginnings(g.Options)
	}
	for i := range t.Run.Tasks {
		task := &t.Run.Tasks[i]
		task.Summary, task.Reason = beginning(task.Summary, briefMost), beginning(task.Reason, briefMost)
	}
}

func (w *WorkerInfo) brief() {
	w.Summary, w.Progress, w.Waits, w.Options = beginning(w.Summary, briefMost), beginning(w.Progress, briefMost), beginning(w.Waits, briefMost), beginnings(w.Options)
	for i := range w.Questions {
		q := &w.Questions[i]
		q.Question, q.Options = beginning(q.Question, briefMost), beginnings(q.Options)
	}
}

// beginnings are those of a list of its own: the other may be the state's.
func beginnings(list []string) []string {
	short := make([]string, len(list))
	for i, s := range list {
		short[i] = beginning(s, briefMost)
	}
	return short
}
