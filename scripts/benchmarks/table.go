//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// row is one comparison of the table.
type row struct {
	name, beside string
	own, peer    series
	ratio        float64 // own p50 / peer p50, where the mark is one
	said         string  // what else was measured
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

// share adds a row whose mark is own ≤ most × peer, of things that are no times; they stand in what is said.
func (t *table) share(name, beside string, own, peer float64, said string, most float64) {
	r := row{name: name, beside: beside, said: said, mark: fmt.Sprintf("≤ %g×", most)}
	if peer > 0 {
		r.ratio = own / peer
		r.ok = r.ratio <= most
	}
	t.rows = append(t.rows, r)
}

func (r row) cells() []string {
	var measured []string
	if r.ratio > 0 {
		measured = append(measured, fmt.Sprintf("%.3g×", r.ratio))
	}
	if r.said != "" {
		measured = append(measured, r.said)
	}
	verdict := "MISSED"
	if r.ok {
		verdict = "ok"
	}
	workload := workloads[strings.Fields(r.name)[0]]
	return []string{r.name, workload, count(r.own), span(r.own), r.beside, span(r.peer), strings.Join(measured, ", "), r.mark, verdict}
}

var heads = []string{"row", "workload", "n", "p50 / p99", "beside", "p50 / p99", "measured", "mark", ""}

// workloads say in a few words what is done.
var workloads = map[string]string{
	"hook-ack":      "a hook, 0.9 KB, daemon live",
	"hook-durable":  "a hook that changes state",
	"hook-nodaemon": "a hook without a daemon",
	"hook-stuck":    "a hook, daemon stopped",
	"hook-burst":    "16 hooks at once, 15 times",
	"cli-start":     "st version on a terminal",
	"tmux-look-100": "100 panes looked at",
	"exit-detect":   "a pane's process ends, until it is told",
	"hook-to-wait":  "a hook fires, until waits have answered",
	"wait-cost":     "blocked st worker wait",
	"type":          "a line typed, seen, submitted, seen to leave",
	"start-to-turn": "st worker start until the turn is proved",
	"store-commit":  "400 B durable, one writer",
	"store-group":   "400 B durable, 64 writers",
	"history":       "verbs with a long past in the store",
	"open-100":      "a window opened, tagged and named, of 100",
	"open-400":      "a window opened, tagged and named, of 400",
	"flood":         "4 panes print 300,000 lines",
	"idle-cpu-100":  "workers that are settled",
	"memory":        "RSS of the daemon",
}

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
	case d >= time.Second-time.Millisecond/2:
		return fmt.Sprintf("%.3g s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.3g ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.3g µs", float64(d)/float64(time.Microsecond))
}

// print writes the table.
func (t *table) print(w io.Writer) {
	lines := [][]string{heads}
	for _, r := range t.rows {
		lines = append(lines, r.cells())
	}
	markdown(w, lines)
}

// markdown writes a table with aligned columns, the heads first.
func markdown(w io.Writer, lines [][]string) {
	widths := make([]int, len(lines[0]))
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

// store puts the rows into the table of a file, each with when it was measured. The rows of other names stay as they are.
func (t *table) store(path string) error {
	kept, err := rowsOf(path)
	if err != nil {
		return err
	}
	when := time.Now().UTC().Format("2006-01-02 15:04")
	fresh, stored := map[string][][]string{}, map[string]bool{}
	for _, r := range t.rows {
		fresh[r.name] = append(fresh[r.name], append(r.cells(), when))
	}
	lines := [][]string{append(slices.Clone(heads), "UTC")}
	put := func(name string) {
		if !stored[name] {
			lines = append(lines, fresh[name]...)
		}
		stored[name] = true
	}
	for _, cells := range kept {
		if fresh[cells[0]] == nil {
			lines = append(lines, cells)
		} else {
			put(cells[0]) // where the old one stood
		}
	}
	for _, r := range t.rows {
		put(r.name)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Benchmarks\n\nWritten by `./scripts/bench --write`: %d processors, %s.\n", runtime.NumCPU(), runtime.Version())
	b.WriteString("Each row runs by turns with what stands beside it. On a machine that is busy otherwise only the\n" +
		"ratios say something.\n\n")
	markdown(&b, lines)
	b.WriteString(notes)
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// rowsOf are the rows that stand in a file, without the heads; none where there is no such file.
func rowsOf(path string) (rows [][]string, err error) {
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, line := range strings.Split(string(raw), "\n") {
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	return rows[min(1, len(rows)):], nil
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
- **exit-detect**: from the end of a pane's process to the call that tells it, each end also told by a hook of tmux that
  runs a shell; who polls lists the panes once a second.
- **hook-to-wait**: a worker's hook ends its turn without a report; from the moment in which the hook is sent, its commit
  included, until each of so many blocked waits has its answer. All waits are goroutines of the bench and share its two
  processors with the daemon. **wait-cost**: processes of st worker wait and what the daemon does for them.
- **type**: into an input line of the bench's own in raw mode. st types, sees exactly the text, presses Enter and sees it
  leave; the peers do the same and look every half second. What has arrived is compared byte for byte.
- **start-to-turn**: ` + "`st worker start`" + ` until it says that the turn is proved, beside a window opened by hand in
  which the same agent is given its prompt as an argument, until its prompt hook has run.
- **store-commit**, **store-group**: the journal beside a plain file, and beside a transaction for each event.
- **history**: a home with 100,000 events, 10,000 workers and 1,001 runs beside one with 10 events.
- **open**: all orders at once, as the daemon gives them; each window is tagged and named in the call that opens it.
- **flood**: the panes of four workers at work beside those of the same agents on a server without st; n lines are all
  panes' together, and what tmux has not read yet is waited for.
- **idle-cpu**: workers that are settled, the best of three thirds of the time. Time is the sum over the daemon's threads of
  what the scheduler counts (/proc/PID/task/*/schedstat). A process that the daemon or the tmux server forked and took leave
  of would have left its page faults in their count for reaped children (cminflt in /proc/PID/stat); one that still runs
  would be a new name in /proc/PID/task/*/children. Both must not move. The peers' time is that of their processes and of
  the tmux server.

What bounds the rows that come near their marks or miss them. Counts and processor time, as they hold on a busy machine too:

- **hook-ack**, **cli-start**: the time of a start is that of its page faults, 13 to 25 µs each on the virtual machine where
  this was measured. On one processor an empty Go program has 139; one whose empty main imports cli, lipgloss, bbolt and
  fsnotify has 222 and takes 1.56 times as long; with toml, uuid, sh and hujson, 240 and 1.63 times. st version has 347,
  a hook 360: 100 of the 220 more than empty are what libraries do before main.
- **tmux-look-100**: processor time of the tmux server and of the tmux process: 10.9 + 15.0 ms; a process that only captures
  100 panes, without asking which of them are there, 5.4 + 13.5; one that prints a letter 2.6 + 12.8; one pane's 2.9 + 12.6.
- **hook-to-wait**: a bare server that writes 1 KB to each of 200 goroutines that read from a unix socket takes 7.5 µs of
  processor a reader, the readers 20 µs: on two processors the last cannot have it before 2.7 ms, commit and hook aside.
  st's two ends take 42 to 51 µs together.
- **open**: processor time of the tmux server with 100 windows: new-window alone 17 ms, with tag, name and options in the same
  call 26 ms. The tmux process is 12 ms for both. st's calls run at once, its peer's one after the other.
`
