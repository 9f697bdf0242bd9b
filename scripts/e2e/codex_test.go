//go:build linux || darwin

package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"st/hooks"
	"st/orch"
	"st/orch/proc/proctest"
)

// TestCodexWithheld: nothing is typed over a draft that a person began while Codex came up, nor in a folder that they
// have not trusted. The starts say so; what the person does then lets the lines follow.
func TestCodexWithheld(t *testing.T) {
	b := newDesk(t)
	far := filepath.Join(filepath.Dir(b.dir), "far")
	b.must(exec.Command("git", "init", "-q", far))
	b.start("codex", "own", "MOCK: bash st worker done --summary 'after the draft'\nMOCK: say done", "--detach", "--timeout", "20s")
	var own string
	b.await(20*time.Second, "its window is open", func() (bool, string) {
		own = b.worker("own").Pane
		return own != "", ""
	})
	b.tmux.Run("send-keys", "-t", own, "-l", "my own words")

	s, code := b.start("codex", "far", "MOCK: bash st worker done --summary 'from afar'\nMOCK: say done", "--dir", far, "--timeout", "20s")
	if code != 4 || s.Delivery != orch.NotDelivered || s.Screen != hooks.Trust {
		t.Fatalf("exit code %d, %s, screen %s\n%s", code, s.Delivery, s.Screen, b.scene())
	}
	b.await(20*time.Second, "the other start has given up, too", func() (bool, string) {
		w := b.worker("own")
		return w.Delivery == orch.NotDelivered, w.Delivery
	})
	if w, said := b.worker("own"), b.said(own); w.Screen != "draft" || !strings.Contains(said, "› my own words\n") {
		t.Errorf("screen %s:\n%s", w.Screen, said)
	}
	for _, name := range []string{"own", "far"} {
		if n := b.typed(b.copyOf(name)); n != 0 {
			t.Errorf("%s has the line %d times", name, n)
		}
	}
	b.tmux.Run("send-keys", "-t", s.Worker.Pane, "Enter")
	b.tmux.Run("send-keys", "-t", own, "C-u")
	b.finishes("far", "from afar")
	b.finishes("own", "after the draft")
}

// TestCodexStop stops one that is idle, one in the midst of a turn, and one at a dialog; the conversation of the first
// is known and can be taken up again.
func TestCodexStop(t *testing.T) {
	b := newDesk(t)
	for _, w := range []struct{ name, task, status string }{
		{"idle", "MOCK: bash st worker done --summary 'all of it'\nMOCK: say done", "idle"},
		{"busy", "MOCK: sleep 100\nMOCK: say never", "working"},
		{"asks", "MOCK: ask-permission touch given\nMOCK: say never", "waiting"},
	} {
		if s, code := b.start("codex", w.name, w.task); code != 0 {
			t.Fatalf("%s: exit code %d, %s\n%s", w.name, code, s.Delivery, b.scene())
		}
		b.await(30*time.Second, w.name+" is "+w.status, func() (bool, string) {
			is := b.worker(w.name)
			return is.Status == w.status, is.Status
		})
	}
	conversation := b.agent(b.worker("idle").Agent).Conversation
	if files, err := filepath.Glob(b.logs("codex")); err != nil || conversation == "" || !strings.Contains(strings.Join(files, " "), conversation) {
		t.Errorf("conversation %q is none of %s (%v)", conversation, files, err)
	}
	for _, name := range []string{"idle", "busy", "asks"} {
		b.st("worker", "stop", name, "--yes")
		b.await(20*time.Second, "the window of "+name+" is closed", func() (bool, string) {
			names := b.tmux.Run("list-windows", "-a", "-F", "#{window_name}")
			return !strings.Contains(names, name), names
		})
		if w := b.worker(name); w.Status != "gone" || len(w.LeftOver) > 0 {
			t.Errorf("%s is %s, left over: %v", name, w.Status, w.LeftOver)
		}
	}
	kind, err := hooks.Lookup("codex")
	if err != nil {
		t.Fatal(err)
	}
	b.tmux.WaitText(b.open("codex", kind.Resume(conversation)...), "Your task is in this file")
}

// TestCodexInside: an agent that runs inside of a worker's tool, with and without a sandbox of its own, has what the
// worker has in its environment. What it reports is refused.
func TestCodexInside(t *testing.T) {
	b := newDesk(t)
	b.write("inner.md", "MOCK: bash st worker done --summary stolen\nMOCK: say inner is done\n")
	task := "MOCK: to-end codex exec -s workspace-write 'do what inner.md says'\n" +
		"MOCK: to-end codex exec -s danger-full-access 'do what inner.md says'\n" +
		"MOCK: bash st worker done --summary mine --report inner.md\nMOCK: say done"
	if s, code := b.start("codex", "outer", task, "--arg=-s", "--arg=danger-full-access"); code != 0 {
		t.Fatalf("exit code %d, %s\n%s", code, s.Delivery, b.scene())
	}
	b.finishes("outer", "mine")
	for _, r := range b.reports("w1") {
		if r.Summary != "mine" {
			t.Errorf("taken: %q (%s)", r.Summary, r.Why)
		}
	}
	if n := strings.Count(b.log("codex", "Your task is in this file: "+b.copyOf("outer")), "inner is done"); n < 2 {
		t.Errorf("the inner agents have said %d times that they are done\n%s", n, b.scene())
	}
}

// TestCodexStranger: a Codex that is no worker reports out of its sandbox, and is told at once that nobody takes that.
func TestCodexStranger(t *testing.T) {
	b := newDesk(t)
	b.st("up")
	st := filepath.Join(b.home, "bin", "st")
	c := exec.Command(filepath.Join(b.home, "bin", "codex"), "exec", "-s", "workspace-write", "MOCK: bash "+st+" worker done --summary mine ;; MOCK: say done")
	c.Dir, c.Env = b.dir, b.env()
	out, err := proctest.CombinedOutput(c)
	if err != nil || !strings.Contains(string(out), "the agent that asks is no worker") {
		t.Errorf("%v\n%s", err, out)
	}
}

// start hands a task to a new worker, as a person.
func (b *desk) start(kind, name, task string, args ...string) (orch.StartInfo, int) {
	b.t.Helper()
	out, code := b.stCode(append([]string{"worker", "start", "--session", "desk", "--agent", kind, "--name", name, "--prompt", task, "--json"}, args...)...)
	var start struct{ Data orch.StartInfo }
	b.parse(out, &start)
	return start.Data, code
}

// finishes waits until a worker has reported this and its turn has ended; its line must have gone in once.
func (b *desk) finishes(name, summary string) {
	b.t.Helper()
	b.await(90*time.Second, name+" has finished", func() (bool, string) {
		w := b.worker(name)
		return w.State == "finished", w.State + " " + w.Screen
	})
	w := b.worker(name)
	if n := b.typed(b.copyOf(name)); n != 1 || w.Delivery != orch.Delivered || w.Summary != summary {
		b.t.Errorf("%s is %s with %q; its agent has the line %d times", name, w.Delivery, w.Summary, n)
	}
}

// agent is an agent in the words of --json.
func (b *desk) agent(id string) orch.AgentInfo {
	b.t.Helper()
	var said struct {
		Data struct{ Agents []orch.AgentInfo }
	}
	b.parse(b.st("agents", "--json"), &said)
	for _, a := range said.Data.Agents {
		if a.ID == id {
			return a
		}
	}
	b.t.Fatalf("agent %s is none of %s", id, fmt.Sprint(said.Data.Agents))
	return orch.AgentInfo{}
}
