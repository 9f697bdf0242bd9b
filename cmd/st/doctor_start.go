package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"st/hooks"
	"st/orch"
	"st/orch/daemon"
	"st/orch/proc"
	"st/tmux"
)

// lineTime is how long a program may take to show its input line.
const lineTime = 20 * time.Second

// times are how long the stages of a trial may take.
type times struct {
	line, hear, quit time.Duration
	end              time.Duration // for each way of ending what is left
	// steady is how long the input line of a mute kind has to stand. Codex shows one for a moment before it asks for trust, and
	// before it has a conversation, without which no hook tells of its end (0.171.0).
	steady time.Duration
}

// asUsual is about what an agent gets at a real start, and more to end.
var asUsual = times{line: lineTime, hear: 10 * time.Second, quit: 10 * time.Second, end: 2 * time.Second, steady: 2 * time.Second}

// trial is one real start of an agent's program, on a tmux server of its own, with st's hooks and a home of st of its own. No
// key is pressed but to quit, so nothing is submitted and nothing is answered in a person's place.
type trial struct {
	*doctor
	kind hooks.Kind
	path string // of its program
	dir  string // in which it works
	env  []string
	own  string // folder of the trial, with that home in it
	wait times
	ends hooks.Quit // how it is ended

	t     *tmux.Tmux
	id    tmux.Identity
	pane  tmux.Pane
	begun time.Time
	tree  []proc.Process // all that were seen of it
}

// tryStart tries the kind that was asked for, where nothing that was found says already that it can't be started.
func (d *doctor) tryStart(ctx context.Context, found []finding) []finding {
	if d.only == "" || slices.ContainsFunc(found, d.hinders) {
		return nil
	}
	kind, err := hooks.Fresh(d.only)
	if err != nil || kind.Program() == "" {
		return nil // st itself
	}
	path, err := exec.LookPath(kind.Program())
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil // as was found
	}
	dir, err := os.Getwd()
	if err != nil || hooks.IsGiven(kind) {
		dir = "" // the folder is gone, or is no matter
	}
	d.call.out.progress("starting %s (Ctrl-C ends it)", kind.Program())
	t := &trial{doctor: d, kind: kind, path: path, dir: dir, env: d.agentEnv(kind, path), wait: asUsual}
	found = t.run(ctx)
	for i := range found {
		found[i].Subject = d.only
	}
	return found
}

// hinders says that a start would only fail for a reason that was found already.
func (d *doctor) hinders(f finding) bool {
	of := map[string]string{"program": d.only, "settings": d.only, "kind": d.only, "tmux": "", "sandbox": ""}
	subject, ok := of[f.Name]
	return ok && f.Subject == subject && f.Result == resultFail
}

// run goes through the stages up to the one that fails.
func (t *trial) run(ctx context.Context) (found []finding) {
	if err := t.open(ctx); err != nil {
		return []finding{staged("start", fault(nil, "it can't be started: %v", err))}
	}
	defer func() {
		err := t.end(context.WithoutCancel(ctx))
		var left *leftError
		switch {
		case errors.As(err, &left):
			found = append(found, staged("end", warning([]string{left.next}, "%v", err)))
		case err != nil:
			found = append(found, staged("end", fault(nil, "%v", err)))
		}
	}()
	up := t.awaitLine(ctx)
	found = append(found, staged("start", up))
	if up.Result != resultOK {
		return found
	}
	mute := hooks.IsMute(t.kind)
	if !mute && t.hooked() {
		found = append(found, staged("heard", t.awaitHook(ctx, orch.SessionStarted, "its start hook has come", "its input line is up, and no start hook has come")))
	}
	quit := t.quit(ctx)
	found = append(found, staged("quit", quit))
	if mute && quit.Result == resultOK && t.hooked() {
		found = append(found, staged("heard", t.awaitHook(ctx, orch.SessionEnded, "its hooks run: one has come as it ended", "it has ended, and no hook has told of that")))
	}
	return found
}

func staged(name string, f finding) finding {
	f.Name = name
	return f
}

// hooked tells that the program has st's hooks here: of its launch, or installed by a person.
func (t *trial) hooked() bool {
	if hooks.IsGiven(t.kind) {
		return false
	}
	return !hooks.IsUnheard(t.kind) || hooks.Heard(t.kind.Name(), t.self, (&patient{env: t.env}).lookup)
}

// keep is what keeps the server of a trial at a socket, so that what a program said that ended at once can be read. It ends all
// of it where we are killed and can't.
func keep(socket string) []string {
	return []string{"/bin/sh", "-c", `sleep 120; exec tmux -S "$0" kill-server`, socket}
}

// open makes the server and starts the program in it.
func (t *trial) open(ctx context.Context) (err error) {
	if t.own, err = os.MkdirTemp("/tmp", "st-doctor-"); err != nil { // short, as a socket's path has to be
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.end(context.WithoutCancel(ctx)))
		}
	}()
	if err := daemon.Prepare(t.homeOfOwn()); err != nil {
		return err
	}
	argv, env, err := t.launch()
	if err != nil {
		return err
	}
	t.t = tmux.At(filepath.Join(t.own, "tmux")).Bare().With(t.env)
	keeper, err := t.t.NewSession(ctx, "doctor", t.own, keep(t.t.Socket()), nil)
	if err != nil {
		return err
	}
	if t.id, err = t.t.Identity(ctx); err != nil {
		return err
	}
	if _, err := t.t.Run(ctx, tmux.Cmd{"set-option", "-wg", "remain-on-exit", "on"}); err != nil {
		return err
	}
	if t.dir == "" {
		t.dir = t.own
	}
	t.begun = time.Now()
	t.pane, err = t.t.Open(ctx, tmux.Open{Session: keeper.Session, Name: t.kind.Name(), Dir: t.dir, Argv: argv, Env: env})
	return err
}

// homeOfOwn is where the hooks of this start leave what they tell: no daemon hears of it.
func (t *trial) homeOfOwn() string { return filepath.Join(t.own, "home") }

// launch writes the files of the start and returns its arguments and environment.
func (t *trial) launch() (argv, env []string, err error) {
	launch, err := t.kind.Launch(hooks.Spec{Program: t.path, Self: t.self, Home: t.homeOfOwn(), Scratch: t.own, Conversation: uuid.NewString()})
	if err != nil {
		return nil, nil, err
	}
	launch, t.ends = hooks.Trial(t.kind, launch)
	for path, data := range launch.Files {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return nil, nil, err
		}
	}
	for name, value := range launch.Env {
		env = append(env, name+"="+value)
	}
	return launch.Argv, append(env, "ST_HOME="+t.homeOfOwn()), nil
}
