package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"st/orch"
	"st/orch/daemon"
	"st/tmux"
)

var workerRestartVerb = &verb{
	noun: "worker", name: "restart", args: "W|PANE", min: 1, max: 1, about: "start a worker's agent again, in its conversation",
	help: "Its work goes on: the same task, name, folder, model, --arg and hooks, the environment of who calls; --env has to be\n" +
		"given again. An idle agent is asked to quit first; one that works, waits or has a draft is ended only with --yes. One\n" +
		"that is gone comes back. The window is opened in the session in which the worker was, where that is there. Where the\n" +
		"agent is not up within --timeout, or waits for somebody, the answer is 4: the restart goes on, nothing is lost. A pane\n" +
		"(%3) means an agent that is no worker: one without hooks gets them so, and can be adopted. That is a person's to do.",
	flags: func() []cli.Flag {
		return []cli.Flag{
			&cli.BoolFlag{Name: "yes", Usage: "end it also where its turn runs or a draft stands there"},
			&cli.StringFlag{Name: "session", Usage: "open the window in this session: `S`"},
			&cli.StringSliceFlag{Name: "env", Usage: "a variable `K=V` for the agent; may be repeated", KeepSpace: true},
			&cli.DurationFlag{Name: "timeout", Usage: "how long its input line may take to come up (90s)"},
		}
	},
	codes: []int{exitNeedsInput, exitGone, exitRefused, exitInterrupted},
	sends: orch.WorkerRestart{},
	run:   workerRestart,
}

func init() { register(workerRestartVerb) }

func workerRestart(c *call) (int, error) {
	order := daemon.RestartOrder{Worker: c.arg(0), Yes: c.Bool("yes")}
	if err := c.restartOrder(&order.Start); err != nil {
		return 0, err
	}
	if _, err := tmux.InstalledVersion(c.ctx); err != nil {
		return 0, daemon.TmuxFault(err)
	}
	client, err := c.connect()
	if err != nil {
		return 0, err
	}
	if err := c.launchAgain(client, order.Worker, program, &order.Start); err != nil {
		return 0, err
	}
	var a orch.ResumeAnswer
	if err := c.orderStart(client, order, &a, order.Start.EnvFile); err != nil {
		return 0, err
	}
	return c.followResume(client, a)
}

func (c *call) restartOrder(order *daemon.StartOrder) (err error) {
	if c.IsSet("timeout") && c.Duration("timeout") <= 0 {
		return c.misuse("%s: --timeout must be longer than nothing", c.verb.path())
	}
	if order.Session, err = c.text("session"); err != nil {
		return err
	}
	if order.EnvNames, err = c.envNames(); err != nil {
		return err
	}
	order.Env, err = daemon.Veil(c.request, c.StringSlice("env"))
	return err
}

// restartTime is how long a restart waits until its answer says that the agent is not up yet.
const restartTime = 90 * time.Second

// followResume waits until the new agent has all that the old one had, has ended, or waits for somebody.
func (c *call) followResume(client *daemon.Client, a orch.ResumeAnswer) (int, error) {
	limit := restartTime
	if c.IsSet("timeout") {
		limit = c.Duration("timeout")
	}
	ctx, cancel := context.WithTimeout(c.ctx, limit)
	defer cancel()
	var info orch.ResumeInfo
	shown := false
	err := c.watch(ctx, client, "resume", orch.ResumeArgs{Agent: a.Agent}, func(raw json.RawMessage) (bool, error) {
		info = orch.ResumeInfo{}
		if err := json.Unmarshal(raw, &info); err != nil {
			return false, err
		}
		if !shown {
			c.out.progress("starting agent %s in the conversation of %s (Ctrl-C ends only the waiting)", a.Agent, a.From)
			shown = true
		}
		return !info.Taken && !info.Gone && info.Agent.WaitingFor == "", nil
	})
	if err != nil && ctx.Err() != nil && c.ctx.Err() == nil {
		info, err = c.lateResume(client, a, info)
	}
	switch {
	case c.ctx.Err() != nil:
		e := &orch.Error{Code: "interrupted", Message: "stopped waiting; the restart of agent " + a.From + " goes on", Next: []string{"st agents"}}
		if a.Worker != "" {
			e.Message, e.Next = "stopped waiting; the restart of worker "+a.Worker+" goes on", []string{"st worker show " + a.Worker}
		}
		return 0, e
	case err != nil:
		return 0, err
	case info.Gone && !info.Taken:
		return 0, resumeFault(info)
	}
	code := exitDone
	if !info.Taken {
		code, info.Next = exitNeedsInput, resumeNext(info)
	}
	if c.out.json {
		return code, c.out.data(info)
	}
	return code, c.out.resumed(info, limit)
}

// lateResume is how a restart stands that has taken too long, and what its window shows.
func (c *call) lateResume(client *daemon.Client, a orch.ResumeAnswer, known orch.ResumeInfo) (orch.ResumeInfo, error) {
	ctx, cancel := context.WithTimeout(c.ctx, 5*time.Second)
	defer cancel()
	var now orch.ResumeInfo
	if err := client.Get(ctx, "resume", orch.ResumeArgs{Agent: a.Agent, Shows: true}, &now); err != nil {
		if known.From == "" {
			return known, err
		}
		now = known // a daemon that stopped answering; what it last said is still worth telling
	}
	now.TimedOut = !now.Taken && !now.Gone
	return now, nil
}

// resumeNext are the commands for somebody whose agent is not up.
func resumeNext(info orch.ResumeInfo) (next []string) {
	if info.Agent.Session != "" && info.Agent.Window != "" {
		next = append(next, "st attach --session "+shellWord(info.Agent.Session))
	}
	if info.Worker.ID == "" {
		return append(next, "st agents")
	}
	return append(next, "st worker show "+info.Worker.ID, "st worker stop "+info.Worker.ID+" --yes")
}

// resumed says how a restart has gone.
func (p *printer) resumed(info orch.ResumeInfo, limit time.Duration) error {
	where := fmt.Sprintf("in window %s of session %s", info.Agent.Window, info.Agent.Session)
	if info.Agent.Window == "" {
		where = "and its window is not open yet"
	}
	what := "agent " + info.From
	if info.Worker.ID != "" {
		what = "worker " + named(info.Worker)
	}
	var err error
	switch {
	case info.Taken:
		err = p.say("restarted %s: agent %s has %s, %s", what, info.Agent.ID, theConversation(info), where)
		if info.Worker.ID == "" {
			p.note("  st worker adopt %s", info.Agent.ID)
		}
		return err
	case info.TimedOut && info.Agent.WaitingFor == "":
		err = p.say("%s: agent %s is not up after %s, %s; it has %s as soon as its input line is up", what, info.Agent.ID, limit, where, theConversation(info))
	default:
		err = p.say("%s: agent %s waits (%s) %s; it has %s as soon as its input line is up", what, info.Agent.ID, info.Agent.WaitingFor, where, theConversation(info))
	}
	if err == nil {
		err = p.text("screen", strings.Trim(info.Shows, "\n"))
	}
	for _, next := range info.Next {
		p.note("  %s", next)
	}
	return err
}

// theConversation is what an agent that is started again takes up.
func theConversation(info orch.ResumeInfo) string {
	switch {
	case info.Worker.ID == "" && info.Taken:
		return "its conversation"
	case info.Worker.ID != "" && !info.Taken:
		return "the work"
	}
	return "the conversation of " + info.From
}

// resumeFault is a restart that came to nothing.
func resumeFault(info orch.ResumeInfo) error {
	if info.Error != nil {
		return info.Error
	}
	if info.Worker.ID == "" {
		return &orch.Error{Code: "agent_exited", Message: "agent " + info.Agent.ID + ": its program ended before it had taken the conversation of " + info.From + " up", Data: info,
			Hint: "its window may still show why", Next: []string{"st agents"}}
	}
	return &orch.Error{
		Code: "agent_exited", Message: "worker " + named(info.Worker) + ": its program ended before it had taken the conversation up", Data: info,
		Hint: "its window may still show why; the worker stays as it was",
		Next: []string{"st worker restart " + info.Worker.ID, "st worker retry " + info.Worker.ID},
	}
}
