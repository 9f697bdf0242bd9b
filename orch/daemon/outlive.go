package daemon

import (
	"context"
	"fmt"

	"st/orch"
)

// An agent's process may outlive the server with its terminal: it takes no notice of the terminal's end, as Gemini at its question
// about trust (0.61.0). Nobody can type to it any more. One that may come back is left alone, since it may still be at its work,
// until somebody stops it or takes its conversation up.

// outlives is the process of an agent whose server has ended that still runs, zero for none.
func (d *doer) outlives(agent string) (p orch.Process) {
	d.state(func(v orch.View) {
		if a, ok := v.Entity("agent/" + agent).(orch.Agent); ok && a.Gone == "server_gone" {
			p = a.Proc
		}
	})
	if !alive(p) {
		return orch.Process{}
	}
	return p
}

// endFormer ends what still runs of the agent whose conversation another takes up: two programs in one conversation would
// each work at the same.
func (d *doer) endFormer(ctx context.Context, agent string) error {
	former := d.resumes(agent)
	p := d.outlives(former)
	if p.PID == 0 {
		return nil
	}
	var o orch.AgentStop
	d.state(func(v orch.View) {
		a, _ := v.Entity("agent/" + former).(orch.Agent)
		o = orch.AgentStop{Agent: former, Kind: a.Kind, Proc: p}
		if a.Ours {
			o.Runner = a.Runner
		}
	})
	tree := d.family(o)
	if !awaitEnd(ctx, termTime, p) { // it may be about to end
		d.endProcess(ctx, p)
	}
	d.endRest(ctx, o, tree, nil)
	if alive(p) {
		return &orch.Error{
			Code: "not_ready", Message: fmt.Sprintf("process %d of agent %s still runs in that conversation, without a terminal, and could not be ended", p.PID, former),
			Next: []string{fmt.Sprintf("kill -KILL %d", p.PID)},
		}
	}
	return nil
}
