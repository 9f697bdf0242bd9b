package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"st/hooks"
	"st/orch"
	"st/tmux"
)

// keyAge is how long ago a person's last key may be for an act that only a person may do.
const keyAge = 5 * time.Second

// gateAnswer finds out whether a person answers, and gives the answer to the loop with what it has found. What the caller
// says of that counts for nothing. A request that was taken before gets its old answer.
func (d *daemon) gateAnswer(ctx context.Context, in orch.Input, body json.RawMessage) (any, error) {
	var o struct {
		Gate   string `json:"gate"`
		Choice string `json:"choice"`
	}
	if err := json.Unmarshal(body, &o); err != nil {
		return nil, &orch.Error{Code: "bad_request", Message: fmt.Sprintf("gate-answer: %v", err)}
	}
	answer := orch.GateAnswer{Gate: o.Gate, Choice: o.Choice}
	in.What = answer
	content, err := contentOf(in.By, answer)
	if err != nil {
		return nil, err
	}
	if kept, again, err := d.loop.Again(in, content); again {
		return kept, err
	}
	answer.Evidence, answer.Missing = d.personAt(ctx, in.By)
	in.What = answer
	return d.loop.DoAs(ctx, in, content)
}

// attachAge is for how many seconds whoever has just attached is believed to press keys.
const attachAge = 2

// personAt finds the evidence that a person acts: no agent is above the caller or in its environment, and it runs in the
// active pane of a person's terminal at which a key was pressed a moment ago. Without it, missing says what is not there.
// This is a guard against agents that err, not a wall against code of the same user.
func (d *daemon) personAt(ctx context.Context, by orch.Caller) (found *orch.Evidence, missing string) {
	if missing := agentIn(by); missing != "" {
		return nil, missing
	}
	if by.Place.Pane == "" {
		return nil, "this does not run in a pane of tmux"
	}
	t, _, err := server(ctx, by.Place)
	if err != nil {
		return nil, "its tmux server can't be asked: " + err.Error()
	}
	panes, err := t.Panes(ctx)
	if err != nil {
		return nil, "its tmux server can't be asked: " + err.Error()
	}
	if !runsIn(by, panes) {
		return nil, "this does not run in pane " + by.Place.Pane + ", which its environment names"
	}
	clients, err := t.AllClients(ctx)
	if err != nil {
		return nil, "its tmux server can't be asked: " + err.Error()
	}
	return keyIn(by.Place, clients, d.loop.Now())
}

// agentIn says which agent is above a caller, or in its environment; "" for none.
func agentIn(by orch.Caller) string {
	for _, l := range by.Chain {
		if l.Kind != "" {
			return fmt.Sprintf("an agent (%s, process %d) runs it", l.Kind, l.PID)
		}
	}
	inside := by.Inside
	if len(by.Chain) > 0 {
		if name := hooks.Inside(environOf(by.Chain[0].PID)); name != "" {
			inside = name
		}
	}
	switch {
	case by.Path != "socket" || len(by.Chain) == 0:
		return "who asks can't be told"
	case by.Shared != "":
		return "an agent (" + by.Shared + ") runs it"
	case by.As != "":
		return "it speaks as " + by.As
	case by.Nonce != "":
		return "its environment is an agent's (ST_AGENT)"
	case inside != "":
		return "its environment is an agent's (" + inside + ")"
	}
	return ""
}

// runsIn says that a caller's ancestry leads to the process of the pane that it names.
func runsIn(by orch.Caller, panes []tmux.Pane) bool {
	for _, p := range panes {
		if p.ID == by.Place.Pane {
			return p.PID == by.Chain[len(by.Chain)-1].PID
		}
	}
	return false
}

// keyIn looks for a terminal that shows a pane and at which a key was pressed a moment ago.
func keyIn(place orch.Place, clients []tmux.Client, now time.Time) (*orch.Evidence, string) {
	var quiet []string
	control := false
	for _, c := range clients {
		switch {
		case c.Pane != place.Pane:
		case c.Control:
			control = true
		case pressedKey(c, now):
			return &orch.Evidence{Client: c.Name, Place: place, Key: time.Unix(c.Activity, 0).UTC()}, ""
		default:
			quiet = append(quiet, c.Name)
		}
	}
	switch {
	case len(quiet) > 0:
		return nil, fmt.Sprintf("no key was pressed at %s in the last %d s", strings.Join(quiet, ", "), int(keyAge.Seconds()))
	case control:
		return nil, "pane " + place.Pane + " is shown by a control client only, and nobody presses keys there"
	}
	return nil, "pane " + place.Pane + " is not the active pane of an attached terminal"
}

// pressedKey says that a key was pressed a moment ago. tmux counts in seconds, and its first count is the attaching: a key in
// that very second looks like none, so whoever has only just attached is believed.
func pressedKey(c tmux.Client, now time.Time) bool {
	age := now.Unix() - c.Activity
	return age <= int64(keyAge.Seconds()) && (c.Activity > c.Created || age <= attachAge)
}
