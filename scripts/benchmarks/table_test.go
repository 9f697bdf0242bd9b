//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What is measured alone takes the place of its old rows in the file; the others keep theirs.
func TestStoreKeepsRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "BENCHMARKS.md")
	store := func(rows ...row) []string {
		t.Helper()
		if err := (&table{rows: rows}).store(path); err != nil {
			t.Fatal(err)
		}
		got, err := rowsOf(path)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, cells := range got {
			if len(cells) != len(heads)+1 {
				t.Errorf("%d cells: %q", len(cells), cells)
			}
			names = append(names, cells[0]+"/"+cells[4]+"/"+cells[6])
		}
		return names
	}
	of := func(name, beside, said string) row { return row{name: name, beside: beside, said: said} }
	is := func(got []string, want ...string) {
		t.Helper()
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%q, not %q", got, want)
		}
	}
	is(store(of("type", "one", "1"), of("type", "", "2"), of("flood", "", "3")), "type/one/1", "type//2", "flood//3")
	is(store(of("flood", "", "4"), of("memory", "", "5")), "type/one/1", "type//2", "flood//4", "memory//5")
	is(store(of("type", "one", "6"), of("type", "two", "7"), of("type", "", "8")), "type/one/6", "type/two/7", "type//8", "flood//4", "memory//5")
	raw, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(raw), time.Now().UTC().Format("2006-01-02")) || !strings.HasSuffix(string(raw), notes) {
		t.Errorf("%v: %s", err, raw)
	}
}
