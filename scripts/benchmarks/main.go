//go:build linux

// Command benchmarks measures st beside its peers' ways of doing the same, both in one run and by turns, so that
// whatever else the machine does hits both alike. A mark is a ratio wherever that is possible.
//
// One file is one group of rows. Everything runs on a tmux server, a HOME and a state folder that exist for this
// run only; whatever was started is ended by its process id.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// bench is one run of the benchmarks.
type bench struct {
	ctx   context.Context
	st    string // path of the st that is measured
	quick bool
	table table
}

// group is a set of rows that are measured together.
type group struct {
	rows []string
	run  func(*bench) error
}

var groups = []group{
	{[]string{"hook-ack", "hook-durable", "hook-nodaemon", "hook-stuck", "hook-burst"}, (*bench).hooks},
	{[]string{"cli-start"}, (*bench).cliStart},
	{[]string{"tmux-look-100"}, (*bench).look},
	{[]string{"exit-detect"}, (*bench).exitDetect},
	{[]string{"hook-to-wait", "wait-cost"}, (*bench).waits},
	{[]string{"type"}, (*bench).typing},
	{[]string{"start-to-turn"}, (*bench).startToTurn},
	{[]string{"store-commit", "store-group"}, (*bench).store},
	{[]string{"history"}, (*bench).history},
	{[]string{"open-100", "open-400"}, (*bench).open},
	{[]string{"flood"}, (*bench).flood},
	{[]string{"idle-cpu-100", "memory"}, (*bench).idle},
}

// parts are what this program is besides, in panes of the measurement.
var parts = map[string]func(args []string) int{probeVerb: probeMain, firerVerb: firerMain, composerVerb: composerMain}

func main() {
	if len(os.Args) > 1 && parts[os.Args[1]] != nil {
		os.Exit(parts[os.Args[1]](os.Args[2:]))
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var only []string
	var write bool
	b := &bench{}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.StringVar(&b.st, "st", "", "the st that is measured: `FILE`")
	f.BoolVar(&b.quick, "quick", false, "fewer samples")
	f.BoolVar(&write, "write", false, "store the table in scripts/BENCHMARKS.md")
	f.Func("row", "only the group of this `ROW`; may be repeated", func(s string) error {
		only = append(only, s)
		return nil
	})
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	if b.st == "" || f.NArg() > 0 {
		return errors.New("call it as ./scripts/bench")
	}
	if err := known(only); err != nil {
		return err
	}
	var stop context.CancelFunc
	b.ctx, stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	failed := b.all(only)
	b.table.print(os.Stdout)
	if write {
		return errors.Join(failed, b.table.store("scripts/BENCHMARKS.md"))
	}
	return failed
}

func known(rows []string) error {
	var all []string
	for _, g := range groups {
		all = append(all, g.rows...)
	}
	for _, r := range rows {
		if !slices.Contains(all, r) {
			return fmt.Errorf("no row is called %q; there are %s", r, strings.Join(all, ", "))
		}
	}
	return nil
}

// all measures the groups one after another. A group that fails does not keep the next from being measured.
func (b *bench) all(only []string) error {
	var failed error
	for _, g := range groups {
		if len(only) > 0 && !slices.ContainsFunc(g.rows, func(r string) bool { return slices.Contains(only, r) }) {
			continue
		}
		if b.ctx.Err() != nil {
			return errors.Join(failed, b.ctx.Err())
		}
		fmt.Fprintf(os.Stderr, "measuring %s\n", strings.Join(g.rows, ", "))
		if err := g.run(b); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", strings.Join(g.rows, ", "), err))
		}
	}
	return failed
}

// samples is how often something is measured: full in a whole run, quick with --quick.
func (b *bench) samples(full, quick int) int {
	if b.quick {
		return quick
	}
	return full
}
