package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"st/hooks"
	"st/orch"
	"st/orch/daemon"
)

// answerIn is how long a daemon may take to name workers and runs: who has pressed Tab waits for it.
const answerIn = 80 * time.Millisecond

// asker asks a running daemon for names; where none answers in time there are none.
type asker struct{ run string }

// values are what a flag takes.
func (a asker) values(v *verb, f cli.Flag) []candidate {
	if f == nil {
		return nil
	}
	switch name := f.Names()[0]; name {
	case "agent":
		return plainly(slices.Concat(hooks.Names(), hooks.GivenNames()))
	case "task-id":
		return a.tasks()
	case "run":
		return a.runs()
	case "as":
		return a.agents()
	case "session":
		return a.sessions()
	case "types":
		return plainly(orch.EventTypes)
	case "dir":
		return []candidate{anyFolder}
	}
	switch shown := placeholder(f); {
	case shown == "FILE":
		return []candidate{anyFile}
	case strings.Contains(shown, "|"):
		return plainly(strings.Split(shown, "|"))
	}
	return nil
}

// arguments are what may stand at place n of a verb's arguments, as its usage shows them.
func (a asker) arguments(v *verb, n int, word string) (list []candidate) {
	shown := strings.Fields(v.args)
	if len(shown) == 0 || v.max >= 0 && n >= v.max {
		return nil
	}
	kind := strings.Trim(shown[min(n, len(shown)-1)], "[]…")
	if n > 0 && len(shown) == 1 && v.max >= 0 {
		return nil
	}
	for _, k := range strings.Split(kind, "|") {
		switch k {
		case "W":
			list = append(list, a.workers(word)...)
		case "R":
			list = append(list, a.runs()...)
		case "T":
			list = append(list, a.tasks()...)
		case "G":
			list = append(list, a.gates()...)
		case "TOPIC":
			list = append(list, plainly(topics())...)
		case "SESSION":
			list = append(list, a.sessions()...)
		case "AGENT":
			list = append(list, a.agents()...)
		default:
			if k == strings.ToLower(k) {
				list = append(list, candidate{name: k})
			}
		}
	}
	return list
}

func plainly(names []string) (list []candidate) {
	for _, n := range names {
		list = append(list, candidate{name: n})
	}
	return list
}

// get asks for a view within the time that there is.
func (a asker) get(view string, args, answer any) bool {
	ctx, cancel := context.WithTimeout(context.Background(), answerIn)
	defer cancel()
	home, err := daemon.Home(os.Getenv)
	if err != nil {
		return false
	}
	from := daemon.FromEnv(os.Getenv)
	from.Run = a.run
	err = daemon.Glance(ctx, home, from, view, args, answer)
	var e *orch.Error
	if errors.As(err, &e) && e.Code == "no_run" && view == "workers" { // several runs: then of all of them
		return a.get(view, orch.ListArgs{All: true}, answer)
	}
	return err == nil
}

// workers are their names, and their ids where one has been begun.
func (a asker) workers(word string) (list []candidate) {
	var workers []orch.WorkerInfo
	if !a.get("workers", orch.ListArgs{}, &workers) {
		return nil
	}
	for _, w := range workers {
		about := w.Kind + ", " + w.State
		list = append(list, candidate{w.Name, w.ID + ", " + about})
		if word != "" && strings.HasPrefix(w.ID, word) {
			list = append(list, candidate{w.ID, w.Name + ", " + about})
		}
	}
	return list
}

// tasks are the ids of those of the run.
func (a asker) tasks() (list []candidate) {
	var tasks []orch.TaskInfo
	if !a.get("tasks", orch.TasksArgs{Brief: true}, &tasks) {
		return nil
	}
	for _, t := range tasks {
		list = append(list, candidate{t.ID, t.Status + ": " + t.Title})
	}
	return list
}

// gates are the open ones, with what they ask.
func (a asker) gates() (list []candidate) {
	var gates []orch.GateInfo
	if !a.get("gates", orch.GatesArgs{}, &gates) {
		return nil
	}
	for _, g := range gates {
		list = append(list, candidate{g.ID, opening(g.Question)})
	}
	return list
}

// opening is the beginning of a text, on one line.
func opening(text string) string { return string(cell(text, 60)) }

func (a asker) runs() (list []candidate) {
	var runs []orch.RunInfo
	if !a.get("runs", orch.ListArgs{All: true}, &runs) {
		return nil
	}
	for _, r := range runs {
		list = append(list, candidate{r.ID, r.State + ": " + r.Objective})
		if r.Name != "" {
			list = append(list, candidate{r.Name, r.ID + ", " + r.State})
		}
	}
	return list
}

func (a asker) agents() (list []candidate) {
	var agents []orch.AgentInfo
	if !a.get("agents", orch.ListArgs{}, &agents) {
		return nil
	}
	for _, g := range agents {
		list = append(list, candidate{g.ID, g.Kind + " " + g.Name})
	}
	return list
}

func (a asker) sessions() (list []candidate) {
	var sessions []orch.SessionInfo
	if !a.get("sessions", nil, &sessions) {
		return nil
	}
	for _, s := range sessions {
		list = append(list, candidate{s.Name, fmt.Sprintf("session, %d windows", s.Windows)})
	}
	return list
}
