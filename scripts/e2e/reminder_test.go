//go:build linux || darwin

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestReminder lets real workers of both kinds end their turn without a report: each is reminded once, by the hook of
// that very end. One that then reports has finished; of the other it is said once that it ended without a report. One
// whose first turn fails is reminded by a typed line: no hook tells of that end.
func TestReminder(t *testing.T) {
	b := newDesk(t)
	b.configure("[limits]\nreminder = \"2s\"\n")
	const reports = "MOCK: told no st worker done --summary 'reported when reminded'\n"
	cases := []struct {
		name, task string
		code       int
		way        string
	}{
		{"late", reports + "MOCK: say I am done.\n", 0, "turn_end"},
		{"never", "MOCK: say I am done.\n", 5, "turn_end"},
		{"failing", reports + "MOCK: error 400\n", 0, ""},
	}
	for _, kind := range []string{"claude", "codex"} {
		for _, c := range cases {
			name := kind + "-" + c.name
			b.write(name+".md", c.task)
			b.st("worker", "start", "--session", "desk", "--agent", kind, "--name", name, "--task", name+".md")
		}
		for _, c := range cases {
			name := kind + "-" + c.name
			if out, code := b.stCode("worker", "wait", name, "--timeout", "2m"); code != c.code {
				t.Errorf("st worker wait %s: exit code %d, want %d\n%s", name, code, c.code, out)
			}
			b.reminded(name, c.way, c.code == 5)
			b.st("worker", "stop", name, "--yes")
		}
	}
}

// configure writes the daemon's configuration before there is a daemon.
func (b *desk) configure(text string) {
	b.t.Helper()
	if err := os.MkdirAll(b.stHome, 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.stHome, "config.toml"), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// reminded holds what the journal says of a worker's reminder against its agent's own log.
func (b *desk) reminded(name, way string, silent bool) {
	b.t.Helper()
	w := b.worker(name)
	counts, all := map[string]int{}, ""
	for _, e := range b.events() {
		if e.Worker == w.ID || e.Agent == w.Agent {
			all += e.At.Format("04:05.000 ") + e.Type + " " + e.Text + "\n"
			counts[strings.TrimSuffix(e.Type+" "+e.Text, " ")]++
		}
	}
	carried := 0
	if way != "" {
		carried = 1
	}
	noReport := 0
	if silent {
		noReport = 1
	}
	if counts["reminded"] != 1 || counts["words-carried turn_end"] != carried || counts["worker-no-report"] != noReport {
		b.t.Errorf("%s: the journal says\n%s", name, all)
	}
	line := "st: dispatch " + w.Dispatch + " has no report from you yet."
	if n := b.prompts(line); n != 1-carried {
		b.t.Errorf("%s: the reminder went in %d times as a prompt\n%s\n%s", name, n, all, b.said(w.Pane))
	}
}

// TestWaitInBackground: a wait that outlives the turn in which it began tells its Claude, and nothing is told beside
// it. A Codex hears nothing of such a wait, and is told by a word.
func TestWaitInBackground(t *testing.T) {
	for _, c := range []struct{ kind, wait, work string }{
		{"claude", `MOCK: tool Bash {"command":"st worker wait --timeout 100s","description":"wait","run_in_background":true}`, "sleep 10"},
		{"codex", "MOCK: bash st worker wait --timeout 100s", "sleep 20"}, // it takes 10 s to put a command aside
	} {
		t.Run(c.kind, func(t *testing.T) {
			s := newSeat(t, c.kind)
			s.write("slow.md", c.work+"\ndone slowly\n")
			s.asks("plan.md", "MOCK: bash st orch start --objective 'wait long'", "MOCK: bash st worker start --agent demo --name slow --task slow.md", c.wait, "MOCK: say I wait.")
			s.await(60*time.Second, "the turn has ended", func() (bool, string) {
				text := s.said(s.pane)
				return strings.Contains(text, "I wait.") && s.ear.quiet(), text
			})
			if n := len(s.events("worker-finished")); n != 0 {
				t.Fatal("the worker has finished before the turn of its coordinator ended")
			}
			s.await(60*time.Second, "the coordinator is told", func() (bool, string) { return len(s.events("news-told")) > 0, s.record() })
			s.rests()
			hold(4 * time.Second) // what would be told a second time
			s.rests()
			heard, told := s.ear.times("st: w1 finished"), s.events("news-told")
			want, way := 0, "finished (wait)"
			if c.kind == "codex" {
				want, way = 1, "finished (typed)"
			}
			if heard != want || len(told) != 1 || told[0].Text != way {
				t.Errorf("told %v, and its model has heard %d lines\n%s", told, heard, s.record())
			}
			if c.kind == "claude" && s.ear.times("<task-notification>") == 0 {
				t.Errorf("Claude was not told of the end of its wait\n%s", s.record())
			}
		})
	}
}
