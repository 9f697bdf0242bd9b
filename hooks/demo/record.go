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
	What   string `json:"what"` // submitted, queued, decided, dropped, lost-enter, machine; or one of the below
	Text   string `json:"text"`
	Dialog string `json:"dialog,omitempty"` // for decided and dropped: the screen's name
	By     string `json:"by,omitempty"`     // for decided: the key
}

// What has reached the model, each text as often as it has; and what a person has taken back from it.
const (
	inPrompt  = "prompt"      // somebody's
	inHook    = "hook-prompt" // that a hook has kept a turn from ending with
	inContext = "context"     // that a hook has said beside a prompt
	takenBack = "taken-back"
)

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
	Type       string      `json:"type"` // user, assistant, system, attachment
	UUID       string      `json:"uuid"`
	ParentUUID string      `json:"parentUuid"` // of the line that it follows in the conversation
	SessionID  string      `json:"sessionId"`
	Timestamp  string      `json:"timestamp"`
	CWD        string      `json:"cwd"`
	IsMeta     bool        `json:"isMeta,omitempty"` // nobody's prompt
	Message    message     `json:"message,omitzero"`
	Attachment *attachment `json:"attachment,omitempty"`
}

// attachment is what a hook has said beside a prompt.
type attachment struct {
	Type    string   `json:"type"` // hook_additional_context
	Content []string `json:"content"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// tell writes a line of the transcript.
func (a *agent) tell(role, text string) {
	a.note(note{Type: role, Message: message{Role: role, Content: text}})
}

// note writes a line of the transcript, which follows the last one.
func (a *agent) note(n note) {
	a.idMu.Lock()
	defer a.idMu.Unlock()
	n.UUID, n.ParentUUID, n.SessionID, n.Timestamp, n.CWD = uuid.NewString(), a.leaf, a.conversation, now(), a.dir
	a.leaf = n.UUID
	if err := appendLine(a.transcript, n); err != nil {
		a.notice("transcript: %v", err)
	}
}

// take makes a text a part of the conversation that no agent has said; all that has reached the model came this way.
func (a *agent) take(what, text string) {
	a.jot(entry{What: what, Text: text})
	switch what {
	case inPrompt:
		a.tell("user", text)
	case inHook:
		a.note(note{Type: "user", IsMeta: true, Message: message{Role: "user", Content: "Stop hook feedback:\n" + text}})
	case inContext:
		a.note(note{Type: "attachment", Attachment: &attachment{"hook_additional_context", []string{text}}})
	}
}

// branch is where the conversation stands; back goes back to there. What came since stays in the file, and nothing in
// it says so, but that the next line doesn't follow it.
func (a *agent) branch() string {
	a.idMu.Lock()
	defer a.idMu.Unlock()
	return a.leaf
}

func (a *agent) back(branch string, taken []string) {
	for _, text := range taken {
		a.jot(entry{What: takenBack, Text: text})
	}
	a.idMu.Lock()
	defer a.idMu.Unlock()
	a.leaf = branch
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
