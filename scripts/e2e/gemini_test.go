//go:build linux || darwin

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"st/orch"
	"st/orch/proc"
)

// newGemini is a desk on which Gemini's hooks are installed, since a launch of it brings none, and the folder of tasks is
// trusted, as by the one answer that Gemini asks for.
func newGemini(t *testing.T, consents ...string) *desk {
	b := newDesk(t)
	tasks := filepath.Join(b.stHome, "orch")
	if err := os.MkdirAll(tasks, 0o700); err != nil {
		t.Fatal(err)
	}
	b.must(exec.Command("../agents/setup.sh", "--trust", b.home, tasks))
	b.install("gemini", consents...)
	return b
}

// TestGemini: a worker that is a real Gemini reads its task, reports, is waited for and read; it takes a message, is asked to
// quit and comes back in its conversation, as it does after the end of tmux.
func TestGemini(t *testing.T) {
	b := newGemini(t, "--allow")
	s, code := b.start("gemini", "one", "MOCK: say I begin.\nMOCK: bash st worker progress 'half way'\nMOCK: bash st worker done --summary '"+summaries[1]+"'\nMOCK: say One has been reported.")
	if code != 0 || s.Delivery != orch.Delivered {
		t.Fatalf("exit code %d, %s, screen %s\n%s", code, s.Delivery, s.Screen, b.scene())
	}
	b.finishes("one", summaries[1])
	if said := b.st("worker", "read", "one"); !strings.Contains(said, "One has been reported.") || !strings.Contains(said, summaries[1]) {
		t.Errorf("read: %s", said)
	}
	b.st("worker", "send", "one", "MOCK: say once more")
	b.await(30*time.Second, "it has had one more turn", func() (bool, string) {
		said := b.st("worker", "read", "one")
		return strings.Contains(said, "once more"), said
	})
	b.st("worker", "restart", "one")
	b.await(30*time.Second, "it is back", func() (bool, string) {
		w := b.worker("one")
		return w.Status == "ready" || w.Status == "idle", w.Status + " " + w.Screen
	})
	b.st("worker", "send", "one", "MOCK: say I am back")
	b.await(30*time.Second, "it has a turn in its conversation", func() (bool, string) {
		said := b.st("worker", "read", "one")
		return strings.Contains(said, "I am back"), said
	})
	looked := b.doctor("gemini")
	for _, name := range []string{"program", "settings", "hooks", "consents", "shell", "start"} {
		if f := looked[name]; f.Result != "ok" {
			t.Errorf("doctor: %s: %+v", name, f)
		}
	}
	b.tmuxDies("one")
	b.st("worker", "stop", "one", "--yes")
	b.await(20*time.Second, "its window is closed", func() (bool, string) {
		names := b.tmux.Run("list-windows", "-a", "-F", "#{window_name}")
		return !strings.Contains(names, "one"), names
	})
}

// tmuxDies kills the server below a worker that waits for words, and wants st restore to bring it back in its conversation.
func (b *desk) tmuxDies(worker string) {
	b.t.Helper()
	b.t.Cleanup(func() { b.tmux.Run("kill-server") }) // the last one is none that the desk has started
	b.tmux.Kill()
	b.await(20*time.Second, worker+" may come back", func() (bool, string) {
		w := b.worker(worker)
		return w.State == "gone_resumable" || w.Status == "gone_resumable", w.State + " " + w.Status
	})
	if said := b.st("restore"); !strings.Contains(said, "gemini w1 resumed in ") {
		b.t.Errorf("restore: %s", said)
	}
	b.st("worker", "send", worker, "MOCK: say I am here again")
	b.await(60*time.Second, "it has a turn in its conversation", func() (bool, string) {
		said := b.st("worker", "read", worker)
		return strings.Contains(said, "I am here again"), said
	})
}

// TestGeminiAsks: without the person's consent Gemini asks before it runs a report, and a folder that is not trusted is asked
// about: both are said by name, and nothing is typed over either.
func TestGeminiAsks(t *testing.T) {
	b := newGemini(t)
	far := filepath.Join(filepath.Dir(b.dir), "far")
	b.must(exec.Command("git", "init", "-q", far))
	task := "MOCK: bash st worker done --summary 'as asked'\nMOCK: say done"
	s, code := b.start("gemini", "far", task, "--dir", far, "--timeout", "20s")
	if code != 4 || s.Delivery != orch.NotDelivered || s.Screen != "trust" {
		t.Fatalf("exit code %d, %s, screen %s\n%s", code, s.Delivery, s.Screen, b.scene())
	}
	if n := b.typed(b.copyOf("far")); n != 0 {
		t.Errorf("its agent has the line %d times", n)
	}
	b.tmux.Run("send-keys", "-t", s.Worker.Pane, "Enter") // it starts itself anew, and the line follows
	b.await(60*time.Second, "it asks for its report", func() (bool, string) {
		w := b.worker("far")
		return w.Status == "waiting" && w.WaitingFor == "permission" && w.Screen == "permission", w.Status + " " + w.WaitingFor + " " + w.Screen
	})
	// Its hook tells of the dialog before that takes keys.
	b.await(60*time.Second, "its dialog has taken a key", func() (bool, string) {
		said, _ := b.stCode("worker", "key", "far", "Enter")
		w := b.worker("far")
		return w.Screen != "permission", said + w.Screen
	})
	b.finishes("far", "as asked")
	// At its question about trust Gemini takes no notice of its terminal's end: st sees to it that it is gone, as is said.
	lost := filepath.Join(filepath.Dir(b.dir), "lost")
	b.must(exec.Command("git", "init", "-q", lost))
	if s, code := b.start("gemini", "lost", task, "--dir", lost, "--timeout", "20s"); code != 4 || s.Screen != "trust" {
		t.Fatalf("exit code %d, screen %s\n%s", code, s.Screen, b.scene())
	}
	b.tmux.Kill()
	b.await(30*time.Second, "it is gone", func() (bool, string) {
		w := b.worker("lost")
		list, err := proc.Inside(lost)
		return w.State == "gone" && len(list) == 0 && err == nil, fmt.Sprint(w.State, list, err)
	})
}

// TestEachKind: a worker of each kind works in one run, is waited for and read.
func TestEachKind(t *testing.T) {
	b := newGemini(t, "--allow")
	kinds := []string{"claude", "codex", "gemini"}
	for _, kind := range kinds {
		b.start(kind, kind+"-1", "MOCK: bash st worker done --summary 'I am a "+kind+"'\nMOCK: say done.", "--detach")
	}
	b.st("worker", "wait", "--timeout", "90s")
	for _, kind := range kinds {
		b.finishes(kind+"-1", "I am a "+kind)
		if said := b.st("worker", "read", kind+"-1"); !strings.Contains(said, "I am a "+kind) {
			t.Errorf("read: %s", said)
		}
	}
	if f := b.runFile("r1"); len(f.Reports) != len(kinds) {
		t.Errorf("%d reports", len(f.Reports))
	}
}
