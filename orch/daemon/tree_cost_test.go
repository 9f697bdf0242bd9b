//go:build linux || darwin

package daemon

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"st/orch"
)

// TestTreeCost tells what it costs to look at a worktree with 50,000 files and 100 MB in 20,000 that git ignores, beside what
// git itself takes to say how it stands.
func TestTreeCost(t *testing.T) {
	if os.Getenv("ST_LONG") == "" {
		t.Skip("takes a minute: ST_LONG=1")
	}
	r := newTreeBench(t).repo()
	fill := func(dir string, folders, files, size int) {
		for i := range folders {
			folder := filepath.Join(dir, fmt.Sprint("d", i/100), fmt.Sprint("e", i))
			must(t, os.MkdirAll(folder, 0o755))
			for j := range files {
				text := bytes.Repeat([]byte(fmt.Sprintln("file", i, j)), size/16)
				must(t, os.WriteFile(filepath.Join(folder, fmt.Sprint("f", j, ".go")), text, 0o644))
			}
		}
	}
	fill(filepath.Join(r.dir, "src"), 1000, 50, 2<<10)
	r.commit(r.dir, "many files")
	r.start(orch.TreeWant{}).works("b.txt")
	fill(filepath.Join(r.tree, "ignored"), 2000, 10, 5<<10)
	r.ends()
	took := func(what string, does func()) time.Duration {
		best := time.Hour
		for range 3 {
			began := time.Now()
			does()
			best = min(best, time.Since(began))
		}
		t.Logf("%-20s %v", what, best.Round(time.Millisecond))
		return best
	}
	status := took("git status", func() { r.git(r.tree, "status", "--porcelain", "--untracked-files=all") })
	look := took("st gc --dry-run", func() {
		if _, err := r.d.trees(context.Background(), person()); err != nil {
			t.Error(err)
		}
	})
	began := time.Now()
	if got := r.act("merge"); got != "merge" {
		t.Errorf("merge: %s", got)
	}
	merge := time.Since(began)
	t.Logf("%-20s %v", "st worker finish", merge.Round(time.Millisecond))
	t.Logf("times git status: gc %.1f, finish --merge %.1f", float64(look)/float64(status), float64(merge)/float64(status))
}
