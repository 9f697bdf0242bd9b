package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"st/orch"
)

var sendVerb = &verb{
	name: "send", args: "TO", min: 1, max: 1, about: "send a message to workers or to whoever coordinates a run",
	help: "TO is a worker (w2 or its name), dispatch:D (refused when its worker has gone on to another), run:R\n" +
		"(whoever coordinates it), @all, @idle, or @KIND such as @claude: the live workers of the run. A worker is\n" +
		"told as by st worker send; a message to a run waits until it is read: st check.",
	flags: func() []cli.Flag {
		return []cli.Flag{
			&cli.StringFlag{Name: "subject", Usage: "what it is about, one line: `S`"},
			&cli.StringFlag{Name: "body", Usage: "what it says: `B`"},
			&cli.StringFlag{Name: "file", Usage: "what it says, read from `FILE` (at most 1 MiB)"},
		}
	},
	needs: []string{"subject"},
	codes: []int{exitGone, exitRefused},
	sends: orch.Send{},
	run:   send,
}

func init() { register(sendVerb) }

func send(c *call) (int, error) {
	order, err := c.sendOrder()
	if err != nil {
		return 0, err
	}
	var a orch.MailAnswer
	if err := c.do(order, &a); err != nil {
		return 0, err
	}
	for i := range a.Messages {
		a.Messages[i].Body = inRecord(order.Body)
	}
	if c.out.json {
		return exitDone, c.out.data(sentData(a))
	}
	return exitDone, c.out.allSent(a)
}

func (c *call) sendOrder() (order orch.Send, err error) {
	order = orch.Send{To: c.arg(0), Subject: strings.TrimSpace(c.String("subject")), Body: c.String("body")}
	switch {
	case strings.TrimSpace(order.To) == "":
		return order, c.misuse("send: TO is empty")
	case order.Subject == "":
		return order, c.misuse("send: --subject is missing or empty")
	case strings.ContainsAny(order.Subject, "\n\r"):
		return order, c.misuse("send: --subject has a line break in it; the text goes into --body")
	case len(order.Subject) > orch.SubjectMost:
		return order, c.misuse("send: --subject has %d bytes, at most %d are taken; the text goes into --body", len(order.Subject), orch.SubjectMost)
	case c.IsSet("body") && c.IsSet("file"):
		return order, c.misuse("send: --body and --file exclude each other")
	}
	if c.IsSet("file") {
		if order.Body, err = c.textFile("file"); err != nil {
			return order, err
		}
	}
	for _, t := range []struct{ name, text string }{{"--subject", order.Subject}, {"--body", order.Body}} {
		if why := unfit(t.text); why != "" {
			return order, c.misuse("send: %s: %s", t.name, why)
		}
	}
	return order, nil
}

// inRecord is what stands of a text in the record of its message.
func inRecord(body string) string {
	if len(body) > orch.BodyMost {
		return ""
	}
	return body
}

// sentData is what --json shows: the one message, null where there are several or none, and all of them.
func sentData(a orch.MailAnswer) any {
	data := struct {
		Message  *orch.MessageInfo  `json:"message"`
		Messages []orch.MessageInfo `json:"messages"`
	}{nil, a.Messages}
	if len(a.Messages) == 1 {
		data.Message = &a.Messages[0]
	}
	return data
}

func (p *printer) allSent(a orch.MailAnswer) error {
	if len(a.Messages) == 0 {
		return p.say("nothing to do: no such worker of run %s is there to read it", a.Run)
	}
	for _, m := range a.Messages {
		if err := p.say("message %s to %s: %s", m.ID, boxName(m), m.State); err != nil {
			return err
		}
	}
	return nil
}

// boxName is whose box a message lies in.
func boxName(m orch.MessageInfo) string {
	if m.To == m.Run {
		return "run " + m.To
	}
	return "worker " + m.To
}
