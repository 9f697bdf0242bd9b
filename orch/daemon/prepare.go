package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"st/hooks"
	"st/orch"
	"st/tmux"
)

// StartOrder is what a verb sends for a start.
type StartOrder struct {
	orch.WorkerStart
	Session string `json:"session,omitempty"` // name; "" = the caller's own
	// Env stands for the values of --env, which are in EnvFile only: see Veil.
	Env string `json:"env,omitempty"`
}

func readStart(body json.RawMessage) (o StartOrder, err error) {
	if err := json.Unmarshal(body, &o); err != nil {
		return o, &orch.Error{Code: "usage", Message: fmt.Sprintf("the order can't be read: %v", err)}
	}
	return o, nil
}

// asked is what decides whether a start is the same one: the kind, the name, the task's text, the folder, the worktree, the session,
// the model, the arguments, the scope, and the names and values of --env, each as the caller gave it. What merely surrounds it
// does not count: from which file the text was read, where the agent's program lies, how long may be waited, the rest
// of the environment, in which pane the caller sits.
func (o StartOrder) asked() any {
	w := o.WorkerStart
	if w.Tree != nil {
		w.Tree = w.Tree.Asked()
	}
	return StartOrder{Session: o.Session, Env: o.Env, WorkerStart: orch.WorkerStart{
		Kind: w.Kind, Name: w.Name, Task: w.Task, Title: w.Title, Spec: w.Spec, Dir: w.Dir, Model: w.Model, Args: w.Args, Scope: w.Scope, EnvNames: w.EnvNames, Tree: w.Tree,
	}}
}

// prepareStart finds out what an order to start a worker needs to be decided: where its window goes, what its
// arguments would lift, whether what it names exists. Where it refuses nothing has happened.
func (d *doer) prepareStart(ctx context.Context, by orch.Caller, o StartOrder) (orch.WorkerStart, error) {
	w := o.WorkerStart
	kind, err := hooks.Fresh(w.Kind)
	if refusal := (*orch.Error)(nil); errors.As(err, &refusal) {
		return w, refusal
	}
	if err != nil {
		return w, &orch.Error{Code: "usage", Message: err.Error(), Next: []string{"st worker start --help"}}
	}
	if hooks.IsGiven(kind) && len(w.Scope) > 0 {
		return w, &orch.Error{
			Code: "refused", Message: fmt.Sprintf("agent kind %s has no hooks, so nothing would hold it to a scope", w.Kind),
			Hint: "start it without --scope, or another kind with it", Next: []string{"st kind ls"},
		}
	}
	if err := d.checkTmux(ctx); err != nil {
		return w, err
	}
	if w.Target, err = target(ctx, by, o.Session); err != nil {
		return w, err
	}
	if err := d.checkStart(&w, kind); err != nil {
		return w, err
	}
	if _, refusal := orch.ReadScope(w.Scope); refusal != nil {
		return w, refusal
	}
	if w.Tree, err = d.prepareTree(ctx, w.Dir, w.Tree); err != nil {
		return w, err
	}
	env, err := d.openEnv(w.EnvFile)
	if err != nil {
		return w, err
	}
	if len(w.Scope) > 0 && hooks.IsUnheard(kind) && !hooks.Heard(w.Kind, d.self, func(name string) string { return lastOf(env, name) }) {
		return w, &orch.Error{
			Code: "refused", Message: fmt.Sprintf("the hooks of agent kind %s are not installed, so nothing would hold it to a scope", w.Kind),
			Hint: "a person installs them, or start it without --scope:", Next: []string{"st hooks install --agent " + w.Kind},
		}
	}
	w.CopyDir = copyDir(d.home)
	w.Command = d.command(env)
	text := w.Spec
	if w.Task != "" {
		text = d.textOf(w.Task)
	}
	w.Lifts, w.Runs, w.Mute = kind.Lifts(w.Args), kind.Runs(text), hooks.IsMute(kind)
	w.Given = hooks.IsGiven(kind)
	w.Blind = w.Given
	w.ByMark, w.Named = hooks.TurnsByMark(kind), hooks.NamesConversation(kind)
	w.May = d.config.may()
	return w, nil
}

// checkStart refuses a folder or a program that isn't there.
func (d *doer) checkStart(w *orch.WorkerStart, kind hooks.Kind) error {
	if !filepath.IsAbs(w.Dir) {
		return noDir(w.Dir, errors.New("not an absolute path"))
	}
	if info, err := os.Stat(w.Dir); err != nil || !info.IsDir() {
		return noDir(w.Dir, err)
	}
	if kind.Program() == "" {
		w.Program = d.self
	}
	info, err := os.Stat(w.Program)
	if err != nil || info.IsDir() || info.Mode().Perm()&0o111 == 0 || !filepath.IsAbs(w.Program) {
		return &orch.Error{
			Code:    "agent_not_installed",
			Message: fmt.Sprintf("agent %q is not installed: %q can't be run", w.Kind, w.Program),
		}
	}
	// What a launch refuses is refused before there is a worker.
	spec := hooks.Spec{Program: w.Program, Self: d.self, Home: d.home, Copy: "/d0.md", Scratch: "/", Model: w.Model, Args: w.Args}
	if _, err := kind.Launch(spec); err != nil {
		return &orch.Error{Code: "usage", Message: err.Error(), Next: []string{"st worker start --help"}}
	}
	return nil
}

// checkTmux asks which tmux is installed, until it was a fit one: it will hardly become older.
func (d *doer) checkTmux(ctx context.Context) error {
	if d.fit.Load() {
		return nil
	}
	_, err := tmux.InstalledVersion(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return TmuxFault(err)
	}
	d.fit.Store(true)
	return nil
}

// TmuxFault says what is wrong with the tmux in PATH: tmux_missing or tmux_too_old.
func TmuxFault(err error) *orch.Error {
	const mend = "with the system's package manager"
	switch {
	case errors.Is(err, tmux.ErrNotInstalled):
		return &orch.Error{Code: "tmux_missing", Message: "tmux is not in PATH", Hint: "install tmux 3.2 or newer " + mend}
	case errors.Is(err, tmux.ErrTooOld):
		return &orch.Error{Code: "tmux_too_old", Message: err.Error(), Hint: "update tmux " + mend}
	}
	return &orch.Error{Code: "tmux_missing", Message: "tmux can't be used: " + err.Error()}
}

// target is where the window goes: in the session of that name, else in the one the caller sits in.
func target(ctx context.Context, by orch.Caller, name string) (orch.Place, error) {
	if name != "" {
		return namedSession(ctx, by.Socket, name)
	}
	if by.Place.Session == "" {
		return orch.Place{}, &orch.Error{
			Code:    "not_in_tmux",
			Message: "not in tmux, so there is no session to open the window in",
			Hint:    "--session NAME opens it in a session that runs",
			Next:    []string{"tmux new-session -d -s work"},
		}
	}
	p := by.Place
	return orch.Place{Server: p.Server, Session: p.Session, SessionName: p.SessionName}, nil
}

// meantSocket is the server that an environment means: the one it is in, else the default one.
func meantSocket(from From) string {
	if socket, _, ok := tmux.FromEnv(from.TMUX); ok {
		return socket
	}
	return tmux.DefaultSocket(func(name string) string {
		if name == "TMUX_TMPDIR" {
			return from.Tmpdir
		}
		return ""
	})
}

func namedSession(ctx context.Context, socket, name string) (orch.Place, error) {
	t := tmux.At(socket)
	s, err := t.FindSession(ctx, name)
	if errors.Is(err, tmux.ErrNoSession) || errors.Is(err, tmux.ErrNoServer) {
		return orch.Place{}, noSession(name, "session %q: no such session")
	}
	if err != nil {
		return orch.Place{}, err
	}
	id, err := t.Identity(ctx)
	if err != nil {
		return orch.Place{}, err
	}
	return orch.Place{Server: id.String(), Session: s.ID, SessionName: s.Name}, nil
}

// noSession says that a session isn't there; why has its name in it.
func noSession(name, why string) *orch.Error {
	return &orch.Error{
		Code: "session_not_found", Message: fmt.Sprintf(why, name),
		Next: []string{"tmux new-session -d -s " + shellWord(name)},
	}
}

// openEnv reads the environment that a verb has left, after it has made sure that nobody else could have
// written or read it, and that removing it later removes nothing else.
func (d *doer) openEnv(path string) ([]string, error) {
	if err := d.checkEnv(path); err != nil {
		return nil, &orch.Error{Code: "internal", Message: fmt.Sprintf("the agent's environment: %v", err)}
	}
	return readEnv(path)
}

func (d *doer) checkEnv(path string) error {
	if filepath.Dir(path) != LaunchDir(d.home) || filepath.Ext(path) != ".json" {
		return fmt.Errorf("%q is not a file of a launch", path)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm() != 0o600 {
		return fmt.Errorf("%s is not a plain file of mode 0600", path)
	}
	return owned(info)
}

// dropEnv removes the environment of a start that was refused.
func (d *doer) dropEnv(path string) {
	if d.checkEnv(path) != nil {
		return // nothing of ours
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.log.Printf("%v", err)
	}
}

// command is how the agent's shell calls us: by name where its PATH leads to this very program.
func (d *doer) command(env []string) string {
	own, err := os.Stat(d.self)
	if err != nil {
		return d.self
	}
	for _, dir := range filepath.SplitList(lastOf(env, "PATH")) {
		found, err := os.Stat(filepath.Join(dir, "st"))
		if err != nil || found.IsDir() || found.Mode().Perm()&0o111 == 0 {
			continue
		}
		if os.SameFile(own, found) {
			return "st"
		}
		break // another program of that name comes first
	}
	return d.self
}

func lastOf(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

var plainPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9/._-]+$`) })

// copyDir is the folder of the task copies. Their paths are typed into agents, so they hold plain characters
// only: anything else could open a menu or be cut in two.
func copyDir(home string) string {
	dir := filepath.Join(home, "orch")
	if plainPath().MatchString(dir) {
		return dir
	}
	return filepath.Join(shortDir(home), "orch")
}

// prepareCopyDir makes the folder of a task copy. One in /tmp must be ours down to the last folder.
func prepareCopyDir(dir string) error {
	if rest, ok := strings.CutPrefix(dir, "/tmp/"); ok && strings.HasPrefix(rest, "st-") {
		path := "/tmp"
		for _, name := range strings.Split(rest, "/") {
			path = filepath.Join(path, name)
			if err := prepareDir(path); err != nil {
				return err
			}
			if err := checkNoLink(path); err != nil {
				return err
			}
		}
		return nil
	}
	return os.MkdirAll(dir, 0o700)
}
