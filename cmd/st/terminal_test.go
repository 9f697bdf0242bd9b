//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/creack/pty"
)

// TestNoQuery: a terminal that answers nothing is asked nothing, and costs no time.
func TestNoQuery(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"version"}, {"worker", "start", "--help"}, {"status"}, {"worker", "nope"}} {
		begun := time.Now()
		cmd := exec.Command(self, args...)
		cmd.Args[0] = "st"
		home := t.TempDir()
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "ST_HOME=" + home + "/st", "TERM=xterm-256color"}
		tty, err := pty.Start(cmd)
		if err != nil {
			t.Fatal(err)
		}
		said, err := io.ReadAll(tty)
		if len(said) == 0 {
			t.Fatalf("%q said nothing: %v", args, err)
		}
		cmd.Wait() // the exit code is another test's matter
		for _, query := range []string{"\x1b]", "\x1b[c", "\x1b[>", "\x1b[6n", "\x1b[5n", "\x1bP", "\x1b[?"} {
			if bytes.Contains(said, []byte(query)) {
				t.Errorf("%q sent %q: %q", args, query, said)
			}
		}
		if took := time.Since(begun); took > 3*time.Second {
			t.Errorf("%q took %v", args, took)
		}
	}
}
