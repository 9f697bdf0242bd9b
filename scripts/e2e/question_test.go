//go:build linux || darwin

package e2e

import (
	"strings"
	"testing"
	"time"
)

// TestQuestionWhileItWaits: a Claude asks with options in its shell, needs input as long as that waits, and gets the
// answer as what the command prints. Nobody is asked for a permission.
func TestQuestionWhileItWaits(t *testing.T) {
	b := newDesk(t)
	task := "MOCK: bash st ask --question 'Which port?' --options '80,\"443, or 8443\"'\n" +
		"MOCK: bash st worker done --summary 'asked'\nMOCK: say done"
	if s, code := b.start("claude", "asks", task); code != 0 {
		t.Fatalf("exit code %d, %s\n%s", code, s.Delivery, b.scene())
	}
	b.waitsForInput("asks", "Which port? (80 / 443, or 8443)")
	if w := b.worker("asks"); w.Status != "waiting" || len(w.Questions) != 1 || !w.Questions[0].Waiting || len(w.Options) != 2 || w.Options[1] != "443, or 8443" {
		t.Errorf("it is %s, with the options %q and the questions %+v", w.Status, w.Options, w.Questions)
	}
	const answer = "neither, take 9443"
	if out := b.st("reply", "m1", answer); !strings.Contains(out, "its ask tells it") || !strings.Contains(out, "none of the options") {
		t.Errorf("st reply says %q", out)
	}
	b.finishes("asks", "asked")
	talk := b.log("claude", "Your task is in this file: "+b.copyOf("asks"))
	if !strings.Contains(talk, `asked m1; waiting for the answer`) || !strings.Contains(talk, answer) {
		t.Errorf("the answer is not in its conversation\n%s", b.scene())
	}
	if n := len(b.permissions()); n != 0 {
		t.Errorf("it has asked for %d permissions", n)
	}
}

// TestQuestionOutOfASandbox: a Codex, in each sandbox that lets no socket through, asks by the hook that hands the
// question in, is told to end its turn, is not reminded, and gets the answer as its next message, by which it goes on
// and reports.
func TestQuestionOutOfASandbox(t *testing.T) {
	b := newDesk(t)
	b.configure("[limits]\nreminder = \"1s\"\n")
	cases := []struct {
		name string
		args []string
	}{
		{"default", nil},
		{"reading", []string{"--arg=-s", "--arg=read-only"}},
	}
	for _, c := range cases {
		if s, code := b.start("codex", c.name, "MOCK: bash st ask --question 'Which port?'\nMOCK: say I wait.", c.args...); code != 0 {
			t.Fatalf("%s: exit code %d, %s\n%s", c.name, code, s.Delivery, b.scene())
		}
		b.await(60*time.Second, c.name+" has ended its turn with a question", func() (bool, string) {
			w := b.worker(c.name)
			return w.State == "needs_input" && strings.Contains(b.said(w.Pane), "I wait."), w.State + "\n" + b.said(w.Pane)
		})
		b.waitsForInput(c.name, "Which port?")
		hold(3 * time.Second) // longer than a reminder would take
		w := b.worker(c.name)
		if len(w.Questions) != 1 {
			t.Fatalf("%s has the questions %+v", c.name, w.Questions)
		}
		question := w.Questions[0].ID
		talk := b.log("codex", "Your task is in this file: "+b.copyOf(c.name))
		if !strings.Contains(talk, "asked "+question+": end your turn now, the answer comes as your next message") || strings.Contains(talk, "has no report from you yet") {
			t.Errorf("%s: its conversation is\n%s", c.name, talk)
		}
		if out := b.st("reply", question, "MOCK: bash st worker done --summary 'answered "+c.name+"'\nMOCK: say done"); !strings.Contains(out, "typed when the worker's turn has ended") {
			t.Errorf("st reply says %q", out)
		}
		b.finishes(c.name, "answered "+c.name)
		if n := b.prompts("The answer to your question " + question + " is in this file"); n != 1 {
			t.Errorf("%s: the answer went in %d times\n%s", c.name, n, b.said(w.Pane))
		}
	}
}

// waitsForInput holds what a wait says of a worker that has asked.
func (b *desk) waitsForInput(name, what string) {
	b.t.Helper()
	out, code := b.stCode("worker", "wait", name, "--timeout", "60s")
	if code != 4 || !strings.Contains(out, "needs_input (question): "+what) || !strings.Contains(out, "st reply m") {
		b.t.Fatalf("st worker wait %s: exit code %d\n%s\n%s", name, code, out, b.scene())
	}
}

// permissions are the times at which a worker waited for a permission, as the journal tells.
func (b *desk) permissions() (times []time.Time) {
	for _, e := range b.events() {
		if e.Type == "worker-needs-input" && e.Text != "question" {
			times = append(times, e.At)
		}
	}
	return times
}
