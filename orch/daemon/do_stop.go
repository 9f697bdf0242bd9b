package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"st/hooks"
	"st/orch"
	"st/orch/failpoint"
	"st/orch/proc"
	"st/tmux"
)

// How long an agent gets to end: after it was asked in its own words, and after each signal.
const (
	quitTime = 5 * time.Second
	termTime = 3 * time.Second
	killTime = 2 * time.Second
)

// agentStop ends an agent: by its own quit command where its input line is free, else by signals; then its
// pane, then what it left running below it. Every process is ended only while it is the very one that was
// seen, every pane only while server and tag fit. It may be repeated at any point.
func (d *doer) agentStop(ctx context.Context, o orch.AgentStop) orch.What {
	if o.Keeps {
		d.stay(ctx, o)
	}
	if o.Gently {
		if why := d.askedToGo(ctx, o); why != "" {
			d.leave(ctx, o.Place)
			return orch.AgentStopped{Agent: o.Agent, Lives: why}
		}
	}
	secret := d.nonceOf(o.Agent)
	tree := d.family(o)
	session := sessionOf(o.Runner, o.Proc)
	apart := detached(secret, session, tree)
	if alive(o.Proc) {
		failpoint.At("stop.quit.before")
		d.quit(ctx, o)
		failpoint.At("stop.quit.after")
	}
	tree = append(tree, d.family(o)...)
	if alive(o.Proc) {
		failpoint.At("stop.signal.before")
		d.endProcess(ctx, o.Proc)
	}
	failpoint.At("stop.pane.before")
	if !o.Keeps {
		d.closePane(ctx, o)
	}
	failpoint.At("stop.pane.after")
	d.endRest(ctx, o, tree, inSession(withSecret(secret), session))
	if err := os.RemoveAll(scratch(d.home, o.Agent)); err != nil {
		d.log.Printf("agent %s: %v", o.Agent, err)
	}
	return orch.AgentStopped{Agent: o.Agent, LeftOver: named(apart), Kept: o.Keeps}
}

// goTime is how long an agent that is only asked to go may take.
const goTime = 20 * time.Second

// askedToGo asks an agent to quit where no turn of it runs, and says why it is still there; "" where it has ended.
func (d *doer) askedToGo(ctx context.Context, o orch.AgentStop) string {
	if o.Proc.PID == 0 {
		return "its process is not known"
	}
	turn := false
	d.state(func(v orch.View) {
		a, _ := v.Entity("agent/" + o.Agent).(orch.Agent)
		turn = a.Turn || a.Compacting || a.Asks != ""
	})
	if turn {
		return "its turn has begun"
	}
	kind, err := hooks.Lookup(o.Kind)
	if err != nil {
		return err.Error()
	}
	asked, err := d.askToQuit(ctx, o, kind)
	switch {
	case !alive(o.Proc):
		return ""
	case err != nil && !gone(err):
		return "it could not be asked to quit: " + err.Error()
	case err == nil && !asked:
		return "its input line is not free"
	case !awaitEnd(ctx, goTime, o.Proc):
		return "it was asked to quit and did not within " + goTime.String()
	}
	return ""
}

// family is what runs below the pane's process, or below the agent where that is gone.
func (d *doer) family(o orch.AgentStop) []proc.Info {
	for _, root := range []orch.Process{o.Runner, o.Proc} {
		if !alive(root) {
			continue
		}
		tree, err := proc.Tree(root.PID)
		if err != nil {
			d.log.Printf("agent %s: %v", o.Agent, err)
		}
		return tree
	}
	return nil
}

// quit asks the agent in its own words, if its input line is free, and waits for its end.
func (d *doer) quit(ctx context.Context, o orch.AgentStop) {
	kind, err := hooks.Lookup(o.Kind)
	if err != nil {
		return
	}
	asked, err := d.askToQuit(ctx, o, kind)
	if err != nil && !gone(err) {
		d.log.Printf("agent %s: could not be asked to quit: %v", o.Agent, err)
	}
	if asked {
		awaitEnd(ctx, quitTime, o.Proc)
	}
}

func (d *doer) askToQuit(ctx context.Context, o orch.AgentStop, kind hooks.Kind) (bool, error) {
	t, want, err := server(ctx, o.Place)
	if err != nil {
		return false, err
	}
	return AskToQuit(ctx, t, o.Place.Pane, want, d.tagOf(o.Agent), kind, kind.Quit())
}

// AskToQuit asks the agent of a kind in a pane to end itself. It answers false where nothing was asked: the input line is not
// free, the pane is not the one of that server and tag, or how names no way.
func AskToQuit(ctx context.Context, t *tmux.Tmux, pane string, want tmux.Identity, tag string, kind hooks.Kind, how hooks.Quit) (bool, error) {
	if how.Line != "" {
		typed, err := t.Type(ctx, pane, tmux.Typing{
			Server: want, Tag: tag, Text: how.Line, Read: emptyLine(kind), Submit: hooks.SubmitKeys(kind),
			Stage: func(string) error { return nil }, // an agent that is to end may lose a half-typed quit
		})
		return typed.Outcome == tmux.Submitted, err
	}
	if len(how.Keys) == 0 {
		return false, nil
	}
	views, err := t.Look(ctx, pane)
	if err != nil {
		return false, err
	}
	v, ok := views[pane]
	if !ok || v.Dead || v.InMode || v.Tag != tag || v.Server != want {
		return false, nil
	}
	if draft, ready, _ := reader(kind, false)(v); !ready || draft != "" {
		return false, nil
	}
	return true, t.Keys(ctx, pane, how.Keys...)
}

// emptyLine reads an input line for a quit command. A menu that the command itself opens does not count:
// what stands in the line is still exactly the command.
func emptyLine(kind hooks.Kind) func(tmux.View) (string, bool, string) {
	return func(v tmux.View) (string, bool, string) {
		s := kind.Look(hooksView(v))
		if s.Name != hooks.Ready {
			return "", false, s.Name
		}
		return s.Draft, true, ""
	}
}

// stay keeps an agent's pane, whoever has opened it, for the time between its end and the next window.
func (d *doer) stay(ctx context.Context, o orch.AgentStop) {
	if o.Place.Pane == "" { // it was in none
		return
	}
	t, want, err := server(ctx, o.Place)
	if err == nil {
		err = t.Stay(ctx, o.Place.Pane, want)
	}
	if err != nil && !gone(err) {
		d.log.Printf("agent %s: its pane may close before the next is open: %v", o.Agent, err)
	}
}

// leave ends what stay has begun.
func (d *doer) leave(ctx context.Context, place orch.Place) {
	if place.Pane == "" { // it was in none
		return
	}
	t, want, err := server(ctx, place)
	if err == nil {
		err = t.Leave(ctx, place.Pane, want)
	}
	if err != nil && !gone(err) {
		d.log.Printf("pane %s: it could not be closed: %v", place.Pane, err)
	}
}

// closePane closes the pane of an agent that we started; one that a person opened stays, but for what was kept of it.
func (d *doer) closePane(ctx context.Context, o orch.AgentStop) {
	d.leave(ctx, o.Place)
	tag := d.tagOf(o.Agent)
	if tag == "" || o.Place.Pane == "" {
		return
	}
	t, want, err := server(ctx, o.Place)
	if err == nil {
		err = t.Kill(ctx, o.Place.Pane, want, tag)
	}
	if err != nil && !gone(err) {
		d.log.Printf("agent %s: its pane could not be closed: %v", o.Agent, err)
	}
}

// endProcess ends an agent that did not go by itself: its whole process group, so that a shell around it
// does not start it again.
func (d *doer) endProcess(ctx context.Context, p orch.Process) {
	for _, step := range []struct {
		sig  syscall.Signal
		time time.Duration
	}{{syscall.SIGTERM, termTime}, {syscall.SIGKILL, killTime}} {
		if err := signalGroup(proc.Process(p), step.sig); err != nil && !errors.Is(err, proc.ErrGone) {
			d.log.Printf("process %d: %v", p.PID, err)
		}
		if awaitEnd(ctx, step.time, p) {
			return
		}
	}
}

// endRest ends the pane's own process, what ran below it, and what lost its parent while we were ending that.
func (d *doer) endRest(ctx context.Context, o orch.AgentStop, tree, orphans []proc.Info) {
	rest := []orch.Process{o.Runner}
	for _, p := range append(tree, orphans...) {
		rest = append(rest, orch.Process(p.Process))
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		rest = slices.DeleteFunc(rest, func(p orch.Process) bool { return !alive(p) })
		for _, p := range rest {
			if err := proc.Signal(proc.Process(p), sig); err != nil && !errors.Is(err, proc.ErrGone) {
				d.log.Printf("process %d: %v", p.PID, err)
			}
		}
		awaitEnd(ctx, killTime, rest...)
	}
}

// detached are processes of the agent that have left it for good: they bear its secret, are not below it any
// more, and are in a session that is not the pane's.
func detached(secret string, session int, family []proc.Info) []proc.Info {
	var apart []proc.Info
	for _, p := range withSecret(secret) {
		inside := slices.ContainsFunc(family, func(f proc.Info) bool { return f.Process == p.Process })
		if !inside && sessionOf(orch.Process(p.Process)) != session {
			apart = append(apart, p)
		}
	}
	return apart
}

// inSession are those of a list that are in a session; none where the session is not known.
func inSession(list []proc.Info, session int) []proc.Info {
	return slices.DeleteFunc(list, func(p proc.Info) bool {
		return session == 0 || sessionOf(orch.Process(p.Process)) != session
	})
}

// sessionOf is the session of the first of these that lives; 0 where none does. It is what a terminal's end
// reaches.
func sessionOf(list ...orch.Process) int {
	for _, p := range list {
		if !alive(p) {
			continue
		}
		if session, err := getsid(p.PID); err == nil {
			return session
		}
	}
	return 0
}

func named(list []proc.Info) []string {
	names := []string{}
	for _, p := range list {
		if proc.Alive(p.Process) {
			names = append(names, fmt.Sprintf("%d %s", p.PID, programName(p)))
		}
	}
	return names
}

func programName(p proc.Info) string {
	if len(p.Argv) > 0 && p.Argv[0] != "" {
		return filepath.Base(p.Argv[0])
	}
	return filepath.Base(p.Exe)
}

func alive(p orch.Process) bool { return p.PID > 1 && proc.Alive(proc.Process(p)) }

// awaitEnd waits until all of these processes have ended; false where one still runs after that time.
func awaitEnd(ctx context.Context, limit time.Duration, list ...orch.Process) bool {
	w, err := proc.NewWatcher()
	if err != nil {
		return false
	}
	defer w.Close()
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	for _, p := range list {
		ended := make(chan struct{})
		if err := w.Watch(proc.Process(p), func() { close(ended) }); err != nil {
			continue // gone already
		}
		select {
		case <-ended:
		case <-timeout.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
	return true
}
