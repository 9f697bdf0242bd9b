package main

import (
	"bytes"
	"encoding/json"

	"st/orch"
	"st/orch/daemon"
)

var requestShowVerb = &verb{
	noun: "request", name: "show", args: "ID", min: 1, max: 1, about: "what came of a request: a verb that was called with --request ID",
	help: "The verbs that start, stop, end, send, press or report take --request ID: 1 to 128 letters, digits and\n" +
		"signs without a space, which you make up anew for each thing that you want done. However often the verb is\n" +
		"called with it, also after a crash of whatever you like, it is done once, and each call answers alike. The\n" +
		"same id for something else, or from another agent, is refused (7). A request that was refused has changed nothing and is not kept: the same id\n" +
		"serves once the cause is mended. A request is forgotten " + daemon.Remembered() + ".",
	run: requestShow,
}

func init() { register(requestShowVerb) }

// shownRequest is a request with the verb that asked.
type shownRequest struct {
	Verb string `json:"verb"` // "" where an older program took it
	orch.RequestInfo
}

func requestShow(c *call) (int, error) {
	var r shownRequest
	if err := c.get("request", orch.RequestArgs{Request: c.arg(0)}, &r.RequestInfo); err != nil {
		return 0, err
	}
	r.Verb = verbOf(r.Input)
	if c.out.json {
		return exitDone, c.out.data(map[string]any{"request": r})
	}
	return exitDone, c.out.request(r)
}

// verbOf is the verb that sends an order of that name.
func verbOf(input string) string {
	for _, v := range sorted() {
		if v.sends != nil && v.sends.Type() == input {
			return v.path()
		}
	}
	return input
}

func (p *printer) request(r shownRequest) error {
	if err := p.say("%s: %s", p.style(p.styles.head, r.ID), done(r.Verb)); err != nil {
		return err
	}
	by := r.By
	if by == "person" {
		by = "a person"
	}
	if err := p.fields([]field{{"age", ago(r.At)}, {"by", by}}); err != nil {
		return err
	}
	if r.Worker != nil {
		return p.worker(*r.Worker)
	}
	var answer bytes.Buffer
	if len(r.Answer) > 0 && json.Indent(&answer, r.Answer, "", "  ") == nil {
		return p.text("answer", answer.String())
	}
	return nil
}

// done says that a verb's order was taken.
func done(verb string) string {
	if verb == "" {
		return "done"
	}
	return "st " + verb + ", done"
}
