package hooks

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

func claudeForTest() claude {
	return claude{selves: func() []string { return []string{"/opt/st tools/st"} }}
}

func bashCall(command string) []byte {
	b, err := json.Marshal(map[string]any{
		"hook_event_name": "PreToolUse", "tool_name": "Bash", "session_id": "s",
		"tool_input": map[string]any{"command": command, "description": "x"},
	})
	if err != nil {
		panic(err)
	}
	return b
}

// answerOf returns allow, deny or "", and the reason.
func answerOf(t *testing.T, payload []byte, agent bool) (string, string) {
	t.Helper()
	out := claudeForTest().Answer(payload, Place{Agent: agent})
	if out == nil {
		return "", ""
	}
	var a struct {
		Out struct {
			Event    string `json:"hookEventName"`
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(out, &a); err != nil {
		t.Fatal(err)
	}
	if a.Out.Event != "PreToolUse" {
		t.Errorf("event %q in %s", a.Out.Event, out)
	}
	return a.Out.Decision, a.Out.Reason
}

func TestClaudeAnswer(t *testing.T) {
	for _, c := range []struct{ command, decision, corrected string }{
		{`st worker done --summary 'all is $5 and ` + "`x`" + `'`, "allow", ""},
		{`st worker done --summary "all is done"`, "allow", ""},
		{`st worker done --summary "it\"s \$5"`, "allow", ""},
		{`st worker done --summary done --files a.go,b.go`, "allow", ""},
		{"st worker done \\\n  --summary 'x' \\\n  --outcome failed", "allow", ""},
		{`st worker progress 'half'`, "allow", ""},
		{`st worker progress 'half' && st worker done --summary 'x'`, "allow", ""},
		{`'/opt/st tools/st' worker done --summary x`, "deny", `st worker done --summary x`},
		{`/opt/st\ tools/st worker done --summary x`, "allow", ""},
		{`st worker done --summary 'x';`, "allow", ""},
		{"st worker done --summary 'x' # that was it", "allow", ""},

		{`st worker done --summary "costs $5"`, "deny", `st worker done --summary 'costs $5'`},
		{`st worker done --summary "in $HOME/x"`, "deny", `st worker done --summary 'in $HOME/x'`},
		{"st worker done --summary \"uses `foo`, isn't it\"", "deny", `st worker done --summary 'uses ` + "`foo`" + `, isn'\''t it'`},
		{"st worker done --summary \"$(cat <<'EOF'\nlong\ntext\nEOF\n)\"", "deny", "st worker done --summary 'long\ntext'"},
		{`st worker done --summary $'a\tb, it\'s'`, "deny", "st worker done --summary 'a\tb, it'\\''s'"},
		{`st worker done --summary "$(cat)" <<< 'a text'`, "deny", `st worker done --summary 'a text'`},
		{"st worker done --summary \"$(cat)\" <<EOF\ncosts $5\nEOF", "deny", `st worker done --summary 'costs $5'`},
		{`echo 'a text' | st worker done --summary "$(cat)"`, "deny", `st worker done --summary 'a text'`},
		{`echo 'a text' | cat | st worker done --summary "$(cat -)"`, "deny", `st worker done --summary 'a text'`},
		{`st worker done --summary "$(printf '%s, %s' a 'b c')"`, "deny", `st worker done --summary 'a, b c'`},
		{`S="costs $5"; st worker done --summary "$S"`, "deny", `st worker done --summary 'costs $5'`},
		{"S=$(cat <<'EOF'\na text\nEOF\n)\nst worker done --summary \"${S}\"", "deny", `st worker done --summary 'a text'`},
		{`bash -lc 'st worker done --summary x'`, "deny", `st worker done --summary x`},
		{`st worker done --summary 'it's done'`, "deny", `st worker done --summary 'it'\''s done'`},
		{`st worker done --summary 'it's Bob's'`, "deny", `st worker done --summary 'it'\''s Bob'\''s'`},
		{`st worker done --summary='rock'n'roll' --files a.go`, "deny", `st worker done '--summary=rock'\''n'\''roll' --files a.go`},
		{`st worker done --summary 'it's done' --files 'a.go' 2>&1 | tail`, "deny", `st worker done --summary 'it'\''s done' --files a.go`},
		{`cd /x && st worker done --summary "a "b`, "deny", ""},
		{`st worker progress 'it's begun'`, "deny", `st worker progress 'it'\''s begun'`},
		{`st worker done --summary "say "hi" to it"`, "deny", `st worker done --summary 'say "hi" to it'`},
		{`st worker done --summary 'it'\''s done'`, "allow", ""},
		{`st worker done --summary "$(cat notes.txt)"`, "deny", ""},
		{`echo x | xargs st worker done --summary`, "deny", ""},
		{`st worker done --files *.go`, "deny", `st worker done --files '*.go'`},
		{`st worker done --files {a,b}.go`, "deny", `st worker done --files '{a,b}.go'`},
		{`st worker done --report ~/r.md`, "deny", `st worker done --report '~/r.md'`},
		{`st worker done --summary x > log`, "deny", `st worker done --summary x`},
		{`st worker done --summary x 2>&1`, "deny", `st worker done --summary x`},
		{`st worker done --summary x | cat`, "deny", `st worker done --summary x`},
		{`st worker done --summary x &`, "deny", `st worker done --summary x`},
		{`! st worker done --summary x`, "deny", `st worker done --summary x`},
		{`(st worker done --summary x)`, "deny", `st worker done --summary x`},
		{`cd /x && st worker done --summary x`, "deny", `st worker done --summary x`},
		{`st worker done --summary x && rm -rf /`, "deny", `st worker done --summary x`},
		{`st worker done --summary x || true`, "deny", `st worker done --summary x`},
		{`st worker progress a; st worker done --summary b`, "deny", `st worker progress a && st worker done --summary b`},
		{`A=1 st worker done --summary x`, "deny", `st worker done --summary x`},
		{`sudo -u worker st worker done --summary x`, "deny", `st worker done --summary x`},
		{`timeout 5 st worker done --summary x`, "deny", `st worker done --summary x`},
		{`echo $(st worker done --summary x)`, "deny", `st worker done --summary x`},
		{`st worker done --summary "$(rm -rf /)"`, "deny", ""},
		{`st worker done --summary <(id)`, "deny", ""},
		{`st worker done --summary x <<< y`, "deny", `st worker done --summary x`},

		{`st ask --question 'which port?' --options '80,"443, or 8443"'`, "allow", ""},
		{`st ask --question 'which port?' --timeout 90s`, "allow", ""},
		{`st ask --resume m7`, "allow", ""},
		{`st escalate 'the disk is full'`, "allow", ""},
		{`st worker progress half && st ask --question x`, "allow", ""},
		{`st ask --question "costs it $5?"`, "deny", `st ask --question 'costs it $5?'`},
		{"st ask --question \"$(cat <<'EOF'\nwhich\nport?\nEOF\n)\"", "deny", "st ask --question 'which\nport?'"},
		{`st ask --question 'isn't it?' --options yes,no`, "deny", `st ask --question 'isn'\''t it?' --options 'yes,no'`},
		{`st ask --question x | tee answer`, "deny", `st ask --question x`},
		{`answer=$(st ask --question x)`, "deny", `st ask --question x`},
		{`timeout 60 st ask --question x`, "deny", `st ask --question x`},
		{`st ask --question x && rm -rf /`, "deny", `st ask --question x`},
		{`'st' ask --question x`, "deny", `st ask --question x`},
		{`st escalate "in $HOME"`, "deny", `st escalate 'in $HOME'`},
		{`st ask`, "allow", ""},
		{`st reply m7 80`, "", ""},
		{`st gate ask --question x`, "", ""},
		{`ssh-ask st`, "", ""},
		{`echo st ask --question x`, "", ""},

		{`st worker start --agent demo --prompt x`, "", ""},
		{`st worker wait w1`, "", ""},
		{`stt worker done`, "", ""},
		{`./st worker done --summary x`, "", ""},
		{`/usr/bin/st worker done --summary x`, "", ""},
		{`echo st worker done`, "", ""},
		{`grep -r 'st worker done' .`, "", ""},
		{`st worker done --summary 'unclosed`, "deny", ""},
		{`st worker "$x" done`, "", ""},
		{``, "", ""},
	} {
		decision, reason := answerOf(t, bashCall(c.command), true)
		if decision != c.decision {
			t.Errorf("%q: %q (%s), want %q", c.command, decision, reason, c.decision)
		}
		if c.corrected != "" && !strings.Contains(reason, "Write: "+c.corrected+" (") {
			t.Errorf("%q: reason %q, want %q in it", c.command, reason, c.corrected)
		}
		if c.corrected != "" {
			if d, _ := answerOf(t, bashCall(c.corrected), true); d != "allow" {
				t.Errorf("the corrected line %q gets %q", c.corrected, d)
			}
		}
		if d, _ := answerOf(t, bashCall(c.command), false); d != "" {
			t.Errorf("%q from an agent that st did not start: %q", c.command, d)
		}
	}
}

// TestClaudeAnswerSubagent: a subagent's process is the worker's, so that only its hook can refuse its report.
func TestClaudeAnswerSubagent(t *testing.T) {
	d, reason := answerOf(t, []byte(`{"hook_event_name":"PreToolUse","tool_name":"Bash","agent_id":"a1","tool_input":{"command":"st worker done --summary x"}}`), true)
	if d != "deny" || reason != subagentReports {
		t.Errorf("%q, %q", d, reason)
	}
}

// TestClaudeAnswerOthers: other tools and events get no answer.
func TestClaudeAnswerOthers(t *testing.T) {
	const command = `"tool_input":{"command":"st worker done --summary x"}`
	for _, payload := range []string{
		`{"hook_event_name":"PreToolUse","tool_name":"Read",` + command + `}`,
		`{"hook_event_name":"PostToolUse","tool_name":"Bash",` + command + `}`,
		`{"hook_event_name":"PermissionRequest","tool_name":"Bash",` + command + `}`,
		`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"st worker done --summary x","dangerouslyDisableSandbox":true}}`,
		`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":"st worker done"}`,
		`{"hook_event_name":"PreToolUse","tool_name":"Bash"`,
		``,
	} {
		if d, _ := answerOf(t, []byte(payload), true); d != "" {
			t.Errorf("%s: %q", payload, d)
		}
	}
}

// TestClaudeAllowedIsLiteral asks a real shell: what is allowed reaches st word by word as it was parsed.
func TestClaudeAllowedIsLiteral(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here to compare with")
	}
	for _, c := range []struct {
		command string
		args    []string
	}{
		{`st worker done --summary "a \"b\" \$HOME \x" --files a\ b`, []string{"worker", "done", "--summary", `a "b" $HOME \x`, "--files", "a b"}},
		{`st worker done --summary '$(id) "q" *'`, []string{"worker", "done", "--summary", `$(id) "q" *`}},
		{"st worker done \\\n --summary a'b'\"c\"", []string{"worker", "done", "--summary", "abc"}},
	} {
		if d, _ := answerOf(t, bashCall(c.command), true); d != "allow" {
			t.Errorf("%q: %q", c.command, d)
		}
		run := exec.Command(bash, "--norc", "-c", `st() { printf '%s\0' "$@"; }`+"\n"+c.command)
		run.Dir = t.TempDir()
		out, err := run.Output()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSuffix(string(out), "\x00"); got != strings.Join(c.args, "\x00") {
			t.Errorf("%q gives %q, want %q", c.command, got, c.args)
		}
	}
}

func FuzzClaudeAnswer(f *testing.F) {
	f.Add("st worker done --summary \"$(cat <<'E'\nx\nE\n)\"")
	f.Add("st worker progress 'a' && st worker done --files *.go")
	f.Fuzz(func(t *testing.T, command string) {
		d, _ := answerOf(t, bashCall(command), true)
		expands := strings.Contains(command, "`") || strings.Contains(command, "$(")
		if d == "allow" && expands && !strings.ContainsAny(command, `'\#`) {
			t.Errorf("%q is allowed, and nothing keeps the shell from expanding it", command)
		}
	})
}
