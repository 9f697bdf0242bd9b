//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"time"
)

var benchLine = regexp.MustCompile(`(?m)^Benchmark(\w+)/([\w-]+?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op`)

// store runs the benchmarks of the journal, each several times by turns, and compares the times of an event.
func (b *bench) store() error {
	got := map[string]series{}
	for range b.samples(5, 2) {
		cmd := exec.CommandContext(b.ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkStore", "-benchtime", "300x", "./orch/journal")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("go test: %w: %s", err, out)
		}
		for _, m := range benchLine.FindAllStringSubmatch(string(out), -1) {
			ns, err := strconv.ParseFloat(m[3], 64)
			if err != nil {
				return err
			}
			got[m[1]+"/"+m[2]] = append(got[m[1]+"/"+m[2]], time.Duration(ns))
		}
	}
	for _, name := range []string{"StoreCommit/append", "StoreCommit/journal", "StoreGroup/transaction-each", "StoreGroup/journal"} {
		if len(got[name]) == 0 {
			return fmt.Errorf("the journal has no benchmark %s any more", name)
		}
	}
	b.table.ratio("store-commit", "append and sync", got["StoreCommit/journal"], got["StoreCommit/append"], 2.5)
	each, group := got["StoreGroup/transaction-each"], got["StoreGroup/journal"]
	times := float64(each.p50()) / float64(group.p50())
	b.table.rows = append(b.table.rows, row{
		name: "store-group", beside: "a transaction each", own: group, peer: each,
		said: fmt.Sprintf("%.3g× faster", times), mark: "≥ 12×", ok: times >= 12,
	})
	return nil
}
