package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"st/orch"
)

// A start that was refused leaves no environment; one that may have been taken keeps it.
func TestEnvironmentOfAStartThatMayHaveBeenTaken(t *testing.T) {
	for _, c := range []struct {
		why  error
		kept bool
	}{
		{&orch.Error{Code: "name_taken"}, false},
		{&orch.Error{Code: "daemon_unreachable"}, true},
		{context.Canceled, true},
	} {
		path := filepath.Join(t.TempDir(), "env.json")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := dropEnv(path, c.why); err != nil {
			t.Errorf("%v: %v", c.why, err)
		}
		if _, err := os.Stat(path); (err == nil) != c.kept {
			t.Errorf("%v: kept %v, want %v", c.why, err == nil, c.kept)
		}
	}
}
