package orch_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mayImport is the table of rooms: which of our packages each may import, tests left out.
var mayImport = map[string][]string{
	"st/orch":               {},
	"st/orch/proc":          {},
	"st/orch/proc/proctest": {"st/orch/proc"},
	"st/orch/failpoint":     {}, // empty but in the builds of the fault tests: whoever acts outside has its points there
	"st/tmux":               {"st/orch/failpoint"},
	"st/plugin":             {},
	"st/orch/worktree":      {"st/orch/failpoint"},
	"st/orch/journal":       {"st/orch", "st/orch/failpoint"},
	"st/hooks":              {"st/orch", "st/hooks/demo"},
	"st/hooks/demo":         {},
	"st/orch/daemon":        {"st/orch", "st/orch/failpoint", "st/orch/journal", "st/orch/proc", "st/orch/worktree", "st/hooks", "st/tmux", "st/plugin"},
	"st/tmux/tmuxtest":      {"st/tmux", "st/orch/proc/proctest"},
	"st/cmd/st":             {"*"},
	"st/scripts/benchmarks": {"*"},
	"st/scripts/e2e":        {"*"},
}

func TestImports(t *testing.T) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "st/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for dec.More() {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		allowed, known := mayImport[p.ImportPath]
		if !known {
			t.Errorf("%s is a room that the table does not know", p.ImportPath)
		}
		for _, i := range p.Imports {
			if strings.HasPrefix(i, "st/") && !slices.Contains(allowed, i) && !slices.Contains(allowed, "*") {
				t.Errorf("%s imports %s, which the table of rooms does not allow", p.ImportPath, i)
			}
		}
	}
}

// TestPure holds this package to what it promises: no I/O, no clock, no goroutine, no lock, no log, and no
// word of a multiplexer or of an agent program.
func TestPure(t *testing.T) {
	impure := map[string]bool{"os": true, "io": true, "net": true, "log": true, "log/slog": true, "sync": true, "sync/atomic": true, "os/exec": true, "context": true, "math/rand": true, "math/rand/v2": true, "crypto/rand": true, "runtime": true}
	foreign := regexp.MustCompile(`(?i)tmux|psmux|` + strings.Join(kindNames(t), "|"))
	for name, f := range sources(t, ".") {
		for _, i := range f.Imports {
			if p := strings.Trim(i.Path.Value, `"`); impure[p] {
				t.Errorf("%s imports %s", name, p)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt, *ast.SelectStmt, *ast.SendStmt, *ast.ChanType:
				t.Errorf("%s: a goroutine or a channel", name)
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"}, n.Sel.Name) {
					t.Errorf("%s reads the clock: time.%s", name, n.Sel.Name)
				}
			case *ast.Ident:
				if foreign.MatchString(n.Name) {
					t.Errorf("%s: the identifier %s", name, n.Name)
				}
			case *ast.BasicLit:
				if n.Kind == token.STRING && foreign.MatchString(n.Value) {
					t.Errorf("%s: the string %s", name, n.Value)
				}
			}
			return true
		})
	}
}

// TestKindsStayHome holds an agent program's name to its own files: elsewhere it is a fault as a literal.
func TestKindsStayHome(t *testing.T) {
	literal := regexp.MustCompile(`^"(demo|` + strings.Join(kindNames(t), "|") + `)"$`)
	for _, dir := range []string{".", "journal", "daemon", "proc", "worktree", "../tmux", "../cmd/st", "../plugin"} {
		for name, f := range sources(t, dir) {
			ast.Inspect(f, func(n ast.Node) bool {
				l, ok := n.(*ast.BasicLit)
				verb := filepath.Base(name) == "demo.go" // st demo, a verb that is called like the built-in agent
				if ok && literal.MatchString(l.Value) && !(verb && l.Value == `"demo"`) {
					t.Errorf("%s names an agent program: %s", name, l.Value)
				}
				return true
			})
		}
	}
}

// TestGitStaysHome: only the room orch/worktree runs git. Whoever asks which version is installed asks no repository.
func TestGitStaysHome(t *testing.T) {
	ran := 0
	for _, dir := range []string{".", "journal", "daemon", "proc", "worktree", "../tmux", "../cmd/st", "../plugin", "../hooks", "../hooks/demo"} {
		for name, f := range sources(t, dir) {
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				words := literals(call.Args)
				if !slices.Contains(words, "git") || !runs(call) || slices.Contains(words, "--version") {
					return true
				}
				if ran++; dir != "worktree" {
					t.Errorf("%s runs git", name)
				}
				return true
			})
		}
	}
	if ran == 0 {
		t.Error("nobody runs git: the walk is blind")
	}
}

// runs tells that a call starts a program, or looks for one.
func runs(call *ast.CallExpr) bool {
	name := ""
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	return slices.Contains([]string{"Command", "CommandContext", "LookPath", "StartProcess", "probe"}, name)
}

// literals are those of a call's arguments that are plain strings.
func literals(args []ast.Expr) (words []string) {
	for _, a := range args {
		if l, ok := a.(*ast.BasicLit); ok && l.Kind == token.STRING {
			words = append(words, strings.Trim(l.Value, `"`))
		}
	}
	return words
}

// kindNames are the agent programs that there are or will be.
func kindNames(t *testing.T) []string {
	names := []string{"claude", "codex", "gemini", "opencode"}
	for _, n := range names[:1] {
		if _, err := os.Stat(filepath.Join("..", "hooks", n+".go")); err != nil {
			t.Fatalf("no kind is called %s any more: %v", n, err)
		}
	}
	return names
}

// sources parses the Go files of a folder, tests left out.
func sources(t *testing.T, dir string) map[string]*ast.File {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*ast.File{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = f
	}
	return all
}
