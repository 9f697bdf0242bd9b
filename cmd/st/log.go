package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"st/orch"
)

func init() {
	register(&verb{
		name: "log", args: "[R]", max: 1, about: "what happened, when, and caused by whom",
		help: "The newest event stands last. Without R it tells of all runs, and of agents that belong to none.",
		flags: []cli.Flag{
			&cli.IntFlag{Name: "since", Usage: "only what came after event `SEQ`"},
			&cli.IntFlag{Name: "limit", Usage: "at most the newest `N` events; 0 for all", Value: 100},
			&cli.StringFlag{Name: "types", Usage: "only events of these types: `A,B`"},
		},
		run: history,
	})
}

func history(c *call) (int, error) {
	types, err := c.types()
	if err != nil {
		return 0, err
	}
	var info orch.HistoryInfo
	args := orch.EventArgs{Run: c.arg(0), Since: uint64(c.Int("since")), Types: types, Limit: c.Int("limit")}
	if err := c.get("history", args, &info); err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(info)
	}
	if len(info.Events) == 0 {
		return exitDone, c.out.say("nothing has happened")
	}
	for _, e := range info.Events {
		when := c.out.style(c.out.styles.dim, e.At.Local().Format("2006-01-02 15:04:05"))
		if err := c.out.say("%5d  %s  %s", e.Seq, when, inWords(e, info.Names)); err != nil {
			return 0, err
		}
	}
	return exitDone, nil
}

// sayings are what each type of event means to a person: {run}, {worker}, {agent}, {task}, {dispatch} and {message}
// become id and name, {text} what the event says.
var sayings = map[string]string{
	"run-started": "run {run} was started: {text}", "run-ended": "run {run} was ended",
	"agent-seen": "agent {agent} was seen for the first time", "agent-gone": "agent {agent} is gone: {text}",
	"worker-started": "worker {worker} was started with task {task}, dispatch {dispatch}", "window-opened": "worker {worker} has its window, pane {text}",
	"worker-stopping": "worker {worker} is being stopped", "worker-running": "worker {worker} is at work",
	"worker-needs-input": "worker {worker} needs somebody: {text}", "worker-finished": "worker {worker} has finished",
	"worker-failed": "worker {worker} has failed", "worker-no-report": "worker {worker} ended its turn without a report",
	"worker-gone": "worker {worker} is gone", "worker-unknown": "how worker {worker} stands is not known",
	"delivered":     "worker {worker} has its task: a hook or its report proves {dispatch}",
	"not-delivered": "worker {worker} does not have its task yet ({dispatch}): {text}",
	"unknown":       "whether worker {worker} has its task is not known: no hook has proved {dispatch}",
	"turn-ended":    "worker {worker} ended a turn ({text})",
	"progress":      "worker {worker} says: {text}", "reported": "worker {worker} reported on {dispatch}: {text}",
	"report-noted":   "a report of worker {worker} on {dispatch} was kept as a note: {text}",
	"task-completed": "task {task} is completed", "task-failed": "task {task} has failed", "task-cancelled": "task {task} is cancelled",
	"message-queued": "message {message} to worker {worker} waits", "message-typed": "message {message} was typed to worker {worker}",
	"message-delivered":     "message {message} has reached worker {worker}",
	"message-unknown":       "whether message {message} has reached worker {worker} is not known: no hook has proved it",
	"message-not-delivered": "message {message} to worker {worker} was not delivered: {text}",
	"keys-ordered":          "keys were ordered for worker {worker} on screen {text}",
	"keys-pressed":          "keys were pressed in worker {worker}; how many, and the screens before and after: {text}",
}

// inWords is an event in words, with who caused it.
func inWords(e orch.Event, names map[string]string) string {
	ids := strings.NewReplacer(
		"{run}", idNamed(e.Run, names), "{worker}", idNamed(e.Worker, names), "{agent}", idNamed(e.Agent, names),
		"{task}", e.Task, "{dispatch}", e.Dispatch, "{message}", e.Message, "{text}", e.Text,
	)
	line := strings.TrimSuffix(ids.Replace(sayings[e.Type]), ": ")
	switch e.By {
	case "":
		return line
	case "person":
		return line + " (by a person)"
	}
	return line + " (by agent " + idNamed(e.By, names) + ")"
}

func idNamed(id string, names map[string]string) string {
	if names[id] == "" {
		return id
	}
	return id + " " + quoted(names[id])
}
