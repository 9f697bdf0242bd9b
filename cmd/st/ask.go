package main

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/urfave/cli/v2"

	"st/orch"
)

var askVerb = &verb{
	name: "ask", about: "a worker asks whoever answers for it, and waits for the answer",
	help: "For workers. The answer's text is printed. When the time is over (124) the question stays open: wait\n" +
		"again with --resume, or end the turn, and the answer comes as the next message. The same question, asked\n" +
		"again before its answer was told, is the same one. --options may be given several times. Where an agent's\n" +
		"sandbox keeps it from waiting, the question is taken in at once and the answer comes as the next message.",
	flags: func() []cli.Flag {
		return []cli.Flag{
			&cli.StringFlag{Name: "question", Usage: "what has to be decided: `Q`"},
			&cli.StringSliceFlag{Name: "options", Usage: "what may be answered: `A,B`, as in CSV (one with a comma in double quotes)"},
			&cli.DurationFlag{Name: "timeout", Usage: "wait at most this long"},
			&cli.StringFlag{Name: "resume", Usage: "wait again for the answer to question `M`"},
		}
	},
	codes: []int{exitRefused, exitTimedOut, exitInterrupted},
	sends: orch.Ask{},
	run:   ask,
}

func init() { register(askVerb) }

// bodyMax is how long a question or an answer may be, in bytes.
const bodyMax = 64 << 10

// askSaid is the answer of the verb in JSON.
type askSaid struct {
	Message  *orch.MessageInfo `json:"message"` // the question; null where it waits for the daemon
	Answer   string            `json:"answer"`
	TimedOut bool              `json:"timed_out"`
	Later    bool              `json:"later"` // nobody waits: the answer comes as the agent's next message
}

func ask(c *call) (int, error) {
	order, err := c.askOrder()
	if err != nil {
		return 0, err
	}
	order.Later = carried(c.ctx)
	if c.IsSet("resume") {
		return c.resume(c.String("resume"), order.Later)
	}
	var a orch.AskAnswer
	queued, err := c.report(order, &a)
	switch {
	case err != nil:
		return 0, err
	case queued:
		return exitDone, c.askedLater(nil)
	case order.Later && a.Message.Reply == "":
		return exitDone, c.askedLater(&a.Message)
	case order.Later:
		return c.resume(a.Message.ID, true)
	}
	if !c.out.json {
		c.out.note("st: asked %s; waiting for the answer", a.Message.ID)
	}
	return c.awaitAnswer(a.Message.ID)
}

// askOrder reads the question and what may be answered.
func (c *call) askOrder() (orch.Ask, error) {
	order := orch.Ask{Question: strings.TrimSpace(c.String("question"))}
	switch {
	case c.IsSet("resume") && (c.IsSet("question") || c.IsSet("options") || c.IsSet("request")):
		return order, c.misuse("ask: --resume takes neither --question nor --options nor --request")
	case c.IsSet("resume") && c.String("resume") == "":
		return order, c.misuse("ask: --resume is empty")
	case c.IsSet("resume"):
		return order, nil
	case order.Question == "":
		return order, c.misuse("ask: --question is missing or empty")
	}
	if why := tooMuch(order.Question); why != "" {
		return order, c.misuse("ask: --question: %s", why)
	}
	var err error
	order.Options, err = c.options()
	return order, err
}

// tooMuch says why a text is no question or answer, "" where it may be one.
func tooMuch(text string) string {
	if len(text) > bodyMax {
		return "it has more than 64 KiB; put the rest into a file and name that"
	}
	return unfit(text)
}

// resume waits again for an answer, or where nobody can wait says how it stands.
func (c *call) resume(id string, later bool) (int, error) {
	if !later {
		return c.awaitAnswer(id)
	}
	var info orch.QuestionInfo
	client, err := c.connect()
	if err == nil {
		err = client.Get(c.ctx, "question", orch.MessageArgs{Message: id}, &info)
	}
	switch {
	case err != nil:
		return 0, err
	case !info.Done:
		return exitDone, c.askedLater(&info.Message)
	}
	return c.answered(client, info)
}

// awaitAnswer follows a question until it has its answer, gets none any more, or the time is over.
func (c *call) awaitAnswer(id string) (int, error) {
	client, err := c.connect()
	if err != nil {
		return 0, err
	}
	ctx, cancel := c.limited()
	defer cancel()
	var info orch.QuestionInfo
	err = c.watch(ctx, client, "question", orch.MessageArgs{Message: id}, func(raw json.RawMessage) (bool, error) {
		info = orch.QuestionInfo{}
		err := json.Unmarshal(raw, &info)
		return !info.Done, err
	})
	again := "st ask --resume " + id
	switch {
	case info.Done:
		return c.answered(client, info)
	case c.ctx.Err() != nil:
		return 0, &orch.Error{Code: "interrupted", Message: "stopped waiting; question " + id + " stays open", Next: []string{again}}
	case ctx.Err() == nil:
		return 0, err
	}
	if info.Message.ID == "" { // the time was over before the daemon had said anything
		if err := client.Get(c.ctx, "question", orch.MessageArgs{Message: id}, &info); err != nil {
			return 0, err
		}
		if info.Done {
			return c.answered(client, info)
		}
	}
	if c.out.json {
		return exitTimedOut, c.out.data(askSaid{Message: &info.Message, TimedOut: true})
	}
	c.out.note("st: waited %s; question %s stays open. Wait again, or end your turn: the answer comes as your next message", c.Duration("timeout"), id)
	c.out.note("  %s", again)
	return exitTimedOut, nil
}

// askedLater says that a question is taken in for whose answer nobody can wait here.
func (c *call) askedLater(m *orch.MessageInfo) error {
	if c.out.json {
		return c.out.data(askSaid{Message: m, Later: true})
	}
	const then = "end your turn now, the answer comes as your next message"
	if m == nil {
		return c.out.say("%s; %s", queuedSaid(c.ifWorker()), then)
	}
	return c.out.say("asked %s: %s", m.ID, then)
}

// carriedKey marks the context of a call that a hook makes for its agent.
type carriedKey struct{}

// carried tells that a hook makes the call: its agent can't wait for it, nor can the hook.
func carried(ctx context.Context) bool { return ctx.Value(carriedKey{}) != nil }
