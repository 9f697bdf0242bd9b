package main

import (
	"bufio"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"st/orch"
)

func init() {
	register(&verb{
		noun: "worker", name: "stop", args: "W", min: 1, max: 1, about: "end a worker's agent and close its pane",
		help: "The agent is asked to quit, then its pane is closed and its processes end. What detached itself is\n" +
			"named. On a terminal stop asks; elsewhere it wants --yes.",
		flags: []cli.Flag{&cli.BoolFlag{Name: "yes", Usage: "don't ask"}},
		codes: []int{exitRefused},
		run:   workerStop,
	})
}

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
	if c.out.json {
		return exitDone, c.out.data(a)
	}
	if a.Already {
		return exitDone, c.out.say("nothing to do: worker %s was stopped or had ended", named(a.Worker))
	}
	return exitDone, c.out.say("stopping worker %s", named(a.Worker))
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
