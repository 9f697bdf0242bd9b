package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

// long says that the long counts are wanted.
func long() bool { return os.Getenv("ST_LONG") == "1" }

// hold waits: a person does, between one thing and the next.
func hold(d time.Duration) { time.Sleep(d) }

// busy keeps n processes computing until the test ends, or this process, however it ends.
func busy(t *testing.T, n int) {
	t.Helper()
	for range n {
		c := exec.Command("/bin/sh", "-c", `while kill -0 "$1"; do i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; done`,
			"busy", fmt.Sprint(os.Getpid()))
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := c.Process.Kill(); err != nil {
				t.Error(err)
			}
			_ = c.Wait() // killed: always an error
		})
	}
}
