package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"

	"st/orch"
)

// hands are what the ui acts with: verbs of st, in this process, so that whoever presses the key is who asks.
type hands struct {
	call *call
	ctx  context.Context
}

// saidMsg is what a verb has answered.
type saidMsg struct {
	args []string
	code int
	text string
	page bool // to be read in full
}

// argv are a verb's words, its flags, and behind -- its arguments, which may look like flags.
func (h *hands) argv(verb string, flags []string, args ...string) []string {
	argv := append(strings.Fields(verb), flags...)
	for _, name := range []string{"run", "as"} {
		if h.call != nil && h.call.IsSet(name) {
			argv = append(argv, "--"+name+"="+h.call.String(name))
		}
	}
	return append(append(argv, "--"), args...)
}

// do runs a verb and answers what it says; page asks for all of it.
func (h *hands) do(page bool, verb string, flags []string, args ...string) func() any {
	argv := h.argv(verb, flags, args...)
	return func() any {
		var said bytes.Buffer
		code := run(h.ctx, argv, plainPrinter(&said))
		return saidMsg{args: argv, code: code, text: said.String(), page: page && code == exitDone}
	}
}

// attach is the command that goes to a window from outside of tmux: this terminal becomes tmux until somebody detaches.
func (h *hands) attach(flags []string, args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, h.argv("attach", flags, args...)...)
	cmd.Args[0] = os.Args[0]
	return cmd, nil
}

// answerMsg is what a worker's agent said last.
type answerMsg struct {
	worker, text string
}

// answer asks for the beginning of what a worker's agent said last. One that can't be read has none: it is an
// extra, and r tells why.
func (h *hands) answer(worker string) func() any {
	return func() any {
		var r orch.ReadInfo
		quiet := *h.call
		quiet.out = plainPrinter(io.Discard) // nothing is said over what the screen shows
		if err := quiet.get("read", orch.ReadArgs{Worker: worker, Limit: 2 << 10}, &r); err != nil {
			return answerMsg{worker: worker}
		}
		return answerMsg{worker, r.Answer}
	}
}
