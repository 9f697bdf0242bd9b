package hooks

import (
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
	for argv, want := range map[string]string{
		"codex resume " + id: id, "codex -m x resume --all " + id: id, "codex resume": "", "codex resume --last": "", "codex " + id: "", "codex resume a-name": "",
	} {
		if got := (codex{}).Resumed(strings.Fields(argv)); got != want {
			t.Errorf("%s: %q", argv, got)
		}
	}
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
