package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"st/orch"
)

var workerStopVerb = &verb{
	noun: "worker", name: "stop", args: "W", min: 1, max: 1, about: "end a worker's agent and close its pane",
	help: "The agent is asked to quit, then its pane is closed and its processes end. What detached itself is\n" +
		"named. One that is queued never gets its window. On a terminal stop asks; elsewhere it wants --yes.",
	flags: func() []cli.Flag { return []cli.Flag{&cli.BoolFlag{Name: "yes", Usage: "don't ask"}} },
	codes: []int{exitRefused},
	sends: orch.WorkerStop{},
	run:   workerStop,
}

func init() { register(workerStopVerb) }

func workerStop(c *call) (int, error) {
	if !c.Bool("yes") {
		if err := c.confirmStop(); err != nil {
			return 0, err
		}
	}
	var a orch.WorkerAnswer
	if err := c.do(orch.WorkerStop{Worker: c.arg(0)}, &a); err != nil {
		return 0, err
	}
	if !a.Already {
		if err := c.awaitGone(&a.Worker); err != nil {
			return 0, err
		}
	}
	switch {
	case c.out.json:
		return exitDone, c.out.data(a)
	case a.Already:
		return exitDone, c.out.say("nothing to do: worker %s was stopped or had ended", named(a.Worker))
	case len(a.Worker.LeftOver) > 0:
		return exitDone, c.out.say("stopped worker %s; left over: %s", named(a.Worker), strings.Join(a.Worker.LeftOver, ", "))
	}
	return exitDone, c.out.say("stopped worker %s", named(a.Worker))
}

// awaitGone waits until a worker's agent has ended and its pane is closed.
func (c *call) awaitGone(w *orch.WorkerInfo) error {
	client, err := c.connect()
	if err != nil {
		return err
	}
	c.out.progress("stopping worker %s (Ctrl-C ends only the waiting)", named(*w))
	return c.watch(c.ctx, client, "worker", orch.WorkerArgs{Worker: w.ID}, func(raw json.RawMessage) (bool, error) {
		if err := json.Unmarshal(raw, w); err != nil {
			return false, err
		}
		return w.Status != "gone", nil
	})
}

// confirmStop asks a person at a terminal; nobody else is asked.
func (c *call) confirmStop() error {
	unasked := &orch.Error{
		Code: "confirm", Message: "stopping worker " + quoted(c.arg(0)) + " ends its agent",
		Next: []string{"st worker stop " + shellWord(c.arg(0)) + " --yes"},
	}
	if c.out.json || !c.out.live || !term.IsTerminal(int(os.Stdin.Fd())) {
		return unasked
	}
	var w orch.WorkerInfo
	if err := c.get("worker", orch.WorkerArgs{Worker: c.arg(0)}, &w); err != nil {
		return err
	}
	c.out.note("stop worker %s? [y/N]", named(w))
	answer, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil && err != io.EOF {
		return err
	}
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return &orch.Error{Code: "confirm", Message: "worker " + quoted(w.Name) + " was not stopped"}
	}
	return nil
}
