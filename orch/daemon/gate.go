package daemon

import (
	"context"
	"encoding/json"
	"fmt"

	"st/orch"
)

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
	found := d.personAt(ctx, in.By)
	answer.Evidence, answer.Missing, answer.Early = found.evidence, found.missing, found.early
	in.What = answer
	return d.loop.DoAs(ctx, in, content)
}
