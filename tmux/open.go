package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// Open is a window wanted.
type Open struct {
	Session string   // id, "$1"
	Name    string   // of the window; shown as given, control characters left out
	Dir     string   // an existing folder: tmux goes to HOME without a word where it can't enter one
	Tag     string   // for TagOption; "" = none
	Argv    []string // run without any shell
	Env     []string // NAME=value, added to what the server hands on
}

// Open opens a window at the end of a session without taking the focus and starts a program in it. The tag is
// on the pane before the program can be seen by anybody: it is set in the same server step. tmux no longer
// renames that window by itself. ErrNoSession where that is gone.
func (t *Tmux) Open(ctx context.Context, o Open) (Pane, error) {
	if err := checkStart(o.Dir, o.Argv); err != nil {
		return Pane{}, err
	}
	if printable(o.Tag) != o.Tag {
		return Pane{}, fmt.Errorf("tag %q holds control characters", o.Tag)
	}
	// The commands that follow need a target that is known beforehand, so the window has a name of its own
	// until the last of them. Without a target they would reach the pane a person looks at.
	own := nonce()
	window := o.Session + ":=" + own
	open := Cmd{"new-window", "-d", "-P", "-F", own + paneFields, "-t", o.Session + ":", "-n", own}
	cmds := []Cmd{
		append(open, startArguments(o.Dir, o.Env, o.Argv)...),
		// automatic-rename is off for a window that was made with a name (tmux(1), automatic-rename), and after each
		// option that is set the server goes through all its windows.
		{"set-option", "-w", "-t", window, "allow-rename", "off"},
	}
	if o.Tag != "" {
		cmds = append(cmds, Cmd{"set-option", "-p", "-t", window, TagOption, o.Tag})
	}
	name := printable(o.Name)
	cmds = append(cmds, Cmd{"rename-window", "-t", window, "--", quote(name)})
	out, err := t.Run(ctx, cmds...)
	p, perr := opened(out, own)
	if err != nil {
		return Pane{}, t.undo(ctx, p, err)
	}
	p.Tag, p.WindowName = o.Tag, name
	return p, perr
}

// undo closes a window that was opened but could not be tagged or named.
func (t *Tmux) undo(ctx context.Context, p Pane, err error) error {
	if p.ID == "" {
		return err
	}
	_, kerr := t.Run(context.WithoutCancel(ctx), Cmd{"kill-pane", "-t", p.ID})
	return errors.Join(err, kerr)
}

func opened(out, mark string) (Pane, error) {
	r := rows(out, mark)
	if len(r) != 1 {
		return Pane{}, fmt.Errorf("tmux said nothing of the new pane: %q", out)
	}
	return parsePane(r[0])
}

func checkStart(dir string, argv []string) error {
	if len(argv) == 0 {
		return errors.New("nothing to run in the pane")
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", dir)
	}
	return nil
}

func startArguments(dir string, env, argv []string) []string {
	args := []string{"-c", quote(dir)}
	for _, e := range env {
		args = append(args, "-e", e)
	}
	// A single argument is a command line for the user's default-shell, which may be fish or /bin/false; two
	// or more are run as they are.
	if len(argv) == 1 {
		argv = []string{"/bin/sh", "-c", `exec "$0"`, argv[0]}
	}
	return append(append(args, "--"), argv...)
}

// NewSession opens a detached session of its own, and starts the server where none runs. tmux writes _ for
// "." and ":" in the name. ErrSessionExists where there is one of that name.
func (t *Tmux) NewSession(ctx context.Context, name, dir string, argv, env []string) (Pane, error) {
	if err := checkStart(dir, argv); err != nil {
		return Pane{}, err
	}
	mark := nonce()
	cmd := Cmd{"new-session", "-d", "-P", "-F", mark + paneFields, "-s", quote(printable(name))}
	cmd = append(cmd, startArguments(dir, env, argv)...)
	out, err := t.starting(ctx, []Cmd{cmd})
	if err != nil {
		return Pane{}, err
	}
	return opened(out, mark)
}

// starting runs commands of which the first may start the server.
func (t *Tmux) starting(ctx context.Context, cmds []Cmd) (string, error) {
	var flags []string
	if t.bare {
		flags = []string{"-f", "/dev/null"}
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		out, err := t.run(ctx, "", flags, cmds)
		// While an old server is still ending at the socket, a new one fails to start there.
		if !errors.Is(err, ErrNoServer) || !pause(ctx, slowTick) {
			return out, err
		}
	}
}

// startLimit bounds the wait for a server that is just ending.
const startLimit = 5 * time.Second

// Kill closes a pane, if in the same server step it is the one meant: ErrNoPane, ErrOtherServer or ErrOtherTag
// otherwise. A zero Identity and an empty tag are not checked.
func (t *Tmux) Kill(ctx context.Context, id string, want Identity, tag string) error {
	if err := paneID(id); err != nil {
		return err
	}
	ok, err := was(t.Run(ctx, guarded(id, ours(id, want, tag), "kill-pane -t "+id)))
	if ok || err != nil {
		return err
	}
	return t.mismatch(ctx, id, want, tag)
}

// mismatch says why a check of ours did not hold.
func (t *Tmux) mismatch(ctx context.Context, id string, want Identity, tag string) error {
	views, err := t.Look(ctx, id)
	if err != nil {
		return err
	}
	v, ok := views[id]
	is := v.Server
	if !ok {
		if is, err = t.Identity(ctx); err != nil {
			return err
		}
	}
	switch {
	case !want.IsZero() && is != want:
		return fmt.Errorf("pane %s: %w", id, ErrOtherServer)
	case tag != "" && v.Tag != tag && ok:
		return fmt.Errorf("pane %s: %w", id, ErrOtherTag)
	}
	return fmt.Errorf("pane %s: %w", id, ErrNoPane)
}

// KillServer ends the server, if it is the one meant; ErrOtherServer otherwise, and for a zero Identity.
func (t *Tmux) KillServer(ctx context.Context, want Identity) error {
	if want.IsZero() {
		return ErrOtherServer
	}
	c := new(check)
	c.server(want)
	ok, err := was(t.Run(ctx, guarded("", c, "kill-server")))
	if ok || err != nil {
		return err
	}
	return ErrOtherServer
}

// Keys presses keys in a pane, by tmux's names ("Enter", "C-u") or as text. In copy mode they would scroll
// instead: ErrCopyMode. ErrNoPane where there is none.
func (t *Tmux) Keys(ctx context.Context, id string, keys ...string) error {
	if err := paneID(id); err != nil {
		return err
	}
	var act strings.Builder
	act.WriteString("send-keys -t " + id + " --")
	for _, k := range keys {
		act.WriteString(" " + word(printable(k)))
	}
	c := ours(id, Identity{}, "")
	c.isInt("pane_in_mode", 0)
	ok, err := was(t.Run(ctx, guarded(id, c, act.String())))
	if ok || err != nil {
		return err
	}
	views, err := t.Look(ctx, id)
	if err != nil {
		return err
	}
	if views[id].InMode {
		return fmt.Errorf("pane %s: %w", id, ErrCopyMode)
	}
	return fmt.Errorf("pane %s: %w", id, ErrNoPane)
}
