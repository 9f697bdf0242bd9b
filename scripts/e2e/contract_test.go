//go:build linux || darwin

package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"st/orch"
)

// TestContract has a real Claude coordinate a Codex and two Claudes from one sentence: three tasks, one of which waits for
// the other two and starts by itself; both first workers ask and are answered; the coordinator and a worker each open a
// gate, which a person answers at an attached terminal; a message is obeyed, a further task is given to a worker that is
// there. Nobody but that person presses a key.
func TestContract(t *testing.T) {
	for i := range count(1, 10) {
		for busy := 0; busy < count(1, 3); busy += 2 { // in an ordinary run others keep the cores busy beside it
			t.Run(fmt.Sprintf("%d with %d cores busy", i+1, busy), func(t *testing.T) { contract(t, busy) })
		}
	}
}

var contractTasks = map[string]string{
	"palette": `MOCK: told /answer to your question (m\d+)/ st worker done --summary 'the palette is blue'
MOCK: bash st ask --question 'Which colour?' --options 'red,"blue, like the sky"'
MOCK: say I asked.
`,
	"text": `MOCK: bash st ask --question 'How long, "short" or long?' --options short,long
MOCK: bash st worker done --summary 'the text is short'
MOCK: say Reported.
`,
	"page": `MOCK: bash st gate ask --question 'Publish the page?' --options 'yes,not yet' --wait
MOCK: bash st worker done --summary 'the page is published'
MOCK: say Reported.
`,
	"extra": `MOCK: bash st worker done --summary 'the extra is there'
MOCK: say Reported.
`,
	"follow": `MOCK: bash st worker progress 'the message is obeyed'
MOCK: say Obeyed.
`,
}

func contract(t *testing.T, busy int) {
	s := newSeat(t, "claude")
	for name, text := range contractTasks {
		s.write("tasks/"+name+".md", text)
	}
	defer s.busy(busy)()
	s.asks("plan.md",
		"MOCK: bash st orch start --objective 'a palette and its page'",
		"MOCK: bash st task create --title palette --file tasks/palette.md",
		"MOCK: bash st task create --title text --file tasks/text.md",
		"MOCK: bash st task create --title page --file tasks/page.md --deps t1,t2 --auto --agent claude --name page",
		"MOCK: bash st task create --title extra --file tasks/extra.md",
		"MOCK: bash st worker start --task-id t1 --agent codex --name palette",
		"MOCK: bash st worker start --task-id t2 --agent claude --name text",
		"MOCK: bash st gate ask --question 'Shall it be published at all?' --options 'yes,no'",
		`MOCK: told /w1 asked (m\d+)/ st reply $1 'blue, like the sky'`,
		`MOCK: told /w2 asked (m\d+)/ st reply $1 'short'`,
		`MOCK: told-once /\bw1\b[^.;]* finished/ st task assign t4 w1`,
		`MOCK: told-once /\bw2\b[^.;]* finished/ st worker send w2 --file tasks/follow.md`,
		`MOCK: told /(g\d+) was answered/ st gate show $1`,
		`MOCK: told /have settled/ st task ls`,
		"MOCK: say I wait.")
	shell := s.shell()
	s.decides(shell, "g1", "yes")
	s.decides(shell, "g2", "yes")
	s.await(3*time.Minute, "all tasks are completed and the message is obeyed", func() (bool, string) {
		out := s.st("task", "ls", "--run", "r1")
		return strings.Count(out, "completed") == 4 && len(s.events("progress")) == 1, out
	})
	s.await(time.Minute, "all that is so still has been told", func() (bool, string) {
		j := s.journal()
		for n, times := range j.owed {
			if !passes(n) && j.told[n] < times {
				return false, fmt.Sprintf("%s: owed %d times, told %d times", n, times, j.told[n])
			}
		}
		return true, ""
	})
	s.rests()
	f := s.runFile("r1")
	want := map[string]string{"t1": "the palette is blue", "t2": "the text is short", "t3": "the page is published", "t4": "the extra is there"}
	for _, r := range f.Reports {
		if r.Why != "" || r.Outcome != "succeeded" || r.Summary != want[r.Task] {
			t.Errorf("report on %s: %+v, want %q", r.Task, r.Report, want[r.Task])
		}
		delete(want, r.Task)
	}
	if len(want) > 0 {
		t.Errorf("nobody has reported on %v", want)
	}
	for _, d := range f.Dispatches {
		if d.Delivery != orch.Delivered {
			t.Errorf("%s: %s", d.ID, d.Delivery)
		}
	}
	j := s.journal()
	for n, times := range j.owed {
		if j.told[n] > times || j.told[n] < times && !passes(n) {
			t.Errorf("%s: owed %d times, told %d times", n, times, j.told[n])
		}
	}
	if j.unknown > 0 || len(j.told) < 6 {
		t.Errorf("told %v, %d unknown", j.told, j.unknown)
	}
	log := s.st("log", "r1")
	t.Log("\n" + log)
}

// passes says that news may be over before anybody is told: the person may have been quicker.
func passes(n news) bool { return strings.HasPrefix(n.what, "asked for input") }

// decides lets the person at the terminal answer a gate when the status line tells of it.
func (s *seat) decides(shell, gate, choice string) {
	s.t.Helper()
	s.await(2*time.Minute, "the status line tells of "+gate, func() (bool, string) {
		said := s.tmux.Run("display-message", "-p", "#{@st_gate}")
		return strings.Contains(said, gate), said
	})
	s.tmux.Run("select-window", "-t", shell)
	since := time.Now().Unix()
	s.await(time.Minute, "a key is pressed in a later second than the shell was opened", func() (bool, string) {
		s.person.Type(" ")
		said := s.tmux.Run("list-clients", "-F", "#{client_activity}")
		at, err := strconv.ParseInt(said, 10, 64)
		return err == nil && at > since, said
	})
	s.person.Type("st gate answer " + gate + " " + choice + "\r")
	s.tmux.WaitText(shell, gate+" is answered")
	s.tmux.Run("select-window", "-t", s.pane)
}
