package hooks

import (
	"encoding/json"
	"math/rand"
	"os/exec"
	"strings"
	"testing"
)

// pieces are what shells and parsers trip over.
var pieces = []string{
	`\`, `"`, `'`, "$", "`", "a", " ", "\n", "*", "~", "{", "}", ",", "!", "#", "-", "(", ")", "=", "$'", "\\\n", "\r",
	"\t", "é", "<", ">", "|", "&", "[", "]", "?", "%", `$"`, "@(", "^", ";", "..", "1", "\x01",
}

// nastyReport is a report with a summary of random pieces, in one of the three ways of quoting.
func nastyReport(r *rand.Rand) string {
	quote := []string{"", `"`, "'"}[r.Intn(3)]
	summary := quote
	for range 1 + r.Intn(7) {
		summary += pieces[r.Intn(len(pieces))]
	}
	return "st worker done --summary " + summary + quote
}

// TestPlainReportsMeanWhatBashTakes holds the words that are read from a plain report against those that bash hands
// over for it.
func TestPlainReportsMeanWhatBashTakes(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	commands := []string{
		`st worker done --summary "costs 5$"`, `st worker done --summary "5$ each, 3$ off"`, `st worker done --summary "$"`,
		"st worker done --summary \"one \\\nline\"", "st worker done --summary \"$\\\nHOME\"", "st worker done --summary \"a\r\nb\"",
		"st worker done --summary a\rb",
	}
	r := rand.New(rand.NewSource(1))
	for range 8000 {
		commands = append(commands, nastyReport(r))
	}
	var script, want strings.Builder
	var tried []string
	script.WriteString("st() { printf '%s\\0' \"$@\"; printf '\\n\\0'; }\n")
	plain := 0
	for _, c := range commands {
		if r, ok := readReport(c, nil); ok && r.plain {
			plain++
			tried = append(tried, c)
			script.WriteString("eval " + ShellWord(c) + "\n")
			want.WriteString(strings.Join(r.words()[0], "\x00") + "\x00\n\x00")
		}
	}
	run := exec.Command(bash, "--norc")
	run.Stdin = strings.NewReader(script.String())
	got, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	if plain < 300 {
		t.Errorf("%d of %d reports are plain", plain, len(commands))
	}
	wants := strings.Split(want.String(), "\x00\n\x00")
	for i, g := range strings.Split(string(got), "\x00\n\x00") {
		if i >= len(wants) || g != wants[i] {
			t.Fatalf("%q: bash takes %q, read was %q", tried[min(i, len(tried)-1)], g, wants[min(i, len(wants)-1)])
		}
	}
}

func TestReportsWithADollarAtTheEndAreWhole(t *testing.T) {
	r, ok := readReport(`st worker done --summary "5$ each, 3$ off"`, nil)
	if !ok || !r.plain || r.words()[0][3] != "5$ each, 3$ off" {
		t.Errorf("got %v, %v, %q", ok, r.plain, r.words())
	}
}

// TestASubagentDoesNotReport: its commands run below the worker's own process, so that nothing else tells them apart.
func TestASubagentDoesNotReport(t *testing.T) {
	refusal := map[string]func(string) []byte{
		"claude": func(command string) []byte {
			return claudeForTest().Answer(subagentCall(t, command), Place{Agent: true})
		},
		"codex": func(command string) []byte {
			return codex{selves: func() []string { return nil }}.Answer(subagentCall(t, command), Place{Agent: true})
		},
	}
	for kind, answer := range refusal {
		for _, command := range []string{"st worker done --summary 'x'", `st worker done --summary "$x"`, "st worker progress half", "st ask --question x", "st escalate x"} {
			if got := string(answer(command)); !strings.Contains(got, `"deny"`) || !strings.Contains(got, subagentReports) {
				t.Errorf("%s: %s: %s", kind, command, got)
			}
		}
		if got := answer("ls worker ask"); got != nil {
			t.Errorf("%s: another command: %s", kind, got)
		}
	}
}

func subagentCall(t *testing.T, command string) []byte {
	t.Helper()
	b, err := json.Marshal(map[string]any{
		"hook_event_name": "PreToolUse", "tool_name": "Bash", "session_id": "s", "agent_id": "a1", "agent_type": "Explore",
		"tool_input": map[string]any{"command": command, "dangerouslyDisableSandbox": true},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestEndlessNestingIsNoReport(t *testing.T) {
	for _, open := range []string{"$(", "(", "{ ", `"$(`, "`"} {
		command := "st worker done --summary " + strings.Repeat(open, commandMax) + strings.Repeat(")", commandMax)
		if r, ok := readReport(command, nil); !ok || r.plain {
			t.Errorf("%s: taken as a report %v, plain %v", open, ok, r.plain)
		}
	}
}
