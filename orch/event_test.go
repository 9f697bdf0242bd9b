package orch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEventTypesAreListed walks the sources: each type that is given to the history by its name is listed, and each listed
// one is given somewhere, by its name or as one of a worker's, a task's or a gate's states.
func TestEventTypesAreListed(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	given, spoken := map[string]bool{}, map[string]bool{} // spoken: that some function is handed, which gives it
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		src, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(src, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && file != "event.go" {
				if text, err := strconv.Unquote(l.Value); err == nil {
					spoken[text] = true
				}
			}
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			s, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !strings.HasPrefix(s.Sel.Name, "log") {
				return true
			}
			if l, ok := call.Args[0].(*ast.BasicLit); ok && l.Kind == token.STRING {
				kind, err := strconv.Unquote(l.Value)
				if err != nil || !slices.Contains(EventTypes, kind) {
					t.Errorf("%s gives the history %s, which EventTypes does not list", file, l.Value)
				}
				given[kind] = true
			}
			return true
		})
	}
	if len(given) < 20 {
		t.Fatalf("only %d types were found in the sources", len(given))
	}
	for _, kind := range EventTypes {
		if !spoken[kind] && !strings.HasPrefix(kind, "worker-") && !strings.HasPrefix(kind, "task-") && !strings.HasPrefix(kind, "gate-") {
			t.Errorf("nothing gives the history %q", kind)
		}
	}
}
