package failpoint_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"st/orch/failpoint"
)

// Each point of the list stands in the code once, under a plain string, and there is no other.
func TestEveryPointStandsInTheCodeOnce(t *testing.T) {
	found := map[string]int{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if name, ok := point(n); ok {
				found[name]++
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range failpoint.All {
		if found[name] != 1 {
			t.Errorf("%s stands in the code %d times", name, found[name])
		}
	}
	for name := range found {
		if !slices.Contains(failpoint.All, name) {
			t.Errorf("%q is not in the list", name)
		}
	}
}

// point reads a call of failpoint.At or failpoint.Fail; the name is "" where it is no plain string.
func point(n ast.Node) (name string, ok bool) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return "", false
	}
	of, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || of.Sel.Name != "At" && of.Sel.Name != "Fail" {
		return "", false
	}
	if x, ok := of.X.(*ast.Ident); !ok || x.Name != "failpoint" {
		return "", false
	}
	text, ok := call.Args[0].(*ast.BasicLit)
	if !ok {
		return "", true
	}
	name, err := strconv.Unquote(text.Value)
	return name, err == nil
}
