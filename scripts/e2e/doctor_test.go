//go:build linux || darwin

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"st/orch/proc/proctest"
)

// TestDoctor: what st doctor says of an agent's shell and of its settings is what the real agent then shows: the
// same st is found or not, and a start is proved or not.
func TestDoctor(t *testing.T) {
	b := newDesk(t)
	b.allow("acceptEdits", "Bash(command -v st:*)")
	found := map[string]string{}
	for _, name := range []string{"claude", "codex"} { // before anybody else works in this home
		b.tries(name)
	}
	for _, name := range []string{"claude", "codex"} {
		f := b.doctor(name)
		if f["program"].Result != "ok" || f["settings"].Result != "ok" {
			t.Errorf("%s: %+v", name, f)
		}
		found[name] = b.compareShell(name, "plain", f["shell"].Result)
	}
	// A function hides st from Claude, a login shell's PATH shows it to Codex.
	b.person(".bashrc", "st() { echo hidden; }\n")
	b.person(".bash_profile", "export PATH="+filepath.Join(b.home, "bin")+":$PATH\n")
	for _, name := range []string{"claude", "codex"} {
		f := b.doctor(name)
		if now := b.compareShell(name, "changed", f["shell"].Result); name == "claude" && now == found[name] {
			t.Errorf("%s: its shell finds %q as before", name, now)
		}
	}
}

// tries wants doctor's real start to go through all stages, and to leave nothing that a person would meet: not a byte of the
// settings is another one, there is no conversation, no prompt and no trust that was not there.
func (b *desk) tries(kind string) {
	b.t.Helper()
	b.doctor(kind) // a first start ever brings its settings into the program's own form
	before := b.keeps()
	f := b.doctor(kind)
	for _, stage := range []string{"start", "heard", "quit"} {
		if f[stage].Result != "ok" {
			b.t.Errorf("%s: %s: %+v", kind, stage, f[stage])
		}
	}
	if end, ok := f["end"]; ok {
		b.t.Errorf("%s: %+v", kind, end)
	}
	after := b.keeps()
	for name, text := range after {
		if was, ok := before[name]; !ok || was != text {
			b.t.Errorf("%s: after a start %s is another one, or new", kind, name)
		}
	}
	if len(after) != len(before) {
		b.t.Errorf("%s: of %d files there are %d", kind, len(before), len(after))
	}
	// In a folder that is not trusted it is said, and nothing is answered or kept.
	far := filepath.Join(filepath.Dir(b.dir), "far-"+kind)
	b.must(exec.Command("git", "init", "-q", far))
	home := b.dir
	b.dir = far
	f = b.doctor(kind)
	b.dir = home
	if f["start"].Result != "warn" || !strings.Contains(f["start"].Found, "whether it may trust "+far+" (trust") {
		b.t.Errorf("%s in a folder that is not trusted: %+v", kind, f["start"])
	}
	for name, text := range b.keeps() {
		if before[name] != text {
			b.t.Errorf("%s: after its question %s is another one, or new", kind, name)
		}
	}
}

// keeps are the settings, the prompts and the conversations of the agents in a home, and which folders Claude knows.
func (b *desk) keeps() map[string]string {
	b.t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{
		".claude/settings*.json", ".claude/history.jsonl", ".claude/projects/*/*", ".codex/config.toml", ".codex/hooks.json", ".codex/history.jsonl",
		".codex/sessions/*/*/*/*", ".codex/rules/*",
	} {
		files, err := filepath.Glob(filepath.Join(b.home, pattern))
		if err != nil {
			b.t.Fatal(err)
		}
		for _, f := range files {
			if info, err := os.Stat(f); err != nil || !info.Mode().IsRegular() {
				continue
			}
			raw, err := os.ReadFile(f)
			if err != nil {
				b.t.Fatal(err)
			}
			all[f] = string(raw)
		}
	}
	var state struct {
		Projects map[string]struct{ HasTrustDialogAccepted bool }
	}
	raw, err := os.ReadFile(filepath.Join(b.home, ".claude.json"))
	if err == nil {
		err = json.Unmarshal(raw, &state)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	for folder, p := range state.Projects {
		all["folder "+folder] = fmt.Sprint(p.HasTrustDialogAccepted)
	}
	return all
}

// TestDoctorSettings: with hooks switched off doctor fails, and no start is proved.
func TestDoctorSettings(t *testing.T) {
	for name, file := range map[string][2]string{
		"claude": {".claude/settings.json", `{"theme":"dark","permissions":{"defaultMode":"default"},"disableAllHooks":true}`},
		"codex":  {".codex/config.toml", "features.hooks = false\n"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newDesk(t)
			text := file[1]
			if old, err := os.ReadFile(filepath.Join(b.home, file[0])); err == nil && name == "codex" {
				text = strings.Replace(string(old), "[features]", "[features]\nhooks = false", 1)
			}
			b.person(file[0], text)
			if f := b.doctor(name); f["settings"].Result != "fail" {
				t.Errorf("%+v", f)
			}
			b.write("hi.md", "MOCK: say hi.\n")
			cmd := exec.Command(filepath.Join(b.home, "bin", "st"), "worker", "start", "--agent", name, "--session", "desk", "--task", "hi.md", "--turn-timeout", "3s")
			cmd.Env, cmd.Dir = b.env(), b.dir
			out, err := proctest.CombinedOutput(cmd)
			if cmd.ProcessState.ExitCode() != 9 || !strings.Contains(string(out), "st doctor --agent "+name) {
				t.Errorf("a start without hooks: %v\n%s", err, out)
			}
		})
	}
}

type found struct{ Name, Subject, Result, Found string }

// doctor asks about one kind, and answers by what was looked at of it.
func (b *desk) doctor(kind string) map[string]found {
	b.t.Helper()
	cmd := exec.Command(filepath.Join(b.home, "bin", "st"), "doctor", "--agent", kind, "--json")
	cmd.Env, cmd.Dir = b.env(), b.dir
	begun := time.Now()
	out, err := proctest.Output(cmd)
	var answer struct{ Data struct{ Checks []found } }
	if jsonErr := json.Unmarshal(out, &answer); jsonErr != nil {
		b.t.Fatalf("st doctor: %v, %v: %s", err, jsonErr, out)
	}
	took := time.Since(begun)
	all := map[string]found{}
	for _, f := range answer.Data.Checks {
		if f.Subject == kind {
			all[f.Name] = f
		}
	}
	if _, starts := all["start"]; !starts && took > 5*time.Second { // what starts a program may take longer
		b.t.Errorf("st doctor took %v", took)
	}
	return all
}

// compareShell has a worker look for st in its shell, and holds that against what doctor said. It answers what the
// worker's shell found.
func (b *desk) compareShell(kind, round, said string) string {
	b.t.Helper()
	name := kind + "-" + round
	b.write(name+".md", fmt.Sprintf("MOCK: bash command -v st > %[1]s.new\nMOCK: bash mv %[1]s.new %[1]s.found\nMOCK: say looked.\n", name))
	b.st("worker", "start", "--agent", kind, "--name", name, "--session", "desk", "--task", name+".md")
	var text string
	b.await(30*time.Second, name+" has looked for st", func() (bool, string) {
		raw, err := os.ReadFile(filepath.Join(b.dir, name+".found"))
		text = strings.TrimSpace(string(raw))
		return err == nil, fmt.Sprint(err)
	})
	ours := text == filepath.Join(b.home, "bin", "st")
	if ours != (said == "ok") {
		b.t.Errorf("%s: doctor says %s of the shell, which finds %q", name, said, text)
	}
	return text
}

// person writes a file of the person's, for this test.
func (b *desk) person(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.home, name)
	old, err := os.ReadFile(path)
	b.t.Cleanup(func() {
		if err != nil {
			err = os.Remove(path)
		} else {
			err = os.WriteFile(path, old, 0o600)
		}
		if err != nil {
			b.t.Error(err)
		}
	})
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}
