package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"st/hooks"
	"st/orch"
	"st/orch/failpoint"
	"st/plugin"
	"st/tmux"
)

// paneOpen writes what the agent will read, opens the window and starts the agent in it. After a crash the
// window may be there already: it bears the worker's tag, and is taken as it is.
func (d *doer) paneOpen(ctx context.Context, r Running, o orch.PaneOpen) orch.What {
	t, _, err := server(ctx, o.Target)
	if err != nil {
		return d.failed(o, err)
	}
	if r.Resumed || o.Look {
		p, found, err := d.tagged(ctx, t, o)
		if err != nil {
			return d.failed(o, err)
		}
		if found {
			return d.opened(ctx, o, p)
		}
		if d.dead(o.Agent) { // it had its window, and has ended while no daemon ran
			return d.failed(o, nil)
		}
	}
	if o.Resume != "" {
		if err := d.endFormer(ctx, o.Agent); err != nil {
			return d.failed(o, err)
		}
	}
	file, err := d.writeLaunch(o)
	if err != nil {
		return d.failed(o, err)
	}
	failpoint.At("pane.open.before")
	p, err := d.openPane(ctx, t, o, tmux.Open{
		Session: o.Target.Session, Name: o.Name, Dir: o.Dir, Tag: d.tagFor(o),
		Argv: []string{d.self, "pane-run", file},
	})
	failpoint.At("pane.open.after")
	if err != nil {
		return d.failed(o, err)
	}
	return d.opened(ctx, o, p)
}

// openPane opens a window, or takes the pane that was built for the agent.
func (d *doer) openPane(ctx context.Context, t *tmux.Tmux, o orch.PaneOpen, w tmux.Open) (tmux.Pane, error) {
	if o.Target.Pane == "" {
		return t.Open(ctx, w)
	}
	want, err := tmux.ParseIdentity(o.Target.Server)
	if err != nil {
		return tmux.Pane{}, err
	}
	return t.Respawn(ctx, o.Target.Pane, want, d.heldTag(d.resumes(o.Agent)), w)
}

// heldTag marks a pane that was built for whoever takes up an agent's conversation, and has a shell in it until then.
func (d *doer) heldTag(agent string) string { return d.tag("held:" + agent) }

// resumes is the agent whose conversation an agent takes up.
func (d *doer) resumes(agent string) (from string) {
	d.state(func(v orch.View) {
		if a, ok := v.Entity("agent/" + agent).(orch.Agent); ok {
			from = a.Resumes
		}
	})
	return from
}

// tagFor is the tag of a pane that is opened: the worker's, or that of an agent that is none.
func (d *doer) tagFor(o orch.PaneOpen) string {
	if o.Worker == "" {
		return d.tag(o.Agent)
	}
	return d.tag(o.Worker)
}

// tag is what marks the pane of a worker as ours, and ours alone: other homes have workers of that id too.
func (d *doer) tag(worker string) string { return d.mark + ":" + worker }

func (d *doer) tagged(ctx context.Context, t *tmux.Tmux, o orch.PaneOpen) (tmux.Pane, bool, error) {
	panes, err := t.Panes(ctx)
	if err != nil {
		return tmux.Pane{}, false, err
	}
	i := slices.IndexFunc(panes, func(p tmux.Pane) bool {
		return p.Tag == d.tagFor(o) && !p.Dead && (o.Target.Pane == "" || p.ID == o.Target.Pane)
	})
	if i < 0 {
		return tmux.Pane{}, false, nil
	}
	return panes[i], true, nil
}

func (d *doer) opened(ctx context.Context, o orch.PaneOpen, p tmux.Pane) orch.What {
	if o.Leaves.Pane != p.ID {
		d.closePane(ctx, orch.AgentStop{Agent: d.resumedBy(o.Agent), Place: o.Leaves})
	}
	runner, err := processOf(p.PID)
	if err != nil {
		// The pane's process is gone again already; its exit is told by the bell.
		runner = orch.Process{PID: p.PID}
	}
	return orch.PaneOpened{Agent: o.Agent, Runner: runner, Place: placeOf(o.Target.Server, p)}
}

// resumedBy is the agent whose conversation an agent takes up, "" for none.
func (d *doer) resumedBy(agent string) (old string) {
	d.state(func(v orch.View) {
		a, _ := v.Entity("agent/" + agent).(orch.Agent)
		old = a.Resumes
	})
	return old
}

// placeOf is a pane in the words of orch.
func placeOf(server string, p tmux.Pane) orch.Place {
	return orch.Place{
		Server: server, Pane: p.ID, Window: p.Window,
		Session: p.Session, SessionName: p.SessionName, WindowName: p.WindowName, Dir: p.Path,
	}
}

// failed says why no pane could be opened, and what helps; nil where nothing went wrong but the agent is gone already.
func (d *doer) failed(o orch.PaneOpen, err error) orch.What {
	if err := os.RemoveAll(scratch(d.home, o.Agent)); err != nil {
		d.log.Printf("agent %s: %v", o.Agent, err)
	}
	if err == nil {
		return orch.PaneFailed{Agent: o.Agent}
	}
	failed := orch.PaneFailed{Agent: o.Agent, Error: openError(o, err)}
	if ended(err) {
		failed.Again = &o
	}
	return failed
}

// ended says that the very server that was meant does not run any more.
func ended(err error) bool {
	return errors.Is(err, tmux.ErrNoServer) || errors.Is(err, tmux.ErrOtherServer)
}

func openError(o orch.PaneOpen, err error) *orch.Error {
	var refusal *orch.Error
	switch {
	case errors.As(err, &refusal):
		return refusal
	case ended(err):
		return noSession(o.Target.SessionName, "the tmux server of session %q has ended")
	case errors.Is(err, tmux.ErrNotInstalled):
		return TmuxFault(err)
	case errors.Is(err, tmux.ErrNoSession):
		return noSession(o.Target.SessionName, "session %q is closed")
	}
	return &orch.Error{Code: "internal", Message: fmt.Sprintf("no window could be opened: %v", err)}
}

// writeLaunch writes all files of a start and returns the path of the one that names the rest.
func (d *doer) writeLaunch(o orch.PaneOpen) (string, error) {
	if info, err := os.Stat(o.Dir); err != nil || !info.IsDir() {
		return "", noDir(o.Dir, err)
	}
	kind, err := hooks.Lookup(o.Kind)
	if err != nil {
		return "", err
	}
	if len(o.Scope) == 0 { // an agent that is started again for the same worker is held to the same
		o.Scope = d.scopeOf(o.Worker)
	}
	if o.Resume == "" {
		if err := writeCopy(o); err != nil {
			return "", err
		}
	}
	dir := scratch(d.home, o.Agent)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	launch, err := kind.Launch(hooks.Spec{
		Program: o.Program, Self: d.self, Home: d.home, Agent: o.Agent, Dispatch: o.Dispatch,
		Copy: o.Copy, Scratch: dir, Model: o.Model, Args: o.Args, Conversation: o.Conversation, Resume: o.Resume, Log: o.Log,
	})
	if err != nil {
		return "", err
	}
	for path, data := range launch.Files {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return "", err
		}
	}
	ours := map[string]string{"ST_HOME": d.home, "ST_AGENT": o.Nonce}
	if len(o.Scope) > 0 {
		if ours[hooks.ScopeEnv], err = d.writeScope(o, dir); err != nil {
			return "", err
		}
	}
	env, err := readEnv(o.EnvFile)
	if err != nil {
		return "", err
	}
	spec := PaneSpec{
		Agent: o.Agent, Nonce: o.Nonce, Home: d.home, Dir: o.Dir, Self: d.self, Argv: launch.Argv, Shell: o.Shell,
		Env: launchEnv(env, d.given(o.Worker), launch, ours),
	}
	path := filepath.Join(dir, "pane.json")
	// An earlier try may have left one that no pane has read.
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return path, WritePaneSpec(path, spec)
}

// given lists the names of the variables that whoever started the worker set by hand.
func (d *doer) given(worker string) (names []string) {
	d.state(func(v orch.View) {
		if w, ok := v.Entity("worker/" + worker).(orch.Worker); ok {
			names = w.EnvNames
		}
	})
	return names
}

// launchEnv is the environment of an agent: the caller's, less what its kind drops, with what its kind adds;
// but what was given by hand stands above that, and what makes the agent ours above everything.
func launchEnv(env, given []string, l hooks.Launch, ours map[string]string) []string {
	vars := map[string]string{}
	for _, kv := range env {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" || (dropped(name, l.Unset) && !slices.Contains(given, name)) {
			continue
		}
		vars[name] = value
	}
	for name, value := range l.Env {
		if _, set := vars[name]; !set || !slices.Contains(given, name) {
			vars[name] = value
		}
	}
	for name, value := range ours {
		vars[name] = value
	}
	out := make([]string, 0, len(vars))
	for name, value := range vars {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// dropped reports whether a name is in a list of names and of prefixes that end in "*".
func dropped(name string, unset []string) bool {
	return slices.ContainsFunc(unset, func(u string) bool {
		prefix, isPrefix := strings.CutSuffix(u, "*")
		return u == name || isPrefix && strings.HasPrefix(name, prefix)
	})
}

// envFile is what a verb leaves for the start of an agent.
type envFile struct {
	Env []string `json:"env"` // NAME=value; the last of a name counts
}

func readEnv(path string) ([]string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the agent's environment: %w", err)
	}
	var f envFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, fmt.Errorf("the agent's environment can't be read from %s", path)
	}
	return f.Env, nil
}

// removeEnv removes the file with the agent's environment, which may hold secrets, once no further try of
// the start can need it.
func (d *doer) removeEnv(agent, path string) {
	if path == "" {
		return
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.log.Printf("agent %s: %v", agent, err)
	}
}

// writeCopy writes the task copy. It is complete or not there: an agent may look at any time.
func writeCopy(o orch.PaneOpen) error {
	if err := prepareCopyDir(filepath.Dir(o.Copy)); err != nil {
		return err
	}
	job := plugin.Job{
		Worker: o.Worker, Run: o.Run, Task: o.Task, Dispatch: o.Dispatch, Command: o.Command, Scope: o.Scope, Branch: o.Branch, Standing: plugin.Standing(o.Status),
	}
	return hooks.WriteOwn(o.Copy, []byte(plugin.Copy(job, o.Spec)))
}

func noDir(dir string, err error) *orch.Error {
	why := "not a folder"
	if err != nil {
		why = cause(err).Error()
	}
	return &orch.Error{Code: "bad_dir", Message: fmt.Sprintf("%s: %s", dir, why), Hint: "--dir names the folder the agent works in"}
}
