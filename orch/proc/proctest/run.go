package proctest

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// Limit is how long a program that a test calls may take: longer than any does on a machine that has other things to do. One
// that hangs fails the test that has called it, by its own name, long before it would cost the package its time.
const Limit = 3 * time.Minute

// drain is how long the output of a program that has ended may stay open: somebody whom it has started may hold it.
const drain = 10 * time.Second

// ErrHangs says that a program had to be killed.
var ErrHangs = errors.New("no end after " + Limit.String())

// Run runs a program as its Run method does, and kills it where it does not end within Limit.
func Run(c *exec.Cmd) error {
	if err := c.Start(); err != nil {
		return err
	}
	return Wait(c)
}

// Wait waits for a program that has been started, and kills it where it does not end within Limit from now.
func Wait(c *exec.Cmd) error {
	c.WaitDelay = drain
	late := time.AfterFunc(Limit, func() { c.Process.Kill() }) //nolint:errcheck // it may just have ended
	err := c.Wait()
	if !late.Stop() {
		return fmt.Errorf("%q: %w (%v)", c.Args, ErrHangs, err)
	}
	return err
}

// CombinedOutput is Run with both outputs in one.
func CombinedOutput(c *exec.Cmd) ([]byte, error) {
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := Run(c)
	return out.Bytes(), err
}

// Output is Run with the standard output.
func Output(c *exec.Cmd) ([]byte, error) {
	var out bytes.Buffer
	c.Stdout = &out
	err := Run(c)
	return out.Bytes(), err
}
