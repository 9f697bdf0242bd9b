package main

import (
	"encoding/json"

	"github.com/urfave/cli/v2"

	"st/orch"
	"st/orch/daemon"
	"st/tmux"
)

var workerRestartVerb = &verb{
	noun: "worker", name: "restart", args: "W|PANE", min: 1, max: 1, about: "start a worker's agent again, in its conversation",
	help: "Its work goes on: the same task, name, folder, model, --arg and hooks, the environment of who calls; --env has to be\n" +
		"given again. An idle agent is asked to quit first; one that works, waits or has a draft is ended only with --yes. One\n" +
		"that is gone comes back. The window is opened in the session in which the worker was, where that is there. A pane (%3)\n" +
		"means an agent that is no worker: one without hooks gets them so, and can be adopted. That is a person's to do.",
	flags: func() []cli.Flag {
		return []cli.Flag{
			&cli.BoolFlag{Name: "yes", Usage: "end it also where its turn runs or a draft stands there"},
			&cli.StringFlag{Name: "session", Usage: "open the window in this session: `S`"},
			&cli.StringSliceFlag{Name: "env", Usage: "a variable `K=V` for the agent; may be repeated", KeepSpace: true},
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
	if order.Session, err = c.text("session"); err != nil {
		return err
	}
	if order.EnvNames, err = c.envNames(); err != nil {
		return err
	}
	order.Env, err = daemon.Veil(c.request, c.StringSlice("env"))
	return err
}

// followResume waits until the new agent has all that the old one had, has ended, or waits for somebody.
func (c *call) followResume(client *daemon.Client, a orch.ResumeAnswer) (int, error) {
	var info orch.ResumeInfo
	shown := false
	err := c.watch(c.ctx, client, "resume", orch.ResumeArgs{Agent: a.Agent}, func(raw json.RawMessage) (bool, error) {
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
	case c.out.json:
		err = c.out.data(info)
	case info.Taken && info.Worker.ID == "":
		err = c.out.say("restarted agent %s: agent %s has its conversation, in window %s of session %s", info.From, info.Agent.ID, info.Agent.Window, info.Agent.Session)
		c.out.note("  st worker adopt %s", info.Agent.ID)
	case info.Taken:
		err = c.out.say("restarted worker %s: agent %s has the conversation of %s, in window %s of session %s", named(info.Worker), info.Agent.ID, info.From,
			info.Agent.Window, info.Agent.Session)
	case info.Worker.ID == "":
		err = c.out.say("agent %s waits (%s) in window %s of session %s; it has the conversation of %s as soon as its input line is up", info.Agent.ID,
			info.Agent.WaitingFor, info.Agent.Window, info.Agent.Session, info.From)
		c.out.note("  st attach --session %s", info.Agent.Session)
	default:
		err = c.out.say("worker %s: agent %s waits (%s) in window %s of session %s; it has the work as soon as its input line is up", named(info.Worker), info.Agent.ID,
			info.Agent.WaitingFor, info.Agent.Window, info.Agent.Session)
	}
	if info.Taken {
		return exitDone, err
	}
	return exitNeedsInput, err
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
