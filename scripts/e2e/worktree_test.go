//go:build linux || darwin

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"st/orch"
)

// TestWorktrees: two Claudes and a Codex work in worktrees of one repository, which they trust as they trust that, and their
// work comes home. Then a Claude and a Codex try the same: they are compared, one is picked, and the other can be had back.
func TestWorktrees(t *testing.T) {
	b := newDesk(t)
	b.allow("acceptEdits", "Bash(echo:*)", "Bash(git add:*)", "Bash(git commit:*)")
	b.git("config", "user.name", "dev")
	b.git("config", "user.email", "dev@example.invalid")
	b.write("a.txt", "a\n")
	b.git("add", "-A")
	b.git("commit", "-qm", "first")
	free := []string{"--arg=-s", "--arg=danger-full-access"} // in its sandbox .git can't be written
	for name, kind := range map[string]string{"one": "claude", "two": "claude", "three": "codex"} {
		args := []string{"--dir", b.dir, "--worktree"}
		if kind == "codex" {
			args = append(args, free...)
		}
		task := "MOCK: bash echo " + name + " > " + name + ".txt\nMOCK: bash git add -A\nMOCK: bash git commit -qm 'work of " + name + "'\n" +
			"MOCK: bash st worker done --summary 'did " + name + "'\nMOCK: say done"
		if s, code := b.start(kind, name, task, args...); code != 0 {
			t.Fatalf("%s: exit code %d, %s %s\n%s", name, code, s.Delivery, s.Screen, b.scene())
		}
	}
	for _, name := range []string{"one", "two", "three"} {
		b.await(90*time.Second, name+" has finished", func() (bool, string) {
			w := b.worker(name)
			return w.State == "finished" && w.Summary == "did "+name, w.State + " " + w.Screen
		})
		b.st("worker", "finish", name, "--merge")
	}
	log := b.git("log", "--format=%s", "--merges")
	for _, name := range []string{"one", "two", "three"} {
		if raw, err := os.ReadFile(filepath.Join(b.dir, name+".txt")); string(raw) != name+"\n" {
			t.Errorf("%s: %q, %v", name, raw, err)
		}
		if !strings.Contains(log, "st/r1-"+name) {
			t.Errorf("%s is not in the history:\n%s", name, log)
		}
	}
	b.compares()
}

func (b *desk) compares() {
	b.t.Helper()
	b.write("../try.md", "MOCK: bash echo it > try.txt\nMOCK: bash git add -A\nMOCK: bash git commit -qm tried\nMOCK: bash st worker done --summary 'tried it'\nMOCK: say done")
	b.st("task", "create", "--attempts", "2", "--agent", "claude,codex", "--name", "try", "--check", "test -s try.txt", "--dir", b.dir, "--session", "desk", "--file", filepath.Join(b.dir, "../try.md"))
	var i orch.AttemptsInfo
	b.await(2*time.Minute, "both have tried", func() (bool, string) {
		out := b.st("task", "attempts", "t4", "--json")
		var answer struct{ Data orch.AttemptsInfo }
		if err := json.Unmarshal([]byte(out), &answer); err != nil {
			return false, err.Error()
		}
		i = answer.Data
		done := len(i.Attempts) == 2
		for _, a := range i.Attempts {
			done = done && a.Check == "passed" && a.Worker.Settled
		}
		return done, out + b.scene()
	})
	for n, kind := range []string{"claude", "codex"} {
		if a := i.Attempts[n]; a.Worker.Kind != kind || a.Outcome != "succeeded" || a.Summary != "tried it" || len(a.Files) != 1 {
			b.t.Errorf("attempt %d: %+v", n, a)
		}
	}
	b.st("task", "pick", "t4", "try-1", "--free", "--yes")
	b.st("worker", "finish", "try-1", "--squash")
	refs := strings.Fields(b.git("for-each-ref", "--format=%(refname)", "refs/st/discarded"))
	if len(refs) != 1 {
		b.t.Fatalf("kept: %q", refs)
	}
	if got := b.git("show", refs[0]+":try.txt"); got != "it" {
		b.t.Errorf("what was not picked is %q", got)
	}
}

// git runs git in the project.
func (b *desk) git(args ...string) string {
	b.t.Helper()
	out, err := exec.Command("git", append([]string{"-C", b.dir}, args...)...).CombinedOutput()
	if err != nil {
		b.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}
