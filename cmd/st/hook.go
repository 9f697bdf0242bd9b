package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"time"

	"st/hooks"
	"st/orch"
	"st/orch/daemon"
)

func init() {
	register(&verb{
		name: "hook", hidden: true, about: "be an agent's hook",
		raw: func(args []string) int { return runHook(args, os.Stdin, os.Stdout, os.Getenv) },
	})
}

// hookTime is how long an agent waits for us at the most while the daemon does not answer.
const hookTime = 250 * time.Millisecond

// payloadMax is how much of a payload is read. Tool inputs and outputs may be megabytes.
const payloadMax = 64 << 20

// hookBody is what a hook tells the daemon.
type hookBody struct {
	Kind    string          `json:"kind"`
	Payload json.RawMessage `json:"payload"`
}

// runHook is `st hook KIND`: an agent's hook. It prints what the kind answers its agent, tells the daemon or
// leaves a file for it, and always exits 0: whatever is wrong with us, the agent goes on with its work. For
// the same reason nothing is said on standard error.
func runHook(args []string, stdin io.Reader, stdout io.Writer, env func(string) string) (code int) {
	defer func() {
		if recover() != nil { // a panic would end with 2, which an agent takes for a refusal
			code = exitDone
		}
	}()
	payload, err := io.ReadAll(io.LimitReader(stdin, payloadMax))
	if err != nil || len(args) == 0 {
		return exitDone
	}
	kind, err := hooks.Lookup(args[0])
	if err != nil {
		return exitDone // a hook that a newer or older st installed
	}
	home, err := daemon.Home(env)
	if err != nil || !daemon.Exists(home) {
		return exitDone
	}
	if answer := kind.Answer(payload, env("ST_AGENT") != ""); len(answer) > 0 {
		stdout.Write(answer) //nolint:errcheck // an agent that does not read its answer wants none
	}
	tellHook(home, kind, payload, daemon.FromEnv(env))
	return exitDone
}

// tellHook brings the event to the daemon. What can't be read or kept is lost: an agent can do nothing about
// that, and the agent's own log tells of turns too.
func tellHook(home string, kind hooks.Kind, payload []byte, from daemon.From) {
	trimmed, err := kind.Trim(payload)
	if err != nil {
		return
	}
	event, err := kind.Decode(trimmed)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), hookTime)
	defer cancel()
	body := hookBody{Kind: kind.Name(), Payload: trimmed}
	daemon.Report(ctx, home, "hook", from, body, lasting(event)) //nolint:errcheck // see above
}

// lasting tells whether an event still matters when the daemon comes up later. That a tool ran does not.
func lasting(e orch.AgentEvent) bool { return e.Type != orch.ToolStarted && e.Type != orch.ToolEnded }
