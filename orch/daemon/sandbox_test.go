//go:build linux || darwin

package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"st/orch"
)

// leave writes a file as a sandboxed agent would, and answers its name.
func leave(t *testing.T, home, name, nonce string) string {
	t.Helper()
	request := uuid.NewString()
	from := From{Nonce: nonce, PID: 2, Chain: []orch.Link{{Process: orch.Process{PID: 1, Start: 5}, Kind: "demo"}}}
	line, err := encodeLine(Request{V: spoolVersion, Op: opDo, Request: request, Name: name, From: from, Body: json.RawMessage(`{}`)})
	must(t, err)
	file := fmt.Sprintf("%d-%s.json", time.Now().UnixNano(), request)
	must(t, spoolOutside(home, file, line))
	return file
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
	aside, dirs, err := Aside(s.Home)
	must(t, err)
	if want := filepath.Join(sandboxDir(s.Home), asideDir); aside != 1 || !slices.Equal(dirs, []string{want}) || inSpool(t, s) != 0 {
		t.Errorf("%d put aside in %v, %d left", aside, dirs, inSpool(t, s))
	}
}

// Whoever leaves a report hears at once that it was refused, and nothing of that stays. One that is taken, or waits, has
// no refusal.
func TestSandboxRefusal(t *testing.T) {
	s, k := spooled(t)
	t.Cleanup(func() { must(t, os.RemoveAll(shortDir(s.Home))) })
	ctx, cancel := context.WithCancel(t.Context())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- s.Watch(ctx, ready) }()
	<-ready
	if err := refusalOf(s.Home, leave(t, s.Home, "worker-done", "n7")); err != nil || len(k.got()) != 1 {
		t.Errorf("taken: %v, %q", err, k.got())
	}
	k.refuse(&orch.Error{Code: "not_yours", Message: "no worker", Next: []string{"st worker ls"}})
	err := refusalOf(s.Home, leave(t, s.Home, "worker-done", "n7"))
	if e := asError(err); err == nil || e.Code != "not_yours" || e.Message != "no worker" || len(e.Next) != 1 {
		t.Errorf("refused: %+v", err)
	}
	unread := leave(t, s.Home, "worker-done", "n7")
	until(t, "its refusal", func() bool {
		_, err := os.Stat(filepath.Join(sandboxDir(s.Home), refusalName(unread)))
		return err == nil
	})
	cancel()
	must(t, <-done)
	if _, err := os.Stat(shortDir(s.Home)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder stays: %v", err)
	}
	if err := refusalOf(s.Home, leave(t, s.Home, "worker-done", "n7")); err != nil {
		t.Errorf("nobody takes it: %v", err)
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

// A daemon that ends leaves no folder in /tmp, but for what waits there.
func TestSandboxFolderGoes(t *testing.T) {
	for _, waits := range []bool{false, true} {
		s, k := spooled(t)
		k.fail = errors.New("the disk is full")
		t.Cleanup(func() { must(t, os.RemoveAll(shortDir(s.Home))) })
		ctx, cancel := context.WithCancel(t.Context())
		ready, done := make(chan struct{}), make(chan error, 1)
		go func() { done <- s.Watch(ctx, ready) }()
		<-ready
		if _, err := os.Stat(sandboxDir(s.Home)); err != nil {
			t.Error(err)
		}
		if waits {
			leave(t, s.Home, "worker-done", "n7")
		}
		cancel()
		must(t, <-done)
		if _, err := os.Stat(shortDir(s.Home)); errors.Is(err, fs.ErrNotExist) == waits {
			t.Errorf("something waits: %v, and the folder: %v", waits, err)
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

// Whoever sits in the sandbox can put a link in the folder's place. The daemon, which sits in none, must not follow it:
// it would move away what lies there.
func TestSandboxLinkElsewhere(t *testing.T) {
	linked := func(path, to string) {
		must(t, os.RemoveAll(path))
		must(t, os.Symlink(to, path))
	}
	for name, spoil := range map[string]func(home, elsewhere string){
		"the folder":        func(home, elsewhere string) { linked(sandboxDir(home), elsewhere) },
		"the one around it": func(home, elsewhere string) { linked(shortDir(home), elsewhere) },
		"the one for what can't be read": func(home, elsewhere string) {
			must(t, os.WriteFile(filepath.Join(sandboxDir(home), "1-x.json"), nil, 0o600))
			linked(filepath.Join(sandboxDir(home), asideDir), elsewhere)
		},
	} {
		s, k := spooled(t)
		t.Cleanup(func() { must(t, os.RemoveAll(shortDir(s.Home))) })
		elsewhere := t.TempDir()
		must(t, os.Chmod(elsewhere, 0o700))
		must(t, os.Mkdir(filepath.Join(elsewhere, "spool"), 0o700))
		for _, dir := range []string{"", "spool"} {
			must(t, os.WriteFile(filepath.Join(elsewhere, dir, "letter.txt"), []byte("mine"), 0o600))
		}
		leave(t, s.Home, "worker-done", "n7")
		spoil(s.Home, elsewhere)
		must(t, Spool(s.Home, uuid.NewString(), "hook", From{Nonce: "n1"}, 1))
		must(t, s.Take(t.Context()))
		if len(k.by) == 0 || k.by[len(k.by)-1].Nonce != "n1" {
			t.Errorf("%s: what waits at home was not taken: %+v", name, k.by)
		}
		for dir, want := range map[string]int{"": 2, "spool": 1} {
			entries, err := os.ReadDir(filepath.Join(elsewhere, dir))
			must(t, err)
			if len(entries) != want {
				t.Errorf("%s: %q holds %v", name, dir, entries)
			}
		}
	}
}

// What stands in the folder may be anything, and none of it holds up a report.
func TestSandboxSpoilt(t *testing.T) {
	s, k := spooled(t)
	t.Cleanup(func() { must(t, os.RemoveAll(shortDir(s.Home))) })
	dir, err := prepareOutside(s.Home)
	must(t, err)
	must(t, syscall.Mkfifo(filepath.Join(dir, "1-pipe.json"), 0o600))
	must(t, os.Symlink("/dev/zero", filepath.Join(dir, "2-endless.json")))
	must(t, os.Mkdir(filepath.Join(dir, "3-folder.json"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, asideDir), nil, 0o600)) // nothing can be put aside
	leave(t, s.Home, "worker-done", "n7")
	must(t, Spool(s.Home, uuid.NewString(), "hook", From{Nonce: "n1"}, 1))
	must(t, s.Take(t.Context()))
	if len(k.by) != 2 || k.by[0].Nonce != "n7" || k.by[1].Nonce != "n1" {
		t.Errorf("taken: %+v", k.by)
	}
}
