package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"st/orch"
	"st/orch/daemon"
)

var watchVerb = &verb{
	name: "watch", about: "events as JSON lines, those of the past and then each as it comes",
	help: "Each line has a sequence number, seq; --since goes on behind one. Over a restart of the daemon nothing\n" +
		"is lost or told twice. It ends with Ctrl-C (0), or when nobody reads any more.",
	flags: func() []cli.Flag {
		return []cli.Flag{
			&cli.IntFlag{Name: "since", Usage: "only what came after event `SEQ`; 0 for all"},
			&cli.StringFlag{Name: "types", Usage: "only events of these types: `A,B`"},
		}
	},
	run: watch,
}

func init() { register(watchVerb) }

// daemonBack is how often a watcher looks whether a daemon runs again. It starts none: somebody may have stopped it.
const daemonBack = 500 * time.Millisecond

func watch(c *call) (int, error) {
	types, err := c.types()
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	go func() {
		awaitUnread(os.Stdout)
		cancel()
	}()
	client, err := c.connect()
	if err == nil {
		err = c.follow(ctx, client, orch.EventArgs{Since: uint64(c.Int("since")), Types: types})
	}
	if ctx.Err() != nil { // the end that is meant
		return exitDone, nil
	}
	return exitDone, err
}

// types are those of --types, checked.
func (c *call) types() ([]string, error) {
	value, err := c.text("types")
	if err != nil || value == "" {
		return nil, err
	}
	types := strings.Split(value, ",")
	if refusal := orch.CheckTypes(types); refusal != nil {
		return nil, c.misuse("--types: %s", refusal.Message)
	}
	return types, nil
}

// follow prints events until ctx ends, going on behind the last one where a daemon went away.
func (c *call) follow(ctx context.Context, client *daemon.Client, args orch.EventArgs) error {
	for {
		err := client.Watch(ctx, "events", args, func(raw json.RawMessage) (bool, error) {
			var e orch.Event
			if err := json.Unmarshal(raw, &e); err != nil {
				return false, err
			}
			args.Since = e.Seq
			return true, c.out.object(e)
		})
		var e *orch.Error
		if err != nil && (!errors.As(err, &e) || e.Code != "daemon_unreachable") {
			return err
		}
		c.out.progress("the daemon went away; waiting until one runs")
		if client, err = c.reconnect(ctx, client.Home()); err != nil {
			return err
		}
	}
}

// reconnect waits until a daemon runs again.
func (c *call) reconnect(ctx context.Context, home string) (*daemon.Client, error) {
	for {
		client, err := daemon.Dial(ctx, home, c.from())
		var e *orch.Error
		if err == nil || !errors.As(err, &e) || e.Code != "daemon_unreachable" {
			return client, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(daemonBack):
		}
	}
}
