//go:build linux || darwin

package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"st/orch"
)

// TestLogSearch: a mark counts where the conversation goes on behind it, or where its agent has ended.
func TestLogSearch(t *testing.T) {
	lines := []string{
		`{"type":"user","uuid":"u1","parentUuid":"","message":{"content":"st: w1 finished. [st-o1]"}}`,
		`{"type":"assistant","uuid":"u2","parentUuid":"u1","message":{"content":"` + strings.Repeat("x", chunk) + `"}}`,
		`{"type":"assistant","uuid":"u3","parentUuid":"u1","message":{"content":"Good."}}`,
		`{"type":"user","uuid":"u4","parentUuid":"u3","message":{"content":"st: w2 finished. [st-o17]"}}`,
	}
	path := filepath.Join(t.TempDir(), "log.jsonl")
	must(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	for _, c := range []struct {
		mark  string
		ended bool
		is    orch.LogSearched
	}{
		{"st-o1", false, orch.LogSearched{Word: "o9", Found: true}},
		{"st-o17", false, orch.LogSearched{Word: "o9"}}, // it may be taken back yet
		{"st-o17", true, orch.LogSearched{Word: "o9", Found: true}},
		{"st-o2", true, orch.LogSearched{Word: "o9"}},
	} {
		if got := searchLog(orch.LogSearch{Word: "o9", Kind: "claude", Path: path, Mark: c.mark, Ended: c.ended}); got != c.is {
			t.Errorf("%s, ended %v: %+v", c.mark, c.ended, got)
		}
	}
	if got := searchLog(orch.LogSearch{Word: "o9", Kind: "claude", Path: path + "x", Mark: "st-o1", Ended: true}); got != (orch.LogSearched{Word: "o9", None: path + "x"}) {
		t.Errorf("no log: %+v", got)
	}
	got := searchLog(orch.LogSearch{Word: "o9", Kind: "claude", Path: filepath.Dir(path), Mark: "st-o1"})
	if got.Error == "" || got.Found {
		t.Errorf("a log that can't be read: %+v", got)
	}
}

// oneWord is a state that holds one word.
type oneWord struct{ orch.Word }

func (v oneWord) Entity(string) orch.Entity                  { return v.Word }
func (v oneWord) Each(string, func(orch.Entity) (more bool)) {}

// TestLogSearchAwaitsTheLog: what is not in an agent's log yet may be so a moment later.
func TestLogSearchAwaitsTheLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	must(t, os.WriteFile(path, nil, 0o600))
	late := `{"type":"user","uuid":"u1","isMeta":true,"message":{"content":"Stop hook feedback:\nst: w1 finished. [st-o1]"}}` + "\n"
	d := &doer{state: func(f func(orch.View)) { // it has been looked at once
		must(t, os.WriteFile(path, []byte(late), 0o600))
		f(oneWord{orch.Word{ID: "o1"}})
	}}
	got := d.logSearch(t.Context(), orch.LogSearch{Word: "o1", Kind: "claude", Path: path, Mark: "st-o1"})
	if !got.Found {
		t.Errorf("%+v", got)
	}
}
