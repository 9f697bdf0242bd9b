package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"st/hooks"
	"st/orch"
	"st/orch/daemon"
	"st/orch/failpoint"
)

var hookVerb = &verb{
	name: "hook", hidden: true, about: "be an agent's hook",
	raw: func(args []string) int { return runHook(args, os.Stdin, os.Stdout, os.Getenv) },
}

func init() { register(hookVerb) }

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
//
// Only what a worker with a scope would edit is refused where it can't be judged: 2 is a refusal to the agents.
func runHook(args []string, stdin io.Reader, stdout io.Writer, env func(string) string) (code int) {
	judging := false
	defer func() {
		if recover() == nil {
			return
		}
		code = exitDone // a panic would end with 2
		if judging && env(hooks.ScopeEnv) != "" {
			fmt.Fprintln(os.Stderr, "st: this could not be judged by your scope, and is refused. Do it in another way")
			code = exitUsage
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
	if scoped := env(hooks.ScopeEnv) != ""; err != nil || !daemon.Exists(home) && !scoped {
		return exitDone
	}
	if b, ok := kind.(hooks.Beside); ok && b.Beside(args[1:], env) {
		return exitDone
	}
	agent := env("ST_AGENT") != ""
	judging = true
	answer := kind.Answer(payload, hookPlace(agent, home, env))
	judging = false
	give(stdout, answer)
	if told := tellHook(home, kind, payload, daemon.FromEnv(env)); len(answer) == 0 { // two answers in one would be none
		tellLine(stdout, told)
	}
	if c, ok := kind.(hooks.Carrier); ok && agent {
		give(stdout, carry(c, payload))
	}
	failpoint.At("hook.told")
	return exitDone
}

// tellLine prints the line that the daemon gave us to tell. Whether the agent takes it is not known here: one that sees its
// hook killed may pass over what that has printed, and the daemon goes by the agent's own log.
func tellLine(out io.Writer, line []byte) {
	if len(line) == 0 {
		return
	}
	failpoint.At("hook.line.before")
	give(out, line)
	failpoint.At("hook.line.after")
}

// give prints an answer. An agent that does not read it wants none.
func give(out io.Writer, answer []byte) {
	if len(answer) > 0 {
		out.Write(answer) //nolint:errcheck // see above
	}
}

// carry hands in the reports and questions of an agent's command and returns what the hook answers, nil where there are
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
	ctx = context.WithValue(ctx, carriedKey{}, true)
	code := exitDone
	for _, args := range calls {
		code = run(ctx, args, plainPrinter(&said))
		if code != exitDone {
			break
		}
	}
	return c.Carried(said.String(), code == exitDone)
}

// tellHook brings the event to the daemon and returns what the hook prints of the daemon's answer, nil for nothing. What
// can't be read or kept is lost: an agent can do nothing about that, and the agent's own log tells of turns too.
func tellHook(home string, kind hooks.Kind, payload []byte, from daemon.From) []byte {
	trimmed, err := kind.Trim(payload)
	if err != nil {
		return nil
	}
	event, err := kind.Decode(trimmed)
	if err != nil {
		return nil
	}
	body := hookBody{Kind: kind.Name(), Payload: trimmed}
	from.Thread = event.Conversation
	var answer orch.HookAnswer
	failpoint.At("hook.send.before")
	err = daemon.Report(hookTime, home, "hook", from, body, event.Lasts(), &answer)
	failpoint.At("hook.sent")
	if err != nil {
		return nil
	}
	return kind.Tell(event, answer.Line+answer.Context) // there is never more than one of them
}
