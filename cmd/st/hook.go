package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"time"

	"st/hooks"
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

// carryTime is how long all reports may take together that a hook hands in, less than an agent waits for its hook. What
// takes longer is queued before that.
const carryTime = 15 * time.Second

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
	if b, ok := kind.(hooks.Beside); ok && b.Beside(args[1:], env) {
		return exitDone
	}
	agent := env("ST_AGENT") != ""
	if answer := kind.Answer(payload, agent); len(answer) > 0 {
		stdout.Write(answer) //nolint:errcheck // an agent that does not read its answer wants none
	}
	tellHook(home, kind, payload, daemon.FromEnv(env))
	if c, ok := kind.(hooks.Carrier); ok && agent {
		stdout.Write(carry(c, payload)) //nolint:errcheck // see above
	}
	return exitDone
}

// carry hands in the reports that an agent's command makes and returns what the hook answers, nil where there are
// none. After one that failed the rest is not handed in, as && would have it.
func carry(c hooks.Carrier, payload []byte) []byte {
	calls, dir := c.Carry(payload)
	if len(calls) == 0 {
		return nil
	}
	var said bytes.Buffer
	if err := os.Chdir(dir); err != nil {
		return c.Carried("st: the folder of the command: "+reason(err), false)
	}
	ctx, cancel := context.WithTimeout(context.Background(), carryTime)
	defer cancel()
	code := exitDone
	for _, args := range calls {
		code = run(ctx, args, plainPrinter(&said))
		if code != exitDone {
			break
		}
	}
	return c.Carried(said.String(), code == exitDone)
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
	from.Thread = event.Conversation
	daemon.Report(ctx, home, "hook", from, body, event.Lasts()) //nolint:errcheck // see above
}
