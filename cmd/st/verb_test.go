package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"st/orch"
)

// TestVerbFiles walks the sources: one file registers one verb, its init does nothing else, and each verb has
// a script that uses it.
func TestVerbFiles(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	registered := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		src, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range src.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Name.Name != "init" {
				continue
			}
			registered++
			if len(fn.Body.List) != 1 || !callsRegister(fn.Body.List[0]) {
				t.Errorf("%s: init may only call register, once", file)
			}
		}
	}
	if registered != len(verbs) {
		t.Errorf("%d files register %d verbs", registered, len(verbs))
	}
	for _, v := range verbs {
		path := v.path()
		scripts, err := filepath.Glob(filepath.Join("testdata", "script", strings.ReplaceAll(path, " ", "_")+"_*.txtar"))
		if err != nil || len(scripts) == 0 {
			t.Errorf("verb %q has no script (%v)", path, err)
		}
	}
}

func callsRegister(s ast.Stmt) bool {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := e.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	name, ok := call.Fun.(*ast.Ident)
	return ok && name.Name == "register"
}

// giving are the methods by which a verb gives an order.
var giving = []string{"do", "order", "orderStart", "report"}

// TestOrdersTakeRequests walks the sources: a verb's file gives an order exactly where the verb says which, and with that
// the verb takes --request. Nothing goes to the daemon past the methods that use the request's id.
func TestOrdersTakeRequests(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	past := map[string]bool{"call.go": true, "worker_done.go": true, "worker_wait.go": true, "gate_waited.go": true, "ask_answered.go": true, "check.go": true} // they define the methods; what was told is no order, and an ack has an id that follows from its check's
	for _, file := range files {
		src, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil || strings.HasSuffix(file, "_test.go") {
			continue
		}
		var registers, says, gives bool
		ast.Inspect(src, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				key, ok := n.Key.(*ast.Ident)
				says = says || ok && key.Name == "sends"
			case *ast.CallExpr:
				if name, ok := n.Fun.(*ast.Ident); ok && name.Name == "register" {
					registers = true
				}
				if s, ok := n.Fun.(*ast.SelectorExpr); ok {
					gives = gives || slices.Contains(giving, s.Sel.Name)
					if s.Sel.Name == "Do" && !past[file] {
						t.Errorf("%s: Do is called past the request's id", file)
					}
				}
			}
			return true
		})
		if registers && says != gives && file != "restore.go" { // a second restore finds nothing to do
			t.Errorf("%s: the verb gives an order: %v, and says which: %v", file, gives, says)
		}
	}
	for _, v := range verbs {
		path := v.path()
		has := slices.ContainsFunc(v.allFlags(), func(f cli.Flag) bool { return f.Names()[0] == "request" })
		if has != (v.sends != nil) || has && !orch.IsOrder(v.sends.Type()) {
			t.Errorf("%s: it takes --request: %v, and sends %v", path, has, v.sends)
		}
	}
}

// TestScriptsSayWhatHolds: the first line of a script is a sentence.
func TestScriptsSayWhatHolds(t *testing.T) {
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scripts {
		raw, err := os.ReadFile(s)
		if err != nil {
			t.Fatal(err)
		}
		if first, _, _ := bytes.Cut(raw, []byte("\n")); len(first) < 20 || !bytes.HasPrefix(first, []byte("# ")) {
			t.Errorf("%s begins with %q", s, first)
		}
	}
}

// TestFlagTypes: before the verb is known a flag's name alone has to tell whether it takes a value. --wait, which is a
// length of time for one verb and a switch for others, is a switch there.
func TestFlagTypes(t *testing.T) {
	types := map[string]reflect.Type{}
	for _, v := range verbs {
		for _, f := range v.allFlags() {
			name := f.Names()[0]
			if was := types[name]; name != "wait" && was != nil && was != reflect.TypeOf(f) {
				t.Errorf("--%s is a %v and a %v", name, was, reflect.TypeOf(f))
			}
			types[name] = reflect.TypeOf(f)
		}
	}
}

func TestRegisterTwicePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a second verb of that name was taken")
		}
	}()
	register(&verb{name: "version"})
}

func TestOrder(t *testing.T) {
	tests := []struct{ name, args, want string }{
		{"flags after", "worker read w1 --limit 5", "worker read --limit=5 -- w1"},
		{"flags before the noun", "--json worker read --limit 5 w1", "worker read --json --limit=5 -- w1"},
		{"between noun and verb", "worker --run r1 ls", "worker ls --run=r1 --"},
		{"joined value", "worker read --limit=5 w1", "worker read --limit=5 -- w1"},
		{"a value with a dash", "worker done --summary -x", "worker done --summary=-x --"},
		{"a value that looks like a flag", "worker done --summary --json", "worker done --summary=--json --"},
		{"nothing is a flag after --", "worker show -- --json", "worker show -- --json"},
		{"a dash alone is an argument", "worker show -", "worker show -- -"},
		{"repeated", "worker start --arg a --arg --b", "worker start --arg=a --arg=--b --"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l, err := order(strings.Fields(test.args))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(l.argv(), " "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestOrderRefuses(t *testing.T) {
	for _, args := range []string{
		"worker read w1 --nope", "worker read --nope w1", "--nope worker ls", "worker read -x", "worker read w1 -limit 3",
		"worker read w1 --limit", "worker read w1 --limit=", "worker read w1 --limit -4", "worker read w1 --limit x",
		"worker wait --timeout=", "worker wait --timeout 5", "worker wait --timeout -1s", "worker ls --all=x",
		"worker", "nope", "worker nope", "worker ls --request 1",
	} {
		if _, err := order(strings.Fields(args)); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
}

// TestHelp: every verb tells its usage and each of its exit codes.
func TestHelp(t *testing.T) {
	for _, v := range verbs {
		path := v.path()
		help := helpOf(v)
		if !strings.Contains(help, "usage: st "+path) {
			t.Errorf("%s: no usage in\n%s", path, help)
		}
		for _, code := range v.exitCodes() {
			if meaning(code) == "" || !strings.Contains(help, meaning(code)) {
				t.Errorf("%s: exit code %d is not told in\n%s", path, code, help)
			}
		}
		for _, f := range v.own() {
			if d, ok := f.(cli.DocGenerationFlag); !ok || d.GetUsage() == "" {
				t.Errorf("%s: --%s is not told", path, f.Names()[0])
			}
		}
		for _, n := range v.needs {
			if !slices.ContainsFunc(v.own(), func(f cli.Flag) bool { return f.Names()[0] == n }) {
				t.Errorf("%s needs --%s, which it doesn't have", path, n)
			}
		}
	}
}
