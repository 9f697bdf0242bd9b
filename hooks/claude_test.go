package hooks

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"st/orch"
)

func TestClaudeCalls(t *testing.T) { testCalls(t, claude{}, "testdata/claude", 40) }

func trimAndDecode(t *testing.T, payload string) (json.RawMessage, orch.AgentEvent) {
	t.Helper()
	trimmed, err := claude{}.Trim([]byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	e, err := claude{}.Decode(trimmed)
	if err != nil {
		t.Fatal(err)
	}
	return trimmed, e
}

func TestClaudeMarks(t *testing.T) {
	_, e := trimAndDecode(t, `{"hook_event_name":"UserPromptSubmit","prompt":"Your task is in the file /home/dev/.sophonz/orch/r1/d7.md. See d8.md, /x/d9.mdx, /home/dev/web/.st/ab12/r1/w5-m3.md and /tmp/st-1000/ab12/d10.md"}`)
	want := []string{"/home/dev/.sophonz/orch/r1/d7.md", "/home/dev/web/.st/ab12/r1/w5-m3.md", "/tmp/st-1000/ab12/d10.md"}
	if e.Type != orch.PromptIn || !slices.Equal(e.Marks, want) || e.Machine {
		t.Errorf("%+v, want marks %q", e, want)
	}
}

// TestClaudeTrim: nothing secret or big leaves the hook process.
func TestClaudeTrim(t *testing.T) {
	big := strings.Repeat("secret ", 1<<17)
	for _, payload := range []string{
		`{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt":"` + big + ` /a/d1.md"}`,
		`{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"` + big + `"}}`,
		`{"hook_event_name":"PostToolUse","session_id":"s","tool_name":"Bash","tool_response":{"stdout":"` + big + `"}}`,
		`{"hook_event_name":"PostToolUseFailure","session_id":"s","tool_name":"Bash","error":"` + big + `"}`,
		`{"hook_event_name":"PostCompact","session_id":"s","compact_summary":"` + big + `"}`,
	} {
		trimmed, _ := trimAndDecode(t, payload)
		if len(trimmed) > 300 || strings.Contains(string(trimmed), "secret") {
			t.Errorf("%.60s…: trimmed to %d bytes: %.300s", payload, len(trimmed), trimmed)
		}
	}
	_, e := trimAndDecode(t, `{"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"`+strings.Repeat("é", 300)+`\nsecond line"}}`)
	if len(e.What) > 200 || !strings.HasPrefix(e.What, "Bash: é") || !strings.HasSuffix(e.What, "é") {
		t.Errorf("what: %d bytes, %q", len(e.What), e.What)
	}
	_, e = trimAndDecode(t, `{"hook_event_name":"Stop","last_assistant_message":"`+strings.Repeat("x", 100<<10)+`"}`)
	if len(e.Answer) != 64<<10 {
		t.Errorf("answer: %d bytes", len(e.Answer))
	}
}

// TestClaudeTolerates: fields of another shape, unknown events and tasks that no longer run.
func TestClaudeTolerates(t *testing.T) {
	_, e := trimAndDecode(t, `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":"text","stop_hook_active":"no"}`)
	if e.Type != orch.ToolStarted || e.Tool != "Bash" || e.Conversation != "s" {
		t.Errorf("%+v", e)
	}
	_, e = trimAndDecode(t, `{"hook_event_name":"SomethingNew","session_id":"s","error":{"a":1}}`)
	if e.Type != orch.Noticed || e.Conversation != "s" {
		t.Errorf("%+v", e)
	}
	_, e = trimAndDecode(t, `{"hook_event_name":"Stop","background_tasks":[{"status":"running"},{"status":"completed"},{"id":"x"}]}`)
	if e.Background != 2 {
		t.Errorf("background %d, want 2", e.Background)
	}
	for _, payload := range []string{``, `{}`, `[]`, `null`, `{"hook_event_name":"Stop"`, `{"hook_event_name":7}`} {
		if out, err := (claude{}).Trim([]byte(payload)); err == nil {
			t.Errorf("%q is trimmed to %s", payload, out)
		}
	}
	if _, err := (claude{}).Decode(json.RawMessage(`{"event":`)); err == nil {
		t.Error("half a trimmed payload is decoded")
	}
}

func FuzzClaudePayload(f *testing.F) {
	files, err := filepath.Glob("testdata/claude/calls/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		payload, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(payload)
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		trimmed, err := claude{}.Trim(payload)
		if err != nil {
			return
		}
		e, err := claude{}.Decode(trimmed)
		if err != nil {
			t.Fatalf("%s is trimmed to %s: %v", payload, trimmed, err)
		}
		if e.Type == "" || len(e.What) > 200 || len(e.Answer) > 64<<10 {
			t.Fatalf("%s: %+v", payload, e)
		}
	})
}

func spec() Spec {
	return Spec{
		Program: "/usr/local/bin/claude", Self: "/opt/st", Copy: "/home/dev/.sophonz/orch/r1/d7.md",
		Scratch: "/home/dev/.sophonz/agents/a3", Args: []string{"--effort", "low"},
	}
}

func TestClaudeLaunch(t *testing.T) {
	s := spec()
	s.Model = "opus"
	l, err := claude{}.Launch(s)
	if err != nil {
		t.Fatal(err)
	}
	const file = "/home/dev/.sophonz/agents/a3/claude.json"
	if want := []string{"/usr/local/bin/claude", "--settings", file, "--model", "opus", "--effort", "low"}; !slices.Equal(l.Argv, want) {
		t.Errorf("argv %q, want %q", l.Argv, want)
	}
	var set struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Type, Command string
				Timeout       int
			}
		}
		Permissions map[string][]string
	}
	if err := json.Unmarshal(l.Files[file], &set); err != nil {
		t.Fatal(err)
	}
	allow := map[string][]string{"allow": {
		"Read(//home/dev/.sophonz/orch/r1/d7.md)", "Read(//home/dev/.sophonz/orch/r1/d7-*.md)", "Bash(st worker done:*)", "Bash(st worker progress:*)",
	}}
	if !reflect.DeepEqual(set.Permissions, allow) {
		t.Errorf("permissions %q, want %q", set.Permissions, allow)
	}
	for _, event := range []string{"SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
		"PermissionRequest", "Notification", "Stop", "StopFailure", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact"} {
		g := set.Hooks[event]
		if len(g) != 1 || len(g[0].Hooks) != 1 || g[0].Hooks[0].Type != "command" || g[0].Hooks[0].Command != "/opt/st hook claude" || g[0].Hooks[0].Timeout < 1 {
			t.Errorf("%s: %+v", event, g)
		}
	}
	if len(set.Hooks) != 14 || len(l.Files) != 1 || len(l.Env) != 0 {
		t.Errorf("%d hooks, %d files, environment %v", len(set.Hooks), len(l.Files), l.Env)
	}
	for _, name := range []string{"CLAUDECODE", "CLAUDE_PID", "CLAUDE_CODE_SESSION_*"} {
		if !slices.Contains(l.Unset, name) {
			t.Errorf("%s stays in the environment", name)
		}
	}
	if slices.Contains(l.Unset, "CLAUDE_CODE_*") {
		t.Error("a person's own CLAUDE_CODE_ settings are dropped")
	}
}

func TestClaudeLaunchQuotes(t *testing.T) {
	s := spec()
	s.Self = "/home/o'dev/my tools/st"
	l, err := claude{}.Launch(s)
	if err != nil {
		t.Fatal(err)
	}
	if want := `'/home/o'\\''dev/my tools/st' hook claude`; !strings.Contains(string(l.Files[s.Scratch+"/claude.json"]), want) {
		t.Errorf("no %s in %s", want, l.Files[s.Scratch+"/claude.json"])
	}
}

func TestClaudeLaunchRefuses(t *testing.T) {
	for _, arg := range []string{"--settings", "--settings=x", "--bare", "--safe-mode", "-p", "--print", "--bg", "--cloud", "--tmux=classic"} {
		s := spec()
		s.Args = []string{arg}
		if l, err := (claude{}).Launch(s); err == nil {
			t.Errorf("%s: launched as %q", arg, l.Argv)
		}
	}
	s := spec()
	s.Copy = "d7.md"
	if _, err := (claude{}).Launch(s); err == nil {
		t.Error("a task copy without an absolute path is allowed to be read")
	}
}

func TestClaudeOwns(t *testing.T) {
	const pkg = "/opt/npm/node_modules/@anthropic-ai/claude-code/"
	for _, c := range []struct {
		exe  string
		argv []string
		owns bool
	}{
		{pkg + "bin/claude.exe", []string{"/opt/npm/node_modules/.bin/claude"}, true},
		{"/home/dev/.local/share/claude/versions/2.1.332", []string{"claude", "--resume", "x"}, true},
		{"/home/dev/.local/share/claude/versions/2.1.331 (deleted)", []string{"claude"}, true},
		{"/usr/bin/node", []string{"node", pkg + "cli.js", "--resume", "x"}, true},
		{"/usr/bin/node", []string{"claude"}, true},
		{"/usr/bin/node", []string{"node", pkg + "cli-wrapper.cjs"}, false},
		{"/usr/local/bin/claude", nil, true},
		{pkg + "bin/claude.exe", []string{"rg", "--files"}, false},
		{"/usr/bin/bash", []string{"/bin/bash", "/home/dev/bin/claude"}, false},
		{"/usr/bin/bash", []string{"bash", "-c", "claude"}, false},
		{"/usr/bin/tmux", []string{"tmux", "new-window", "claude"}, false},
		{"/usr/bin/vim", []string{"vim", "claude"}, false},
		{"/usr/bin/node", []string{"node", "server.js", pkg}, false},
		{"/usr/bin/node", []string{"node"}, false},
		{"/usr/bin/claude-squad", []string{"claude-squad"}, false},
		{"", nil, false},
	} {
		if got := (claude{}).Owns(c.exe, c.argv); got != c.owns {
			t.Errorf("%s %q: %v", c.exe, c.argv, got)
		}
	}
}

func TestClaudeLifts(t *testing.T) {
	for _, c := range []struct{ args, lifts string }{
		{"--effort low --model opus", ""},
		{"--dangerously-skip-permissions --effort low", "--dangerously-skip-permissions"},
		{"--allow-dangerously-skip-permissions", "--allow-dangerously-skip-permissions"},
		{"--permission-mode bypassPermissions", "--permission-mode bypassPermissions"},
		{"--permission-mode=acceptEdits", "--permission-mode=acceptEdits"},
		{"--permission-mode auto x", "--permission-mode auto x"},
		{"--permission-mode plan", ""},
		{"--permission-mode default --effort low", ""},
		{"--permission-mode=plan --permission-mode auto", "--permission-mode auto"},
		{"--allowedTools Bash Edit --effort low", "--allowedTools Bash Edit"},
		{"--allowed-tools=Bash", "--allowed-tools=Bash"},
		{"--add-dir /a /b --mcp-config x.json", "--add-dir /a /b --mcp-config x.json"},
		{"--settings {} --plugin-dir p --agents {}", "--settings {} --plugin-dir p --agents {}"},
		{"--permission-prompt-tool t --setting-sources user", "--permission-prompt-tool t --setting-sources user"},
		{"--disallowedTools Bash", ""},
		{"--permission-mode", "--permission-mode"},
		{"", ""},
	} {
		if got := strings.Join((claude{}).Lifts(strings.Fields(c.args)), " "); got != c.lifts {
			t.Errorf("%s: %q, want %q", c.args, got, c.lifts)
		}
	}
}

// TestClaudeMate: the members of an agent team in panes of their own are another agent's; everybody else is a person's.
func TestClaudeMate(t *testing.T) {
	for line, want := range map[string]bool{
		"claude": false, "claude --resume 1b2c --model x": false, "claude --agents {}": false,
		"claude --agent-id scout@crew --agent-name scout --team-name crew --parent-session-id 1b2c": true,
		"claude --team-name=crew": true,
	} {
		if got := IsMate("claude", strings.Fields(line)); got != want {
			t.Errorf("%s: a mate: %v", line, got)
		}
	}
	if IsMate("codex", []string{"codex", "--team-name"}) || IsMate("", nil) {
		t.Error("a kind without teams has mates")
	}
}

// TestClaudeResumes: the launch of a conversation that is taken up again has the hooks and the flags of the first, and
// none that chooses another conversation.
func TestClaudeResumes(t *testing.T) {
	l, err := claude{}.Launch(Spec{Program: "/c", Self: "/st", Scratch: "/s", Resume: "u1", Model: "m",
		Args: []string{"--session-id", "u0", "--add-dir", "/a", "/b", "--continue", "--fork-session=x", "-r", "u2", "--verbose"}})
	want := []string{"/c", "--settings", "/s/claude.json", "--resume", "u1", "--model", "m", "--add-dir", "/a", "/b", "--verbose"}
	if err != nil || !slices.Equal(l.Argv, want) {
		t.Errorf("%q, %v; want %q", l.Argv, err, want)
	}
	if text := string(l.Files["/s/claude.json"]); !strings.Contains(text, "hook claude") || strings.Contains(text, "Bash(") || strings.Contains(text, "null") {
		t.Errorf("one that has no task may report, has no hooks, or settings that are not read:\n%s", text)
	}
}

func TestKept(t *testing.T) {
	for _, c := range []struct {
		kind  Kind
		argv  string
		model string
		args  string
	}{
		{claude{}, "--model opus --permission-mode plan do it", "opus", "--permission-mode plan"},
		{claude{}, "--resume u1 --dangerously-skip-permissions --model=x", "x", "--dangerously-skip-permissions"},
		{claude{}, "--add-dir /a /b --mcp-config {secret} --append-system-prompt secret -- --add-dir", "", "--add-dir /a /b"},
		{codex{}, "-m x -s read-only -c key=secret resume u1", "x", "-s read-only"},
		{codex{}, "--no-daemon --model y --yolo --search", "y", "--yolo --search"},
		{demoKind{}, "demo-agent --settings /s --log /l --model m --resume u1 say hi", "m", "--log /l"},
		{demoKind{}, "", "", ""},
	} {
		model, args := c.kind.Kept(strings.Fields(c.argv))
		if model != c.model || strings.Join(args, " ") != c.args {
			t.Errorf("%s %s: kept %q, %q; want %q, %q", c.kind.Name(), c.argv, model, args, c.model, c.args)
		}
	}
}
