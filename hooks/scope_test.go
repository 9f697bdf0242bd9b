package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"st/orch"
)

// scopedPlace is a worker's folder with some files, and a scope: api without what is generated, and the Markdown at the top.
func scopedPlace(t *testing.T) (at Place, dir string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(root, "project")
	for name, text := range map[string]string{
		"api/a.go": "a", "api/b.go": "b", "api/sub/c.go": "c", "api/gen/g.go": "g", "web/w.js": "w", "README.md": "r", "main.go": "m", "../home/st.db": "s", "../far/f.txt": "f",
		".git/HEAD": "ref: refs/heads/main", "fix.diff": "--- a/api/a.go\n+++ b/api/a.go\n", "bad.diff": "--- a/web/w.js\n+++ b/web/w.js\n",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"api/out": "../web", "api/far.txt": filepath.Join(root, "far/f.txt"), "web/in": "../api", "api/new": "../web/none.js"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"HOME": filepath.Join(root, "home"), "TMPDIR": filepath.Join(root, "tmp"), "OUT": "web"}
	s := &Scoped{Worker: "w1", Dir: dir, Home: filepath.Join(root, "home"), Scope: orch.Scope{"api/**", "!api/gen/**", "*.md"}}
	return Place{
		Agent: true, Env: func(n string) string { return env[n] },
		Scope: func() (*Scoped, error) { return s, nil }, Reach: func() error { return nil }, Temporary: []string{env["TMPDIR"]},
	}, dir
}

// toolCall is the hook's payload before a tool is used.
func toolCall(t *testing.T, tool, dir string, input map[string]any) []byte {
	t.Helper()
	payload, err := json.Marshal(map[string]any{"hook_event_name": "PreToolUse", "session_id": "s", "cwd": dir, "tool_name": tool, "tool_input": input})
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

func TestScopeTools(t *testing.T) {
	at, dir := scopedPlace(t)
	patch := func(lines ...string) map[string]any {
		return map[string]any{"command": "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch"}
	}
	file := func(name string) map[string]any { return map[string]any{"file_path": name, "content": "x"} }
	kinds := map[string]Kind{"claude": claudeForTest(), "codex": codex{selves: func() []string { return nil }}, "gemini": geminiForTest(), "demo": demoKind{}}
	for _, c := range []struct {
		kind, tool string
		input      map[string]any
		refused    bool
	}{
		{"claude", "Edit", file(dir + "/api/a.go"), false},
		{"claude", "Edit", file(dir + "/main.go"), true},
		{"claude", "Edit", file("main.go"), true},
		{"claude", "Edit", file(dir + "/api/../main.go"), true},
		{"claude", "Edit", file(dir + "/api/out/w.js"), true},
		{"claude", "Edit", file(dir + "/web/in/a.go"), false},
		{"claude", "Write", file(dir + "/api/new.go"), false},
		{"claude", "Write", file(dir + "/api/gen/new.go"), true},
		{"claude", "Write", file(dir + "/new.md"), false},
		{"claude", "Write", file("/etc/hosts"), true},
		{"claude", "Write", file(filepath.Join(at.Env("TMPDIR"), "x")), false},
		{"claude", "MultiEdit", file(dir + "/web/w.js"), true},
		{"claude", "NotebookEdit", map[string]any{"notebook_path": dir + "/api/n.ipynb"}, false},
		{"claude", "NotebookEdit", map[string]any{"notebook_path": dir + "/n.ipynb"}, true},
		{"claude", "Read", file(dir + "/main.go"), false},
		{"claude", "Grep", map[string]any{"path": dir + "/web"}, false},
		{"claude", "mcp__files__write_file", map[string]any{"path": dir + "/main.go"}, true},
		{"claude", "mcp__files__write_file", map[string]any{"path": dir + "/api/a.go"}, false},
		{"claude", "mcp__files__move_file", map[string]any{"source": dir + "/api/a.go", "destination": dir + "/web/a.go"}, true},
		{"claude", "mcp__files__read_file", map[string]any{"path": dir + "/main.go"}, false},
		{"codex", "apply_patch", patch("*** Add File: api/n.go", "+x"), false},
		{"codex", "apply_patch", patch("*** Add File: n.go", "+x"), true},
		{"codex", "apply_patch", patch("*** Update File: api/a.go", "*** Move to: web/a.go"), true},
		{"codex", "apply_patch", patch("*** Update File: web/w.js", "*** Move to: api/w.js"), true},
		{"codex", "apply_patch", patch("*** Update File: api/a.go", "@@", "-x", "+y", "*** Delete File: web/w.js"), true},
		{"codex", "apply_patch", patch("*** Update File: api/a.go", "*** Move to: api/z.go", "*** Delete File: api/b.go"), false},
		{"codex", "apply_patch", map[string]any{"command": "nonsense"}, true},
		{"codex", "Bash", map[string]any{"command": "echo x > main.go"}, true},
		{"codex", "Bash", map[string]any{"command": "echo x > api/a.go"}, false},
		{"codex", "view_image", map[string]any{"path": dir + "/main.go"}, false},
		{"gemini", "write_file", file("main.go"), true},
		{"gemini", "write_file", file(dir + "/api/a.go"), false},
		{"gemini", "replace", file(dir + "/main.go"), true},
		{"gemini", "read_file", file("main.go"), false},
		{"gemini", "run_shell_command", map[string]any{"command": "echo x > a.go"}, true},
		{"gemini", "run_shell_command", map[string]any{"command": "echo x > a.go", "dir_path": "api"}, false},
		{"gemini", "mcp_files_write_file", map[string]any{"path": dir + "/main.go"}, true},
		{"demo", "Write", file("main.go"), true},
		{"demo", "Write", file("api/a.go"), false},
	} {
		payload := toolCall(t, c.tool, dir, c.input)
		if c.kind == "gemini" {
			payload = bytes.Replace(payload, []byte("PreToolUse"), []byte("BeforeTool"), 1)
		}
		out := string(kinds[c.kind].Answer(payload, at))
		if refused := strings.Contains(out, `ecision":"deny"`); refused != c.refused {
			t.Errorf("%s %s %v: %s", c.kind, c.tool, c.input, out)
		} else if refused && !strings.Contains(out, "scope") {
			t.Errorf("%s %s: the reason names no scope: %s", c.kind, c.tool, out)
		}
	}
}

// TestScopeClosed: where the scope can't be read, or the daemon does not answer, nothing is edited; what edits nothing passes.
func TestScopeClosed(t *testing.T) {
	at, dir := scopedPlace(t)
	unread, alone, none := at, at, at
	unread.Scope = func() (*Scoped, error) { return nil, os.ErrPermission }
	alone.Reach = func() error { return errors.New("nobody listens") }
	none.Scope = func() (*Scoped, error) { return nil, nil }
	for _, c := range []struct {
		at      Place
		command string
		says    string
	}{
		{unread, "echo x > api/a.go", "can't be read"}, {unread, "ls", ""}, {alone, "echo x > api/a.go", "nobody listens"}, {alone, "echo x > main.go", "outside your scope"},
		{alone, "ls > /dev/null", ""}, {none, "echo x > main.go", ""},
	} {
		if why := refusal(c.command, nil, c.at, dir); (why == "") != (c.says == "") || !strings.Contains(why, c.says) {
			t.Errorf("%q: %q, want %q", c.command, why, c.says)
		}
	}
}

// TestScopeLong: what would take for ever to read through is cut short, and refused where it edits.
func TestScopeLong(t *testing.T) {
	at, dir := scopedPlace(t)
	g := guarded(dir)
	g.Scope, g.Reach, g.Temporary = at.Scope, at.Reach, at.Temporary
	for name, c := range map[string]struct {
		command string
		refused bool
	}{
		"loops":  {strings.Repeat("for a in 1 2 3 4 5 6 7 8 9 10 11 12; do ", 12) + "touch api/$a" + strings.Repeat("; done", 12), false},
		"itself": {strings.Repeat("x=$x$(cat f); kill $x\n", 300), false},
		"braces": {strings.Repeat("rm api/{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}\n", 10), true},
		"range":  {"touch api/{1..100000000}", true},
		"pipes":  {strings.Repeat("cat f | ", 300) + "xargs kill", false},
		"calls":  {strings.Repeat("true\n", 6000) + "touch main.go", true},
		"depth":  {strings.Repeat("$(", 300) + "true" + strings.Repeat(")", 300), false},
	} {
		if why := refusal(c.command, nil, g, dir); (why != "") != c.refused {
			t.Errorf("%s: %q", name, why)
		}
	}
}

func FuzzScope(f *testing.F) {
	for _, table := range []string{scopePasses, scopeRefuses} {
		for line := range strings.Lines(table) {
			f.Add(strings.ReplaceAll(strings.TrimSpace(line), `\n`, "\n"))
		}
	}
	s := &Scoped{Dir: "/nowhere", Scope: orch.Scope{"api/**"}}
	at := Place{Scope: func() (*Scoped, error) { return s, nil }, Reach: func() error { return nil }}
	f.Fuzz(func(t *testing.T, command string) { refusal(command, nil, at, "/nowhere") })
}
