//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"
)

// row is one comparison of the table.
type row struct {
	name, beside string
	own, peer    series
	ratio        float64 // own p50 / peer p50, where the mark is one
	said         string  // what was measured, where it is no ratio
	mark         string
	ok           bool
}

type table struct{ rows []row }

// ratio adds a row whose mark is own p50 ≤ most × peer p50.
func (t *table) ratio(name, beside string, own, peer series, most float64) {
	r := row{name: name, beside: beside, own: own, peer: peer, mark: fmt.Sprintf("≤ %g×", most)}
	if p := peer.p50(); p > 0 {
		r.ratio = float64(own.p50()) / float64(p)
		r.ok = r.ratio <= most
	}
	t.rows = append(t.rows, r)
}

// fact adds a row whose mark is not a ratio.
func (t *table) fact(name, beside string, own series, said, mark string, ok bool) {
	t.rows = append(t.rows, row{name: name, beside: beside, own: own, said: said, mark: mark, ok: ok})
}

func (r row) cells() []string {
	measured := r.said
	if r.ratio > 0 {
		measured = fmt.Sprintf("%.3g×", r.ratio)
	}
	verdict := "missed"
	if r.ok {
		verdict = "ok"
	}
	return []string{r.name, count(r.own), span(r.own), r.beside, span(r.peer), measured, r.mark, verdict}
}

var heads = []string{"row", "n", "p50 / p99", "beside", "p50 / p99", "measured", "mark", ""}

func count(s series) string {
	if len(s) == 0 {
		return ""
	}
	return fmt.Sprint(len(s))
}

func span(s series) string {
	if len(s) == 0 {
		return ""
	}
	return brief(s.p50()) + " / " + brief(s.p99())
}

// brief is a time with three figures.
func brief(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.3g s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.3g ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.3g µs", float64(d)/float64(time.Microsecond))
}

// print writes the table, as Markdown with aligned columns.
func (t *table) print(w io.Writer) {
	lines := [][]string{heads}
	for _, r := range t.rows {
		lines = append(lines, r.cells())
	}
	widths := make([]int, len(heads))
	for _, cells := range lines {
		for i, c := range cells {
			widths[i] = max(widths[i], len([]rune(c)))
		}
	}
	for n, cells := range lines {
		for i, c := range cells {
			fmt.Fprintf(w, "| %s%s ", c, strings.Repeat(" ", widths[i]-len([]rune(c))))
		}
		fmt.Fprintln(w, "|")
		if n > 0 {
			continue
		}
		for _, width := range widths {
			fmt.Fprintf(w, "|%s", strings.Repeat("-", width+2))
		}
		fmt.Fprintln(w, "|")
	}
}

// store writes the table with where and when it was measured.
func (t *table) store(path string, quick bool) error {
	var b strings.Builder
	how := "`./scripts/bench --write`"
	if quick {
		how = "`./scripts/bench --quick --write` (few samples)"
	}
	fmt.Fprintf(&b, "# Benchmarks\n\nWritten by %s on %s: %d processors, %s, load %s.\n", how,
		time.Now().UTC().Format("2006-01-02 15:04 UTC"), runtime.NumCPU(), runtime.Version(), load())
	b.WriteString("Each row runs by turns with what stands beside it. On a machine that is busy otherwise only the\n" +
		"ratios say something.\n\n")
	t.print(&b)
	b.WriteString(notes)
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

func load() string {
	raw, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(raw))[:3], " ")
}

const notes = `
What the rows are:

- **hook-ack**: an agent's hook with a payload of 0.9 KB, from the start of its process to its end, the daemon
  running. It is run where hooks run: below an agent in a pane. python3 and node send the same line to the same
  socket and read the answer. *hook-durable* changes state, and is answered after its commit.
- **hook-nodaemon**: nobody listens, so the event is written to the spool and synced. jq is bash with jq that
  writes the same fields to a file. **hook-stuck**: the daemon is stopped by a signal. **hook-burst**: 16 hooks at
  once, 15 times; what the daemon has in its history afterwards is counted.
- **cli-start**: on a terminal. **tmux-look-100**: one batched call beside one tmux process a pane.
- **exit-detect**: from the end of a process to the call that tells it.
- **start-to-turn**: ` + "`st worker start`" + ` until it says that the turn is proved, beside a window opened by hand in
  which the same agent is given its prompt as an argument, until its prompt hook has run.
- **store-commit**, **store-group**: the benchmarks of orch/journal.
- **idle-cpu**: workers that are settled. Time is the sum over the daemon's threads of what the scheduler counts
  (/proc/PID/task/*/schedstat). A process that the daemon or the tmux server forked and took leave of would have
  left its page faults in their count for reaped children (cminflt in /proc/PID/stat); one that still runs would
  be a new name in /proc/PID/task/*/children. Both must not move.
`
