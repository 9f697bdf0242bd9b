package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"

	"github.com/google/uuid"
	"github.com/urfave/cli/v2"

	"st/hooks"
	"st/orch"
	"st/orch/daemon"
	"st/orch/proc"
)

// call is one use of a verb: its flags and arguments, where to print, and the way to the daemon.
type call struct {
	*cli.Context
	ctx       context.Context
	verb      *verb
	out       *printer
	arguments []string
	request   string // id of what the verb asks for
}

// takeRequest reads --request; where it isn't given the request has a fresh uuid, under which it is sent again when
// the daemon goes away.
func (c *call) takeRequest() error {
	c.request = uuid.NewString()
	if !c.IsSet("request") {
		return nil
	}
	c.request = c.String("request")
	if refusal := orch.CheckRequest(c.request); refusal != nil {
		return c.misuse("--request: %s", refusal.Message)
	}
	return nil
}

// arg is the argument at i, "" where it wasn't given.
func (c *call) arg(i int) string {
	if i < len(c.arguments) {
		return c.arguments[i]
	}
	return ""
}

func (c *call) misuse(format string, args ...any) error { return misuse(c.verb, format, args...) }

// text is a flag that may be left out but not be empty.
func (c *call) text(name string) (string, error) {
	value := c.String(name)
	if c.IsSet(name) && value == "" {
		return "", c.misuse("--%s is empty", name)
	}
	return value, nil
}

// limited is the context of a call that waits no longer than --timeout says.
func (c *call) limited() (context.Context, context.CancelFunc) {
	if !c.IsSet("timeout") {
		return c.ctx, func() {}
	}
	return context.WithTimeout(c.ctx, c.Duration("timeout"))
}

// from is who asks.
func (c *call) from() daemon.From {
	from := daemon.FromEnv(os.Getenv)
	from.As, from.Run = c.String("as"), c.String("run")
	return from
}

// isAgent tells whether an agent program asks, not a person. Its environment tells where a sandbox hides the processes
// above, or where they are those of another agent's shared process.
func isAgent() bool {
	if os.Getenv("ST_AGENT") != "" || hooks.Thread(os.Getenv) != "" {
		return true
	}
	chain, err := proc.Chain(os.Getpid())
	if err != nil {
		return false // a system that tells no ancestry
	}
	return slices.ContainsFunc(chain, func(i proc.Info) bool { return hooks.KindOf(i.Exe, i.Argv) != "" })
}

// connect finds the daemon, and starts it where none runs.
func (c *call) connect() (*daemon.Client, error) { return c.connectFrom(c.from()) }

func (c *call) connectFrom(from daemon.From) (*daemon.Client, error) {
	home, err := daemon.Home(os.Getenv)
	if err != nil {
		return nil, err
	}
	return daemon.Connect(c.ctx, home, from, true)
}

// do gives an order and reads its answer.
func (c *call) do(what orch.What, answer any) error {
	client, err := c.connect()
	if err != nil {
		return err
	}
	return c.order(client, what, answer)
}

// order gives the verb's order under the id of its request.
func (c *call) order(client *daemon.Client, what orch.What, answer any) error {
	defer c.out.patience()()
	return client.Do(c.ctx, c.request, what, answer)
}

// get asks for a view.
func (c *call) get(view string, args, answer any) error {
	client, err := c.connect()
	if err != nil {
		return err
	}
	defer c.out.patience()()
	return client.Get(c.ctx, view, args, answer)
}

// watch follows a view until each wants no more. A daemon that goes away meanwhile is started again, and the
// view begins anew: it shows a state, not a difference.
func (c *call) watch(ctx context.Context, client *daemon.Client, view string, args any, each func(json.RawMessage) (bool, error)) error {
	const tries = 5 // in a row, without one line from the daemon
	heard := 0
	for try := 0; ; try++ {
		before := heard
		err := client.Watch(ctx, view, args, func(raw json.RawMessage) (bool, error) {
			heard++
			return each(raw)
		})
		if heard > before {
			try = 0
		}
		var e *orch.Error
		if err == nil || ctx.Err() != nil || !errors.As(err, &e) || e.Code != "daemon_unreachable" || try >= tries {
			return err
		}
		c.out.progress("the daemon went away; asking again")
		if client, err = c.connect(); err != nil {
			return err
		}
	}
}
