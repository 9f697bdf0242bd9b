//go:build linux || darwin

package e2e

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAdopt makes agents that a person has started by hand, with our hooks in their settings, workers with a task: what the
// person writes there is left alone, nobody is asked whether the task's file may be read, the report counts, and released
// each lives on.
func TestAdopt(t *testing.T) {
	for kind, consent := range map[string]string{"claude": "--allow", "codex": "--trust-codex", "gemini": "--allow"} {
		t.Run(kind, func(t *testing.T) {
			b := newDesk(t)
			b.hooked(kind, consent)
			pane := b.open(kind)
			b.ask(pane, "MOCK: say hello")
			b.await(30*time.Second, "its turn has ended", func() (bool, string) {
				said := b.st("agents")
				return strings.Contains(said, " idle "), said
			})
			b.write("task.md", "# A part\nMOCK: say I begin.\nMOCK: bash st worker done --summary 'the part is done'\nMOCK: say It is reported.\n")
			b.st("task", "create", "--file", filepath.Join(b.dir, "task.md"))
			const draft = "words of my own"
			b.tmux.Run("send-keys", "-t", pane, "-l", draft)
			b.tmux.WaitText(pane, draft)
			b.st("worker", "adopt", pane, "--name", "hand", "--task-id", "t1")
			if out, code := b.stCode("worker", "wait", "hand", "--timeout", "4s"); code != 124 || !strings.Contains(b.said(pane), draft) {
				t.Fatalf("with a draft in its line: exit code %d\n%s%s", code, out, b.scene())
			}
			b.tmux.Run("send-keys", "-t", pane, "C-u")
			if out, code := b.stCode("worker", "wait", "hand", "--timeout", "90s"); code != 0 || !strings.Contains(out, "the part is done") {
				t.Fatalf("exit code %d\n%s%s", code, out, b.scene())
			}
			b.released(pane, "hand")
		})
	}
}

// hooked installs our hooks for an agent, and a run to which what they tell can lead.
func (b *desk) hooked(kind, consent string) {
	b.t.Helper()
	b.st("hooks", "install", "--agent", kind, consent)
	b.t.Cleanup(func() { b.st("hooks", "uninstall") })
	b.st("orch", "start", "--objective", "with what is there", "--name", "all")
}

// released lets a worker go and wants it to be there as before.
func (b *desk) released(pane, worker string) {
	b.t.Helper()
	b.st("worker", "release", worker, "--run", "all")
	b.ask(pane, "MOCK: say I am still here")
	b.await(30*time.Second, "it answers its person", func() (bool, string) {
		said := b.said(pane)
		return strings.Contains(said, "● I am still here") || strings.Contains(said, "• I am still here") || strings.Contains(said, "✦ I am still here"), said
	})
	if said := b.st("worker", "ls", "--run", "all"); !strings.Contains(said, "no worker") {
		b.t.Errorf("after its release:\n%s", said)
	}
}

// TestTeam adopts a coordinator that has a worker: it is shown as its lead, may not report before that has settled, hears of it
// itself, and released has its run as before.
func TestTeam(t *testing.T) {
	b := newDesk(t)
	b.hooked("claude", "--allow")
	pane := b.open("claude")
	b.write("plan.md", "# Begin\nMOCK: bash st orch start --objective 'a part' --name part\n"+
		"MOCK: bash st worker start --agent demo --name kid --task kid.txt\nMOCK: say I end my turn.\n")
	b.write("kid.txt", "ask which one?\ndone drawn\n")
	b.ask(pane, "Please do what plan.md says.")
	b.await(60*time.Second, "the coordinator has a worker and its turn has ended", func() (bool, string) {
		said, code := b.stCode("tree", "--run", "part")
		return code == 0 && strings.Contains(said, "needs_input") && strings.Contains(said, ") idle"), said
	})
	b.write("part.md", "# The part\nMOCK: bash st worker done --summary 'too early'\nMOCK: say My team is not ready.\n")
	b.st("task", "create", "--run", "all", "--file", filepath.Join(b.dir, "part.md"))
	if out := b.st("worker", "adopt", pane, "--run", "all", "--name", "lead", "--task-id", "t2"); !strings.Contains(out, "with its team of 1") {
		t.Errorf("adopted: %s", out)
	}
	b.await(60*time.Second, "its report is refused", func() (bool, string) {
		said := b.said(pane)
		return strings.Contains(said, "My team is not ready"), said
	})
	if log := b.log("claude", "plan.md"); !strings.Contains(log, "you report for your whole team, and of it these have not settled: w1 kid") {
		t.Errorf("its report was not refused:\n%s", b.scene())
	}
	if said := b.st("tree"); !strings.Contains(said, `"lead" (claude): running, team of 1`) || !strings.Contains(said, `   └─ w1 "kid"`) {
		t.Errorf("the tree:\n%s", said)
	}
	b.st("reply", "m1", "the red one")
	b.await(60*time.Second, "the lead is told of its own worker", func() (bool, string) {
		said := b.st("log", "--types", "news-told")
		return strings.Contains(said, `"lead" was told that worker w1 "kid" finished`), said
	})
	b.write("more.md", "MOCK: bash st worker done --summary 'all of the part'\nMOCK: say Reported for all.\n")
	b.st("worker", "send", "lead", "--run", "all", "--file", filepath.Join(b.dir, "more.md"))
	if out, code := b.stCode("worker", "wait", "lead", "--run", "all", "--timeout", "90s"); code != 0 || !strings.Contains(out, "all of the part") {
		t.Fatalf("exit code %d\n%s%s", code, out, b.scene())
	}
	b.released(pane, "lead")
	if said := b.st("tree", "--all"); !strings.Contains(said, `r2 "part": a1 `) || !strings.Contains(said, `w1 "kid" (demo): finished`) {
		t.Errorf("the team after its release:\n%s", said)
	}
}
