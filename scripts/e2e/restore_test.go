//go:build linux || darwin

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestRestore: real workers are in the middle of a turn when tmux is killed. st restore brings each back in its own
// conversation, which alone knows the token that it reports when it is told to go on, and in its window. Then each has one
// more turn.
func TestRestore(t *testing.T) {
	// Claude begins a turn with what it is told; Codex goes on with the steps of the one that was cut off.
	kinds := []string{"claude", "codex"}
	each := count(1, 6)
	// The turn outlasts the starts of all.
	sleep := 10 + 5*each*len(kinds)
	task := func(name string) string {
		return fmt.Sprintf("MOCK: told-once /Go on with dispatch/ st worker done --summary token-%[1]s\n"+
			"MOCK: bash st worker progress begun\nMOCK: sleep %[2]d\nMOCK: bash st worker done --summary token-%[1]s\nMOCK: say done", name, sleep)
	}
	b := newDesk(t)
	b.tmux.Run("set-option", "-g", "default-size", "120x40")
	t.Cleanup(func() { b.tmux.Run("kill-server") }) // the last one is none that the desk has started
	for round := range count(1, 3) {
		var names []string
		for i := range each * len(kinds) {
			kind := kinds[i%len(kinds)]
			name := fmt.Sprintf("%s-%d-%d", kind, round, i)
			names = append(names, name)
			if s, code := b.start(kind, name, task(name)); code != 0 {
				t.Fatalf("%s: exit code %d, %s\n%s", name, code, s.Delivery, b.scene())
			}
		}
		for _, name := range names {
			b.await(30*time.Second, name+" works", func() (bool, string) {
				w := b.worker(name)
				return w.Progress == "begun" && w.Status == "working" && b.agent(w.Agent).Conversation != "", w.Status + w.Progress
			})
		}
		before := b.tmux.Run("list-windows", "-a", "-F", "#{session_name} #{window_index} #{?automatic-rename,,#{window_name}}")
		b.tmux.Kill()
		for _, name := range names {
			b.await(20*time.Second, name+" may come back", func() (bool, string) {
				w := b.worker(name)
				return w.State == "gone_resumable", w.State
			})
		}
		began := time.Now()
		said := b.st("restore")
		t.Logf("%d agents after %v:\n%s", len(names), time.Since(began).Round(time.Millisecond), said)
		if n := strings.Count(said, " resumed in "); n != len(names) {
			t.Errorf("%d of %d were resumed\n%s", n, len(names), b.scene())
		}
		if after := b.tmux.Run("list-windows", "-a", "-F", "#{session_name} #{window_index} #{?automatic-rename,,#{window_name}}"); after != before {
			t.Errorf("the windows are\n%s\nand were\n%s", after, before)
		}
		for _, name := range names {
			b.await(90*time.Second, name+" has finished", func() (bool, string) {
				w := b.worker(name)
				return w.State == "finished", w.State + " " + w.Screen
			})
			if w := b.worker(name); w.Summary != "token-"+name || w.Name != name {
				t.Errorf("%s reported %q", name, w.Summary)
			}
		}
		if again := b.st("restore"); !strings.Contains(again, "nothing to do") {
			t.Errorf("a second time: %s", again)
		}
		for _, name := range names {
			b.st("worker", "send", name, "MOCK: say once more "+name)
		}
		for _, name := range names {
			b.await(60*time.Second, name+" has had one more turn", func() (bool, string) {
				said := b.st("worker", "read", name)
				return strings.Contains(said, "once more "+name), said
			})
		}
		for _, name := range names {
			b.st("worker", "stop", name, "--yes")
		}
	}
}
