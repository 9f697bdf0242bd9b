package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"st/orch"
)

// TestPresses: keys are what a terminal sends for them, however it is cut into reads; a paste is a text and never a key.
func TestPresses(t *testing.T) {
	tests := []struct{ name, sent, want string }{
		{"letters", "jq/é世", "j q / é 世"},
		{"arrows and the like", "\x1b[A\x1b[B\x1bOA\x1b[H\x1b[4~\x1b[5~\x1b[6~\x1b[Z", "up down up home end pgup pgdown shift+tab"},
		{"controls", "\r\n\t\x7f\x08\x15\x03", "enter enter tab backspace backspace ctrl+u ctrl+c"},
		{"with modifiers", "\x1b[1;5A\x1b[5;2~", "up pgup"},
		{"not ours", "\x1b[24~\x1b[?62;c\x1bx\x00q", "q"},
		{"a paste", "a\x1b[200~s\ry\x1b[31mz\x1b[201~b", "a <s\nyz> b"},
		{"escape alone", "\x1b", "esc"},
		{"no character", "\xff\xfeq", "q"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var whole presses
			if got := shownKeys(whole.take([]byte(test.sent))); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
			for at := 1; at < len(test.sent); at++ {
				if test.sent[at-1] == 0x1b && at < len(test.sent) {
					continue // an escape at the end of a read is that key
				}
				var p presses
				keys := append(p.take([]byte(test.sent[:at])), p.take([]byte(test.sent[at:]))...)
				if got := shownKeys(keys); got != test.want {
					t.Errorf("cut at %d: got %q", at, got)
				}
			}
		})
	}
}

func shownKeys(keys []press) string {
	var all []string
	for _, k := range keys {
		if k.name == "" {
			k.name = "<" + k.text + ">"
		}
		all = append(all, k.name)
	}
	return strings.Join(all, " ")
}

// TestFrames: a frame writes the rows that differ, and nothing where none does.
func TestFrames(t *testing.T) {
	var s screen
	if got := s.frame([]string{"a", "b"}); got != "\x1b[H\x1b[2J\x1b[1;1Ha\x1b[0m\x1b[K\x1b[2;1Hb\x1b[0m\x1b[K" {
		t.Errorf("the first frame is %q", got)
	}
	if got := s.frame([]string{"a", "c"}); got != "\x1b[2;1Hc\x1b[0m\x1b[K" {
		t.Errorf("the second frame is %q", got)
	}
	if got := s.frame([]string{"a"}); got != "\x1b[2;1H\x1b[0m\x1b[K" {
		t.Errorf("a shorter frame is %q", got)
	}
	if got := s.frame([]string{"a"}); got != "" {
		t.Errorf("the same frame is %q", got)
	}
}

// crowd is a tree of n workers that do different things, with texts that are not meant well.
func crowd(n int) []orch.TreeInfo {
	run := orch.RunInfo{ID: "r1", Name: "crowd", Objective: "a\x1b]0;title\x07 long one", State: "open", Created: time.Now()}
	states := []string{"running", "needs_input", "failed", "no_report", "gone", "queued"}
	tree := orch.TreeInfo{}
	for i := range n {
		w := orch.WorkerInfo{
			ID: fmt.Sprintf("w%d", i+1), Name: fmt.Sprintf("worker-%d 世界", i+1), Kind: "demo", Run: "r1", State: states[i%len(states)],
			Status: "working", Since: time.Now(), Task: fmt.Sprintf("t%d", i+1), Progress: strings.Repeat("half \x1b[2J done 世界 ", 20),
			Summary: strings.Repeat("long\x07 ", 1000*(i%3)),
		}
		if w.State == "needs_input" {
			w.WaitingFor, w.Waits = "permission", "Bash: rm \u202e -rf e\u0301 👩‍💻"
		}
		run.Tasks = append(run.Tasks, orch.TaskInfo{ID: w.Task, Run: "r1", Title: "title of " + w.Name, Status: "dispatched"})
		tree.Workers = append(tree.Workers, w)
	}
	run.Gates = []orch.GateInfo{{ID: "g1", Run: "r1", Question: "deploy\nnow?", Options: []string{"yes", "no"}, Status: "open"}}
	tree.Run = run
	return []orch.TreeInfo{tree}
}

// crowded is the ui of a crowd at some size.
func crowded(n, width, height int) *ui {
	u := newUI(plainPrinter(io.Discard), &hands{}, nil)
	u.resize(width, height)
	u.take(treesMsg{u.turn, crowd(n)})
	return u
}

// TestViewFits: at any size, whatever stands in the texts and is asked, no row is wider than the terminal or holds what
// steers one, and there are not more rows than it has.
func TestViewFits(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}, {120, 40}, {40, 10}, {20, 5}, {3, 2}, {1, 1}} {
		for _, keys := range []string{"", "jjj", "g", "s", "jjjjx", "/x", "?", "zz", "G"} {
			u := crowded(200, size[0], size[1])
			for _, k := range keys {
				u.typed([]press{{name: string(k), text: string(k)}})
			}
			fits(t, fmt.Sprintf("%v after %q", size, keys), u, size)
		}
	}
}

func fits(t *testing.T, what string, u *ui, size [2]int) {
	rows := u.view()
	if len(rows) > size[1] {
		t.Errorf("%s: %d rows", what, len(rows))
	}
	for _, row := range rows {
		if width := across(row); width > size[0] {
			t.Errorf("%s: a row of %d columns: %q", what, width, row)
		}
		if strings.ContainsFunc(row, func(r rune) bool { return harmless(r) < 0 }) {
			t.Errorf("%s: a row that steers the terminal: %q", what, row)
		}
	}
}

// TestChosenStays: the chosen row is the same thing in the next state, wherever that has it, and a filter finds it.
func TestChosenStays(t *testing.T) {
	u := crowded(20, 80, 24)
	for u.chosen().key != "worker w7" {
		u.move(1)
	}
	trees := crowd(20)
	trees[0].Workers = slices.DeleteFunc(trees[0].Workers, func(w orch.WorkerInfo) bool { return w.State == "needs_input" })
	trees[0].Run.Gates = nil
	u.take(treesMsg{u.turn, trees})
	if got := u.chosen().key; got != "worker w7" {
		t.Errorf("chosen is %q", got)
	}
	u.filterBy("WORKER-7 ")
	if got := u.chosen().key; got != "worker w7" || len(u.rows) != 2 {
		t.Errorf("of %d rows %q is chosen", len(u.rows), got)
	}
	u.filterBy("nobody")
	if len(u.rows) != 0 || u.chosen().key != "" {
		t.Errorf("a filter that nothing holds leaves %d rows", len(u.rows))
	}
	u.take(treesMsg{u.turn + 1, crowd(3)})
	if len(u.trees[0].Workers) == 3 {
		t.Error("a state of another subscription was taken")
	}
}

// TestYesIsRead: the y to a question comes from a later read than the key that brought the question up.
func TestYesIsRead(t *testing.T) {
	begun := 0
	u := crowded(5, 80, 24)
	u.begin = func(func() any) { begun++ }
	for u.chosen().is() != "worker" {
		u.move(1)
	}
	u.want()
	begun = 0
	for i, keys := range []string{"sy", "xy"} {
		var p presses
		u.typed(p.take([]byte(keys)))
		if u.ask == nil || begun > i {
			t.Fatalf("%s: asked: %v, begun: %d", keys, u.ask != nil, begun)
		}
		u.typed(p.take([]byte("y")))
		if u.ask != nil || begun != i+1 {
			t.Errorf("%s, then y: asked: %v, begun: %d", keys, u.ask != nil, begun)
		}
	}
}

// TestKeysFit: the last line names as many keys as there is room for, and how to get help and out before all others.
func TestKeysFit(t *testing.T) {
	for width, want := range map[int]string{
		200: "enter go  r read  g gate  a answer  s stop  x release  / filter  . all  ? help  q quit",
		80:  "enter go  r read  g gate  a answer  s stop  x release  / filter  ? help  q quit",
		40:  "enter go  r read  ? help  q quit",
		20:  "? help  q quit",
	} {
		foot := crowded(5, width, 24).foot()
		if got := foot[len(foot)-1]; got != want || across(got) >= width {
			t.Errorf("at %d columns: %q", width, got)
		}
	}
}

// TestCrowdIsQuick measures what a new state and a key cost with 200 workers, and holds them far below what is felt.
func TestCrowdIsQuick(t *testing.T) {
	const rounds, most = 50, 50 * time.Millisecond
	u := crowded(200, 200, 60)
	var states, keys []time.Duration
	for i := range rounds {
		trees := crowd(200)
		states = append(states, timed(func() { u.take(treesMsg{u.turn, trees}); u.view() }))
		keys = append(keys, timed(func() { u.typed([]press{{name: []string{"down", "pgdown", "up"}[i%3]}}); u.view() }))
	}
	for what, took := range map[string][]time.Duration{"a state to its frame": states, "a key to its frame": keys} {
		slices.Sort(took)
		t.Logf("200 workers at 200x60: %s: median %v, worst %v", what, took[rounds/2], took[rounds-1])
		if took[rounds/2] > most {
			t.Errorf("%s takes %v", what, took[rounds/2])
		}
	}
}

func timed(f func()) time.Duration {
	begun := time.Now()
	f()
	return time.Since(begun)
}

// TestTeamsHaveRows: what is in the run of a team, however deep, is shown, and what waits there for somebody comes first.
func TestTeamsHaveRows(t *testing.T) {
	team := orch.TreeInfo{Run: orch.RunInfo{ID: "r2", Gates: []orch.GateInfo{{ID: "g1", Question: "now?"}}}, Workers: []orch.WorkerInfo{{ID: "w2"}}}
	trees := []orch.TreeInfo{{Run: orch.RunInfo{ID: "r1"}, Workers: []orch.WorkerInfo{{ID: "w1"}}, Teams: []orch.TreeInfo{team}}}
	var keys []string
	for _, r := range uiRows(inRow(trees), "") {
		keys = append(keys, r.key)
	}
	if got := strings.Join(keys, ", "); got != "gate g1, run r1, worker w1, run r2, worker w2" {
		t.Errorf("the rows are %s", got)
	}
}
