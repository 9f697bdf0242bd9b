//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"st/orch"
	"st/orch/journal"
	"st/orch/proc"
)

// check compares what the store holds with what was acknowledged, what was told, and what each agent's own log says of
// its input. The store is open, so no daemon runs.
func (r *faultRun) check(j *journal.Journal) {
	if j == nil {
		return
	}
	defer r.close(j)
	panes, _ := r.tmux("list-panes", "-a", "-F", "#{@st_agent}") // of a dead server there is nothing to say
	for _, said := range j.Said() {
		r.fault("the store had to be mended: %s", said)
	}
	for _, e := range j.Owed() {
		r.fault("effect %d (%s) is still owed", e.ID, e.Do.Type())
	}
	events, err := j.History(0, 0)
	if err != nil {
		r.fault("the history: %v", err)
	}
	k := &record{faultRun: r, View: j.View(), events: events}
	k.checkLines()
	k.checkDispatches()
	k.checkMessages()
	k.checkLetters()
	k.checkReports()
	k.checkStates()
	k.checkWaits()
	k.checkStarts()
	k.checkHistory()
	k.checkWatch()
	k.checkPanes(panes)
	k.checkSpool()
	k.checkNews()
}

// record is the store of a run with its events.
type record struct {
	*faultRun
	orch.View
	events []orch.Event
}

// all are the entities of a noun.
func all[E orch.Entity](k *record, noun string) (list []E) {
	k.Each(noun, func(e orch.Entity) bool {
		list = append(list, e.(E))
		return true
	})
	return list
}

func one[E orch.Entity](k *record, key string) E {
	e, _ := k.Entity(key).(E) // the zero value stands for none
	return e
}

// times counts the lines with a mark that the agents of a name took.
func (k *record) times(name, mark string) (n int) {
	for _, l := range k.taken(name) {
		if strings.Contains(l.Text, mark) {
			n++
		}
	}
	return n
}

// fate counts how a line fared, and compares it with how often it was submitted.
func (k *record) fate(what, state string, n int) {
	switch state {
	case orch.Delivered:
		k.tally.delivered++
	case orch.Unknown:
		k.tally.unknown++
	case orch.NotDelivered:
		k.tally.notDelivered++
	}
	switch {
	case n > 1:
		k.fault("double: the line of %s was submitted %d times", what, n)
	case state == orch.Delivered && n == 0:
		k.fault("lost: %s is delivered, and no agent took its line", what)
	case state == orch.NotDelivered && n > 0:
		k.fault("%s is not delivered, and the agent took its line", what)
	}
}

func (k *record) checkDispatches() {
	for _, d := range all[orch.Dispatch](k, "dispatch") {
		k.tally.dispatches++
		w := one[orch.Worker](k, "worker/"+d.Worker)
		k.fate(d.ID+" of "+w.Name, d.Delivery, k.times(w.Name, d.Copy+" "))
		if d.Delivery == orch.Pending && d.Closed == "" {
			k.fault("%s of %s is neither delivered nor not", d.ID, w.Name)
		}
	}
}

// letters are the messages that a line hands over; a report's, and that of a worker's state, lies in the box of whoever
// answers for it.
func (k *record) letters() (list []orch.Message) {
	for _, m := range all[orch.Message](k, "message") {
		if m.Type != orch.ReportMail && m.News == "" {
			list = append(list, m)
		}
	}
	return list
}

// checkReportMail: each report lies once in a box, and so does each state.
func (k *record) checkReportMail() {
	found, states := map[string]int{}, map[string]int{}
	for _, m := range all[orch.Message](k, "message") {
		switch {
		case m.Type == orch.ReportMail:
			found[m.Dispatch]++
		case m.News != "":
			states[m.Worker+" "+m.News]++
		}
	}
	for state, n := range states {
		if n > 1 {
			k.fault("%d messages tell of the same state of %s", n, state)
		}
	}
	for _, d := range all[orch.Dispatch](k, "dispatch") {
		want := 0
		if d.Report != nil {
			want = 1
		}
		if found[d.ID] != want {
			k.fault("%s has %d messages of its report, want %d", d.ID, found[d.ID], want)
		}
	}
}

func (k *record) checkMessages() {
	k.checkReportMail()
	for _, m := range k.letters() {
		k.tally.messages++
		w := one[orch.Worker](k, "worker/"+m.To)
		k.fate(m.ID+" to "+w.Name, m.State, k.times(w.Name, m.Path+" "))
		if m.State == orch.Queued || m.State == orch.Typed {
			k.fault("message %s to %s is still %s: %s", m.ID, w.Name, m.State, m.Why)
		}
	}
	for _, w := range k.pending() {
		k.fault("word %s for %s is still %s", w.ID, w.Agent, w.State)
	}
}

// pending are the words of agents that live whose end is not known. Of one that died with it nothing more is heard.
func (k *record) pending() (list []orch.Word) {
	for _, w := range all[orch.Word](k, "word") {
		if w.State != "unproved" && one[orch.Agent](k, "agent/"+w.Agent).Gone == "" {
			list = append(list, w)
		}
	}
	return list
}

// checkLetters: each letter became one message where that was acknowledged, and at most one where it was not.
func (k *record) checkLetters() {
	files := map[string][]orch.Message{} // by the text
	for _, m := range k.letters() {
		raw, err := os.ReadFile(m.Path)
		if err != nil {
			if m.State == orch.Delivered || m.State == orch.Typed {
				k.fault("message %s: %v", m.ID, err)
			}
			continue
		}
		_, text, _ := strings.Cut(string(raw), "\n---\n\n")
		files[text] = append(files[text], m)
	}
	for _, j := range k.plan.jobs {
		for _, l := range j.letters {
			v, ok := k.sent.Load(l.text)
			if !ok {
				continue
			}
			var a orch.SendAnswer
			got, found := v.(said), files[l.text]
			if got.read(&a) != nil {
				a = orch.SendAnswer{} // a refusal has no message
			}
			switch m := one[orch.Message](k, "message/"+a.Message.ID); {
			case len(found) > 1:
				k.fault("double: %q became %d messages", l.text, len(found))
			case a.Message.ID == "":
			case m.ID == "":
				k.fault("lost: message %s was acknowledged (%s)", a.Message.ID, got)
			case one[orch.Worker](k, "worker/"+m.To).Name != j.name:
				k.fault("message %s went to %s, not %s", m.ID, m.To, j.name)
			case len(found) == 0 && m.State != orch.NotDelivered:
				k.fault("lost: message %s has no file", m.ID)
			}
		}
	}
}

// acked are the lines that agents wrote once st had answered them. A shell that was killed between opening the file and
// writing leaves none.
func (k *record) acked() []string {
	raw, err := os.ReadFile(filepath.Join(k.server.Dir(), "acked"))
	if err != nil {
		return nil
	}
	return strings.FieldsFunc(string(raw), func(r rune) bool { return r == '\n' })
}

// checkReports: what a worker was told that it is taken stands in the record, once.
func (k *record) checkReports() {
	reports, progress := map[string]int{}, map[string]int{}
	for _, d := range all[orch.Dispatch](k, "dispatch") {
		if d.Report != nil {
			k.tally.reports++
			reports[d.Report.Summary]++
		}
		for _, n := range d.Notes {
			reports[n.Summary]++ // kept, and said so
		}
	}
	for _, e := range k.events {
		if e.Type == "progress" {
			progress[e.Text]++
		}
	}
	for _, row := range k.acked() {
		what, text, _ := strings.Cut(row, " ")
		switch n := map[string]int{"done": reports[text], "progress": progress[text]}[what]; {
		case n == 0:
			k.fault("lost: %q was acknowledged", row)
		case what == "progress" && n > 1:
			k.fault("double: %q stands %d times in the history", row, n)
		}
	}
}

// checkStates: what is told of a worker is so.
func (k *record) checkStates() {
	for _, w := range k.workers {
		d := one[orch.Dispatch](k, "dispatch/"+w.Dispatch)
		a := one[orch.Agent](k, "agent/"+w.Agent)
		alive := a.Proc.PID > 0 && proc.Alive(proc.Process(a.Proc))
		reported := ""
		if d.Report != nil {
			reported = d.Report.Outcome
		}
		switch {
		case w.State == "finished" && reported != "succeeded", w.State == "failed" && reported != "failed":
			k.fault("worker %s is %s, and its report says %q", w.Name, w.State, reported)
		case w.State == "no_report" && reported != "":
			k.fault("worker %s has no report, and there is one: %s", w.Name, reported)
		case w.State == "gone" && reported != "":
			k.fault("worker %s is gone though it had reported %s", w.Name, reported)
		case (a.Gone != "") == alive && !k.dead:
			k.fault("agent %s of %s: gone is %q, and its process %v lives: %v", a.ID, w.Name, a.Gone, a.Proc, alive)
		}
	}
}

// checkWaits: what a wait told was true, and such a thing stays so.
func (k *record) checkWaits() {
	k.waits.Range(func(name, v any) bool {
		var told struct{ Workers []orch.WorkerInfo }
		if got := v.(said); got.read(&told) != nil || len(told.Workers) != 1 {
			if _, code := k.lastStart(name.(string)); code != exitFailed { // else there may be no such worker
				k.fault("wait for %s said %s", name, got)
			}
			return true
		}
		w := told.Workers[0]
		reported := ""
		if d := one[orch.Dispatch](k, "dispatch/"+w.Dispatch); d.Report != nil {
			reported = d.Report.Outcome
		}
		switch {
		case w.State == "finished" && reported != "succeeded", w.State == "failed" && reported != "failed",
			w.State == "gone" && one[orch.Agent](k, "agent/"+w.Agent).Gone == "":
			k.fault("wait said that %s of %s is %s, and its report says %q", w.ID, w.Name, w.State, reported)
		}
		return true
	})
}

// lastStart is what the last start of a name said, and its exit code.
func (k *record) lastStart(name string) (said, int) {
	if v, ok := k.started.Load(name); ok {
		return v.(said), v.(said).code
	}
	return said{}, -1
}

// checkStarts: a start that was acknowledged has its worker.
func (k *record) checkStarts() {
	for _, j := range k.plan.jobs {
		got, code := k.lastStart(j.name)
		found := 0
		for _, w := range all[orch.Worker](k, "worker") {
			if w.Name == j.name {
				found++
			}
		}
		switch acknowledged := slices.Contains([]int{exitDone, exitNeedsInput, exitUnknown, exitGone}, code); {
		case acknowledged && found == 0:
			k.fault("lost: the start of %s said %s", j.name, got)
		case found > 1:
			k.fault("double: %d workers are called %s", found, j.name)
		}
	}
}

// checkPanes: no worker has two panes.
func (k *record) checkPanes(tags string) {
	seen := map[string]bool{}
	for _, tag := range strings.Fields(tags) {
		if seen[tag] {
			k.fault("double: two panes bear the tag %s", tag)
		}
		seen[tag] = true
	}
	if k.dead {
		return
	}
	for _, session := range k.sessions {
		text, err := k.tmux("capture-pane", "-p", "-t", "="+session.name+":^")
		if err != nil || strings.TrimSpace(text) != "" {
			k.fault("wrong pane: the first window of %s shows %q (%v)", session.name, text, err)
		}
	}
}

// checkSpool: nothing that was left for the daemon while one ran, or before, still lies there.
func (k *record) checkSpool() {
	dir := filepath.Join(k.home, "run", "spool")
	for _, pattern := range []string{"[0-9]*.json", filepath.Join("bad", "*")} {
		left, _ := filepath.Glob(filepath.Join(dir, pattern)) // the pattern is well-formed
		for _, f := range left {
			var at int64
			fmt.Sscanf(filepath.Base(f), "%d-", &at) //nolint:errcheck // 0 for what is none of ours
			if at > k.ended.UnixNano() {
				continue
			}
			raw, err := os.ReadFile(f)
			k.fault("lost: %s was left in the spool (%v): %s", f, err, raw)
		}
	}
}
