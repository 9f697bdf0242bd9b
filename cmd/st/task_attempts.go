package main

import (
	"fmt"
	"strings"

	"st/orch"
)

var taskAttemptsVerb = &verb{
	noun: "task", name: "attempts", args: "T", min: 1, max: 1, about: "the attempts at a task, side by side",
	help:  "What each has reported, how much it changed by git, and what its check has said. st worker read W tells more of one.",
	codes: []int{exitRefused},
	run:   taskAttempts,
}

func init() { register(taskAttemptsVerb) }

func taskAttempts(c *call) (int, error) {
	var i orch.AttemptsInfo
	if err := c.get("attempts", orch.TaskArgs{Task: c.arg(0)}, &i); err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(i)
	}
	return exitDone, c.out.attempts(i)
}

func (p *printer) attempts(i orch.AttemptsInfo) error {
	if err := p.say("%s %s: %s", i.Task.ID, quoted(i.Task.Title), p.taskState(i.Task)); err != nil {
		return err
	}
	var rows [][]styled
	for _, a := range i.Attempts {
		picked := ""
		if a.Picked {
			picked = "picked"
		}
		rows = append(rows, []styled{plain(a.Task), plain(a.Worker.ID), plain(a.Worker.Kind), p.tryState(a), plain(fmt.Sprintf("%d +%d -%d", len(a.Files), a.Added, a.Removed)),
			p.checked(a), plain(picked), cell(a.Worker.Branch, 40), cell(a.Summary, 60)})
	}
	if err := p.table([]string{"TASK", "WORKER", "AGENT", "OUTCOME", "FILES LINES", "CHECK", "", "BRANCH", "SUMMARY"}, rows); err != nil {
		return err
	}
	for _, a := range i.Attempts {
		if a.Check == "failed" {
			p.note("check of %s: %s; what it wrote is in %s", a.Worker.ID, a.CheckWhy, a.CheckLog)
		}
		if len(a.Files) > 0 {
			p.note("%s: %s", a.Worker.ID, strings.Join(a.Files[:min(len(a.Files), 8)], ", "))
		}
	}
	if i.Task.Picked == "" {
		p.note("  st task pick %s W", i.Task.ID)
	}
	return nil
}

func (p *printer) tryState(a orch.AttemptInfo) styled {
	switch {
	case a.Outcome == "succeeded":
		return p.style(p.styles.good, a.Outcome)
	case a.Outcome != "":
		return p.style(p.styles.bad, a.Outcome)
	case a.Worker.ID != "" && a.Status == "dispatched":
		return p.state(a.Worker)
	}
	return plain(a.Status)
}

func (p *printer) checked(a orch.AttemptInfo) styled {
	switch a.Check {
	case "passed":
		return p.style(p.styles.good, a.Check)
	case "failed":
		return p.style(p.styles.bad, a.Check)
	}
	return plain(a.Check)
}
