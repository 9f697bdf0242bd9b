package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"st/orch"
)

// view draws the screen: at most as many lines as it has, each narrower than it by a column.
func (u *ui) view() []string {
	if u.page != nil {
		lines := u.page.view(u)
		return lines[:min(len(lines), u.height)]
	}
	lines := append([]string{u.head()}, u.list()...)
	lines = append(append(lines, u.detail()...), u.foot()...)
	return lines[:min(len(lines), u.height)]
}

// head says how many workers there are in which state, and how the ui stands.
func (u *ui) head() string {
	p := u.printer
	if u.away {
		return string(p.style(p.styles.bad, cut("the daemon went away; waiting until one runs (st up)", u.width-1)))
	}
	text := "st ui   " + census(u.trees)
	if u.all {
		text += "   also what has ended"
	}
	if u.filter != "" {
		text += "   only: " + oneLine(u.filter)
	}
	return string(p.style(p.styles.head, cut(text, u.width-1)))
}

// detailHeight is how many lines tell more of the chosen row, with the rule above them.
func (u *ui) detailHeight() int {
	switch {
	case u.height < 14:
		return 0
	case u.height < 40:
		return 7
	}
	return 11
}

// listHeight is how many rows are shown.
func (u *ui) listHeight() int {
	return max(1, u.height-1-u.detailHeight()-len(u.foot()))
}

func (u *ui) list() []string {
	height := u.listHeight()
	top := max(0, min(u.top, len(u.rows)-height))
	if u.at >= top+height { // the foot has grown meanwhile
		top = u.at - height + 1
	}
	lines := make([]string, 0, height)
	for i := top; i < len(u.rows) && len(lines) < height; i++ {
		lines = append(lines, u.row(u.rows[i], i == u.at))
	}
	if len(u.rows) == 0 {
		lines = append(lines, u.nothing())
	}
	for len(lines) < height {
		lines = append(lines, "")
	}
	return lines
}

// nothing says why there is no row.
func (u *ui) nothing() string {
	if u.filter != "" {
		return cut("  nothing holds "+quoted(oneLine(u.filter))+"; Esc drops the filter", u.width-1)
	}
	return cut("  no open run: st orch start --objective TEXT", u.width-1)
}

// foot is what is asked or was said, and the keys.
func (u *ui) foot() []string {
	p := u.printer
	var lines []string
	for _, n := range u.notice {
		for _, line := range wrapped(n, u.width-1) {
			lines = append(lines, string(p.style(p.styles.warn, line)))
		}
	}
	lines = lines[:min(len(lines), noticeMost, max(1, u.height/2))]
	if u.ask != nil {
		return append(lines, u.ask.lines(u.width-1)...)
	}
	var keys []string
	for _, k := range uiKeys() {
		if k.short != "" {
			keys = append(keys, k.names[0]+" "+k.short)
		}
	}
	for across(strings.Join(keys, "  ")) > u.width-1 && len(keys) > 2 { // help and quit are the last to go
		keys = slices.Delete(keys, len(keys)-3, len(keys)-2)
	}
	return append(lines, string(p.style(p.styles.dim, cut(strings.Join(keys, "  "), u.width-1))))
}

// noticeMost is how many lines are left to what a verb has said.
const noticeMost = 8

// noticeLines are the lines of what a verb has said.
func noticeLines(text string) (lines []string) {
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if line = strings.TrimRight(cleanBlock(line), " "); line != "" && len(lines) < noticeMost {
			lines = append(lines, line)
		}
	}
	return lines
}

// uiWidths are those of the columns of workers.
type uiWidths struct{ id, name, kind, state int }

// widths fits the columns to what stands in them, within bounds.
func widths(rows []uiRow) uiWidths {
	w := uiWidths{id: 2, name: 4, kind: 4, state: 7}
	for _, r := range rows {
		if r.is() == "worker" {
			w.id = max(w.id, len(r.worker.ID))
			w.name = max(w.name, across(oneLine(r.worker.Name)))
			w.kind = max(w.kind, len(r.worker.Kind))
			w.state = max(w.state, across(string(bare.stands(*r.worker))))
		}
	}
	return w
}

// bare prints without any style: what is chosen has one of its own.
var bare = plainPrinter(io.Discard)

// row is one line of the list.
func (u *ui) row(r uiRow, chosen bool) string {
	p, mark := u.printer, "  "
	if chosen {
		p, mark = bare, "› "
	}
	width := u.width - 1 - 2
	var text string
	switch r.is() {
	case "worker":
		text = u.worker(p, r, width)
	case "gate":
		text = string(p.style(p.styles.warn, cut(gateRow(r), width)))
	case "question":
		text = string(p.style(p.styles.warn, cut(questionRow(r), width)))
	case "dialog":
		text = string(p.style(p.styles.warn, cut(dialogRow(r), width)))
	case "run":
		text = string(p.style(p.styles.head, cut(seatRow(r), width)))
	case "task":
		text = cut(twig(r)+r.task.ID+" "+quoted(oneLine(r.task.Title))+": "+oneLine(string(bare.taskState(*r.task))), width)
	case "done":
		text = string(p.style(p.styles.dim, cut(fmt.Sprintf("%sCompleted (%d)", twig(r), r.count), width)))
	}
	if chosen {
		return string(u.printer.style(u.printer.styles.chosen, mark+pad(text, width)))
	}
	return mark + text
}

func twig(r uiRow) string {
	if r.last {
		return "└─ "
	}
	return "├─ "
}

func gateRow(r uiRow) string {
	g := r.gate
	return fmt.Sprintf("? gate %s of %s in %s, %s: %s", g.ID, gateAsker(*g), g.Run, ago(g.Created), withOptions(g.Question, g.Options))
}

func questionRow(r uiRow) string {
	q := r.question
	return fmt.Sprintf("? %s of %s %s in %s, %s: %s", q.ID, r.worker.ID, quoted(oneLine(r.worker.Name)), r.run.ID, ago(q.Created), withOptions(q.Question, q.Options))
}

func dialogRow(r uiRow) string {
	w := r.worker
	text := fmt.Sprintf("! %s %s in %s, %s: %s", w.ID, quoted(oneLine(w.Name)), r.run.ID, ago(w.Since), cmp.Or(w.WaitingFor, w.Screen, "input"))
	if w.Waits != "" {
		text += ": " + oneLine(w.Waits)
	}
	return text
}

func withOptions(text string, options []string) string {
	if len(options) > 0 {
		text += " (" + optionList(options) + ")"
	}
	return oneLine(text)
}

func seatRow(r uiRow) string {
	text := runNamed(*r.run) + " of "
	if a := r.seat; a != nil {
		text += a.ID + " " + quoted(oneLine(a.Name)) + " (" + a.Kind + "), " + statusFor(status(a.Status, a.WaitingFor), a.Since)
	} else {
		text += "a person"
	}
	if r.run.State == "ended" {
		text += ", ended"
	}
	return oneLine(text + ": " + r.run.Objective)
}

// worker is the line of a worker, in columns as far as there is room.
func (u *ui) worker(p *printer, r uiRow, width int) string {
	w, n := r.worker, u.wide
	name, title := min(n.name, 12), ""
	if width >= 120 {
		name, title = min(n.name, 24), fit(strings.TrimSpace(w.Task+" "+oneLine(r.title)), 40)+" "
	}
	before := twig(r) + strings.Join([]string{pad(w.ID, n.id), fit(oneLine(w.Name), name), fit(w.Kind, min(n.kind, 8))}, " ") + " "
	state := pad(string(bare.stands(*w)), n.state)
	behind := fmt.Sprintf(" %3s %s%s", ago(w.Since), title, says(*w))
	room := width - across(before) - across(state)
	if room < 0 { // no column is whole any more
		return cut(before+state, width)
	}
	return before + pad(string(p.stands(*w)), n.state) + cut(strings.TrimRight(behind, " "), room)
}

// says is the newest that is known of a worker's own words.
func says(w orch.WorkerInfo) string {
	text := oneLine(cmp.Or(asks(w), firstLine(w.Summary), w.Progress))
	if q := blockedBy(w); q != nil {
		text = q.ID + ": " + text
	}
	if w.Gate != "" {
		text = w.Gate + ": " + text
	}
	return text
}

// detail tells more of the chosen row.
func (u *ui) detail() []string {
	height := u.detailHeight()
	if height == 0 {
		return nil
	}
	p, width := u.printer, u.width-1
	lines := []string{string(p.style(p.styles.dim, strings.Repeat("─", width)))}
	for _, f := range u.facts() {
		if f.value == "" {
			continue
		}
		for i, text := range wrapped(oneLine(f.value), width-11) {
			if i == 3 {
				break
			}
			name := f.name + ":"
			if i > 0 {
				name = ""
			}
			lines = append(lines, string(p.style(p.styles.dim, fit(name, 10)))+" "+text)
		}
	}
	for len(lines) < height {
		lines = append(lines, "")
	}
	return lines[:height]
}

// facts are what is known of the chosen row, the most wanted first.
func (u *ui) facts() []field {
	r := u.chosen()
	switch r.is() {
	case "gate":
		return []field{{"gate", r.gate.ID + " in " + runNamed(*r.run) + ", by " + gateAsker(*r.gate)}, {"question", r.gate.Question}, {"options", optionList(r.gate.Options)}, {"holds", r.gate.Task}}
	case "question":
		return []field{{"question", r.question.ID + " of " + named(*r.worker)}, {"asks", r.question.Question}, {"options", optionList(r.question.Options)}}
	case "worker", "dialog":
		return u.workerFacts(r)
	case "task":
		return []field{{"task", r.task.ID + " " + quoted(r.task.Title)}, {"status", string(bare.taskState(*r.task))}, {"needs", strings.Join(r.task.Deps, ", ")}}
	case "run":
		return []field{{"run", runNamed(*r.run) + ", " + r.run.State + ", since " + ago(r.run.Created)}, {"objective", r.run.Objective}}
	}
	return nil
}

func (u *ui) workerFacts(r uiRow) []field {
	w, answer := r.worker, ""
	if u.told.worker == w.ID {
		answer = firstLine(u.told.text)
	}
	title := ""
	if r.title != "" {
		title = quoted(r.title)
	}
	return []field{
		{"worker", named(*w) + ", " + statusFor(status(w.Status, w.WaitingFor), w.Since)}, {"waits for", asks(*w)},
		{"task", strings.TrimSpace(joined(strings.TrimSpace(w.Task+" "+title), w.Dispatch, w.Delivery))}, {"progress", w.Progress}, {"summary", firstLine(w.Summary)},
		{"says", answer}, {"window", joined(w.Session, w.Window, w.Pane, w.Dir)},
	}
}
