package tmux_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A tmux that is started without -S or -L talks to the server of whoever runs it. No code of this module may,
// and no test.
func TestEveryTmuxCallNamesItsServer(t *testing.T) {
	root := moduleRoot(t)
	calls := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		var bad []string
		switch filepath.Ext(path) {
		case ".go":
			src, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			n, lines, err := goCalls(path, string(src))
			if err != nil {
				return err
			}
			calls, bad = calls+n, lines
		case ".txtar":
			src, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			bad = scriptCalls(string(src))
		}
		for _, b := range bad {
			t.Errorf("%s: %s: no -S or -L", path, b)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if calls < 4 {
		t.Errorf("only %d calls found: the walk is blind", calls)
	}
}

func TestTheWalkSeesBareCalls(t *testing.T) {
	for src, want := range map[string]int{
		`exec.Command("tmux", "ls")`:                                     1,
		`exec.CommandContext(ctx, "tmux", append([]string{"-u"}, a...))`: 1,
		`exec.Command("sh", "-c", "tmux ls")`:                            1,
		`exec.Command("sh", "-c", "sleep 1; tmux ls")`:                   1,
		`exec.Command("/usr/bin/tmux", "kill-server")`:                   1,
		`exec.Command("tmux", "-S", s, "ls")`:                            0,
		`exec.Command("tmux", append([]string{"-u", "-L", s}, a...)...)`: 0,
		`exec.Command("tmux", "-V")`:                                     0,
		`exec.Command("git", "status")`:                                  0,
	} {
		_, bad, err := goCalls("x.go", "package x\nfunc f() { "+src+" }")
		if err != nil || len(bad) != want {
			t.Errorf("%s: %q, %v", src, bad, err)
		}
	}
	if bad := scriptCalls("exec tmux ls\n! exec tmux -S $S ls\nexec st x\n  ! exec tmux kill-server\n# tmux\ntmux ls\n"); len(bad) != 2 {
		t.Errorf("scripts: %q", bad)
	}
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, serr := os.Stat(filepath.Join(dir, "go.mod")); serr == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above")
		}
		dir = filepath.Dir(dir)
	}
	t.Fatal(err)
	return ""
}

// goCalls counts the calls of exec that start tmux and lists those that name no server.
func goCalls(path, src string) (n int, bad []string, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, src, 0)
	if err != nil {
		return 0, nil, err
	}
	ast.Inspect(file, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok || !isExec(call.Fun) {
			return true
		}
		words := literals(call.Args)
		if startsTmux(words) {
			n++
			if !namesServer(words) {
				bad = append(bad, set.Position(call.Pos()).String())
			}
		}
		return true
	})
	return n, bad, nil
}

func isExec(fun ast.Expr) bool {
	s, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == "exec" && strings.HasPrefix(s.Sel.Name, "Command")
}

// literals are the words of all string literals in the arguments.
func literals(args []ast.Expr) []string {
	var words []string
	for _, arg := range args {
		ast.Inspect(arg, func(node ast.Node) bool {
			if lit, ok := node.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if s, err := strconv.Unquote(lit.Value); err == nil {
					words = append(words, strings.Fields(s)...)
				}
			}
			return true
		})
	}
	return words
}

func startsTmux(words []string) bool {
	for _, w := range words {
		if filepath.Base(w) == "tmux" {
			return true
		}
	}
	return false
}

func namesServer(words []string) bool {
	for _, w := range words {
		if w == "-S" || w == "-L" || w == "-V" {
			return true
		}
	}
	return false
}

// scriptCalls lists the lines of a script that start tmux and name no server.
func scriptCalls(src string) (bad []string) {
	for line := range strings.Lines(src) {
		words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "!"))
		// A script's own tmux command speaks to the script's server; exec looks in PATH.
		if len(words) > 1 && words[0] == "exec" && words[1] == "tmux" && !namesServer(words[1:]) {
			bad = append(bad, strings.TrimSpace(line))
		}
	}
	return bad
}
