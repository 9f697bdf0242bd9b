package daemon

import (
	"bytes"
	"context"
	"log"
	"testing"

	"st/orch"
)

// TestStopNowhere: an agent that never got a pane has none to be kept or closed, and nothing is said of one.
func TestStopNowhere(t *testing.T) {
	var said bytes.Buffer
	d := &doer{log: log.New(&said, "", 0)}
	ctx := context.Background()
	d.stay(ctx, orch.AgentStop{Agent: "a1", Keeps: true})
	d.leave(ctx, orch.Place{})
	if said.Len() > 0 {
		t.Errorf("it logs %q", said.String())
	}
}
