package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"st/hooks"
	"st/orch"
	"st/orch/failpoint"
	"st/tmux"
)

// RestoreOrder is what a verb sends to have everything back that ended with a server.
type RestoreOrder struct {
	DryRun  bool   `json:"dry_run,omitempty"`
	Forget  bool   `json:"forget,omitempty"`   // nobody wants it
	EnvFile string `json:"env_file,omitempty"` // 0600 file with the environment of who asks
}

// Type is the name on the wire.
func (RestoreOrder) Type() string { return "restore" }

// resumeTime is how long a restore waits for agents until it answers. They go on without it.
const resumeTime = 60 * time.Second

// restorer brings back what ended with servers.
type restorer struct {
	d     *daemon
	life  context.Context // the daemon's: who asks may go away meanwhile
	mu    sync.Mutex      // one at a time: the second finds what the first has done
	notes *layouts
}

// restore takes the order of a verb.
func (d *daemon) restore(ctx context.Context, in orch.Input, body json.RawMessage) (any, error) {
	var o RestoreOrder
	if err := json.Unmarshal(body, &o); err != nil {
		return nil, badOrder(err)
	}
	var refusal *orch.Error
	asked := !o.DryRun && d.restorer.asked()
	d.loop.Read(func(v orch.View) { refusal = orch.MayRestore(v, in.By, o.Forget && !o.DryRun, asked) })
	if refusal != nil {
		return nil, refusal
	}
	env := os.Environ()
	if o.EnvFile != "" {
		var err error
		if env, err = d.doer.openEnv(o.EnvFile); err != nil {
			return nil, err
		}
		defer d.doer.dropEnv(o.EnvFile)
	}
	if err := d.doer.checkTmux(ctx); err != nil {
		return nil, err
	}
	if o.Forget {
		return d.restorer.forget(o.DryRun), nil
	}
	type answer struct {
		info orch.RestoreInfo
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		info, err := d.restorer.run(d.restorer.life, in.By, env, o.DryRun, "")
		done <- answer{info, err}
	}()
	select {
	case a := <-done:
		return a.info, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// asked says that a person is to decide on something that was lost.
func (r *restorer) asked() bool {
	return slices.ContainsFunc(r.notes.all(), func(f layoutFile) bool { return f.Ask && len(f.Lost) > 0 })
}

// forget drops what was lost. Agents that may come back can still be restarted, or stopped, one by one.
func (r *restorer) forget(dry bool) orch.RestoreInfo {
	r.mu.Lock()
	defer r.mu.Unlock()
	info := orch.RestoreInfo{DryRun: dry, Already: true, Windows: []orch.RestoredWindow{}}
	for _, f := range r.notes.all() {
		for _, l := range f.Lost {
			for _, s := range l.Sessions {
				for _, w := range s.Windows {
					info.Already = false
					info.Windows = append(info.Windows, orch.RestoredWindow{Server: f.Socket, Session: s.Name, Index: w.Index, Name: w.Name, What: skipped, Why: "nobody wants it"})
				}
			}
		}
		if !dry && len(f.Lost) > 0 {
			r.notes.over(f.Socket, f.Lost, nil)
		}
	}
	return info
}

// run restores all sockets, or the one that is named.
func (r *restorer) run(ctx context.Context, by orch.Caller, env []string, dry bool, only string) (orch.RestoreInfo, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	info := orch.RestoreInfo{DryRun: dry, Already: true, Windows: []orch.RestoredWindow{}}
	for _, socket := range r.sockets() {
		if only != "" && socket != only {
			continue
		}
		one := &restoring{restorer: r, by: by, env: env, socket: socket, t: tmux.At(socket).With(env)}
		windows, err := one.run(ctx, dry)
		info.Windows = append(info.Windows, windows...)
		if err != nil {
			return info, restoreFault(socket, err)
		}
	}
	info.Already = !slices.ContainsFunc(info.Windows, func(w orch.RestoredWindow) bool { return w.What == restored })
	if only == "" {
		r.addRising(ctx, &info)
	}
	return info, nil
}

func restoreFault(socket string, err error) error {
	var refusal *orch.Error
	switch {
	case errors.As(err, &refusal):
		return refusal
	case errors.Is(err, tmux.ErrNotInstalled), errors.Is(err, tmux.ErrTooOld):
		return TmuxFault(err)
	}
	return &orch.Error{Code: "failed", Message: "what was lost at " + socket + " could not be restored: " + err.Error(),
		Hint: "what was built stays; a second try goes on from there", Next: []string{"st restore"}}
}

// sockets are those at which something was lost, or where an agent may come back.
func (r *restorer) sockets() (list []string) {
	for _, f := range r.notes.all() {
		if len(f.Lost) > 0 {
			list = append(list, f.Socket)
		}
	}
	r.d.loop.Read(func(v orch.View) {
		for _, a := range orch.Awaited(v) {
			if id, err := tmux.ParseIdentity(a.Place.Server); err == nil && !slices.Contains(list, id.Socket) {
				list = append(list, id.Socket)
			}
		}
	})
	return list
}

// restoring is the restore of one socket.
type restoring struct {
	*restorer
	by     orch.Caller
	env    []string
	socket string
	t      *tmux.Tmux
	lost   []lostLayout
	plan   []plannedWindow
	made   map[string]string // sessions that this one has built, by name: ids
}

func (r *restoring) run(ctx context.Context, dry bool) ([]orch.RestoredWindow, error) {
	r.look(ctx, r.socket)
	if err := r.makePlan(ctx); err != nil {
		return nil, err
	}
	if dry {
		return r.infos(), nil
	}
	failpoint.At("restore.planned")
	r.made = map[string]string{}
	if err := r.build(ctx); err != nil {
		return r.infos(), err
	}
	failpoint.At("restore.built")
	in := r.server(ctx)
	r.resume(ctx)
	r.activate(ctx)
	if ctx.Err() != nil {
		return r.infos(), ctx.Err()
	}
	failpoint.At("restore.over.before")
	if r.server(ctx) == in { // else all of it is lost once more
		r.notes.over(r.socket, r.lost, r.unfinished())
	}
	failpoint.At("restore.over.after")
	return r.infos(), nil
}

// server is the server that runs at the socket, zero where none does.
func (r *restoring) server(ctx context.Context) tmux.Identity {
	id, err := r.t.Identity(ctx)
	if err != nil && !errors.Is(err, tmux.ErrNoServer) && ctx.Err() == nil {
		r.d.log.Printf("restore: %v", err)
	}
	return id
}

// makePlan finds out what was lost and what is there.
func (r *restoring) makePlan(ctx context.Context) error {
	p := &planner{env: r.env, tag: r.d.doer.tag, used: map[string]bool{}, home: lastOf(r.env, "HOME"), isDir: isDir, fit: fitKind, seen: map[string]bool{}, agents: map[string]bool{}, rising: map[string]orch.ResumeInfo{}}
	for _, i := range r.rising() {
		p.rising[i.Agent.ID] = i
	}
	now, err := r.t.Layout(ctx)
	switch {
	case err == nil:
		p.now = &now
	case !errors.Is(err, tmux.ErrNoServer):
		return err
	}
	for _, f := range r.notes.all() {
		if f.Socket == r.socket {
			r.lost = f.Lost
		}
	}
	running := ""
	if p.now != nil {
		running = p.now.Server.String()
	}
	r.d.loop.Read(func(v orch.View) { p.fates = orch.FatesOf(v, r.socket, running) })
	for _, f := range p.fates {
		if f.Resumable {
			p.loose = append(p.loose, f)
		}
	}
	slices.SortFunc(p.loose, func(a, b orch.Fate) int { return strings.Compare(a.Agent.Place.Pane, b.Agent.Place.Pane) })
	r.plan = p.windows(r.lost)
	return nil
}

// fitKind says why agents of a kind can't be started now, with the line that mends it: a described one has to be as somebody
// has trusted it.
func fitKind(name string) error {
	_, err := hooks.Fresh(name)
	var refusal *orch.Error
	if errors.As(err, &refusal) {
		return fmt.Errorf("%s; %s", refusal.Message, strings.Join(refusal.Next, "; "))
	}
	return err
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (r *restoring) infos() []orch.RestoredWindow {
	list := make([]orch.RestoredWindow, len(r.plan))
	for i, w := range r.plan {
		list[i] = w.info
		list[i].Server = r.socket
	}
	return list
}

// build makes the windows, with a shell in each pane.
func (r *restoring) build(ctx context.Context) error {
	if err := r.prepareSocket(ctx); err != nil {
		return err
	}
	for i := range r.plan {
		w := &r.plan[i]
		if w.info.What != restored {
			continue
		}
		failpoint.At("restore.window.before")
		if err := r.buildOne(ctx, w); err != nil {
			return err
		}
		failpoint.At("restore.window.after")
	}
	return nil
}

// prepareSocket makes the folder of a socket, which the system may have emptied since. Nobody else may have made it.
func (r *restoring) prepareSocket(ctx context.Context) error {
	dir := filepath.Dir(r.socket)
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return prepareDir(dir)
	}
	if err == nil && filepath.Base(dir) == "tmux-"+strconv.Itoa(os.Getuid()) {
		err = owned(info)
	}
	return err
}

func (r *restoring) buildOne(ctx context.Context, w *plannedWindow) error {
	if w.group != "" {
		err := r.t.BuildGrouped(ctx, w.sess, w.group)
		if errors.Is(err, tmux.ErrSessionExists) {
			err = nil // with the session's first window
		}
		return err
	}
	if w.built != nil {
		w.info.Window, w.info.Index = w.built.ID, w.built.Index
		for _, p := range w.panes {
			w.info.Panes[p.at].Pane = p.held
		}
		return nil
	}
	layout := w.was
	layout.Panes, layout.Mark = nil, w.mark
	for _, p := range w.panes {
		pane := p.layout
		if p.agent != nil {
			pane.Tag = r.d.doer.heldTag(p.agent.ID)
		}
		layout.Panes = append(layout.Panes, pane)
	}
	if len(layout.Panes) != len(w.was.Panes) {
		layout.Layout = "" // it is of another number of panes
	}
	b, err := r.window(ctx, w.sess, layout)
	if err != nil {
		return err
	}
	w.info.Window, w.info.Index = b.Window, b.Index
	if b.Loose != nil {
		w.info.Why = "its panes could not be put where they were: " + b.Loose.Error()
	}
	for i, p := range w.panes {
		w.info.Panes[p.at].Pane = b.Panes[i]
	}
	return nil
}

// window builds a window in its session, which is built with it where it is not there.
func (r *restoring) window(ctx context.Context, s tmux.SessionLayout, w tmux.WindowLayout) (tmux.Built, error) {
	if !isDir(s.Dir) {
		s.Dir = ""
	}
	if id := r.made[s.Name]; id != "" {
		return r.t.BuildWindow(ctx, id, w)
	}
	id, err := r.t.SessionID(ctx, s.Name)
	switch {
	case err == nil:
		return r.t.BuildWindow(ctx, id, w)
	case !errors.Is(err, tmux.ErrNoSession) && !errors.Is(err, tmux.ErrNoServer):
		return tmux.Built{}, err
	}
	b, err := r.t.BuildSession(ctx, s, w)
	if err == nil {
		r.made[s.Name] = b.Session
	}
	return b, err
}

// resume orders the agents into the panes that were built for them, and waits until it is known what came of that.
func (r *restoring) resume(ctx context.Context) {
	id, err := r.t.Identity(ctx)
	var panes, rising []*orch.RestoredPane
	for i := range r.plan {
		w := &r.plan[i]
		for n := range w.info.Panes {
			if info := &w.info.Panes[n]; info.What == starts { // by an earlier restore that was cut off, or somebody else
				rising = append(rising, info)
			}
		}
		for _, p := range w.panes {
			if p.agent == nil || w.info.Panes[p.at].Pane == "" {
				continue
			}
			info := &w.info.Panes[p.at]
			failpoint.At("restore.order.before")
			if err == nil {
				err = r.order(ctx, id, w, p, info)
			}
			failpoint.At("restore.order.after")
			if err != nil {
				r.notResumed(ctx, id, info, err)
				err = nil
				continue
			}
			panes = append(panes, info)
		}
	}
	r.await(ctx, append(rising, panes...))
	for _, info := range panes {
		if info.What == failing {
			r.untag(ctx, id, info)
		}
	}
}

// order has one agent resumed.
func (r *restoring) order(ctx context.Context, id tmux.Identity, w *plannedWindow, p plannedPane, info *orch.RestoredPane) error {
	if err := fitKind(p.agent.Kind); err != nil { // it was fit when the plan was made
		return err
	}
	kind, err := hooks.Lookup(p.agent.Kind)
	if err != nil {
		return err
	}
	program, err := r.program(kind)
	if err != nil {
		return err
	}
	env, err := r.envFile()
	if err != nil {
		return err
	}
	what := orch.AgentResume{Agent: p.agent.ID, Start: orch.WorkerStart{
		Program: program, EnvFile: env, Mute: hooks.IsMute(kind), Name: w.was.Name,
		Target: orch.Place{Server: id.String(), SessionName: w.sess.Name, Window: w.info.Window, Pane: info.Pane},
	}}
	data, err := r.d.loop.Do(ctx, orch.Input{At: r.d.loop.Now(), By: r.by, What: what})
	if a, ok := data.(orch.ResumeAnswer); ok && err == nil {
		info.Agent = a.Agent
		return nil
	}
	r.d.doer.dropEnv(env)
	return err
}

// program is the one that the environment's PATH leads to.
func (r *restoring) program(kind hooks.Kind) (string, error) {
	name := kind.Program()
	if name == "" {
		return r.d.doer.self, nil
	}
	for _, dir := range filepath.SplitList(lastOf(r.env, "PATH")) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(path) {
			return path, nil
		}
	}
	return "", &orch.Error{Code: "agent_not_installed", Message: "its program " + name + " is not in PATH"}
}

// envFile is a file with the environment for one agent.
func (r *restoring) envFile() (string, error) {
	raw, err := json.Marshal(envFile{Env: r.env})
	if err != nil {
		return "", err
	}
	if err := prepareDir(LaunchDir(r.d.home)); err != nil {
		return "", err
	}
	path := filepath.Join(LaunchDir(r.d.home), uuid.NewString()+".json")
	return path, hooks.WriteOwn(path, raw)
}

func (r *restoring) notResumed(ctx context.Context, id tmux.Identity, info *orch.RestoredPane, err error) {
	info.What, info.Why = failing, err.Error()
	r.untag(ctx, id, info)
}

// untag makes a pane that no agent came to a person's shell.
func (r *restoring) untag(ctx context.Context, id tmux.Identity, info *orch.RestoredPane) {
	if err := r.t.Untag(ctx, info.Pane, id, r.d.doer.heldTag(info.From)); err != nil && !gone(err) && !errors.Is(err, tmux.ErrOtherTag) {
		r.d.log.Printf("pane %s: %v", info.Pane, err)
	}
}

// await follows agents until each has its conversation, has ended, or waits for a person.
func (r *restorer) await(ctx context.Context, panes []*orch.RestoredPane) {
	ctx, cancel := context.WithTimeout(ctx, resumeTime)
	defer cancel()
	changed, end := r.d.loop.Subscribe()
	defer end()
	for {
		open := 0
		r.d.loop.Read(func(v orch.View) {
			for _, p := range panes {
				if i, err := orch.Resuming(v, orch.Caller{}, orch.ResumeArgs{Agent: p.Agent}); err == nil {
					p.What, p.Why = fateOf(i)
				}
				if p.What == starts {
					open++
				}
			}
		})
		if open == 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}

// fateOf says how an agent stands that takes up a conversation.
func fateOf(i orch.ResumeInfo) (what, why string) {
	switch {
	case i.Taken:
		return resumed, ""
	case i.Gone && i.Error != nil:
		return failing, i.Error.Message
	case i.Gone:
		return failing, "its program ended before it had taken the conversation up"
	case i.Agent.WaitingFor != "":
		return waits, i.Agent.WaitingFor
	}
	if i.Agent.Screen == "unknown" {
		return starts, "it has not said yet that it is there, and its window shows a screen that st does not know"
	}
	return starts, "it has not said yet that it is there"
}

// activate brings the windows to the front that were, in the sessions that were built.
func (r *restoring) activate(ctx context.Context) {
	for _, w := range r.plan {
		id := r.made[w.sess.Name]
		if id == "" || !w.was.Active || w.info.Window == "" || w.info.What != restored {
			continue
		}
		if err := r.t.SelectWindow(ctx, id, w.info.Window); err != nil {
			r.d.log.Printf("window %s: %v", w.info.Window, err)
		}
	}
}

// unfinished is what a second try has to do: the windows of agents that could not be started.
func (r *restoring) unfinished() (left []lostLayout) {
	failed := map[string]bool{}
	for _, w := range r.plan {
		for _, p := range w.info.Panes {
			failed[p.From] = failed[p.From] || p.What == failing
		}
	}
	var fates map[string]orch.Fate
	r.d.loop.Read(func(v orch.View) { fates = orch.FatesOf(v, r.socket, "") })
	for _, l := range r.lost {
		was := l
		was.Sessions = nil
		for _, s := range l.Sessions {
			s.Windows = slices.DeleteFunc(slices.Clone(s.Windows), func(w tmux.WindowLayout) bool {
				return !slices.ContainsFunc(w.Panes, func(p tmux.PaneLayout) bool { return failed[fates[l.Server.String()+p.ID].Agent.ID] })
			})
			if len(s.Windows) > 0 {
				was.Sessions = append(was.Sessions, s)
			}
		}
		if len(was.Sessions) > 0 {
			left = append(left, was)
		}
	}
	return left
}
