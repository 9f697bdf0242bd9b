//go:build linux || darwin

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"st/orch"
	"st/orch/proc/proctest"
)

// TestStopped starts both kinds in turn while both cores are busy, and stops the daemon's process for 3 s at a random
// moment of each start. What each start says is held against what the agent's own log has of the task's line, then
// and at the end: once, or not at all.
func TestStopped(t *testing.T) {
	b := newDesk(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	b.st("orch", "start", "--objective", "starts that are held up")
	defer b.busy(2)()
	said := map[string]int{}
	for i := range count(4, 50) {
		kind := []string{"claude", "codex"}[i%2]
		name := fmt.Sprintf("%s-%d", kind, i)
		b.write("tasks/"+name+".md", "# Small\nMOCK: bash st worker done --summary 'did "+name+"'\nMOCK: say It is reported.\n")
		s := b.heldUp(kind, name, time.Duration(chance.Int64N(int64(8*time.Second))))
		said[s.Delivery]++
		b.judgeHeldUp(name, s)
	}
	t.Logf("said: %v", said)
}

// heldUp starts a worker, stops the daemon 3 s at that moment, and returns what the start said.
func (b *desk) heldUp(kind, name string, moment time.Duration) orch.StartInfo {
	b.t.Helper()
	var status struct{ Data orch.StatusInfo }
	b.parse(b.st("status", "--json"), &status)
	done := make(chan struct{})
	go func() {
		defer close(done)
		time.Sleep(moment) // chance, not a condition: any moment will do
		if err := proctest.Stop(status.Data.PID); err != nil {
			b.t.Error(err)
		}
		time.Sleep(3 * time.Second) // the length of the fault
		if err := syscall.Kill(status.Data.PID, syscall.SIGCONT); err != nil {
			b.t.Error(err)
		}
	}()
	out, code := b.stCode("worker", "start", "--session", "desk", "--agent", kind, "--name", name, "--task", "tasks/"+name+".md", "--json")
	seen := b.typed(b.copyOf(name))
	<-done
	var start struct{ Data orch.StartInfo }
	b.parse(out, &start)
	s := start.Data
	switch {
	case s.Delivery == orch.Delivered && code == 0, s.Delivery == orch.NotDelivered && code == 4, s.Delivery == orch.Unknown && code == 9:
	default:
		b.t.Errorf("%s, held up after %v: exit code %d with %s", name, moment, code, out)
	}
	now := b.worker(name)
	if s.Delivery == orch.NotDelivered && seen > 0 && now.Delivery == orch.NotDelivered {
		b.t.Errorf("%s, held up after %v: said to be not delivered, and its agent has the line", name, moment)
	}
	return s
}

// judgeHeldUp waits for the worker's report: by then the line must have gone in once, and the record must say so.
func (b *desk) judgeHeldUp(name string, s orch.StartInfo) {
	b.t.Helper()
	if out, code := b.stCode("worker", "wait", name, "--timeout", "2m"); code != 0 {
		b.t.Errorf("%s was said to be %s, and its wait ends with %d: %s\n%s", name, s.Delivery, code, out, b.scene())
	}
	w := b.worker(name)
	if n := b.typed(b.copyOf(name)); n != 1 || w.Delivery != orch.Delivered || w.Summary != "did "+name {
		b.t.Errorf("%s was said to be %s and is %s with %q; its agent has the line %d times", name, s.Delivery, w.Delivery, w.Summary, n)
	}
	b.st("worker", "stop", name, "--yes")
}

// copyOf is the path of the task's copy that a worker is sent to, "" where there is none yet.
func (b *desk) copyOf(name string) string {
	return filepath.Join(b.stHome, "orch", "r1", b.worker(name).Dispatch+".md")
}

// worker is how a worker stands, in the words of --json.
func (b *desk) worker(name string) orch.WorkerInfo {
	b.t.Helper()
	var said struct {
		Data struct{ Worker orch.WorkerInfo }
	}
	b.parse(b.st("worker", "show", name, "--json"), &said)
	return said.Data.Worker
}

func (b *desk) parse(said string, into any) {
	b.t.Helper()
	if err := json.Unmarshal([]byte(said), into); err != nil {
		b.t.Fatalf("%v in %s", err, said)
	}
}

// typed is how often a task's line has gone in as a prompt, by all logs of the agents.
func (b *desk) typed(path string) int {
	b.t.Helper()
	return b.prompts("Your task is in this file: " + path)
}

// prompts is how many prompts begin with a text, by all logs of the agents.
func (b *desk) prompts(begin string) int {
	b.t.Helper()
	n := 0
	for _, kind := range []string{"claude", "codex", "gemini"} {
		files, err := filepath.Glob(b.logs(kind))
		if err != nil {
			b.t.Fatal(err)
		}
		for _, f := range files {
			raw, err := os.ReadFile(f)
			if err != nil {
				b.t.Fatal(err)
			}
			if !bytes.Contains(raw, []byte(filepath.Dir(b.dir)+"/")) {
				continue // of another test
			}
			for line := range bytes.Lines(raw) {
				if strings.HasPrefix(prompt(line), begin) {
					n++
				}
			}
		}
	}
	return n
}

// prompt is what a person, or st, has typed, by a line of an agent's log; "" for any other line.
func prompt(line []byte) string {
	var l struct {
		Type    string
		Content []struct{ Text string }
		Message struct{ Content json.RawMessage }
		Payload struct {
			Role    string
			Content []struct{ Text string }
		}
	}
	_ = json.Unmarshal(line, &l) // a field of another shape is none of a prompt
	var text string
	switch {
	case l.Type == "user" && len(l.Content) > 0: // Gemini's
		text = l.Content[0].Text
	case l.Type == "user":
		_ = json.Unmarshal(l.Message.Content, &text) // a tool's result is a list
	case l.Type == "response_item" && l.Payload.Role == "user" && len(l.Payload.Content) > 0:
		text = l.Payload.Content[0].Text
	}
	return text
}
