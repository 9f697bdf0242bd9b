//go:build linux || darwin

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"st/hooks"
	"st/orch"
	"st/orch/proc/proctest"
)

// sentence is all that a person says.
const sentence = "tests to Codex, README to another Claude; when both are done check and tell me"

// play is what the scripted model makes of it. It can only run what it was shown: the plugin's text shows the guide's
// name, the guide shows each command, and what differs from the guide's example are names and texts.
var play = []map[string]any{
	{"text": "tests to Codex", "steps": []string{
		"MOCK: shown /^st skills get orchestrate$/",
		"MOCK: shown /^st orch start --objective/ what all of this is for=>tests and a README",
		"MOCK: shown /^st worker start --agent codex/ ui=>tests | Make the login page as docs/login.md says, and run its tests.=>Write the tests.",
		"MOCK: shown /^st worker start --agent claude --name api --task api.md$/ api=>readme | api.md=>readme.md",
		`MOCK: told-once /\bw1\b[^.;]* finished/ st worker read w1`,
		`MOCK: told-once /\bw2\b[^.;]* finished/ st worker read w2`,
		"MOCK: told-once /have settled/ st orch end --close",
		"MOCK: say Both have begun. I end my turn and am told.",
	}},
	{"text": "Write the tests[.]", "steps": []string{"MOCK: bash st worker done --summary 'the 12 tests pass'", "MOCK: say Reported."}},
	{"text": "Write the README[.]", "steps": []string{"MOCK: bash st worker done --summary 'the README has 40 lines'", "MOCK: say Reported."}},
}

// TestSentence: a person who has installed st's hooks and its plugin, and consented once, says one sentence to a real
// agent in its default permission mode, by the name under which the agent lists it; no key is pressed after that. The
// plugin's text reaches the model, which loads the guide and goes by it, and is told of both workers.
func TestSentence(t *testing.T) {
	for _, kind := range hooks.Pluggable() {
		if len(calls[kind]) == 0 {
			continue // nobody calls its guides by name: its model finds them
		}
		for i := range count(1, 3) {
			t.Run(fmt.Sprintf("%s %d", kind, i+1), func(t *testing.T) { says(t, kind, calls[kind][i%len(calls[kind])]) })
		}
	}
}

func says(t *testing.T, kind, call string) {
	s := newSeat(t, kind, (*desk).plays, (*desk).plugs)
	s.write("readme.md", "Write the README.\n")
	s.completes(kind)
	s.line(call + " " + sentence)
	s.await(3*time.Minute, "the run has ended", func() (bool, string) {
		out := s.st("orch", "ls", "--all", "--json")
		return strings.Contains(out, `"state":"ended"`), out + s.record()
	})
	s.rests()
	f := s.runFile("r1")
	if f.Objective != "tests and a README" || len(f.Reports) != 2 {
		t.Fatalf("objective %q, reports %+v", f.Objective, f.Reports)
	}
	for _, d := range f.Dispatches {
		if d.Delivery != orch.Delivered {
			t.Errorf("%s: %s", d.ID, d.Delivery)
		}
	}
	for i, w := range f.Workers {
		if want := []string{"codex", "claude"}[i]; w.Kind != want {
			t.Errorf("%s is a %s, want %s", w.ID, w.Kind, want)
		}
	}
	log := s.log(kind, sentence)
	for _, heard := range []string{"go by the guide that it prints", "# Coordinate workers with st", "the 12 tests pass", "the README has 40 lines"} {
		if !strings.Contains(log, heard) {
			t.Errorf("its conversation does not hold %q", heard)
		}
	}
	if n := len(s.events("worker-needs-input", "gate-asked")); n > 0 || strings.Contains(log, "nobody has shown me") {
		t.Errorf("a person was needed %d times; %s", n, regexp.MustCompile("nobody has shown me.*").FindString(log))
	}
}

// calls is how a person calls the guide: by its name in the list, and for Claude without the plugin's name.
var calls = map[string][]string{"claude": {"/sophonz:orchestrate", "/orchestrate"}, "codex": {"$sophonz-orchestrate"}}

// completes wants the agent's own list of what can be called to hold the guides, and leaves the input line empty.
func (s *seat) completes(kind string) {
	s.t.Helper()
	s.person.Type(strings.TrimSuffix(calls[kind][0], "orchestrate"))
	about := regexp.MustCompile(`(?s)orchestrate.*Hand parts of a job.*|Hand parts of a job.*orchestrate`)
	s.await(20*time.Second, "the list shows the guide", func() (bool, string) {
		said := s.said(s.pane)
		return about.MatchString(said) && strings.Contains(said, "worker"), said
	})
	s.person.Type("\x15")
	s.tmux.WaitScreen(s.pane, "an empty input line", s.ready)
}

// plays gives the scripted model its play, for this test.
func (b *desk) plays() {
	b.t.Helper()
	raw, err := json.Marshal(play)
	path := filepath.Join(b.home, "log", "requests.jsonl.plays.json")
	if err == nil {
		err = os.WriteFile(path, raw, 0o600)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		if err := os.Remove(path); err != nil {
			b.t.Error(err)
		}
	})
}

// plugs installs the plugin, has each program judge it, and wants no trace of it after the test.
func (b *desk) plugs() {
	b.t.Helper()
	skills := map[string]string{"claude": filepath.Join(b.home, ".claude", "skills"), "codex": filepath.Join(b.home, ".codex", "skills")}
	b.st("plugin", "install")
	b.t.Cleanup(func() {
		b.st("plugin", "uninstall")
		for kind, dir := range skills {
			left, err := filepath.Glob(filepath.Join(dir, "sophonz*"))
			if err != nil || len(left) > 0 {
				b.t.Errorf("%s: %v is left, %v", kind, left, err)
			}
		}
		if _, err := os.Stat(filepath.Join(b.home, ".claude", "commands")); !os.IsNotExist(err) {
			b.t.Errorf("commands: %v", err)
		}
	})
	b.judged("Validation passed", filepath.Join(b.home, "bin", "claude"), "plugin", "validate", filepath.Join(skills["claude"], "sophonz"))
	b.judged("sophonz@skills-dir", filepath.Join(b.home, "bin", "claude"), "plugin", "list")
}

// judged wants a program to end well and to say this.
func (b *desk) judged(want, program string, args ...string) {
	b.t.Helper()
	c := exec.Command(program, args...)
	c.Dir, c.Env = b.dir, b.env()
	out, err := proctest.CombinedOutput(c)
	if err != nil || !strings.Contains(string(out), want) {
		b.t.Errorf("%s %v: %v\n%s", program, args, err, out)
	}
}
