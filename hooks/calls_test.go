package hooks

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"st/orch"
)

// testCalls decodes every recorded hook call of a kind. calls.txt says what each is, one line a file.
func testCalls(t *testing.T, k Kind, dir string, atLeast int) {
	files, err := filepath.Glob(filepath.Join(dir, "calls", "*.json"))
	if err != nil || len(files) < atLeast {
		t.Fatalf("%d recorded calls, %v", len(files), err)
	}
	var got strings.Builder
	for _, f := range files {
		e := recordedEvent(t, k, f)
		if e.Conversation == "" || !strings.HasSuffix(e.Transcript, ".jsonl") || !strings.HasPrefix(e.Dir, "/home/dev") {
			t.Errorf("%s: conversation %q, transcript %q, folder %q", f, e.Conversation, e.Transcript, e.Dir)
		}
		e.Conversation, e.Transcript, e.Dir = "", "", ""
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%s: %s\n", strings.TrimSuffix(filepath.Base(f), ".json"), line)
	}
	wantTable(t, filepath.Join(dir, "calls.txt"), got.String())
}

func recordedEvent(t *testing.T, k Kind, file string) orch.AgentEvent {
	t.Helper()
	payload, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	trimmed, err := k.Trim(payload)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	e, err := k.Decode(trimmed)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return e
}
