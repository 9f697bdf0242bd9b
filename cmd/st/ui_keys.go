package main

import (
	"fmt"
	"os"
	"slices"

	"st/orch"
)

// uiKey is a key and what it does where nothing is asked and nothing is read.
type uiKey struct {
	names []string // the first is shown
	short string   // for the last line, "" where that leaves it out
	about string
	do    func(u *ui)
}

// uiKeys are made when they are wanted: what they do leads back to them.
func uiKeys() []uiKey {
	return []uiKey{
		{[]string{"enter"}, "go", "open the window: of a worker, of who asks, the session of a coordinator", (*ui).open},
		{[]string{"r"}, "read", "read all of it: a worker's report and answer, a gate, a task, a run", (*ui).read},
		{[]string{"g"}, "gate", "answer a gate, as st gate answer does", (*ui).answerGate},
		{[]string{"a"}, "answer", "answer a worker's question, as st reply does", (*ui).answerQuestion},
		{[]string{"s"}, "stop", "stop a worker, after a y", (*ui).stop},
		{[]string{"x"}, "release", "release a worker, after a y: it leaves its run, and its agent lives on", (*ui).release},
		{[]string{"/"}, "filter", "show only what holds a text: a name, an id, a kind, a state", (*ui).beginFilter},
		{[]string{"."}, "all", "show also finished workers and ended runs, or no more", (*ui).toggle},
		{[]string{"j", "down"}, "", "down", func(u *ui) { u.move(1) }},
		{[]string{"k", "up"}, "", "up", func(u *ui) { u.move(-1) }},
		{[]string{"pgdown", "ctrl+f", " "}, "", "a page down", func(u *ui) { u.move(u.listHeight()) }},
		{[]string{"pgup", "ctrl+b"}, "", "a page up", func(u *ui) { u.move(-u.listHeight()) }},
		{[]string{"home"}, "", "to the first row", func(u *ui) { u.move(-len(u.rows)) }},
		{[]string{"end", "G"}, "", "to the last row", func(u *ui) { u.move(len(u.rows)) }},
		{[]string{"esc"}, "", "drop the filter", func(u *ui) { u.filterBy("") }},
		{[]string{"?"}, "help", "show these keys", nil},
		{[]string{"q", "ctrl+c"}, "quit", "quit; all goes on", func(u *ui) { u.ended = true }},
	}
}

// typed takes the keys of one read. The y to a question that one of them has brought up is not among them: nobody can have
// read it.
func (u *ui) typed(keys []press) {
	for _, k := range keys {
		before := u.ask
		u.pressed(k)
		if u.ask != nil && u.ask != before && u.ask.yes {
			return
		}
	}
}

// pressed gives a key to whatever wants it. A pasted text is no key.
func (u *ui) pressed(k press) {
	switch {
	case k.name == "ctrl+c":
		u.ended = true
	case u.ask != nil:
		u.ask.pressed(u, k)
	case u.page != nil:
		u.page.pressed(u, k)
	case k.name != "":
		u.command(k.name)
	}
	u.want()
}

// command does what a key stands for.
func (u *ui) command(name string) {
	u.notice = nil
	keys := uiKeys()
	i := slices.IndexFunc(keys, func(k uiKey) bool { return slices.Contains(k.names, name) })
	switch {
	case i < 0:
		u.say("no key: ? shows those that there are")
	case keys[i].do == nil:
		u.page = &uiPage{title: "keys", text: keyHelp()}
	default:
		keys[i].do(u)
	}
}

func (u *ui) say(format string, args ...any) {
	u.notice = []string{oneLine(fmt.Sprintf(format, args...))}
}

func (u *ui) open() {
	r := u.chosen()
	switch {
	case r.worker != nil:
		u.goTo(nil, r.worker.ID)
	case r.is() == "run" && r.seat != nil && r.seat.Session != "":
		u.goTo([]string{"--session=" + r.seat.Session})
	default:
		u.say("no window belongs to this row")
	}
}

// goTo shows a window: inside tmux our client is switched and the ui stays where it is.
func (u *ui) goTo(flags []string, args ...string) {
	if os.Getenv("TMUX") != "" {
		u.begin(u.hands.do(false, "attach", flags, args...))
		return
	}
	cmd, err := u.hands.attach(flags, args...)
	if err != nil {
		u.say("st: %v", err)
		return
	}
	u.lend = cmd
}

func (u *ui) read() {
	r := u.chosen()
	switch r.is() {
	case "gate":
		u.begin(u.hands.do(true, "gate show", nil, r.gate.ID))
	case "question", "dialog":
		u.begin(u.hands.do(true, "worker show", nil, r.worker.ID))
	case "worker":
		u.begin(u.hands.do(true, "worker read", nil, r.worker.ID))
	case "task":
		u.begin(u.hands.do(true, "task show", nil, r.task.ID))
	case "run", "done":
		u.begin(u.hands.do(true, "orch show", nil, r.run.ID))
	default:
		u.say("nothing to read in this row")
	}
}

// answerGate asks for the answer to the chosen gate, or where none is chosen to the only one.
func (u *ui) answerGate() {
	g := u.chosen().gate
	if w := u.chosen().worker; g == nil && w != nil && w.Gate != "" {
		g = u.gate(func(g orch.GateInfo) bool { return g.ID == w.Gate })
	}
	if g == nil {
		g = u.gate(func(orch.GateInfo) bool { return true })
	}
	if g == nil {
		u.say("choose a gate: its rows stand on top, where one is open")
		return
	}
	id := g.ID
	u.ask = &uiAsk{
		title: fmt.Sprintf("gate %s of %s: %s", g.ID, gateAsker(*g), g.Question), options: g.Options,
		done: func(choice string) { u.begin(u.hands.do(false, "gate answer", nil, id, choice)) },
	}
}

// gate is the only open gate that is wanted, nil where there is none or several.
func (u *ui) gate(wanted func(orch.GateInfo) bool) (only *orch.GateInfo) {
	for i := range u.trees {
		for k, g := range u.trees[i].Run.Gates {
			if !wanted(g) {
				continue
			}
			if only != nil {
				return nil
			}
			only = &u.trees[i].Run.Gates[k]
		}
	}
	return only
}

// answerQuestion asks for the answer to the chosen question: the row's own, or the worker's for which it waits or that it
// has asked first.
func (u *ui) answerQuestion() {
	r := u.chosen()
	q := r.question
	if q == nil && r.worker != nil {
		q = blockedBy(*r.worker)
		if q == nil && len(r.worker.Questions) > 0 {
			q = &r.worker.Questions[0]
		}
	}
	if q == nil {
		u.say("choose a question: its rows stand on top, where one is open")
		return
	}
	id := q.ID
	u.ask = &uiAsk{
		title: fmt.Sprintf("%s of %s: %s", id, named(*r.worker), q.Question), options: q.Options,
		done: func(text string) { u.begin(u.hands.do(false, "reply", nil, id, text)) },
	}
}

func (u *ui) stop() {
	u.order("stop", "Its agent ends and its window is closed.", "--yes")
}

func (u *ui) release() {
	u.order("release", "It leaves its run, and a task that it has not reported is cancelled; its agent lives on.")
}

// order asks whether a verb is to be done to the chosen worker; means is what comes of it.
func (u *ui) order(verb, means string, flags ...string) {
	w := u.chosen().worker
	if w == nil {
		u.say("choose a worker to %s", verb)
		return
	}
	id := w.ID
	u.ask = &uiAsk{
		title: fmt.Sprintf("%s worker %s? %s", verb, named(*w), means), yes: true,
		done: func(string) { u.begin(u.hands.do(false, "worker "+verb, flags, id)) },
	}
}

func (u *ui) beginFilter() {
	u.ask = &uiAsk{
		title: "show only what holds:", text: u.filter, empty: true,
		typed: u.filterBy, done: func(string) {}, left: func() { u.filterBy("") },
	}
}

func (u *ui) filterBy(text string) {
	u.filter = text
	u.arrange()
}

// toggle shows what has ended as well, or no more.
func (u *ui) toggle() {
	u.all = !u.all
	u.turn = u.feed.follow(u.all)
}
