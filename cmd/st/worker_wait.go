package main

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/urfave/cli/v2"

	"st/orch"
	"st/orch/daemon"
	"st/orch/failpoint"
)

var workerWaitVerb = &verb{
	noun: "worker", name: "wait", args: "[W…]", max: -1, about: "wait until workers are settled or need somebody",
	help: "Without W it waits for all workers of the run. It returns when all are settled, or at once when one\n" +
		"newly needs input, ended without a report or is gone; the same state is told once. Of several exit\n" +
		"codes the first that holds of 3, 6, 4, 5, 0 is taken. With --any it returns at the first that settles, shows\n" +
		"only those that ended the wait and takes the code over them: what was told before does not count again.\n" +
		"Without --timeout it waits as long as it takes; Ctrl-C ends only the waiting.",
	flags: func() []cli.Flag {
		return []cli.Flag{
			&cli.BoolFlag{Name: "any", Usage: "return at the first that settles"},
			&cli.DurationFlag{Name: "timeout", Usage: "wait at most this long"},
			&cli.BoolFlag{Name: "through-input", Usage: "tell a need for input only at the end"},
		}
	},
	codes: []int{exitWorkFailed, exitNeedsInput, exitNoReport, exitGone, exitTimedOut, exitInterrupted},
	run:   workerWait,
}

func init() { register(workerWaitVerb) }

func workerWait(c *call) (int, error) {
	client, err := c.connect()
	if err != nil {
		return 0, err
	}
	args := orch.WaitArgs{Workers: c.arguments, Any: c.Bool("any"), ThroughInput: c.Bool("through-input")}
	info, err := c.waitFor(client, args)
	switch {
	case c.ctx.Err() != nil:
		return 0, &orch.Error{Code: "interrupted", Message: "stopped waiting; the workers go on", Next: []string{"st worker wait"}}
	case err != nil:
		return 0, err
	}
	code := info.Code
	if info.TimedOut {
		code = exitTimedOut
	}
	if err := c.waited(info); err != nil {
		return 0, err
	}
	failpoint.At("wait.printed")
	err = c.told(client, info.New)
	failpoint.At("wait.told")
	return code, err
}

// waitFor follows the view until it is done or the time is over.
func (c *call) waitFor(client *daemon.Client, args orch.WaitArgs) (orch.WaitInfo, error) {
	ctx, cancel := c.limited()
	defer cancel()
	var info orch.WaitInfo
	shown, lost, held := false, false, false
	err := c.watch(ctx, client, "wait", args, func(raw json.RawMessage) (bool, error) {
		info = orch.WaitInfo{} // a key that a later line leaves out must not stay
		if err := json.Unmarshal(raw, &info); err != nil {
			return false, err
		}
		if gone := cutOff(info.Workers); gone != "" && !lost {
			c.out.note("the terminals of %s were closed: st restore brings them back, and the wait goes on", gone)
			lost = true
		}
		for _, w := range info.Workers {
			if w.Sessionless != "" && !held {
				c.out.sessionless(w)
				held = true
			}
		}
		if !info.Done && !shown {
			c.out.progress("waiting for %s (Ctrl-C ends only the waiting)", unsettled(info.Workers))
			shown = true
		}
		return !info.Done, nil
	})
	if ctx.Err() == nil || c.ctx.Err() != nil || info.Done {
		return info, err
	}
	return c.lastStates(client, args, info)
}

// lastStates is what a wait that took too long answers: how everything stands now.
func (c *call) lastStates(client *daemon.Client, args orch.WaitArgs, known orch.WaitInfo) (orch.WaitInfo, error) {
	const askTime = 5 * time.Second
	ctx, cancel := context.WithTimeout(c.ctx, askTime)
	defer cancel()
	var now orch.WaitInfo
	if err := client.Get(ctx, "wait", args, &now); err != nil {
		if len(known.Workers) == 0 {
			return known, err
		}
		now = known // a daemon that stopped answering; what it last said is still worth telling
	}
	now.TimedOut = !now.Done
	now.New = onlyIf(now.Done, now.New)
	return now, nil
}

// onlyIf keeps the marks of a wait that really returned with them.
func onlyIf(done bool, states []orch.Told) []orch.Told {
	if done {
		return states
	}
	return nil
}

func (c *call) waited(info orch.WaitInfo) error {
	if c.out.json {
		return c.out.data(struct {
			Workers  []orch.WorkerInfo `json:"workers"`
			TimedOut bool              `json:"timed_out"`
			Code     int               `json:"code"`
		}{info.Workers, info.TimedOut, info.Code})
	}
	if len(info.Workers) == 0 {
		return c.out.say("no worker to wait for")
	}
	if info.TimedOut {
		c.out.note("st: waited %s; the work goes on", c.Duration("timeout").String())
	}
	shown := info.Workers
	if c.Bool("any") && len(info.New) > 0 {
		shown = newly(info)
	}
	for _, w := range shown {
		if err := c.out.waitedFor(w); err != nil {
			return err
		}
	}
	if others := len(info.Workers) - len(shown); others > 0 {
		c.out.note("others that were waited for: %d, see st worker ls", others)
	}
	return nil
}

// newly are the workers whose state is told for the first time: they ended the wait.
func newly(info orch.WaitInfo) (list []orch.WorkerInfo) {
	for _, w := range info.Workers {
		if slices.ContainsFunc(info.New, func(t orch.Told) bool { return t.Worker == w.ID }) {
			list = append(list, w)
		}
	}
	return list
}

// waitedFor prints a worker in one line, with its report, and how to go on with it.
func (p *printer) waitedFor(w orch.WorkerInfo) error {
	text := w.Summary
	switch {
	case blockedBy(w) != nil:
		text = asks(w)
	case w.State == "needs_input":
		text = "answer it in window " + w.Window + " of session " + w.Session
		if w.Gate != "" {
			text = "a person answers gate " + w.Gate
		}
		if w.Waits != "" {
			text = w.Waits + " - " + text
		}
	case text != "":
	case w.Progress != "":
		text = w.Progress
	}
	if text != "" {
		text = ": " + text
	}
	if err := p.say("%s: %s%s", named(w), p.state(w), text); err != nil {
		return err
	}
	if outside := outsideOf(w); outside != "" && w.OutsideUnchecked == "" {
		if err := p.say("  changed outside its scope: %s", outside); err != nil {
			return err
		}
	}
	if next := afterWait(w); next != "" {
		p.note("  %s", next)
	}
	return nil
}

// afterWait is the line that somebody types who wants to know more of how a worker stands, "" where its report
// has said it.
func afterWait(w orch.WorkerInfo) string {
	if q := blockedBy(w); q != nil {
		return replyLine(q.ID)
	}
	switch w.State {
	case "queued":
		if w.Sessionless != "" {
			return "st restore"
		}
	case "needs_input", "unknown":
		if w.Gate != "" {
			return "st gate show " + w.Gate
		}
		return "st worker read " + w.ID + " --screen"
	case "failed", "no_report", "gone":
		return "st worker read " + w.ID
	}
	return ""
}

// told remembers what has been printed, so that the next wait doesn't return for it again.
func (c *call) told(client *daemon.Client, states []orch.Told) error {
	if len(states) == 0 {
		return nil
	}
	return client.Do(c.ctx, uuid.NewString(), orch.WaitTold{States: states}, nil)
}

// toldNews says that news of a worker have been printed, so that nobody brings them to the caller once more.
func (c *call) toldNews(client *daemon.Client, states []orch.Told) {
	if len(states) == 0 {
		return
	}
	if err := client.Do(c.ctx, uuid.NewString(), orch.WaitTold{States: states, News: true}, nil); err != nil {
		c.out.note("st: what was told here may be told once more: %s", reason(err))
	}
}

func unsettled(list []orch.WorkerInfo) string {
	var names []string
	for _, w := range list {
		if !w.Settled {
			names = append(names, w.ID+" "+quoted(w.Name))
		}
	}
	return strings.Join(names, ", ")
}

// sessionless says what a start waits for whose session has ended with its server.
func (p *printer) sessionless(w orch.WorkerInfo) {
	p.note("worker %s has no window yet: session %s has ended with its tmux server; the start goes on once it is back:", named(w), quoted(w.Sessionless))
	p.note("  st restore")
	p.note("  tmux new-session -d -s %s", shellWord(w.Sessionless))
	p.note("  st worker stop %s --yes", w.ID)
}

// cutOff names the workers whose server has ended and who may come back.
func cutOff(workers []orch.WorkerInfo) string {
	var names []string
	for _, w := range workers {
		if w.State == "gone_resumable" {
			names = append(names, named(w))
		}
	}
	return strings.Join(names, ", ")
}
