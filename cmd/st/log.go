package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"st/orch"
)

var logVerb = &verb{
	name: "log", args: "[R]", max: 1, about: "what happened, when, and caused by whom",
	help: "The newest event stands last, each with who brought it about, and by what: a verb's order, a hook of the agent's, what\n" +
		"st has seen itself. Without R it tells of all runs, and of agents that belong to none.",
	more: eventTypes,
	flags: func() []cli.Flag {
		return []cli.Flag{
			&cli.IntFlag{Name: "since", Usage: "only what came after event `SEQ`"},
			&cli.IntFlag{Name: "limit", Usage: "at most the newest `N` events; 0 for all", Value: 100},
			&cli.StringFlag{Name: "types", Usage: "only events of these types: `A,B`"},
			&cli.StringFlag{Name: "task", Usage: "only what speaks of task `T`"},
			&cli.StringFlag{Name: "worker", Usage: "only what speaks of worker `W`, an id or a name"},
		}
	},
	run: history,
}

func init() { register(logVerb) }

func history(c *call) (int, error) {
	types, err := c.types()
	if err != nil {
		return 0, err
	}
	task, err := c.text("task")
	if err != nil {
		return 0, err
	}
	worker, err := c.text("worker")
	if err != nil {
		return 0, err
	}
	var info orch.HistoryInfo
	args := orch.EventArgs{Run: c.arg(0), Since: uint64(c.Int("since")), Types: types, Limit: c.Int("limit"), Task: task, Worker: worker}
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

// sayings are what each type of event means to a person: {run}, {worker}, {agent}, {task}, {dispatch}, {gate} and {message}
// become id and name, {text} what the event says.
var sayings = [...]struct{ event, text string }{
	{"run-started", "run {run} was started: {text}"},
	{"run-ended", "run {run} was ended"},
	{"agent-seen", "agent {agent} was seen for the first time"},
	{"agent-gone", "agent {agent} is gone: {text}"},
	{"agent-resumed", "agent {agent} has taken up its conversation again, and has all that it had {text}"},
	{"agent-restarted", "agent {agent} is started in the conversation of another, which ends: {text}"},
	{"go-on-told", "agent {agent}, whose turn was cut off, was told to go on with {text}"},
	{"go-on-unknown", "whether agent {agent}, whose turn was cut off, was told to go on with {text} is not known"},
	{"go-on-not-delivered", "agent {agent}, whose turn was cut off, could not be told to go on with {text}"},
	{"worker-started", "worker {worker} was started with task {task}, dispatch {dispatch}"},
	{"worker-adopted", "agent {agent}, which ran already, is worker {worker} now"},
	{"worker-released", "worker {worker} was released: agent {agent} is none of run {run} any more"},
	{"worker-no-task", "worker {worker} has no task"},
	{"release-told", "agent {agent} was told that it was released as worker {worker}"},
	{"release-unknown", "whether agent {agent} was told that it was released as worker {worker} is not known"},
	{"window-opened", "worker {worker} has its window, pane {text}"},
	{"worker-stopping", "worker {worker} is being stopped"},
	{"worker-restarted", "worker {worker} is started again in its conversation: agent {agent} {text}"},
	{"worktree-made", "worker {worker} has its worktree, on branch {text}"},
	{"worktree-failed", "no worktree could be made for worker {worker}: {text}"},
	{"worktree-kept", "the worktree of worker {worker} stays as it was: {text}"},
	{"worktree-gone", "the worktree of worker {worker} is gone: {text}"},
	{"setup-done", "the setup of worker {worker}'s worktree is done"},
	{"setup-failed", "the setup of worker {worker}'s worktree has failed: {text}"},
	{"worker-queued", "worker {worker} waits in line for its window"},
	{"session-missing", "worker {worker} has no window yet: session {text} has ended with its tmux server, and it waits until that is back"},
	{"session-returned", "session {text} is back, and worker {worker} gets its window there"},
	{"worker-running", "worker {worker} is at work"},
	{"worker-needs-input", "worker {worker} needs somebody: {text}"},
	{"worker-finished", "worker {worker} has finished"},
	{"worker-failed", "worker {worker} has failed"},
	{"worker-no-report", "worker {worker} ended its turn without a report"},
	{"worker-gone", "worker {worker} is gone"},
	{"worker-gone-resumable", "the terminals of worker {worker} were closed; it has all that it had when its conversation is taken up again"},
	{"worker-attached", "worker {worker} is the agent in pane {text} now: somebody has said so"},
	{"worker-unknown", "how worker {worker} stands is not known"},
	{"delivered", "worker {worker} has its task: a hook or its report proves {dispatch}"},
	{"not-delivered", "worker {worker} does not have its task yet ({dispatch}): {text}"},
	{"unknown", "whether worker {worker} has its task is not known: no hook has proved {dispatch}"},
	{"turn-ended", "worker {worker} ended a turn ({text})"},
	{"progress", "worker {worker} says: {text}"},
	{"reported", "worker {worker} reported on {dispatch}: {text}"},
	{"report-noted", "a report of worker {worker} on {dispatch} was kept as a note: {text}"},
	{"task-created", "task {task} was made: {text}"},
	{"task-pending", "task {task} is pending: {text}"},
	{"task-ready", "task {task} is ready"},
	{"task-blocked", "task {task} is blocked: {text}"},
	{"task-assigned", "task {task} was assigned to worker {worker}, dispatch {dispatch}"},
	{"task-updated", "task {task} was put by hand: {text}"},
	{"task-escalated", "task {task} has failed three times in a row, the last time with worker {worker}; no attempt starts by itself any more"},
	{"task-completed", "task {task} is completed"},
	{"task-failed", "task {task} has failed: {text}"},
	{"task-cancelled", "task {task} is cancelled: {text}"},
	{"task-picked", "task {task} is settled by the attempt of worker {worker}"},
	{"attempt-checked", "the check of attempt {task}: {text}"},
	{"message-queued", "message {message} to worker {worker} waits"},
	{"message-typed", "message {message} was typed to worker {worker}"},
	{"message-delivered", "message {message} has reached worker {worker}"},
	{"message-unknown", "whether message {message} has reached worker {worker} is not known: no hook has proved it"},
	{"message-not-delivered", "message {message} to worker {worker} was not delivered: {text}"},
	{"message-settled", "message {message} is settled: {text}"},
	{"mail-came", "message {message} has come: {text}"},
	{"mail-told", "whoever reads that box knows of message {message}: {text}"},
	{"news", "agent {agent} is owed the news that worker {worker} {text}"},
	{"news-told", "agent {agent} was told that worker {worker} {text}"},
	{"news-unknown", "whether agent {agent} was told that worker {worker} {text} is not known"},
	{"words-carried", "a hook of agent {agent} was given what is owed to it ({text})"},
	{"reminded", "worker {worker} was reminded of its report on {dispatch}"},
	{"reminder-unknown", "whether worker {worker} was reminded of its report on {dispatch} is not known: nothing has proved it"},
	{"reminder-not-delivered", "worker {worker} could not be reminded of its report on {dispatch} in time"},
	{"worker-silent", "nothing has been heard of worker {worker} for {text}"},
	{"seat-moved", "agent {agent} coordinates run {run} now, {text}"},
	{"gate-asked", "gate {gate} of run {run} was opened: {text}"},
	{"gate-shown", "persons were told of gate {gate}, {text}"},
	{"gate-answered", "gate {gate} of run {run} was answered: {text}"},
	{"gate-cancelled", "gate {gate} of run {run} was cancelled: {text}"},
	{"gate-timed-out", "gate {gate} of run {run} timed out: nobody answered it before its deadline"},
	{"gate-told", "agent {agent} was told how gate {gate} has ended ({text})"},
	{"gate-told-unknown", "whether agent {agent} was told how gate {gate} has ended is not known: nothing has proved it"},
	{"seat-taken", "run {run} has another coordinator, the seat was taken {text}"},
	{"seat-loss-told", "agent {agent} was told that run {run} has another coordinator"},
	{"seat-loss-unknown", "whether agent {agent} was told that run {run} has another coordinator is not known"},
	{"keys-ordered", "keys were ordered for worker {worker} on screen {text}"},
	{"keys-pressed", "keys were pressed in worker {worker}; how many, and the screens before and after: {text}"},
}

// saying is what that type of event means, "" for a type that there is not.
func saying(event string) string {
	for _, s := range sayings {
		if s.event == event {
			return s.text
		}
	}
	return ""
}

// eventTypes are the types of events, in lines for help.
func eventTypes() string {
	var b strings.Builder
	b.WriteString("types of events:\n")
	used := 0
	for i, t := range orch.EventTypes {
		if used += len(t) + 2; used > 110 {
			b.WriteString("\n")
			used = len(t) + 2
		}
		b.WriteString(t)
		if i < len(orch.EventTypes)-1 {
			b.WriteString(", ")
		}
	}
	return b.String()
}

// inWords is an event in words, with who caused it and by which input.
func inWords(e orch.Event, names map[string]string) string {
	ids := strings.NewReplacer(
		"{run}", idNamed(e.Run, names), "{worker}", idNamed(e.Worker, names), "{agent}", idNamed(e.Agent, names),
		"{task}", e.Task, "{dispatch}", e.Dispatch, "{message}", e.Message, "{gate}", e.Gate, "{text}", e.Text,
	)
	line := strings.TrimSuffix(ids.Replace(saying(e.Type)), ": ")
	who := "agent " + idNamed(e.By, names)
	switch e.By {
	case "": // of an older program
		return line
	case "person":
		who = "a person"
	case orch.Us:
		who = orch.Us
	}
	if e.Cause != "" {
		who += ": " + e.Cause
	}
	return line + " (by " + who + ")"
}

func idNamed(id string, names map[string]string) string {
	if names[id] == "" {
		return id
	}
	return id + " " + quoted(names[id])
}
