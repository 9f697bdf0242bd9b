package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"st/orch"
)

var workerReadVerb = &verb{
	noun: "worker", name: "read", args: "W", min: 1, max: 1,
	about: "what a worker reported and last said",
	flags: func() []cli.Flag {
		return []cli.Flag{
			&cli.IntFlag{Name: "limit", Usage: "at most `N` bytes of the answer; 0 for 64 KiB"},
			&cli.IntFlag{Name: "cursor", Usage: "go on at byte `N` of the answer, as an earlier read said"},
			&cli.BoolFlag{Name: "screen", Usage: "also what its window shows now"},
		}
	},
	codes: []int{exitGone, exitRefused}, // its window is closed or not there yet, and --screen was wanted
	run:   workerRead,
}

func init() { register(workerReadVerb) }

func workerRead(c *call) (int, error) {
	var r orch.ReadInfo
	args := orch.ReadArgs{Worker: c.arg(0), Limit: c.Int("limit"), Cursor: c.Int("cursor"), Screen: c.Bool("screen")}
	if err := c.get("read", args, &r); err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(r)
	}
	return exitDone, c.out.read(r)
}

func (p *printer) read(r orch.ReadInfo) error {
	if err := p.say("%s: %s", named(r.Worker), p.state(r.Worker)); err != nil {
		return err
	}
	err := p.fields([]field{
		{"outcome", r.Outcome}, {"files", strings.Join(r.Files, ", ")}, {"outside its scope", outsideOf(r.Worker)}, {"branch", r.Branch}, {"base", r.Base},
		{"commits", strings.Join(r.Commits, ", ")},
	})
	if err != nil {
		return err
	}
	for _, part := range texts(r) {
		if err := p.text(part.name, part.value); err != nil {
			return err
		}
	}
	if r.Cursor > 0 {
		p.note("the answer goes on: st worker read %s --cursor %d", r.Worker.ID, r.Cursor)
	}
	return nil
}

// texts are the long parts, in the order in which a reader wants them.
func texts(r orch.ReadInfo) []field {
	answer := "answer"
	switch {
	case r.AnswerLater:
		answer = fmt.Sprintf("answer (from the %s, said after it had finished)", r.AnswerSource)
	case r.AnswerSource != "":
		answer = fmt.Sprintf("answer (from the %s)", r.AnswerSource)
	}
	parts := []field{{"summary", r.Summary}, {"report", r.Report}, {answer, r.Answer}}
	for _, n := range r.Notes {
		parts = append(parts, field{fmt.Sprintf("note of %s (%s)", n.At.Local().Format("15:04:05"), n.Why), n.Summary})
	}
	return append(parts, field{"screen", strings.Trim(r.Screen, "\n")})
}
