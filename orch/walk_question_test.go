package orch

import "fmt"

// asks is what concerns questions and their answers.
func (w *walk) asks() What {
	c, _ := get[Counters](w, "counters/")
	m := fmt.Sprint("m", w.Intn(c.Message+1))
	text := fmt.Sprint("which ", w.Intn(4))
	switch w.Intn(8) {
	case 0, 1, 2:
		return Ask{Question: text, Later: w.Intn(3) == 0, Deaf: map[string]bool{"demo": w.Intn(2) == 0}}
	case 3, 4:
		return Reply{Message: m, Text: text}
	case 5:
		return AskTold{Message: m}
	case 6:
		return WaitBegan{For: m, Deaf: map[string]bool{"demo": w.Intn(2) == 0}}
	}
	if w.Intn(30) == 0 {
		return RunEnd{Force: true}
	}
	return WaitOver{Process: Process{5, 5}}
}

// holdQuestions: a question has at most one answer, that is its own and never changes, and an answer is told once; an
// unanswered one has somebody who needs the answer, and news are owed of no other.
func (w *walk) holdQuestions(in Input, before map[string]Message) {
	each(w, "message", func(m Message) bool {
		old := before[m.ID]
		if old.Settled != nil && (m.Settled == nil || m.How != old.How) || old.Reply != "" && m.Reply != old.Reply || old.Over != "" && m.Over != old.Over {
			w.Errorf("%s was settled (%s, reply %q, over %q) and changed after %T: %+v", m.ID, old.How, old.Reply, old.Over, in.What, m)
		}
		if m.Reply != "" && m.Over != "" {
			w.Errorf("%s has an answer and is over, after %T", m.ID, in.What)
		}
		if a, ok := get[Message](w, "message/"+m.Reply); m.Reply != "" && (!ok || a.ReplyTo != m.ID) {
			w.Errorf("%s has the answer %s, which answers %s, after %T", m.ID, m.Reply, a.ReplyTo, in.What)
		}
		if m.unanswered() {
			worker, _ := get[Worker](w, "worker/"+m.Worker)
			run, _ := get[Run](w, "run/"+m.Run)
			a, _ := get[Agent](w, "agent/"+worker.Agent)
			if run.Ended != nil || worker.Stopping != nil || !a.there() {
				w.Errorf("%s waits for an answer that nobody needs, after %T", m.ID, in.What)
			}
		}
		return true
	})
	each(w, "word", func(o Word) bool {
		if o.News != nil && o.News.asks() && o.untouched() {
			if q, _ := get[Message](w, "message/"+o.News.Message); !q.unanswered() {
				w.Errorf("%s tells of the question %s, which is over, after %T", o.ID, q.ID, in.What)
			}
		}
		return true
	})
}
