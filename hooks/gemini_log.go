package hooks

import (
	"encoding/json"
	"strings"
	"time"

	"st/orch"
)

// geminiLine is a line of Gemini's own log of a conversation, as far as st reads it.
type geminiLine struct {
	Type    string        `json:"type"`
	At      time.Time     `json:"timestamp"`
	Content geminiContent `json:"content"`
}

// geminiContent is a text, or parts of which those with text count.
type geminiContent string

func (c *geminiContent) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*c = geminiContent(text)
		return nil
	}
	var parts []struct {
		Text    string `json:"text"`
		Thought bool   `json:"thought"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return err
	}
	var texts []string
	for _, p := range parts {
		if p.Text != "" && !p.Thought {
			texts = append(texts, p.Text)
		}
	}
	*c = geminiContent(strings.Join(texts, "\n"))
	return nil
}

// geminiLogTypes are the lines worth parsing. Lines that begin with $set repeat whole conversations.
var geminiLogTypes = [][]byte{[]byte(`"type":"user"`), []byte(`"type":"gemini"`), []byte(`"type":"info"`), []byte(`"type":"error"`)}

// geminiCancelled is what Gemini notes when a person stops a turn, or refuses a dialog; no hook tells of the latter.
const geminiCancelled = "Request cancelled."

// Line tells that a turn was stopped, and of an error of the model's service, of which the hook only says that there was no answer.
func (gemini) Line(line []byte) (orch.AgentEvent, bool) {
	l, ok := logLine[geminiLine](line, geminiLogTypes)
	e := orch.AgentEvent{At: l.At}
	switch {
	case !ok:
		return orch.AgentEvent{}, false
	case l.Type == "info" && l.Content == geminiCancelled:
		e.Type = orch.Interrupted
	case l.Type == "error":
		e.Type, e.Reason, e.Answer = orch.TurnFailed, "error", cut(string(l.Content), answerMax)
	default:
		return orch.AgentEvent{}, false
	}
	return e, true
}

// geminiWords finds our lines in a log: prompts, with what a hook has said beside one, and what has kept a turn from ending. All
// of it stays in the conversation, whatever is interrupted.
type geminiWords struct{}

func (gemini) Log() Log { return geminiWords{} }

func (geminiWords) Words(line []byte) []string {
	if !mayMark(line) {
		return nil
	}
	l, ok := logLine[geminiLine](line, geminiLogTypes)
	if !ok || l.Type != "user" {
		return nil
	}
	return marksIn(string(l.Content))
}

func (geminiWords) End() []string { return nil }

// LastAnswer reads the log.
func (gemini) LastAnswer(path string) (string, error) { return lastInLog(path, geminiSaid) }

// geminiSaid is what the agent itself said in one line of its log, "" for any other line.
func geminiSaid(line []byte) string {
	l, ok := logLine[geminiLine](line, geminiLogTypes)
	if !ok || l.Type != "gemini" {
		return ""
	}
	return cut(string(l.Content), answerMax)
}
