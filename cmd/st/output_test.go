package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"st/orch"
)

// evil holds what agents might say to steer a terminal.
const evil = "a\x1b[31mred\x1b]0;title\x07b\x1bPq\x1b\\c\rd\x00\u009b31m\u202ee\x7f"

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		evil:                 "aredbcd31me",
		"two\nlines\tand":    "two lines and",
		"한국어 🙂":              "한국어 🙂",
		"cut \x1b":           "cut",
		"open \x1b]52;c;abc": "open 52;c;abc",
		"\xff\xfe":           "",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, not %q", in, got, want)
		}
	}
	if got := cleanBlock("a\r\nb\n\tc\x1b[2J"); got != "a\nb\n\tc" {
		t.Errorf("cleanBlock: %q", got)
	}
}

// TestNothingSteers: whatever field an agent fills, no control character reaches the terminal.
func TestNothingSteers(t *testing.T) {
	w := orch.WorkerInfo{ID: "w1", Name: evil, Kind: evil, State: evil, Status: evil, WaitingFor: evil, Waits: evil, Screen: evil, Summary: evil, Progress: evil, Dir: evil, Session: evil, LeftOver: []string{evil}}
	r := orch.ReadInfo{Worker: w, Summary: evil, Answer: evil, Report: evil, Screen: evil, Files: []string{evil}, Notes: []orch.Report{{Summary: evil, Why: evil}}}
	run := orch.RunInfo{ID: "r1", Name: evil, Objective: evil, Workers: []orch.WorkerInfo{w}}
	var b bytes.Buffer
	p := &printer{out: &b, err: &b, styles: newStyles(&b, false)}
	for _, err := range []error{
		p.worker(w), p.read(r), p.run(run), p.waitedFor(w), p.tree(orch.TreeInfo{Run: run, Workers: run.Workers}),
		p.started(orch.StartInfo{Worker: w, Screen: evil, Delivery: orch.NotDelivered, LeftOver: []string{evil}, Next: []string{evil}}),
		p.doneSaid(orch.DoneAnswer{Name: evil, Why: evil, Taken: "note"}),
		p.sent(orch.MessageInfo{ID: "m1", To: evil, Path: evil, State: orch.Queued}),
		p.findings([]finding{{Name: evil, Subject: evil, Result: resultFail, Found: evil, Next: []string{evil}}}),
		p.say("%s", inWords(orch.Event{Type: "progress", Worker: "w1", Text: evil, By: "a1"}, map[string]string{"w1": evil, "a1": evil})),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	explain(p, &orch.Error{Code: "x", Message: evil, Hint: evil, Next: []string{evil}})
	if i := strings.IndexFunc(b.String(), func(r rune) bool { return r != '\n' && harmless(r) < 0 }); i >= 0 {
		t.Errorf("a control character at %d of %q", i, b.String())
	}
}

// TestBriefly: what the caller gave is repeated by its begin, what st says itself stays whole.
func TestBriefly(t *testing.T) {
	long := strings.Repeat("ä\"", 50_000)
	list := "unsaved:\n" + strings.Repeat("  \"a file\n", 1000) + `and "the" end`
	for _, c := range []struct{ message, want string }{
		{"short \"" + strings.Repeat("x", 100) + "\"", "short \"" + strings.Repeat("x", 100) + "\""},
		{list, list},
		{fmt.Sprintf("no agent kind is called %q (there are claude, %q)", strings.Repeat("x", 100_000), "demo"), `no agent kind is called "` + strings.Repeat("x", echoMost) + `…" (there are claude, "demo")`},
		{fmt.Sprintf("request %q: nothing", strings.Repeat(`\`, 100_000)), `request "…": nothing`},
		{fmt.Sprintf("worker %q: no such worker", long), `worker "` + strings.Repeat(`ä\"`, echoMost/4) + `…": no such worker`},
		{"worker " + quoted(long) + ": no such worker", "worker " + quoted(long) + ": no such worker"},
	} {
		e := briefly(&orch.Error{Message: c.message, Next: []string{"st ls", "st " + long}})
		if e.Message != c.want || len(e.Next) != 1 {
			t.Errorf("%.400s\nwant\n%.400s", e.Message, c.want)
		}
	}
	if n := len(quoted(long)); n > echoMost+10 {
		t.Errorf("a name has %d bytes", n)
	}
	if got, want := briefWords("ls has no flag --"+long+" now"), "ls has no flag --"; !strings.HasPrefix(got, want) || len(got) > 2*echoMost || !strings.HasSuffix(got, "… now") {
		t.Errorf("%s", got)
	}
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	p := &printer{out: &b, err: io.Discard, json: true}
	if err := p.data(orch.StartInfo{Worker: orch.WorkerInfo{Name: "<\u009b>\x1b"}}); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for _, want := range []string{`{"ok":true,"data":{`, `"left_over":[]`, `"stages":[]`, `"next":[]`, `"name":"<\u009b>\u001b"`, `"error":null`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
	if strings.Count(got, "\n") != 1 {
		t.Errorf("more than one line: %q", got)
	}
}

func TestJSONOfWhatIsNotKnown(t *testing.T) {
	var b bytes.Buffer
	p := &printer{out: &b, err: io.Discard, json: true}
	if err := p.data(map[string]any{"worker": nil, "queued": true}); err != nil {
		t.Fatal(err)
	}
	if want := `{"ok":true,"data":{"queued":true,"worker":null}}` + "\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// TestExitCodes: what the contract says of a refusal, whoever gave it.
func TestExitCodes(t *testing.T) {
	for code, want := range map[string]int{
		"usage": 2, "bad_name": 2, "no_run": 2, "not_in_tmux": 2,
		"name_taken": 7, "not_yours": 7, "fenced": 7, "depth": 7, "refused_agent": 7, "refused": 7, "unsettled": 7, "confirm": 7,
		"unsaved": 7, "conflict": 7, "not_finished": 1,
		"agent_exited": 6, "daemon_unreachable": 8, "store_locked": 8, "store_corrupt": 8, "store_read_only": 8,
		"worker_not_found": 1, "tmux_missing": 1, "tmux_too_old": 1, "zellij": 1, "agent_not_installed": 1, "bad_task": 1,
	} {
		out := &printer{out: io.Discard, err: io.Discard}
		if got := fail(out, &orch.Error{Code: code, Message: "x"}); got != want {
			t.Errorf("%s ends with %d, not %d", code, got, want)
		}
	}
}

// TestDemoThatEndedEarly: with --json it is one object that says so.
func TestDemoThatEndedEarly(t *testing.T) {
	var b bytes.Buffer
	s := &stage{c: &call{out: &printer{out: &b, err: io.Discard, json: true}}, dir: "/tmp/x"}
	s.steps = []demoStep{{Command: "st worker wait", Exit: exitNoReport}}
	if code, err := s.told(exitNoReport); code != exitNoReport || err != nil {
		t.Errorf("%d, %v", code, err)
	}
	got := b.String()
	for _, want := range []string{`{"ok":false,`, `"code":"demo_ended"`, `"exit":5`, `st worker wait ended with 5`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
	if strings.Count(got, "\n") != 1 {
		t.Errorf("more than one line: %q", got)
	}
}

// TestPatience: a person hears what is waited for where an answer is long in coming.
func TestPatience(t *testing.T) {
	limit := patienceTime
	t.Cleanup(func() { patienceTime = limit })
	patienceTime = 0
	r, w := io.Pipe()
	p := &printer{out: io.Discard, err: w, live: true}
	end := p.patience()
	line, err := bufio.NewReader(r).ReadString('\n')
	end()
	if want := "waiting for the daemon's answer (Ctrl-C ends only the waiting)\n"; line != want || err != nil {
		t.Errorf("%q, %v, want %q", line, err, want)
	}
}
