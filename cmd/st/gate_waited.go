package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"st/orch"
	"st/orch/daemon"
)

// gateWaited waits until a gate is open no more, prints the choice and says that it has done so. A limit below 0 is none.
func (c *call) gateWaited(client *daemon.Client, id string, limit time.Duration) (int, error) {
	g, err := c.followGate(client, id, limit)
	switch {
	case c.ctx.Err() != nil:
		return 0, &orch.Error{Code: "interrupted", Message: "stopped waiting; the gate stays open", Next: []string{"st gate wait " + id}}
	case err != nil:
		return 0, err
	case g.Status == orch.GateOpen:
		return c.gateStillOpen(g)
	}
	refusal := c.gateUnanswered(g)
	if refusal == nil {
		err = c.gateChosen(g)
	} else if !c.out.json {
		c.out.note("st: %s", refusal.Message)
		for _, line := range refusal.Next {
			c.out.note("  %s", line)
		}
	} else {
		c.out.refusal(refusal)
	}
	if err != nil || c.out.broken != nil {
		return exitFailed, err // nobody has read it, so a word tells it
	}
	if err := client.Do(c.ctx, uuid.NewString(), orch.GateTold{Gate: g.ID, Status: g.Status}, nil); err != nil {
		c.out.note("st: what was told here may be told once more: %s", reason(err))
	}
	if refusal != nil {
		return exitRefused, nil
	}
	return exitDone, nil
}

// followGate follows a gate until it is open no more or the time is over.
func (c *call) followGate(client *daemon.Client, id string, limit time.Duration) (g orch.GateInfo, err error) {
	ctx, cancel := c.ctx, context.CancelFunc(func() {})
	if limit >= 0 {
		ctx, cancel = context.WithTimeout(c.ctx, limit)
	}
	defer cancel()
	shown := false
	err = c.watch(ctx, client, "gate", orch.GateArgs{Gate: id}, func(raw json.RawMessage) (bool, error) {
		g = orch.GateInfo{}
		if err := json.Unmarshal(raw, &g); err != nil {
			return false, err
		}
		if g.Status == orch.GateOpen && !shown {
			c.out.progress("waiting for a person: %s (Ctrl-C ends only the waiting)", answerLine(g))
			shown = true
		}
		return g.Status == orch.GateOpen, nil
	})
	if ctx.Err() == nil || c.ctx.Err() != nil || g.ID != "" && g.Status != orch.GateOpen {
		return g, err
	}
	const askTime = 5 * time.Second
	last, cancel := context.WithTimeout(c.ctx, askTime)
	defer cancel()
	var now orch.GateInfo
	if err := client.Get(last, "gate", orch.GateArgs{Gate: id}, &now); err != nil {
		if g.ID == "" {
			return g, err
		}
		return g, nil // a daemon that stopped answering; what it last said is still worth telling
	}
	return now, nil
}

// gateStillOpen tells that nobody has answered in time.
func (c *call) gateStillOpen(g orch.GateInfo) (int, error) {
	if c.out.json {
		return exitTimedOut, c.out.data(map[string]any{"gate": g, "timed_out": true})
	}
	c.out.note("st: gate %s is still open; a person answers it:", g.ID)
	c.out.note("  %s", answerLine(g))
	return exitTimedOut, nil
}

// gateChosen prints the choice: it alone is on stdout.
func (c *call) gateChosen(g orch.GateInfo) error {
	if c.out.json {
		return c.out.data(map[string]any{"gate": g, "timed_out": false})
	}
	c.out.note("st: gate %s was answered: %s", g.ID, g.AnsweredBy)
	return c.out.say("%s", g.Choice)
}

// gateUnanswered is what a wait says of a gate that has ended without an answer, nil for one that has one.
func (c *call) gateUnanswered(g orch.GateInfo) *orch.Error {
	e := &orch.Error{Code: "gate_closed", Next: []string{"st gate show " + g.ID}, Data: map[string]any{"gate": g}}
	switch g.Status {
	case orch.GateCancelled:
		e.Message = "gate " + g.ID + " was cancelled: nobody will answer it"
	case orch.GateTimedOut:
		e.Message = "gate " + g.ID + " timed out: nobody has answered it in time, and a person still may"
		e.Next = append([]string{answerLine(g)}, e.Next...)
	default:
		return nil
	}
	return e
}
