//go:build linux || darwin

package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"st/orch"
)

// leave writes a file as a sandboxed agent would.
func leave(t *testing.T, home, name, nonce string) {
	t.Helper()
	request := uuid.NewString()
	from := From{Nonce: nonce, PID: 2, Chain: []orch.Link{{Process: orch.Process{PID: 1, Start: 5}, Kind: "demo"}}}
	line, err := encodeLine(Request{V: Protocol, Op: opDo, Request: request, Name: name, From: from, Body: json.RawMessage(`{}`)})
	must(t, err)
	must(t, spoolOutside(home, fmt.Sprintf("%d-%s.json", time.Now().UnixNano(), request), line))
}

// What a sandboxed agent left is its own by its secret alone, whatever it says of its processes; and only reports.
func TestSandboxReports(t *testing.T) {
	s, k := spooled(t)
	t.Cleanup(func() { must(t, os.RemoveAll(shortDir(s.Home))) })
	leave(t, s.Home, "worker-done", "n7")
	leave(t, s.Home, "hook", "n7")
	leave(t, s.Home, "worker-progress", "n8")
	must(t, s.Take(t.Context()))
	if len(k.by) != 2 {
		t.Fatalf("%d taken, want the two reports", len(k.by))
	}
	for n, want := range []string{"n7", "n8"} {
		if by := k.by[n]; by.Nonce != want || len(by.Chain) != 0 || by.Place != (orch.Place{}) || by.Path != "sandbox" {
			t.Errorf("report %d comes from %+v", n, by)
		}
	}
	aside, err := namesIn(filepath.Join(sandboxDir(s.Home), asideDir))
	must(t, err)
	if len(aside) != 1 || inSpool(t, s) != 0 {
		t.Errorf("%d put aside, %d left", len(aside), inSpool(t, s))
	}
}

// The folder is watched, also after somebody has cleaned up /tmp.
func TestSandboxWatched(t *testing.T) {
	s, k := spooled(t)
	t.Cleanup(func() { must(t, os.RemoveAll(shortDir(s.Home))) })
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- s.Watch(t.Context(), ready) }()
	<-ready
	for n := 1; n <= 2; n++ {
		leave(t, s.Home, "worker-done", "n7")
		until(t, "a report taken", func() bool { return len(k.got()) == n })
		if n == 1 {
			must(t, os.Remove(sandboxDir(s.Home)))
			until(t, "the folder made anew", func() bool { _, err := os.Stat(sandboxDir(s.Home)); return err == nil })
		}
	}
}

// A folder in /tmp that somebody else has put there is not used.
func TestSandboxLink(t *testing.T) {
	s, _ := spooled(t)
	t.Cleanup(func() { must(t, os.RemoveAll(shortDir(s.Home))) })
	must(t, os.MkdirAll(filepath.Dir(shortDir(s.Home)), 0o700))
	must(t, os.Symlink(t.TempDir(), shortDir(s.Home)))
	if _, err := prepareOutside(s.Home); err == nil {
		t.Error("a link is taken for our folder")
	}
}
