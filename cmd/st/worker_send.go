package main

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"st/orch"
	"st/orch/daemon"
)

var workerSendVerb = &verb{
	noun: "worker", name: "send", args: "W [TEXT]", min: 1, max: 2, about: "send a message to a worker",
	help: "The text is kept as a file beside the worker's task. One line that names the file is typed when the\n" +
		"agent's turn has ended and its input line is empty; several messages go in one after the other. A\n" +
		"report that was made stays. With --now the line is typed at once, or 7 tells why it can't be: a running\n" +
		"turn is never interrupted. --wait and --now return when a hook has proved the line, 9 where none did.",
	flags: func() []cli.Flag {
		return []cli.Flag{
			&cli.StringFlag{Name: "file", Usage: "the message, read from `FILE` (at most 1 MiB)"},
			&cli.BoolFlag{Name: "now", Usage: "type it at once or not at all"},
			&cli.DurationFlag{Name: "wait", Usage: "wait at most this long until it is proved"},
		}
	},
	codes: []int{exitGone, exitRefused, exitUnknown, exitTimedOut, exitInterrupted},
	sends: orch.WorkerSend{},
	run:   workerSend,
}

func init() { register(workerSendVerb) }

func workerSend(c *call) (int, error) {
	if c.IsSet("wait") && c.Duration("wait") <= 0 {
		return 0, c.misuse("worker send: --wait must be longer than nothing")
	}
	text, err := c.writing("the message")
	if err != nil {
		return 0, err
	}
	client, err := c.connect()
	if err != nil {
		return 0, err
	}
	var a orch.SendAnswer
	order := orch.WorkerSend{Worker: c.arg(0), Text: text, Now: c.Bool("now")}
	if err := c.order(client, order, &a); err != nil {
		return 0, err
	}
	m := a.Message
	m.Body = inRecord(text)
	if c.Bool("now") || c.IsSet("wait") {
		if err := c.followMessage(client, &m); err != nil {
			return 0, err
		}
	}
	if err := c.notSent(m); err != nil {
		return 0, err
	}
	if c.out.json {
		return c.sentCode(m), c.out.data(orch.SendAnswer{Message: m})
	}
	return c.sentCode(m), c.out.sent(m)
}

// proofTime is how long a message for now is followed: its typing, and then the time in which a hook should prove it.
const proofTime = time.Minute

// followMessage waits until a message is settled or the time is over.
func (c *call) followMessage(client *daemon.Client, m *orch.MessageInfo) error {
	limit := c.Duration("wait")
	if limit == 0 {
		limit = proofTime
	}
	ctx, cancel := context.WithTimeout(c.ctx, limit)
	defer cancel()
	c.out.progress("message %s is queued; waiting until it is proved (Ctrl-C ends only the waiting)", m.ID)
	err := c.watch(ctx, client, "message", orch.MessageArgs{Message: m.ID}, func(raw json.RawMessage) (bool, error) {
		*m = orch.MessageInfo{}
		return true, json.Unmarshal(raw, m)
	})
	if errors.Is(err, context.DeadlineExceeded) && c.ctx.Err() == nil {
		return nil // what is known by now is told
	}
	return err
}

// notSent is a message that will not reach its worker.
func (c *call) notSent(m orch.MessageInfo) error {
	if m.State != orch.NotDelivered {
		return nil
	}
	e := &orch.Error{
		Code: "not_ready", Message: "message " + m.ID + " was not delivered: " + orch.WhyHeld(m.Why),
		Next: []string{"st worker show " + m.To}, Data: orch.SendAnswer{Message: m},
	}
	switch {
	case strings.HasPrefix(m.Why, orch.NotWritten):
		e.Code, e.Next = "not_written", []string{"df -h " + shellWord(filepath.Dir(m.Path))}
	case m.Why == "gone" || m.Why == "stopped":
		e.Code, e.Next = "agent_exited", []string{"st worker read " + m.To}
	case c.Bool("now"):
		e.Hint = "without --now the message waits until its turn has ended"
	}
	return e
}

// sentCode is the exit code of a message that is on its way or has arrived.
func (c *call) sentCode(m orch.MessageInfo) int {
	switch {
	case m.State == orch.Unknown:
		return exitUnknown
	case m.State == orch.Delivered || !c.IsSet("wait") && !c.Bool("now"):
		return exitDone
	}
	return exitTimedOut
}

func (p *printer) sent(m orch.MessageInfo) error {
	switch m.State {
	case orch.Delivered:
		return p.say("message %s to worker %s: delivered", m.ID, m.To)
	case orch.Unknown:
		p.note("it was typed, but no hook has proved it; a later one corrects that")
	case orch.Queued:
		p.note("its line is typed when the agent's turn has ended: %s", m.Path)
	}
	err := p.say("message %s to worker %s: %s", m.ID, m.To, m.State)
	p.note("  st worker wait %s", m.To)
	return err
}
