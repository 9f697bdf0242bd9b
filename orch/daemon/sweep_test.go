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
	d := &daemon{home: home, log: log.New(&said, "", 0), loop: &Loop{Journal: store, Step: orch.Step}}
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
		for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			if _, err := os.Lstat(path); os.IsNotExist(err) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s stays", path)
			}
		}
	}
	for _, path := range early {
		gone(path)
	}
	late := filepath.Join(dir, "two.json") // when nothing is left to wait for
	must(t, os.WriteFile(late, []byte("{}"), 0o600))
	gone(late)
	if _, err := os.Lstat(kept); err != nil {
		t.Errorf("a file without secrets: %v", err)
	}
}
