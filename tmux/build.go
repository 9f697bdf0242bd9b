package tmux

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Built is a window that has been built again: what it and its panes are called now.
type Built struct {
	Session string   // id
	Window  string   // id
	Index   int      // of the window in its session
	Panes   []string // ids, in the order of the panes
	// Loose says why the panes don't stand as they did; nil where they do.
	Loose error
}

// BuildSession makes a session with one of its windows, and starts the server where none runs. It is built as a whole or
// not at all. ErrSessionExists where there is one of that name.
func (t *Tmux) BuildSession(ctx context.Context, s SessionLayout, w WindowLayout) (Built, error) {
	if there, err := t.hasSession(ctx, s.Name); there || err != nil {
		return Built{}, errors.Join(err, existing(there, s.Name))
	}
	// It has a name of its own until it stands: one that a person gave is no sure target.
	own := nonce()
	session := "=" + own + ":"
	open := Cmd{"new-session", "-d", "-P", "-F", own + paneFields, "-s", own, "-n", own}
	if w.Width > 0 && w.Height > 0 {
		open = append(open, "-x", strconv.Itoa(w.Width), "-y", strconv.Itoa(w.Height))
	}
	window, index := session+"="+own, strconv.Itoa(w.Index)
	move := Cmd{"if-shell", "-F", "-t", window, "#{!=:#{window_index}," + index + "}", "move-window -s " + window + " -t " + session + index}
	cmds := append(windowCommands(own, open, window, w, move), Cmd{"rename-session", "-t", session, "--", quote(printable(s.Name))})
	out, err := t.starting(ctx, cmds)
	return t.built(ctx, own, w, out, err)
}

func existing(there bool, name string) error {
	if !there {
		return nil
	}
	return fmt.Errorf("session %q: %w", name, ErrSessionExists)
}

// hasSession tells whether there is a session of exactly that name; none has where no server runs.
func (t *Tmux) hasSession(ctx context.Context, name string) (bool, error) {
	sessions, err := t.Sessions(ctx)
	if errors.Is(err, ErrNoServer) {
		return false, nil
	}
	return slices.ContainsFunc(sessions, func(s Session) bool { return unescaped(s.Name) == name }), err
}

// BuildWindow makes a window in a session (id), at its index where that is free, else behind the others. It is built as a
// whole or not at all, and takes no focus. ErrNoSession where that is gone.
func (t *Tmux) BuildWindow(ctx context.Context, session string, w WindowLayout) (Built, error) {
	try := func(target string) (Built, error) {
		own := nonce()
		open := Cmd{"new-window", "-d", "-P", "-F", own + paneFields, "-n", own, "-t", target}
		out, err := t.Run(ctx, windowCommands(own, open, session+":="+own, w, nil)...)
		return t.built(ctx, own, w, out, err)
	}
	b, err := try(session + ":" + strconv.Itoa(w.Index))
	if err != nil && strings.Contains(err.Error(), "in use") { // "index 3 in use", the same from 3.2 on
		return try(session + ":")
	}
	return b, err
}

// windowCommands open a window with a shell in each pane. move, where it is set, comes while the window still has the
// name by which it is the target.
func windowCommands(own string, open Cmd, window string, w WindowLayout, move Cmd) []Cmd {
	var cmds []Cmd
	for i, p := range w.Panes {
		if i > 0 {
			// Without -d the new pane is the window's active one, which the next split divides: so they keep their order.
			open = Cmd{"split-window", "-P", "-F", own + paneFields, "-t", window}
		}
		cmds = append(cmds, append(slices.Clone(open), folder(p.Dir)...))
		if p.Tag != "" {
			cmds = append(cmds, Cmd{"set-option", "-p", "-t", window, TagOption, p.Tag})
		}
		if i > 0 { // or there would be no room for many
			cmds = append(cmds, Cmd{"select-layout", "-t", window, "tiled"})
		}
	}
	if w.Mark != "" {
		cmds = append(cmds, Cmd{"set-option", "-w", "-t", window, BuiltOption, w.Mark})
	}
	if move != nil {
		cmds = append(cmds, move)
	}
	if !w.Auto {
		cmds = append(cmds, Cmd{"set-option", "-w", "-t", window, "allow-rename", "off"})
	}
	return append(cmds, Cmd{"rename-window", "-t", window, "--", quote(printable(w.Name))})
}

// folder is the argument for a folder, none for an unknown one.
func folder(dir string) []string {
	if dir == "" {
		return nil
	}
	return []string{"-c", quote(dir)}
}

// built reads what came of a window, and puts its panes where they were.
func (t *Tmux) built(ctx context.Context, own string, w WindowLayout, out string, err error) (Built, error) {
	b := Built{}
	for _, row := range rows(out, own) {
		p, perr := parsePane(row)
		if perr != nil {
			return b, errors.Join(err, perr)
		}
		b.Session, b.Window, b.Panes = p.Session, p.Window, append(b.Panes, p.ID)
	}
	if err == nil && len(b.Panes) != len(w.Panes) {
		err = fmt.Errorf("tmux said nothing of the new panes: %q", out)
	}
	if err != nil {
		return Built{}, t.undoWindow(ctx, b.Window, err)
	}
	b.Loose = t.arrange(ctx, w, b)
	if w.Auto { // a name that is given puts it off
		if _, err := t.Run(ctx, Cmd{"set-option", "-w", "-u", "-t", b.Window, "automatic-rename"}); err != nil {
			return b, err
		}
	}
	b.Index, err = t.indexOf(ctx, b.Panes[0])
	return b, err
}

// undoWindow closes a window that was opened but is not whole.
func (t *Tmux) undoWindow(ctx context.Context, window string, err error) error {
	if window == "" {
		return err
	}
	_, kerr := t.Run(context.WithoutCancel(ctx), Cmd{"kill-window", "-t", window})
	return errors.Join(err, kerr)
}

// arrange puts the panes of a window where they were. The places fit only as many panes as there were.
func (t *Tmux) arrange(ctx context.Context, w WindowLayout, b Built) error {
	if len(w.Panes) < 2 {
		return nil
	}
	var cmds []Cmd
	if w.Layout != "" && !sound(w.Layout) {
		return fmt.Errorf("their places can't be read: %q", w.Layout)
	}
	if w.Layout != "" {
		cmds = append(cmds, Cmd{"select-layout", "-t", b.Window, w.Layout})
	}
	active := max(slices.IndexFunc(w.Panes, func(p PaneLayout) bool { return p.Active }), 0)
	cmds = append(cmds, Cmd{"select-pane", "-t", b.Panes[active]})
	if w.Zoomed {
		cmds = append(cmds, Cmd{"resize-pane", "-Z", "-t", b.Panes[active]})
	}
	_, err := t.Run(ctx, cmds...)
	return err
}

// sound tells whether the places of panes are as tmux wrote them, by the sum that stands before them. tmux 3.3a crashes, server
// and all, on what is none.
func sound(layout string) bool {
	sum, places, ok := strings.Cut(layout, ",")
	want, err := strconv.ParseUint(sum, 16, 16)
	if !ok || err != nil || len(sum) != 4 || places == "" {
		return false
	}
	var is uint16
	for i := range len(places) {
		is = is>>1 + is&1<<15 + uint16(places[i])
	}
	return uint64(is) == want && strings.Trim(places, "0123456789x,{}[]") == ""
}

func (t *Tmux) indexOf(ctx context.Context, pane string) (int, error) {
	out, err := t.ask(ctx, Cmd{"list-panes", "-a", "-F", "#{pane_id} #{window_index}"})
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(out) {
		if index, ok := strings.CutPrefix(line, pane+" "); ok {
			return strconv.Atoi(strings.TrimSpace(index))
		}
	}
	return 0, fmt.Errorf("pane %s: %w", pane, ErrNoPane)
}

// BuildGrouped makes a session that has the windows of another one (its name). ErrSessionExists where there is one of that
// name, ErrNoSession where the other is gone.
func (t *Tmux) BuildGrouped(ctx context.Context, s SessionLayout, with string) error {
	if there, err := t.hasSession(ctx, s.Name); there || err != nil {
		return errors.Join(err, existing(there, s.Name))
	}
	first, err := t.SessionID(ctx, with)
	if err != nil {
		return err
	}
	_, err = t.Run(ctx, Cmd{"new-session", "-d", "-t", first, "-s", quote(printable(s.Name))})
	return err
}

// SessionID is the id of the session of exactly that name, as it was given. ErrNoSession where there is none.
func (t *Tmux) SessionID(ctx context.Context, name string) (string, error) {
	sessions, err := t.Sessions(ctx)
	if err != nil {
		return "", err
	}
	for _, s := range sessions {
		if unescaped(s.Name) == name {
			return s.ID, nil
		}
	}
	return "", fmt.Errorf("session %q: %w", name, ErrNoSession)
}

// Environ is what a new pane of the server gets of its environment, NAME=value.
func (t *Tmux) Environ(ctx context.Context) (env []string, err error) {
	out, err := t.ask(ctx, Cmd{"show-environment", "-g"})
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		if name, _, ok := strings.Cut(line, "="); ok && name != "" {
			env = append(env, strings.TrimSuffix(line, "\n"))
		}
	}
	return env, nil
}

// SelectWindow makes a window the current one of its session, both by id.
func (t *Tmux) SelectWindow(ctx context.Context, session, window string) error {
	_, err := t.Run(ctx, Cmd{"select-window", "-t", session + ":" + window})
	return err
}

// Respawn runs a program in a pane that was built for it, in place of the shell there: in one server step, and only
// where server and tag are those meant. ErrNoPane, ErrOtherServer or ErrOtherTag otherwise.
func (t *Tmux) Respawn(ctx context.Context, id string, want Identity, tag string, o Open) (Pane, error) {
	if err := errors.Join(paneID(id), checkStart(o.Dir, o.Argv)); err != nil {
		return Pane{}, err
	}
	act := []string{"respawn-pane -k -t " + id}
	for _, a := range startArguments(o.Dir, o.Env, o.Argv) {
		act[0] += " " + word(a)
	}
	act = append(act, "set-option -p -t "+id+" "+TagOption+" "+word(o.Tag), "set-option -w -t "+id+" allow-rename off")
	ok, err := was(t.Run(ctx, guarded(id, ours(id, want, tag), strings.Join(act, " ; "))))
	if err != nil {
		return Pane{}, err
	}
	if !ok {
		return Pane{}, t.mismatch(ctx, id, want, tag)
	}
	panes, err := t.Panes(ctx)
	for _, p := range panes {
		if p.ID == id {
			return p, nil
		}
	}
	return Pane{}, errors.Join(err, fmt.Errorf("pane %s: %w", id, ErrNoPane))
}

// Untag makes a pane that was built for a program a person's. ErrNoPane, ErrOtherServer or ErrOtherTag where it is not the
// one meant.
func (t *Tmux) Untag(ctx context.Context, id string, want Identity, tag string) error {
	if err := paneID(id); err != nil {
		return err
	}
	ok, err := was(t.Run(ctx, guarded(id, ours(id, want, tag), "set-option -p -u -t "+id+" "+TagOption)))
	if ok || err != nil {
		return err
	}
	return t.mismatch(ctx, id, want, tag)
}
