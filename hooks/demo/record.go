//go:build unix

package demo

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
)

// entry is one line of the log that tests grade with.
type entry struct {
	At     string `json:"at"`
	What   string `json:"what"` // submitted, queued, decided, dropped, lost-enter, machine, hook-prompt
	Text   string `json:"text"`
	Dialog string `json:"dialog,omitempty"` // for decided and dropped: the screen's name
	By     string `json:"by,omitempty"`     // for decided: the key
}

// jot writes a line of the log.
func (a *agent) jot(e entry) {
	if a.o.Log == "" {
		return
	}
	e.At = now()
	if err := appendLine(a.o.Log, e); err != nil {
		a.notice("log: %v", err)
	}
}

// note is one line of the transcript.
type note struct {
	Type      string  `json:"type"` // user, assistant, system
	UUID      string  `json:"uuid"`
	SessionID string  `json:"sessionId"`
	Timestamp string  `json:"timestamp"`
	CWD       string  `json:"cwd"`
	Message   message `json:"message"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// tell writes a line of the transcript.
func (a *agent) tell(role, text string) {
	a.idMu.Lock()
	path, id := a.transcript, a.conversation
	a.idMu.Unlock()
	n := note{
		Type: role, UUID: uuid.NewString(), SessionID: id, Timestamp: now(), CWD: a.dir,
		Message: message{Role: role, Content: text},
	}
	if err := appendLine(path, n); err != nil {
		a.notice("transcript: %v", err)
	}
}

func now() string { return time.Now().UTC().Format(time.RFC3339Nano) }

func appendLine(path string, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
