package orch

import "strings"

// A line is what goes in at once: words of one agent, in their order.
type line []Word

// lineMost is the longest line, in bytes: agents show a longer text as a paste that can't be read back.
const lineMost = 500

// lines are of each agent the words of its next line. While one is on its way, or what it names is not written yet,
// that is all of it. Words that will be told by a wait, or only later, are passed over; one that does not go in with the
// others is not overtaken by those behind it.
func lines(v View) []line {
	var order []string
	next, full := map[string]line{}, map[string]bool{}
	waits := Waits(v)
	for _, w := range wordsOn(v, waitingWords, func(Word) bool { return true }) {
		l, begun := next[w.Agent]
		switch {
		case w.State == later || w.untouched() && waitTells(v, waits, w):
		case !begun:
			order = append(order, w.Agent)
			next[w.Agent] = line{w}
		case w.onWay() && !l[0].onWay(): // of older words that have come from another agent
			next[w.Agent] = line{w}
		case full[w.Agent] && w.Lead == "":
		case l.takes(w):
			next[w.Agent] = append(l, w)
		default:
			full[w.Agent] = true
		}
	}
	all := make([]line, len(order))
	for i, agent := range order {
		all[i] = next[agent]
	}
	return all
}

// takes tells whether a word goes in with a line. One that may stand in the agent's input line since an
// earlier try stays as it is. The task line opens a worker's first turn and goes alone, and so does what can't wait.
func (l line) takes(w Word) bool {
	first := l[0]
	switch {
	case first.Lead != "":
		return w.Lead == first.Lead
	case first.State != owed || w.State != owed || w.Lead != "":
		return false
	case first.Dispatch != "" || first.Now || w.Dispatch != "" || w.Now:
		return false
	}
	return len(append(l, w).text()) <= lineMost
}

// mark is by what a line is known in an agent's log: that of its first word, or what stands for all of its news.
func (l line) mark() string { return l[0].Mark }

// lineOf are the words that go in with a word, itself among them. They may belong to two agents by now: news go over to
// whoever takes up the conversation, and the rest doesn't.
func (s *step) lineOf(w Word) line {
	if w.Lead == "" {
		return line{w}
	}
	return wordsOf(s, w.Lead, func(Word) bool { return true })
}

// nextLine is the next line of an agent, nil for none.
func nextLine(v View, agent string) line {
	for _, l := range lines(v) {
		if l[0].Agent == agent {
			return l
		}
	}
	return nil
}

// text is what is typed or told: the words that are sentences, then the news.
func (l line) text() string {
	var parts []string
	for _, w := range l {
		if w.News == nil {
			parts = append(parts, w.Text)
		}
	}
	if news := l.news(); news != "" {
		parts = append(parts, news)
	}
	return strings.Join(parts, " ")
}
