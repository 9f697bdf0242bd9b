package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"st/orch"
)

var replyVerb = &verb{
	name: "reply", args: "M [TEXT]", min: 1, max: 2, about: "answer a worker's question",
	help: "An ask that waits prints the answer; else it is kept as a file, and one line that names the file is\n" +
		"typed when the worker's turn has ended. A question has one answer: another one is refused, the same again\n" +
		"is nothing to do. Any text is taken, also where the question has options; the answer says which it is.",
	flags: func() []cli.Flag {
		return []cli.Flag{
			&cli.StringFlag{Name: "file", Usage: "the answer, read from `FILE` (at most 64 KiB)"},
		}
	},
	codes: []int{exitRefused},
	sends: orch.Reply{},
	run:   reply,
}

func init() { register(replyVerb) }

func reply(c *call) (int, error) {
	text, err := c.writing("the answer")
	if err != nil {
		return 0, err
	}
	if why := tooMuch(text); why != "" {
		return 0, c.misuse("reply: the answer: %s", why)
	}
	var a orch.ReplyAnswer
	if err := c.do(orch.Reply{Message: c.arg(0), Text: text}, &a); err != nil {
		return 0, err
	}
	if c.out.json {
		return exitDone, c.out.data(a)
	}
	return exitDone, c.out.replied(a)
}

func (p *printer) replied(a orch.ReplyAnswer) error {
	q := a.Question
	if a.Already {
		return p.say("nothing to do: question %s had this answer, %s", q.ID, a.Message.ID)
	}
	how := "the line that names its file is typed when the worker's turn has ended"
	if a.Waiting {
		how = "its ask tells it"
	}
	err := p.say("answered question %s of worker %s %s with %s: %s", q.ID, q.Worker, quoted(a.Name), a.Message.ID, how)
	if len(q.Options) > 0 && !a.Option {
		p.note("the answer is none of the options: %s", optionList(q.Options))
	}
	return err
}

// optionList is how options stand in a sentence.
func optionList(options []string) string { return strings.Join(options, " / ") }
