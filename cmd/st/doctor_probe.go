package main

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
)

// probe runs a program that tells something of itself, and returns the end of what it printed. It gets no input and
// no terminal; when ctx ends it and what it has started are ended.
func probe(ctx context.Context, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = env
	var out ending
	cmd.Stdout = &out
	cmd.WaitDelay = lastWord / 4 // something it left behind may keep its output open
	alone(cmd)
	err := cmd.Run()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return out.String(), err
}

// ending keeps the last bytes that are written: a startup file may print without end.
type ending struct{ bytes.Buffer }

const endingBytes = 64 << 10

func (e *ending) Write(p []byte) (int, error) {
	n, err := e.Buffer.Write(p)
	if over := e.Len() - endingBytes; over > 0 {
		e.Next(over)
	}
	return n, err
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
