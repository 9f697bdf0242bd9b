package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"st/orch"
)

var uiVerb = &verb{
	name: "ui", about: "the tree, live: who does what, what waits for you, and keys to look and act",
	help: "It shows what st tree shows, with gates and questions on top, and follows each change. The arrows or j and k\n" +
		"move, Enter opens a window, r reads, g answers a gate, a answers a question, s stops a worker, x releases one,\n" +
		"/ filters, ? tells all keys, q quits. Each act is the verb of that name, with its rules and its refusals:\n" +
		"st attach, st worker read, st gate answer, st reply, st worker stop, st worker release. Where the daemon goes\n" +
		"away it says so and waits; it starts none then.",
	run: showUI,
}

func init() { register(uiVerb) }

func showUI(c *call) (int, error) {
	if err := c.uiTerminal(); err != nil {
		return 0, err
	}
	// Where tmux ends, the terminal hangs up: that is an end like any other.
	ctx, stop := signal.NotifyContext(c.ctx, syscall.SIGHUP)
	defer stop()
	client, err := c.connect()
	if err != nil {
		return 0, err
	}
	var trees []orch.TreeInfo // before the screen is taken: a refusal is to stay readable
	if err := client.Get(ctx, "tree", orch.ListArgs{Brief: true}, &trees); err != nil {
		return 0, err
	}
	return exitDone, c.runUI(ctx, newFeed(c, client), inRow(trees))
}

// uiTerminal refuses to draw where nobody looks.
func (c *call) uiTerminal() error {
	switch {
	case c.out.json:
		return &usageError{message: "ui is for the eyes and has no --json", next: []string{"st tree --json", "st watch"}}
	case !term.IsTerminal(int(os.Stdin.Fd())) || !term.IsTerminal(int(os.Stdout.Fd())):
		return &orch.Error{
			Code: "no_terminal", Message: "this is no terminal, so nothing can be shown in it",
			Hint: "the same, printed once:", Next: []string{"st tree"},
		}
	case os.Getenv("TERM") == "dumb":
		return &orch.Error{
			Code: "no_terminal", Message: "this terminal can't be drawn on: TERM is dumb",
			Hint: "the same, printed once:", Next: []string{"st tree"},
		}
	}
	return nil
}

// runUI shows the tree until somebody quits or ctx ends; both are the end that is meant.
func (c *call) runUI(ctx context.Context, f *feed, trees []orch.TreeInfo) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	u := newUI(c.out, &hands{call: c, ctx: ctx}, f)
	u.take(treesMsg{u.turn, trees})
	l := newLoop(ctx, u)
	f.start(ctx, l.send)
	err := l.run()
	hungUp := ctx.Err() != nil
	cancel()
	f.running.Wait()
	if hungUp { // what its terminal says then is no fault
		return nil
	}
	return errors.Join(err, u.fault)
}
