// Command st hands work to coding agents in the windows of a terminal multiplexer, waits for them and reads
// what they did.
//
// A verb says what is wanted to the daemon and prints the answer; it decides nothing. This file alone turns
// what went wrong into a message and an exit code.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"st/orch"
)

// version is what st version says.
var version = "0.1.0"

// Exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitWorkFailed  = 3
	exitNeedsInput  = 4
	exitNoReport    = 5
	exitGone        = 6
	exitRefused     = 7
	exitUnreachable = 8
	exitUnknown     = 9
	exitTimedOut    = 124
	exitInterrupted = 130 // as a shell counts SIGINT
)

// meaning is what an exit code says, "" for one that st does not have.
func meaning(code int) string {
	switch code {
	case exitDone:
		return "done"
	case exitFailed:
		return "failed: the message says what, and what to do next"
	case exitUsage:
		return "wrong use"
	case exitWorkFailed:
		return "a worker ended as failed"
	case exitNeedsInput:
		return "needs input: a permission, question, limit, login or trust screen"
	case exitNoReport:
		return "a worker's turn ended without a report"
	case exitGone:
		return "a worker is gone: its pane was closed or its agent died"
	case exitRefused:
		return "refused: a state, or what the caller may not ask"
	case exitUnreachable:
		return "the daemon can't be reached or started"
	case exitUnknown:
		return "unknown: typed, but no hook has proved it yet"
	case exitTimedOut:
		return "waited too long; the work goes on"
	case exitInterrupted:
		return "interrupted; what was started goes on"
	}
	return ""
}

// exitOf is the exit code of an error with that code.
func exitOf(code string) int {
	switch code {
	case "usage", "bad_name", "no_run", "not_in_tmux":
		return exitUsage
	case "name_taken", "not_yours", "no_box", "fenced", "caller_unknown", "depth", "scope", "refused", "refused_agent",
		"not_ready", "copy_mode", "pane_lost", "screen_changed", "unsettled", "confirm", "person_needed",
		"gate_closed", "kind_not_trusted", "bad_choice", "task_begun", "run_ended", "request_reused", "no_question",
		"no_worktree", "unsaved", "not_landed", "processes_inside", "conflict", "no_target",
		"question_over", "answered", "asked_already", "stopped", "not_gone", "no_agent", "other_kind", "has_role", "other_conversation",
		"no_conversation", "released", "no_hooks":
		return exitRefused
	case "keys_unknown":
		return exitUnknown
	case "daemon_unreachable", "sandboxed", "store_locked", "store_corrupt", "store_read_only", "home_refused":
		return exitUnreachable
	case "agent_exited":
		return exitGone
	case "interrupted":
		return exitInterrupted
	}
	return exitFailed
}

func main() { os.Exit(begin(os.Args[1:])) }

// begin sends the verbs that agents call many times a minute past everything else.
func begin(args []string) int {
	if len(args) > 0 {
		if v := find("", args[0]); v != nil && v.raw != nil {
			return v.raw(args[1:])
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // who asks a second time is not kept waiting by what takes no notice of the first
	return run(ctx, args, newPrinter(os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, out *printer) int {
	code, err := dispatch(ctx, args, out)
	if err != nil {
		code = fail(out, interrupted(ctx, err))
	}
	if out.broken != nil && code == exitDone {
		return exitFailed
	}
	return code
}

// interrupted is err, or where somebody has ended us meanwhile just that: what was cut off then, a program or a
// connection, says it in many ways.
func interrupted(ctx context.Context, err error) error {
	var e *orch.Error
	if ctx.Err() == nil || errors.As(err, &e) && e.Code == "interrupted" {
		return err
	}
	return &orch.Error{Code: "interrupted", Message: "interrupted"}
}

// fail tells an error and answers its exit code.
func fail(out *printer, err error) int {
	var u *usageError
	var e *orch.Error
	switch {
	case errors.As(err, &u):
		e = &orch.Error{Code: "usage", Message: u.message, Hint: u.usage, Next: u.next}
	case !errors.As(err, &e):
		e = &orch.Error{Code: "internal", Message: err.Error()}
	}
	e = briefly(e)
	if out.json {
		out.refusal(e)
	} else {
		explain(out, e)
	}
	return exitOf(e.Code)
}

// explain prints an error for people.
func explain(out *printer, e *orch.Error) {
	out.note("st: %s", block(strings.TrimSuffix(e.Message, "\n")))
	if e.Hint != "" {
		out.note("%s", block(e.Hint))
	}
	for _, line := range e.Next {
		out.note("  %s", line)
	}
}

// usageError is a wrong use of a verb.
type usageError struct {
	message string
	usage   string
	next    []string
}

func (e *usageError) Error() string { return e.message }

func misuse(v *verb, format string, args ...any) error {
	return &usageError{message: fmt.Sprintf(format, args...), usage: "usage: " + v.usage(), next: []string{"st " + v.path() + " --help"}}
}
