package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/urfave/cli/v2"

	"st/orch"
	"st/orch/daemon"
)

var checkVerb = &verb{
	name: "check", about: "read the mail of your run or of yourself, and say what is dealt with",
	help: "It shows all open messages in a new delivery; what is not acknowledged is shown again by the next\n" +
		"check. --ack V settles exactly what V has shown. --wait returns as soon as there is a message, with\n" +
		"--types one of these types: message, question, answer, escalation, worker_done; it shows the others too.\n" +
		"st check --wait --ack V is one round of a loop. --peek and --all look without making a delivery.",
	flags: func() []cli.Flag {
		return []cli.Flag{
			&cli.BoolFlag{Name: "wait", Usage: "wait until there is a message"},
			&cli.StringFlag{Name: "types", Usage: "wait for these types: `A,B`"},
			&cli.DurationFlag{Name: "timeout", Usage: "wait at most this long"},
			&cli.StringFlag{Name: "ack", Usage: "settle what delivery `V` has shown, first"},
			&cli.BoolFlag{Name: "peek", Usage: "look without making a delivery, also into an agent's run"},
			&cli.BoolFlag{Name: "all", Usage: "look, also at what is settled"},
			&cli.IntFlag{Name: "limit", Usage: "at most the oldest `N` messages, with --all the newest"},
		}
	},
	codes: []int{exitRefused, exitTimedOut, exitInterrupted},
	sends: orch.MailCheck{},
	run:   checkMail,
}

func init() { register(checkVerb) }

// checked is what a check answers.
type checked struct {
	Delivery string             `json:"delivery_id"`
	Messages []orch.MessageInfo `json:"messages"`
	More     int                `json:"more"` // open ones that are left out
	TimedOut bool               `json:"timed_out"`
	Acked    []string           `json:"acked"`
}

func checkMail(c *call) (int, error) {
	types, err := c.checkFlags()
	if err != nil {
		return 0, err
	}
	client, err := c.connect()
	if err != nil {
		return 0, err
	}
	if c.Bool("peek") || c.Bool("all") {
		return c.look(client)
	}
	var got checked
	if err := c.ack(client, &got); err != nil {
		return 0, err
	}
	if got.TimedOut, err = c.await(client, types); err != nil {
		return 0, err
	}
	if err := c.deliver(client, &got); err != nil {
		return 0, err
	}
	if err := c.showMail(got); err != nil {
		return 0, err
	}
	if got.Delivery != "" {
		if err := client.Do(c.ctx, uuid.NewString(), orch.MailTold{Delivery: got.Delivery}, nil); err != nil {
			return 0, err
		}
	}
	if got.TimedOut {
		return exitTimedOut, nil
	}
	return exitDone, nil
}

// checkFlags refuses flags that mean nothing together, and reads the types.
func (c *call) checkFlags() (types []string, err error) {
	looks := c.Bool("peek") || c.Bool("all")
	switch {
	case c.Bool("peek") && c.Bool("all"):
		return nil, c.misuse("check: --peek and --all exclude each other")
	case looks && (c.Bool("wait") || c.IsSet("ack")):
		return nil, c.misuse("check: --peek and --all only look: they take neither --wait nor --ack")
	case !c.Bool("wait") && (c.IsSet("types") || c.IsSet("timeout")):
		return nil, c.misuse("check: --types and --timeout belong to --wait")
	}
	if _, err := c.text("ack"); err != nil {
		return nil, err
	}
	if _, err := c.text("types"); err != nil {
		return nil, err
	}
	for _, t := range strings.Split(c.String("types"), ",") {
		if t = strings.TrimSpace(t); t != "" {
			types = append(types, t)
		}
	}
	if refusal := orch.CheckMessageTypes(types); refusal != nil {
		return nil, c.misuse("check: --types: %s", refusal.Message)
	}
	return types, nil
}

// look shows what lies in the boxes and changes nothing.
func (c *call) look(client *daemon.Client) (int, error) {
	var i orch.MailInfo
	if err := client.Get(c.ctx, "mail", orch.MailArgs{All: c.Bool("all"), Limit: c.Int("limit")}, &i); err != nil {
		return 0, err
	}
	return exitDone, c.showMail(checked{Messages: i.Messages, More: i.More})
}

// ack settles what an earlier delivery has shown.
func (c *call) ack(client *daemon.Client, got *checked) error {
	got.Acked = []string{}
	if !c.IsSet("ack") {
		return nil
	}
	var a orch.AckAnswer
	// A request that comes again must get the answer of its ack too, which has an id of its own that follows from it.
	request := uuid.NewSHA1(uuid.NameSpaceOID, []byte("ack "+c.request)).String()
	if err := client.Do(c.ctx, request, orch.MailAck{Delivery: c.String("ack")}, &a); err != nil {
		return err
	}
	got.Acked = a.Acked
	switch {
	case c.out.json:
	case len(a.Acked) == 0:
		return c.out.say("nothing to do: all that %s has shown was settled before", a.Delivery)
	default:
		return c.out.say("acknowledged %s", strings.Join(a.Acked, ", "))
	}
	return nil
}

// await waits for mail, where that is asked for and the request has not had its delivery before.
func (c *call) await(client *daemon.Client, types []string) (timedOut bool, err error) {
	if !c.Bool("wait") {
		return false, nil
	}
	if c.IsSet("request") {
		var known orch.RequestInfo
		err := client.Get(c.ctx, "request", orch.RequestArgs{Request: c.request}, &known)
		var e *orch.Error
		if err == nil || !errors.As(err, &e) || e.Code != "request_not_found" {
			return false, err
		}
	}
	ctx, cancel := c.limited()
	defer cancel()
	said := false
	err = c.watch(ctx, client, "mailbox", orch.MailboxArgs{Types: types}, func(raw json.RawMessage) (bool, error) {
		var i orch.MailboxInfo
		if err := json.Unmarshal(raw, &i); err != nil {
			return false, err
		}
		if !i.Done && !said {
			c.out.progress("waiting for mail (Ctrl-C ends only the waiting)")
			said = true
		}
		return !i.Done, nil
	})
	if c.ctx.Err() != nil {
		return false, &orch.Error{Code: "interrupted", Message: "stopped waiting; the mail stays", Next: []string{"st check"}}
	}
	if ctx.Err() != nil && errors.Is(err, context.DeadlineExceeded) {
		return true, nil
	}
	return false, err
}

// deliver makes a delivery of what is open, and reads it.
func (c *call) deliver(client *daemon.Client, got *checked) error {
	var a orch.CheckAnswer
	if err := c.order(client, orch.MailCheck{Limit: c.Int("limit")}, &a); err != nil {
		return err
	}
	got.Delivery, got.Messages = a.Delivery, []orch.MessageInfo{}
	if a.Delivery == "" {
		return nil
	}
	var i orch.MailInfo
	if err := client.Get(c.ctx, "delivery", orch.DeliveryArgs(a), &i); err != nil {
		return err
	}
	got.Messages, got.More = i.Messages, i.More
	return nil
}

func (c *call) showMail(got checked) error {
	if c.out.json {
		return c.out.data(got)
	}
	if got.TimedOut {
		c.out.note("st: waited %s", c.Duration("timeout"))
	}
	if len(got.Messages) == 0 {
		return c.out.say("no mail")
	}
	for _, m := range got.Messages {
		if err := c.out.mail(m); err != nil {
			return err
		}
	}
	if got.More > 0 {
		c.out.note("%d more are open: st check shows them when these are acknowledged", got.More)
	}
	if got.Delivery != "" {
		c.out.note("delivery %s; when they are dealt with: st check --ack %[1]s", got.Delivery)
	}
	return nil
}

// mail prints a message: a line of what it is, its subject, its text set off.
func (p *printer) mail(m orch.MessageInfo) error {
	about := ""
	if m.Dispatch != "" {
		about = " on " + m.Dispatch
	}
	if m.Settled != nil {
		about += ", settled (" + m.How + ")"
	}
	head := fmt.Sprintf("%s  %s from %s to %s, %s%s", m.ID, m.Type, writerName(m), boxName(m), m.Created.Local().Format(time.DateTime), about)
	if err := p.say("%s", p.style(p.styles.head, head)); err != nil {
		return err
	}
	if m.Subject != "" {
		if err := p.say("  %s", p.style(p.styles.good, m.Subject)); err != nil {
			return err
		}
	}
	if len(m.Options) > 0 {
		if err := p.say("  options: %s", strings.Join(m.Options, ", ")); err != nil {
			return err
		}
	}
	switch {
	case m.Body != "":
		if err := p.say("%s", block(indent(m.Body))); err != nil {
			return err
		}
	case m.Long:
		if err := p.say("  its text is in the file %s", m.Path); err != nil {
			return err
		}
	}
	if strings.HasPrefix(m.Why, orch.NotWritten) {
		p.note("  %s", orch.WhyHeld(m.Why))
	}
	if next := afterMail(m); next != "" && m.Settled == nil {
		p.note("  %s", next)
	}
	return nil
}

// afterMail is the line that somebody types who wants to go on with a message.
func afterMail(m orch.MessageInfo) string {
	switch m.Type {
	case orch.Question:
		return replyLine(m.ID)
	case orch.ReportMail:
		return "st worker read " + m.Worker
	case orch.Escalation:
		if m.Worker != "" {
			return "st worker show " + m.Worker
		}
	}
	return ""
}

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ")
}

// writerName is who has written a message.
func writerName(m orch.MessageInfo) string {
	switch {
	case m.From == "":
		return "a person"
	case m.From == orch.Us:
		return "st"
	case m.FromWorker == "":
		return "agent " + m.From
	}
	return "worker " + m.FromWorker + " " + quoted(m.FromName)
}
