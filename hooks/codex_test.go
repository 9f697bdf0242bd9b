package hooks

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

func TestCodexCalls(t *testing.T) { testCalls(t, codex{}, "testdata/codex", 20) }

// A launch brings its hooks and their trust as arguments that are TOML, whatever stands in a path.
func TestCodexLaunch(t *testing.T) {
	l, err := codex{}.Launch(Spec{Program: "/opt/codex", Self: `/opt/a "b"/s'\t`, Model: "m1", Args: []string{"-s", "read-only"}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(l.Argv[:2], []string{"/opt/codex", "--no-daemon"}) || !slices.Equal(l.Argv[len(l.Argv)-4:], []string{"--model", "m1", "-s", "read-only"}) {
		t.Errorf("argv %q", l.Argv)
	}
	var settings struct {
		Hooks map[string]any `toml:"hooks"`
	}
	var text strings.Builder
	for i, a := range l.Argv {
		if a == "-c" {
			text.WriteString(l.Argv[i+1] + "\n")
		}
	}
	if _, err := toml.Decode(text.String(), &settings); err != nil {
		t.Fatalf("%v in\n%s", err, text.String())
	}
	state, _ := settings.Hooks["state"].(map[string]any)
	if len(state) != len(codexEvents) || len(settings.Hooks) != len(codexEvents)+1 {
		t.Errorf("%d hooks, %d trusted, want %d", len(settings.Hooks)-1, len(state), len(codexEvents))
	}
	if !strings.Contains(fmt.Sprint(settings.Hooks["Stop"]), `'/opt/a "b"/s'\''\t' hook codex launch`) {
		t.Errorf("hook %v", settings.Hooks["Stop"])
	}
}

// TestCodexResumes: it keeps the hooks of a launch, which is known as one that takes up that conversation.
func TestCodexResumes(t *testing.T) {
	const id = "01234567-89ab-7def-8123-456789abcdef"
	l, err := codex{}.Launch(Spec{Program: "/opt/codex", Self: "/st", Model: "m1", Args: []string{"-s", "read-only"}, Resume: id})
	if err != nil || !slices.Equal(l.Argv[len(l.Argv)-4:], []string{"-s", "read-only", "resume", id}) {
		t.Fatalf("%q, %v", l.Argv, err)
	}
	if got, ok := (codex{}).Resumed(l.Argv); !ok || got != id || !strings.Contains(strings.Join(l.Argv, " "), "trusted_hash") {
		t.Errorf("it takes up %q: %q", got, l.Argv)
	}
}

func TestCodexFit(t *testing.T) {
	for _, args := range [][]string{
		{"--remote", "unix://"}, {"--remote=unix://"}, {"do this"}, {"exec"}, {"resume", "x"}, {"-c", "hooks={}"}, {"-chooks.Stop=[]"}, {"-c=hooks.Stop=[]"},
		{"--config", `"hooks".Stop=[]`}, {"--disable", "hooks"}, {"--disable=hooks"}, {"-c", "features.hooks=false"}, {"--", "x"}, {"-m", "x"}, {"-C", "/"}, {"-a"}, {"--strict-config"},
	} {
		if err := codexFit(args); err == nil {
			t.Errorf("%q passes", args)
		}
	}
	for _, args := range [][]string{nil, {"-s", "read-only"}, {"--search"}, {"-c", "model_reasoning_effort=high"}, {"--add-dir=/x"}, {"-aon-request"}} {
		if err := codexFit(args); err != nil {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestCodexLifts(t *testing.T) {
	for _, c := range []struct{ args, lifts string }{
		{"-s read-only", ""}, {"-s workspace-write -a never", ""}, {"--sandbox=danger-full-access", "--sandbox=danger-full-access"},
		{"-s danger-full-access --search", "-s danger-full-access --search"}, {"-sdanger-full-access", "-sdanger-full-access"},
		{"--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-approvals-and-sandbox"}, {"--yolo", "--yolo"},
		{"-c model_reasoning_effort=high", ""}, {"-c sandbox_mode=danger-full-access", "-c sandbox_mode=danger-full-access"},
		{"-csandbox_workspace_write.network_access=true", "-csandbox_workspace_write.network_access=true"}, {"--add-dir /x --oss", "--add-dir /x --oss"}, {"-p mine", "-p mine"},
	} {
		if got := strings.Join(codex{}.Lifts(strings.Fields(c.args)), " "); got != c.lifts {
			t.Errorf("%s: lifts %q, want %q", c.args, got, c.lifts)
		}
	}
}

func TestCodexOwns(t *testing.T) {
	const exe = "/n/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"
	for _, c := range []struct {
		exe, argv    string
		owns, shared bool
	}{
		{exe, exe, true, false}, {exe, exe + " resume x", true, false}, {exe, exe + " exec hello", true, false}, {exe + " (deleted)", "codex", true, false},
		{exe, "codex-linux-sandbox --sandbox-policy-cwd /x", false, false}, {exe, "apply_patch x", false, false}, {exe, exe + " doctor", false, false},
		{exe, exe + " -c a=b app-server --listen unix:// --managed-daemon", true, true}, {"/usr/bin/node", "node /n/.bin/codex", false, false},
		{"/n/bin/codex-code-mode-host", "codex-code-mode-host", false, false}, {exe, exe + " --model app-server", true, false},
	} {
		argv := strings.Fields(c.argv)
		if got := (codex{}).Owns(c.exe, argv); got != c.owns {
			t.Errorf("%s %q: owns %v", c.exe, argv, got)
		}
		if got := (codex{}).Shared(argv); got != c.shared {
			t.Errorf("%q: shared %v", argv, got)
		}
	}
}

func TestCodexResumed(t *testing.T) {
	const id = "01a22a50-f414-7a92-8238-ce397193d50d"
	checkResumed(t, codex{}, []resumedCase{
		{"codex resume " + id, id, true}, {"codex -m x resume --all " + id, id, true}, {"codex resume", "", true},
		{"codex resume --last", "", true}, {"codex " + id, "", false}, {"codex resume a-name", "", true}, {"codex", "", false},
	})
}

type resumedCase struct {
	argv, want string
	ok         bool
}

func checkResumed(t *testing.T, k Kind, list []resumedCase) {
	t.Helper()
	for _, c := range list {
		if got, ok := k.Resumed(strings.Fields(c.argv)); got != c.want || ok != c.ok {
			t.Errorf("%s: %q, %v", c.argv, got, ok)
		}
	}
}

func TestClaudeResumed(t *testing.T) {
	const id = "01a22a50-f414-7a92-8238-ce397193d50d"
	checkResumed(t, claude{}, []resumedCase{
		{"claude --resume " + id, id, true}, {"claude --model x -r " + id, id, true}, {"claude --resume=" + id, id, true},
		{"claude --resume", "", true}, {"claude --resume the one with hooks", "", true}, {"claude --continue", "", true}, {"claude -c", "", true},
		{"claude", "", false}, {"claude --settings f", "", false}, {"claude --session-id " + id, "", false},
		{"claude -p --resume " + id, "", false}, {"claude --resume " + id + " --fork-session", "", false},
	})
}

func TestDemoResumed(t *testing.T) {
	checkResumed(t, demoKind{}, []resumedCase{
		{"st demo-agent --settings f --resume c1", "c1", true}, {"st demo-agent", "", false},
	})
}

func TestCodexBeside(t *testing.T) {
	env := func(v string) func(string) string { return func(string) string { return v } }
	for _, c := range []struct {
		args []string
		env  string
		want bool
	}{{nil, "", false}, {nil, "launch", true}, {[]string{"launch"}, "launch", false}, {[]string{"launch"}, "", false}} {
		if got := (codex{}).Beside(c.args, env(c.env)); got != c.want {
			t.Errorf("%q with %q: %v", c.args, c.env, got)
		}
	}
}

// TestCodexCarries: the hook hands in plain reports and questions, and nothing else.
func TestCodexCarries(t *testing.T) {
	c := codex{selves: func() []string { return nil }}
	for command, want := range map[string]string{
		"st worker done --summary 'it works'":                     "worker|done|--summary|it works",
		"st ask --question 'which port?' --options '80,\"a, b\"'": `ask|--question|which port?|--options|80,"a, b"`,
		"st ask --resume m7":                                      "ask|--resume|m7",
		"st escalate 'the disk is full'":                          "escalate|the disk is full",
		"st ask --question \"$x\"":                                "",
		"st ask --question x > answer":                            "",
		"st ask --question x; ls":                                 "",
		"st reply m7 80":                                          "",
		"st gate ask --question x":                                "",
		"st worker start --agent demo --prompt x":                 "",
	} {
		payload, err := json.Marshal(map[string]any{
			"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": "/w", "tool_input": map[string]any{"command": command},
		})
		if err != nil {
			t.Fatal(err)
		}
		calls, _ := c.Carry(payload)
		got := ""
		if len(calls) > 0 {
			got = strings.Join(calls[0], "|")
		}
		if got != want || len(calls) > 1 {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}
