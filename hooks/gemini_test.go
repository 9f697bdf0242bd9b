package hooks

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"st/orch"
)

// TestGeminiScreens reads recorded screens of the real Gemini 0.61.0: dialogs, input lines with and without drafts and menus,
// turns that run.
func TestGeminiScreens(t *testing.T) { screenTable(t, "gemini", 17, gemini{}.Look) }

func TestGeminiCalls(t *testing.T) { testCalls(t, gemini{}, "testdata/gemini", 11) }

func TestGeminiLaunch(t *testing.T) {
	const id = "b680dede-de7f-434c-b791-c7e083dc75aa"
	l, err := gemini{}.Launch(Spec{Program: "/opt/gemini", Copy: "/h/orch/r1/d1.md", Model: "m1", Args: []string{"--approval-mode", "plan"}, Resume: id})
	want := []string{"/opt/gemini", "--include-directories", "/h/orch", "--model", "m1", "--resume", id, "--approval-mode", "plan"}
	if err != nil || !slices.Equal(l.Argv, want) {
		t.Errorf("%q, %v", l.Argv, err)
	}
	if !slices.Contains(l.Unset, "GEMINI_CLI_NO_RELAUNCH") || len(l.Files) > 0 {
		t.Errorf("%+v", l)
	}
}

// TestGeminiReads: what lies beside its log it reads by itself, and asks about no further folder.
func TestGeminiReads(t *testing.T) {
	const log = "/h/.gemini/tmp/p/chats/session-1.jsonl"
	for copy, asks := range map[string]bool{"/h/.gemini/tmp/p/.st/ff/r1/w1-d1.md": false, "/h/.gemini/tmp/p2/.st/ff/r1/w1-d1.md": true, "/h/orch/r1/d1.md": true} {
		l, err := gemini{}.Launch(Spec{Program: "/opt/gemini", Copy: copy, Log: log})
		if err != nil || slices.Contains(l.Argv, "--include-directories") != asks {
			t.Errorf("%s: %q, %v", copy, l.Argv, err)
		}
	}
	if in := (gemini{}).ReadsIn("/elsewhere/session-1.jsonl"); in != "" {
		t.Errorf("it reads in %q", in)
	}
}

func TestGeminiFit(t *testing.T) {
	for _, args := range [][]string{
		{"do this"}, {"mcp"}, {"-p", "x"}, {"--prompt=x"}, {"-i", "x"}, {"--promptInteractive", "x"}, {"-w"}, {"--acp"}, {"-o", "json"}, {"--", "x"}, {"-m", "x"},
		{"-r", "latest"}, {"--session-id", "x"}, {"-s"}, {"-dy"}, {"--policy"}, {"--screen-reader"}, {"--listSessions"},
	} {
		if err := geminiFit(args); err == nil {
			t.Errorf("%q passes", args)
		}
	}
	for _, args := range [][]string{nil, {"--approval-mode", "plan"}, {"--yolo"}, {"-y"}, {"-e", "x"}, {"--include-directories=/x"}, {"--debug"}} {
		if err := geminiFit(args); err != nil {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestGeminiLifts(t *testing.T) {
	for _, c := range []struct{ args, lifts string }{
		{"", ""}, {"--model x --debug", ""}, {"--approval-mode plan", ""}, {"--approval-mode=default", ""}, {"--approval-mode yolo", "--approval-mode yolo"},
		{"--approvalMode=yolo", "--approvalMode=yolo"}, {"-y", "-y"}, {"-dy", "-dy"}, {"--yolo", "--yolo"}, {"--policy /x --model m", "--policy /x"},
		{"--skip-trust", "--skip-trust"}, {"--include-directories /x", "--include-directories /x"}, {"--no-sandbox", "--no-sandbox"}, {"--new-one", "--new-one"},
		{"--max-old-space-size=9 /n/.bin/gemini --yolo", "--yolo"},
	} {
		if got := strings.Join(gemini{}.Lifts(strings.Fields(c.args)), " "); got != c.lifts {
			t.Errorf("%s: lifts %q, want %q", c.args, got, c.lifts)
		}
	}
}

// TestGeminiOwns: of the two processes of one agent the second counts, as they were measured.
func TestGeminiOwns(t *testing.T) {
	for _, c := range []struct {
		exe, argv string
		owns      bool
	}{
		{"/usr/bin/node", "/usr/bin/node --max-old-space-size=12052 /n/.bin/gemini --model x", true},
		{"/usr/bin/node", "/usr/bin/node /usr/bin/gemini", true},
		{"/usr/bin/node", "node --max-old-space-size=9 /n/@google/gemini-cli/bundle/gemini.js", true},
		{"/usr/bin/node", "node /n/.bin/gemini --model x", false},
		{"/usr/bin/node", "/usr/bin/node /n/.bin/gemini mcp list", false},
		{"/usr/bin/node", "/usr/bin/node /n/other.js /n/.bin/gemini", false},
		{"/usr/bin/node", "/usr/bin/node /n/.bin/gemini-other", false},
		{"/bin/bash", "/bin/bash /usr/bin/gemini", false},
	} {
		if got := (gemini{}).Owns(c.exe, strings.Fields(c.argv)); got != c.owns {
			t.Errorf("%s: owns %v", c.argv, got)
		}
	}
}

func TestGeminiResumed(t *testing.T) {
	const id = "b680dede-de7f-434c-b791-c7e083dc75aa"
	node := "/usr/bin/node --max-old-space-size=1 /n/.bin/gemini "
	checkResumed(t, gemini{}, []resumedCase{
		{node + "--resume " + id, id, true}, {node + "-r " + id + " --model x", id, true}, {node + "--resume=" + id, id, true}, {node + "--resume", "", true},
		{node + "-r latest", "", true}, {node + "-r 3", "", true}, {node + "--session-id " + id, "", false}, {node, "", false},
	})
	model, args := gemini{}.Kept(strings.Fields(node + "-m big --resume " + id + " --approval-mode plan -y --prompt-interactive x"))
	if model != "big" || !slices.Equal(args, []string{"--approval-mode", "plan", "-y"}) {
		t.Errorf("kept %q, %q", model, args)
	}
}

// TestGeminiLog: the log tells of what is stopped and of an error of the service, and of nothing else.
func TestGeminiLog(t *testing.T) {
	path := filepath.Join("testdata", "gemini", "words.jsonl")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for line := range strings.Lines(string(raw)) {
		if e, ok := (gemini{}).Line([]byte(line)); ok {
			told = append(told, e.Type+" "+cut(e.Answer, 12))
		}
	}
	if want := []string{orch.Interrupted + " ", orch.Interrupted + " ", orch.TurnFailed + " [API Error: ", orch.Interrupted + " "}; !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
	if said, err := (gemini{}).LastAnswer(path); said != "second" || err != nil {
		t.Errorf("last said %q, %v", said, err)
	}
}

func geminiForTest() gemini { return gemini{selves: func() []string { return nil }} }

// TestGeminiAnswers: a hook of Gemini refuses, and never allows.
func TestGeminiAnswers(t *testing.T) {
	g := geminiForTest()
	for command, want := range map[string]string{
		"cd /tmp && tmux kill-server":             "st worker stop W --yes",
		"st worker done --summary 'it works'":     "",
		"st worker done --summary \"$(cat x)\"":   "Write the text itself: ",
		"st gate answer g1 yes":                   "a person only",
		"ls":                                      "",
		"st worker start --agent demo --prompt x": "",
	} {
		payload, err := json.Marshal(map[string]any{
			"hook_event_name": "BeforeTool", "tool_name": "run_shell_command", "cwd": "/w", "tool_input": map[string]any{"command": command},
		})
		if err != nil {
			t.Fatal(err)
		}
		var said struct{ Decision, Reason string }
		at := guarded("/w")
		at.Agent = true
		answer := g.Answer(payload, at)
		if answer != nil && json.Unmarshal(answer, &said) != nil || (want == "") != (answer == nil) || want != "" && said.Decision != "deny" || !strings.Contains(said.Reason, want) {
			t.Errorf("%s: %s", command, answer)
		}
	}
}

// TestGeminiPolicy: the policy is TOML that allows single verbs and nothing else.
func TestGeminiPolicy(t *testing.T) {
	var policy struct {
		Rule []struct {
			Tool     string   `toml:"toolName"`
			Prefixes []string `toml:"commandPrefix"`
			Decision string   `toml:"decision"`
			Priority int      `toml:"priority"`
		} `toml:"rule"`
	}
	if meta, err := toml.Decode(geminiPolicy("/opt/a b/st"), &policy); err != nil || len(meta.Undecoded()) > 0 || len(policy.Rule) != 1 {
		t.Fatalf("%v, %+v", err, policy)
	}
	r := policy.Rule[0]
	if r.Tool != "run_shell_command" || r.Decision != "allow" || len(r.Prefixes) != 2*len(Allowed()) || !slices.Contains(r.Prefixes, "'/opt/a b/st' worker done") {
		t.Errorf("%+v", r)
	}
	if slices.Contains(r.Prefixes, "st") || slices.Contains(r.Prefixes, "st gate answer") {
		t.Errorf("%q", r.Prefixes)
	}
}
