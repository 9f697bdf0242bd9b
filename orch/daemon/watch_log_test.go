//go:build linux || darwin

package daemon

import (
	"context"
	"errors"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"st/orch"
)

// logStage is what the watch of one agent's log tells.
type logStage struct {
	*testing.T
	state lone
	path  string
	watch *logWatch
	told  []string
	full  bool // nothing can be told
}

func newLogStage(t *testing.T) *logStage {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.jsonl")
	s := &logStage{T: t, path: path, state: lone{orch.Agent{ID: "a1", Kind: "claude", Transcript: path}}}
	files, err := fsnotify.NewWatcher()
	must(t, err)
	t.Cleanup(func() { must(t, files.Close()) })
	w := &watch{
		state: func(f func(orch.View)) { f(s.state) }, now: time.Now, log: log.New(io.Discard, "", 0),
		do: func(_ context.Context, in orch.Input) (any, error) {
			if s.full {
				return nil, &StoreError{Err: errors.New("no space left on device")}
			}
			e := in.What.(orch.Transcript)
			s.told = append(s.told, strings.Join(append([]string{e.Agent, e.Event.Type}, e.Event.Marks...), " "))
			return nil, nil
		},
	}
	s.watch = &logWatch{watch: w, files: files, tails: map[string]*tail{}, folders: map[string]bool{}}
	return s
}

func (s *logStage) write(lines ...string) {
	s.Helper()
	f, err := os.OpenFile(s.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(s.T, err)
	_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
	must(s.T, errors.Join(err, f.Close()))
}

func (s *logStage) tells(what string, want ...string) {
	s.Helper()
	if !slices.Equal(s.told, want) {
		s.Errorf("%s: told %q, want %q", what, s.told, want)
	}
	s.told = nil
}

const (
	feedback  = `{"type":"user","uuid":"f","isMeta":true,"message":{"content":"Stop hook feedback:\nst-o1 st-o2"}}`
	further   = `{"type":"user","uuid":"g","isMeta":true,"message":{"content":"Stop hook feedback:\nst-o3"}}`
	escLine   = `{"type":"user","uuid":"e","rowSource":"harness","message":{"content":"[Request interrupted by user]"}}`
	queuedOne = `{"type":"user","uuid":"q","promptSource":"queued","origin":{"kind":"human"},"message":{"content":"st-o4"}}`
	beside    = `{"type":"attachment","uuid":"b","parentUuid":"q","attachment":{"type":"hook_additional_context","content":["st-o5"]}}`
)

// Of events only the newest counts, of our own lines each: also those that went in before anybody watched, and what an
// agent was given last when it ended.
func TestLogTellsEveryLineOfOurs(t *testing.T) {
	s := newLogStage(t)
	s.write(feedback, escLine)
	s.watch.sync(t.Context())
	s.tells("at the begin", "a1 word-in st-o1 st-o2")
	s.watch.sync(t.Context())
	s.tells("again")
	s.write(feedback, escLine, further, queuedOne)
	s.watch.read(t.Context(), s.watch.tails[s.path])
	s.tells("later", "a1 word-in st-o1 st-o2 st-o3", "a1 prompt-in st-o4")
	s.write(beside)
	s.state.agent.Gone = "gone"
	s.watch.sync(t.Context())
	s.tells("at the end", "a1 word-in st-o4 st-o5")
	if len(s.watch.tails) != 0 {
		t.Errorf("still watched: %v", s.watch.tails)
	}
}

// A new daemon looks back over no more than a chunk, and not at half a line.
func TestLogIsReadFromNearItsEnd(t *testing.T) {
	s := newLogStage(t)
	s.write(feedback, `{"type":"other","text":"`+strings.Repeat("x", chunk-len(further))+`"}`, further)
	s.watch.sync(t.Context())
	s.tells("a long log", "a1 word-in st-o3")
	s.write(escLine)
	s.watch.read(t.Context(), s.watch.tails[s.path])
	s.tells("what comes", "a1 interrupted")
}

func TestLineOfOursIsToldAgainWhileTheStoreIsFull(t *testing.T) {
	s := newLogStage(t)
	s.watch.sync(t.Context())
	s.full = true
	s.write(feedback)
	s.watch.read(t.Context(), s.watch.tails[s.path])
	s.full = false
	s.watch.sync(t.Context())
	s.tells("when there is room", "a1 word-in st-o1 st-o2")
	s.watch.sync(t.Context())
	s.tells("once")
}
