package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"

	"st/orch"
)

// table prints rows under a head, in columns as wide as what stands in them.
func (p *printer) table(head []string, rows [][]styled) error {
	widths := make([]int, len(head))
	for i, h := range head {
		widths[i] = lipgloss.Width(h)
		for _, row := range rows {
			widths[i] = max(widths[i], lipgloss.Width(string(row[i])))
		}
	}
	titles := make([]styled, len(head))
	for i, h := range head {
		titles[i] = p.style(p.styles.dim, h)
	}
	if err := p.say("%s", row(titles, widths)); err != nil {
		return err
	}
	for _, r := range rows {
		if err := p.say("%s", row(r, widths)); err != nil {
			return err
		}
	}
	return nil
}

func row(cells []styled, widths []int) styled {
	var b strings.Builder
	for i, cell := range cells {
		b.WriteString(string(cell))
		if i < len(cells)-1 {
			b.WriteString(strings.Repeat(" ", widths[i]-lipgloss.Width(string(cell))+2))
		}
	}
	return styled(strings.TrimRight(b.String(), " ")) // the last cells may be empty
}

func plain(s string) styled { return styled(clean(s)) }

// cell is a text that must not make a column too wide.
func cell(s string, width int) styled {
	s = clean(s)
	if lipgloss.Width(s) <= width {
		return styled(s)
	}
	cut := ""
	for _, r := range s {
		if lipgloss.Width(cut+string(r)) >= width {
			break
		}
		cut += string(r)
	}
	return styled(cut + "…")
}

// state is the state of a worker's work in its colour, and what it waits for.
func (p *printer) state(w orch.WorkerInfo) styled {
	s := p.styles
	style, text := s.dim, w.State
	switch w.State {
	case "running":
		style = s.head
	case "finished":
		style = s.good
	case "needs_input", "no_report", "unknown", "gone_resumable":
		style = s.warn
	case "failed", "gone":
		style = s.bad
	}
	switch {
	case w.State == "needs_input" && w.WaitingFor != "":
		text += " (" + w.WaitingFor + ")"
	case len(w.Maybe) > 0:
		text += " ?"
	case w.Sessionless != "":
		style, text = s.warn, "queued (session "+quoted(w.Sessionless)+" has ended)"
	case w.Queued > 0:
		text = inLine(w.Queued)
	case w.Silent && (w.State == "running" || w.Blind && w.State == "unknown"):
		style, text = s.warn, text+" (silent)"
	}
	return p.style(style, text)
}

// stands is the state of a worker's work with what else is to be seen of it in a list: its team, and that nobody answers for it.
func (p *printer) stands(w orch.WorkerInfo) styled {
	text := p.state(w)
	if len(w.TeamRuns) > 0 {
		text += styled(", " + teamOf(w.Team))
	}
	if w.Orphan {
		text += ", " + p.style(p.styles.bad, "orphan")
	}
	return text
}

func teamOf(workers int) string { return fmt.Sprintf("team of %d", workers) }

// inLine is a place in the line of those that wait for a window.
func inLine(place int) string { return "queued (" + ordinal(place) + ")" }

func ordinal(n int) string {
	ending := "th"
	if tens := n / 10 % 10; tens != 1 {
		switch n % 10 {
		case 1:
			ending = "st"
		case 2:
			ending = "nd"
		case 3:
			ending = "rd"
		}
	}
	return strconv.Itoa(n) + ending
}

// status is what an agent does, and what it waits for.
func status(status, waitingFor string) string {
	if status == "waiting" && waitingFor != "" {
		return status + " (" + waitingFor + ")"
	}
	return status
}

// statusFor is a status and how long it has been so.
func statusFor(status string, since time.Time) string {
	if since.IsZero() {
		return status
	}
	return status + " for " + ago(since)
}

// ago is how long since then, roughly.
func ago(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	d := max(time.Since(t), 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// workers prints a table of workers.
func (p *printer) workers(list []orch.WorkerInfo) error {
	var rows [][]styled
	for _, w := range list {
		last := cmp.Or(asks(w), w.Summary, w.Progress)
		if q := blockedBy(w); q != nil {
			last = q.ID + ": " + last
		}
		rows = append(rows, []styled{
			plain(w.ID), cell(w.Name, 24), plain(w.Kind), p.stands(w), plain(status(w.Status, w.WaitingFor)),
			plain(ago(w.Since)), plain(w.Task), cell(w.Session, 16), plain(w.Window), cell(last, 48),
		})
	}
	return p.table([]string{"ID", "NAME", "AGENT", "STATE", "STATUS", "FOR", "TASK", "SESSION", "WINDOW", "SAYS"}, rows)
}

// worker prints one worker in full.
func (p *printer) worker(w orch.WorkerInfo) error {
	rows := []field{
		{"run", w.Run}, {"task", w.Task}, {"dispatch", joined(w.Dispatch, w.Delivery)},
		{"agent", joined(w.Agent, statusFor(status(w.Status, w.WaitingFor), w.Since))}, {"screen", w.Screen}, {"waits for", asks(w)},
		{"hooks", unheard(w)}, {"still runs", outlives(w)}, {"session", w.Session}, {"window", joined(w.Window, w.Pane)}, {"folder", w.Dir},
		{"scope", strings.Join(w.Scope, " ")}, {"worktree", joined(w.Worktree, treeState(w))}, {"branch", joined(w.Branch, fromBase(w))}, {"setup", joined(w.Setup, w.SetupLog)},
		{"outside its scope", outsideOf(w)}, {"progress", w.Progress}, {"outcome", w.Outcome},
		{"left over", strings.Join(w.LeftOver, ", ")}, {"maybe in", strings.Join(w.Maybe, ", ")}, {"leads", strings.Join(w.TeamRuns, ", ")}, {"released", releasedAt(w)},
	}
	if err := p.say("%s %s (%s): %s", p.style(p.styles.head, w.ID), quoted(w.Name), w.Kind, p.stands(w)); err != nil {
		return err
	}
	if err := p.fields(rows); err != nil {
		return err
	}
	if err := p.questions(w.Questions); err != nil {
		return err
	}
	return p.text("summary", w.Summary)
}

// unheard says what is not known of a worker whose kind has no hooks, "" for any other.
func unheard(w orch.WorkerInfo) string {
	if !w.Blind {
		return ""
	}
	return "none: only its reports, progress and questions are heard of"
}

// outlives says that a worker's process has not ended with its terminal, "" where it has.
func outlives(w orch.WorkerInfo) string {
	if w.Outlives == 0 {
		return ""
	}
	return fmt.Sprintf("process %d, without a terminal: st restore or st worker restart %s ends it first", w.Outlives, w.ID)
}

// outsideOf are the files that were changed outside a worker's scope by its report, or why that is not known.
func outsideOf(w orch.WorkerInfo) string {
	if w.OutsideUnchecked != "" {
		return "not known: " + clean(w.OutsideUnchecked)
	}
	names := make([]string, 0, len(w.OutsideScope))
	for _, n := range w.OutsideScope {
		names = append(names, clean(n))
	}
	return strings.Join(names, ", ")
}

// releasedAt is since when a worker is none of its run any more, "" while it is one.
func releasedAt(w orch.WorkerInfo) string {
	if w.Released == nil {
		return ""
	}
	return ago(*w.Released) + " ago"
}

// treeState is how a worktree stands that is not just there.
func treeState(w orch.WorkerInfo) string {
	if w.TreeState == "ready" {
		return ""
	}
	return w.TreeState
}

// fromBase is the commit at which a branch began, short.
func fromBase(w orch.WorkerInfo) string {
	if w.Base == "" {
		return ""
	}
	return fmt.Sprintf("from %.12s", w.Base)
}

// field is one named fact; one without a value isn't shown.
type field struct{ name, value string }

func (p *printer) fields(fields []field) error {
	for _, f := range fields {
		if f.value == "" {
			continue
		}
		if err := p.say("  %s %s", p.style(p.styles.dim, fmt.Sprintf("%-9s", f.name+":")), f.value); err != nil {
			return err
		}
	}
	return nil
}

// text prints a text of several lines under its title; an empty one isn't shown.
func (p *printer) text(title, text string) error {
	if text == "" {
		return nil
	}
	if err := p.say("%s", p.style(p.styles.head, title+":")); err != nil {
		return err
	}
	return p.say("%s", block(strings.TrimRight(text, "\n")))
}

func joined(parts ...string) string {
	var there []string
	for _, part := range parts {
		if part != "" {
			there = append(there, part)
		}
	}
	return strings.Join(there, ", ")
}

// quoted is a name as messages show it, whatever is in it.
func quoted(name string) string { return `"` + headOf(clean(name)) + `"` }

// named is a worker in a message.
func named(w orch.WorkerInfo) string { return fmt.Sprintf("%s %s (%s)", w.ID, quoted(w.Name), w.Kind) }

// runNamed is a run in a message; its name is optional.
func runNamed(r orch.RunInfo) string {
	if r.Name == "" {
		return r.ID
	}
	return r.ID + " " + quoted(r.Name)
}

// run prints a run and its workers.
func (p *printer) run(r orch.RunInfo) error {
	who := r.Coordinator
	if who == "" {
		who = "a person"
	}
	state := r.State
	if r.Current {
		state += ", current"
	}
	if err := p.say("%s: %s", p.style(p.styles.head, runNamed(r)), state); err != nil {
		return err
	}
	err := p.fields([]field{
		{"objective", r.Objective}, {"by", who}, {"team", r.Lead}, {"age", ago(r.Created)},
	})
	if err == nil && len(r.Gates) > 0 {
		err = p.gates(r.Gates)
	}
	if err == nil && len(r.Workers) > 0 {
		err = p.workers(r.Workers)
	}
	if err != nil || !slices.ContainsFunc(r.Tasks, apart) {
		return err
	}
	return p.tasks(r.Tasks)
}

// apart says that a task has more to tell than its worker does.
func apart(t orch.TaskInfo) bool {
	return t.Status != "dispatched" && (t.Attempts != 1 || len(t.Deps) > 0 || t.Failures > 1) || len(t.Deps) > 0 || t.Attempts > 1
}
