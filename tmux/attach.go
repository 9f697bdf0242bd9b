package tmux

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Client is what is attached to the server: a terminal, or a program in control mode.
type Client struct {
	Name     string // for -c
	TTY      string // path of its terminal, "" for none
	Session  string // "$1"
	Pane     string // the active pane that it shows
	PID      int    // of the program that is attached
	Activity int64  // Unix seconds of the last key; of the attaching, before one was pressed
	Created  int64  // Unix seconds of the attaching
	Control  bool   // it is a program's, and shows nothing
}

// Clients lists the clients that show something: persons' terminals.
func (t *Tmux) Clients(ctx context.Context) ([]Client, error) {
	all, err := t.AllClients(ctx)
	return slices.DeleteFunc(all, func(c Client) bool { return c.Control }), err
}

// AllClients lists every client, those in control mode too.
func (t *Tmux) AllClients(ctx context.Context) ([]Client, error) {
	mark := nonce()
	out, err := t.ask(ctx, Cmd{"list-clients", "-F", mark + "\t#{client_control_mode}\t#{client_pid}\t#{session_id}\t#{pane_id}\t#{client_activity}\t#{client_created}\t#{client_tty}\t#{client_name}"})
	if err != nil {
		return nil, err
	}
	var clients []Client
	for _, row := range rows(out, mark) {
		f := strings.SplitN(row, "\t", 8)
		if len(f) != 8 {
			return nil, fmt.Errorf("tmux list-clients: unreadable row %q", row)
		}
		pid, errPID := strconv.Atoi(f[1])
		activity, err := strconv.ParseInt(f[4], 10, 64)
		created, errCreated := strconv.ParseInt(f[5], 10, 64)
		if err != nil || errCreated != nil || errPID != nil {
			return nil, fmt.Errorf("tmux list-clients: unreadable row %q", row)
		}
		clients = append(clients, Client{Control: f[0] == "1", PID: pid, Session: f[2], Pane: f[3], Activity: activity, Created: created, TTY: f[6], Name: f[7]})
	}
	return clients, nil
}

// Target is where a client is to go: a session, and in it a window and a pane, "" for those that are current there.
// All by id: a name may be a prefix of another.
type Target struct{ Session, Window, Pane string }

func (g Target) String() string {
	if g.Window == "" {
		return g.Session + ":" // without the colon switch-client may read an id as a pattern
	}
	return g.Session + ":" + g.Window + "." + g.Pane
}

// Switch shows a target on a client (Client.Name), if the server is the one meant: ErrOtherServer otherwise.
func (t *Tmux) Switch(ctx context.Context, client string, g Target, want Identity) error {
	c := new(check)
	c.server(want)
	ok, err := was(t.Run(ctx, guarded("", c, "switch-client -c "+word(client)+" -t "+word(g.String()))))
	if ok || err != nil {
		return err
	}
	return ErrOtherServer
}

// AttachArgv is the command line that shows a target in the terminal in which it is run.
func (t *Tmux) AttachArgv(g Target) []string {
	return []string{"tmux", "-S", t.socket, "attach-session", "-t", g.String()}
}
