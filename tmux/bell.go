package tmux

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
)

// Changes together ring for every way in which a pane ends, except respawn-pane -k: pane-exited does not fire
// for kill-pane and kill-window, and pane-died takes its place where remain-on-exit is set. And they ring where one comes
// to another window or session, or these get another name: window-linked comes with break-pane and move-window,
// window-layout-changed with join-pane, swap-pane and split-window. swap-window of two sessions rings nothing (3.3a: no hook at
// all comes with it, but session-window-changed with -d): that is seen at the next ring. window-renamed also comes where tmux itself names a
// window after what runs in it, with each command; after-rename-window does not.
var Changes = []string{"pane-exited", "pane-died", "after-kill-pane", "window-unlinked", "session-closed",
	"window-linked", "window-layout-changed", "after-rename-window", "session-renamed", "session-window-changed", "window-pane-changed"}

// Begins together ring where a pane is opened, and where a program begins that gives its pane a title or by which tmux
// names its window.
var Begins = []string{"session-created", "window-linked", "window-layout-changed", "window-renamed", "pane-title-changed"}

// Bell rings when a pane of the server may have changed. What has changed is for Panes to tell.
type Bell struct {
	// C gets one value for any number of rings since the last was taken. It is closed when the server has
	// ended or Close was called.
	C <-chan struct{}

	t       *Tmux
	server  Identity
	channel string
	flag    string   // a variable of the server that no pane gets: set from a ring until somebody has waited for it
	hooks   []string // each with its index
	stop    context.CancelFunc
	quit    chan struct{} // closed by Close
	done    chan struct{} // closed when nobody listens any more
	once    sync.Once
	closing error
}

// Bell hangs a bell at hooks of the server: Changes or Begins. hash tells apart those who hang one on the same server; a second one by the same hash
// takes the first one's place. The hooks stand at an index of their own: without one they would erase a
// person's.
func (t *Tmux) Bell(ctx context.Context, hash string, hooks []string) (*Bell, error) {
	server, err := t.Identity(ctx)
	if err != nil {
		return nil, err
	}
	h := fnv.New32a()
	h.Write([]byte(hash))
	// A new channel each time: a waiter that a killed process left behind would swallow a ring.
	b := &Bell{t: t, server: server, channel: fmt.Sprintf("st-%08x-%s", h.Sum32(), nonce()), flag: fmt.Sprintf("ST_BELL_%08X", h.Sum32()), quit: make(chan struct{}), done: make(chan struct{})}
	before, err := t.hooks(ctx)
	if err != nil {
		return nil, err
	}
	// Of two signals that nobody waits for the second takes back the first (3.3a, cmd-wait-for.c): there is one until it was
	// waited for.
	ring := fmt.Sprintf(`if-shell -F "#{?%s,0,1}" "set-environment -gh %[1]s 1 ; wait-for -S %s"`, b.flag, b.channel)
	cmds := []Cmd{{"set-environment", "-gu", b.flag}}
	for _, name := range hooks {
		if !strings.Contains("\n"+before, "\n"+name) {
			continue // of a newer tmux
		}
		hook := fmt.Sprintf("%s[%d]", name, 1000+h.Sum32()%1_000_000)
		b.hooks = append(b.hooks, hook)
		cmds = append(cmds, Cmd{"set-hook", "-g", hook, ring})
	}
	// Whoever had the place may have been killed, and its client waits on.
	if old := channelOf(before, b.hooks[0]); old != "" {
		cmds = append(cmds, Cmd{"wait-for", "-S", old})
	}
	if _, err := t.Run(ctx, cmds...); err != nil {
		return nil, err
	}
	rings := make(chan struct{}, 1)
	b.C = rings
	listen, stop := context.WithCancel(context.WithoutCancel(ctx))
	b.stop = stop
	go b.listen(listen, rings)
	return b, nil
}

// listen waits again and again. A ring while nobody waits is kept by tmux, so none is lost in between; one that comes before
// the flag is taken down, by the same client that has waited, is part of the ring that this tells of.
func (b *Bell) listen(ctx context.Context, rings chan<- struct{}) {
	defer close(b.done)
	defer close(rings)
	for {
		if err := b.wait(ctx); err != nil {
			return
		}
		select {
		case <-b.quit:
			return
		default:
		}
		select {
		case rings <- struct{}{}:
		default:
		}
	}
}

// wait is one waiting client. It has no terminal and no session, so it is in no list of clients, outlives any
// session and ends with the server. Not with -C: tmux 3.3a crashes, server and all, when it notifies a control
// client that is just connecting, and ours connects again while the panes of a session are closing. The check
// keeps it from waiting on a server that was started anew.
func (b *Bell) wait(ctx context.Context) error {
	c := new(check)
	c.server(b.server)
	out, err := b.t.Run(ctx, Cmd{"if-shell", "-F", c.String(), "wait-for " + b.channel + " ; set-environment -gu " + b.flag, "display-message -p " + held})
	if err == nil && out != "" {
		err = ErrOtherServer
	}
	return err
}

// Close takes the hooks off, where they are still this bell's, and ends the waiting client. Without a server
// there is nothing to take off.
func (b *Bell) Close() error {
	b.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stepLimit)
		defer cancel()
		close(b.quit)
		if b.closing = b.takeOff(ctx); b.closing == nil {
			// The last ring, or the server's end, lets the client end by itself. Killed, it would leave its
			// wait behind in the server.
			select {
			case <-b.done:
			case <-ctx.Done():
			}
		}
		b.stop()
		<-b.done
	})
	return b.closing
}

func (b *Bell) takeOff(ctx context.Context) error {
	is, err := b.t.Identity(ctx)
	if errors.Is(err, ErrNoServer) || err == nil && is != b.server {
		return nil
	}
	if err != nil {
		return err
	}
	out, err := b.t.hooks(ctx)
	if err != nil {
		return err
	}
	var cmds []Cmd
	for _, hook := range b.hooks {
		if channelOf(out, hook) == b.channel {
			cmds = append(cmds, Cmd{"set-hook", "-gu", hook})
		}
	}
	if len(cmds) > 0 { // else another bell has its place, and its flag
		cmds = append(cmds, Cmd{"set-environment", "-gu", b.flag})
	}
	cmds = append(cmds, Cmd{"wait-for", "-S", b.channel})
	_, err = b.t.Run(ctx, cmds...)
	return err
}

// hooks lists the server's hooks; those of panes and windows are in the windows' table.
func (t *Tmux) hooks(ctx context.Context) (string, error) {
	return t.ask(ctx, Cmd{"show-hooks", "-g"}, Cmd{"show-hooks", "-gw"})
}

// channelOf returns the channel that a hook rings, "" where it does something else or isn't set.
func channelOf(hooks, hook string) string {
	for line := range strings.Lines(hooks) {
		does, ok := strings.CutPrefix(line, hook+" ")
		if !ok {
			continue
		}
		if _, channel, ok := strings.Cut(does, "wait-for -S "); ok {
			return strings.TrimRight(channel, "\"\n") // whatever stands behind it closes what stands before it
		}
	}
	return ""
}
