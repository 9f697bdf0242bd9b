package main

import "st/orch"

// replyLine is the line by which somebody answers a question.
func replyLine(id string) string { return "st reply " + id + " '…'" }

// blockedBy is the question for whose answer a worker waits, nil where it waits for something else.
func blockedBy(w orch.WorkerInfo) *orch.OpenQuestion {
	for _, q := range w.Questions {
		if w.State == "needs_input" && w.WaitingFor == "question" && w.Waits == q.Question {
			return &q
		}
	}
	return nil
}

// asks is for what a worker waits, with what may be answered: what a hook tells of a dialog has that in it.
func asks(w orch.WorkerInfo) string {
	if blockedBy(w) == nil || len(w.Options) == 0 {
		return w.Waits
	}
	return w.Waits + " (" + optionList(w.Options) + ")"
}

// questions prints the unanswered questions of a worker, each with the line that answers it.
func (p *printer) questions(list []orch.OpenQuestion) error {
	for _, q := range list {
		state := "open"
		if q.Waiting {
			state = "it waits"
		}
		if err := p.say("%s %s (%s, %s)", p.style(p.styles.head, "question "+q.ID+":"), block(q.Question), ago(q.Created), state); err != nil {
			return err
		}
		if err := p.fields([]field{{"options", optionList(q.Options)}}); err != nil {
			return err
		}
		if err := p.say("  %s", replyLine(q.ID)); err != nil {
			return err
		}
	}
	return nil
}
