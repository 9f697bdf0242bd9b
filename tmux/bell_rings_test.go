//go:build linux

package tmux_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"st/orch/proc/proctest"
	"st/tmux/tmuxtest"
)

// TestBellKeepsAnyNumberOfRings: however many rings come while nobody waits, the next wait tells of them. Of two signals tmux
// takes one back with the other.
func TestBellKeepsAnyNumberOfRings(t *testing.T) {
	s := tmuxtest.New(t)
	s.Session("main")
	b := hang(t, s, "hash")
	names := []string{"main", "other"}
	for n := 1; n <= 4; n++ {
		// The client that waits is stopped: it learns nothing of its ring, and does not wait anew.
		waiter := waiterOf(t, s)
		if err := proctest.Stop(waiter); err != nil {
			t.Fatal(err)
		}
		for range n + 1 { // the first of them is the client's
			s.Run("rename-session", "-t", names[0], names[1])
			slices.Reverse(names)
		}
		if err := syscall.Kill(waiter, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		rung(t, b, "the client's")
		rung(t, b, fmt.Sprintf("%d renames while nobody waited", n))
		waitGone(t, s, b)
	}
}

// waiterOf is the client of the bell of a server.
func waiterOf(t *testing.T, s *tmuxtest.Server) (pid int) {
	t.Helper()
	tmuxtest.Wait(t, "the bell's client waits", func() (bool, string) {
		files, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil {
			return false, err.Error()
		}
		for _, f := range files {
			raw, err := os.ReadFile(f)
			if line := string(raw); err == nil && strings.Contains(line, s.Socket()+"\x00") && strings.Contains(line, "wait-for ") {
				pid, err = strconv.Atoi(filepath.Base(filepath.Dir(f)))
				return err == nil, line
			}
		}
		return false, "no such process"
	})
	return pid
}
