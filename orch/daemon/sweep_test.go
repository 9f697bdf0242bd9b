//go:build linux || darwin

package daemon

import (
	"bytes"
	"context"
	"log"
	"os"
	"path/filepath"
	"testing"
	"time"

	"st/orch"
	"st/orch/journal"
)

// A running daemon removes the environments that nobody will read: they hold secrets. What is fresh stays.
func TestSecretsDoNotStay(t *testing.T) {
	defer func(age time.Duration) { orphanAge = age }(orphanAge)
	orphanAge = 200 * time.Millisecond
	home := filepath.Join(t.TempDir(), "st [x]*")
	must(t, Prepare(home))
	store, err := journal.Open(home, journal.Options{})
	must(t, err)
	defer store.Close()
	var said bytes.Buffer
	d := &daemon{home: home, log: log.New(&said, "", 0), journal: store, loop: &Loop{Journal: store, Step: orch.Step}}
	dir := filepath.Join(runDir(home), "launch")
	must(t, os.MkdirAll(filepath.Join(dir, "a1"), 0o700))
	early := []string{filepath.Join(dir, "one.json"), filepath.Join(dir, "a1", "pane.json")}
	for _, path := range early {
		must(t, os.WriteFile(path, []byte("{}"), 0o600))
	}
	kept := filepath.Join(dir, "a1", "settings.json")
	must(t, os.WriteFile(kept, []byte("{}"), 0o600))
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { d.watchSecrets(ctx); close(ended) }()
	defer func() { stop(); <-ended }()
	gone := func(path string) {
		t.Helper()
		until(t, path+" goes", func() bool { _, err := os.Lstat(path); return os.IsNotExist(err) })
	}
	for _, path := range early {
		gone(path)
	}
	queued := filepath.Join(dir, "queued.json") // of a start that waits in line, however long
	must(t, os.WriteFile(queued, []byte("{}"), 0o600))
	planned := filepath.Join(dir, "planned.json") // of a task that will start by itself
	must(t, os.WriteFile(planned, []byte("{}"), 0o600))
	b := store.Begin()
	must(t, b.Add(orch.Input{At: time.Now()}, "", orch.Changes{Puts: []orch.Entity{
		orch.Task{ID: "t1", Run: "r1", Status: "pending", Start: &orch.WorkerStart{EnvFile: planned}},
		orch.Agent{ID: "a2", Ours: true}, orch.QueuedStart{Open: orch.PaneOpen{Agent: "a2", Dispatch: "d2", EnvFile: queued}},
	}}, nil))
	must(t, store.Commit(b))
	late := filepath.Join(dir, "two.json") // when nothing is left to wait for
	must(t, os.WriteFile(late, []byte("{}"), 0o600))
	gone(late)
	if _, err := os.Lstat(kept); err != nil {
		t.Errorf("a file without secrets: %v", err)
	}
	d.sweep() // as the next daemon does at its start
	for _, path := range []string{queued, planned} {
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("the environment of a start that is to come: %v", err)
		}
	}
}
