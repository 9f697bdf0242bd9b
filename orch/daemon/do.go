package daemon

import (
	"context"
	"errors"
	"fmt"
	"log"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"st/hooks"
	"st/orch"
	"st/orch/failpoint"
	"st/orch/proc"
	"st/tmux"
)

// doer does effects: what the state orders of the outside world. It decides nothing; every result, refusals
// and accidents included, becomes the next input.
type doer struct {
	home   string // ST_HOME
	self   string // absolute path of our own program
	mark   string // what stands before the worker's id in a pane's tag
	config config
	state  func(f func(orch.View)) // runs f with a state that nothing changes meanwhile
	now    func() time.Time        // the loop's
	log    *log.Logger
	// ready is closed when what happened while no daemon ran has been taken in. An effect that waits for it
	// finds the world as the state says.
	ready <-chan struct{}

	fit    atomic.Bool // tmux is installed and new enough
	lines  queues      // by what is acted on: what is done to one agent is done in order
	setups setups      // those that run
	begins sync.Mutex  // held while it is written how a worker's folder stood
}

// do carries out an effect and brings in its result. One that is cut off by the end of the daemon has no
// result: it stays owed, and the next daemon looks what became of it.
func (d *doer) do(ctx context.Context, r Running) {
	select {
	case <-d.ready:
	case <-ctx.Done():
		return
	}
	done := make(chan struct{})
	d.lines.add(objectOf(r.Do), func() {
		defer close(done)
		d.run(ctx, r)
	})
	<-done
}

// objectOf is what an order acts on: an agent, or a file.
func objectOf(o orch.Order) string {
	switch o := o.(type) {
	case orch.PaneOpen:
		return o.Agent
	case orch.WordType:
		return o.Agent
	case orch.AgentStop:
		return o.Agent
	case orch.LaunchDrop:
		if o.Agent == "" {
			return o.EnvFile
		}
		return o.Agent
	case orch.FileWrite:
		return o.Path // nothing is done to an agent by it
	case orch.FilesMove:
		return o.From
	case orch.LogSearch:
		return o.Path
	case orch.GateShow:
		return o.Gate
	case orch.TreeMake:
		return o.Common // one after the other in a repository: git would find its own locks in its way
	case orch.TreeFinish:
		return o.Common
	case orch.CheckRun:
		return "check " + o.Task
	case orch.SetupRun:
		return "setup " + o.Worker
	case orch.SetupStop:
		return "stop of setup " + o.Worker
	}
	return ""
}

func (d *doer) run(ctx context.Context, r Running) {
	failpoint.At("effect.begin")
	var what orch.What
	switch o := r.Do.(type) {
	case orch.PaneOpen:
		what = d.paneOpen(ctx, r, o)
	case orch.WordType:
		what = d.wordType(ctx, r, o)
	case orch.AgentStop:
		what = d.agentStop(ctx, o)
	case orch.FileWrite:
		what = d.fileWrite(ctx, o)
	case orch.LogSearch:
		what = d.logSearch(ctx, o)
	case orch.GateShow:
		what = d.gateShow(ctx, r, o)
	case orch.TreeMake:
		what = d.treeMake(ctx, r, o)
	case orch.TreeFinish:
		what = d.treeFinish(ctx, r, o)
	case orch.CheckRun:
		what = d.checkRun(ctx, r, o)
	case orch.SetupRun:
		what = d.setupRun(ctx, r, o)
	case orch.FilesMove:
		what = d.filesMove(o)
	case orch.SetupStop:
		d.setups.stop(o.Worker)
		what = orch.SetupStopped(o)
	case orch.LaunchDrop:
		d.removeEnv(o.Agent, o.EnvFile)
		what = orch.LaunchDropped{Agent: o.Agent}
	default:
		d.log.Printf("effect %d: nobody does %q", r.ID, r.Do.Type())
		return
	}
	if ctx.Err() != nil {
		return
	}
	failpoint.At("effect.result.before")
	if err := r.Done(ctx, what); err != nil {
		d.log.Printf("effect %d (%s): its result was not taken: %v", r.ID, r.Do.Type(), err)
		return
	}
	failpoint.At("effect.result.after")
	if f, ok := what.(orch.PaneFailed); ok && f.Again != nil {
		return // it is still needed, or the state has it dropped
	}
	if o, ok := r.Do.(orch.PaneOpen); ok && !o.Keep {
		d.removeEnv(o.Agent, o.EnvFile)
	}
}

// server returns the handle of the server a place names, and its identity. It fails with tmux.ErrOtherServer
// or tmux.ErrNoServer where that very server no longer runs.
func server(ctx context.Context, p orch.Place) (*tmux.Tmux, tmux.Identity, error) {
	want, err := tmux.ParseIdentity(p.Server)
	if err != nil {
		return nil, want, fmt.Errorf("server %q: %w", p.Server, err)
	}
	t := tmux.At(want.Socket)
	is, err := t.Identity(ctx)
	if err != nil {
		return nil, want, err
	}
	if is != want {
		return nil, want, tmux.ErrOtherServer
	}
	return t, want, nil
}

// gone reports whether an error says that the server or the pane is no longer there.
func gone(err error) bool {
	return errors.Is(err, tmux.ErrNoServer) || errors.Is(err, tmux.ErrOtherServer) || errors.Is(err, tmux.ErrNoPane)
}

// hooksView is a look at a pane in the words of hooks.
func hooksView(v tmux.View) hooks.View {
	return hooks.View{
		Rows: v.Rows, CursorX: v.CursorX, CursorY: v.CursorY, CursorVisible: v.CursorVisible,
		Alternate: v.Alternate, Width: v.Width, Height: v.Height,
	}
}

// scratch is the folder for the files of one agent's launch.
func scratch(home, agent string) string { return filepath.Join(LaunchDir(home), agent) }

// nonceOf is the secret in an agent's environment.
func (d *doer) nonceOf(agent string) (nonce string) {
	d.state(func(v orch.View) {
		if a, ok := v.Entity("agent/" + agent).(orch.Agent); ok {
			nonce = a.Nonce
		}
	})
	return nonce
}

// processOf is the process of that pid as it is now.
func processOf(pid int) (orch.Process, error) {
	p, err := proc.Of(pid)
	return orch.Process(p), err
}
