package hooks

import (
	"encoding/json"
	"strings"
	"time"

	"st/orch"
)

// claudeLine is a line of Claude's transcript, as far as st reads it.
type claudeLine struct {
	Type      string    `json:"type"`
	At        time.Time `json:"timestamp"`
	Sidechain bool      `json:"isSidechain"` // a subagent's
	Meta      bool      `json:"isMeta"`      // written by the program for itself
	Session   string    `json:"sessionId"`
	Dir       string    `json:"cwd"`
	Origin    struct {
		Kind string `json:"kind"` // human: somebody typed it
	} `json:"origin"`
	PromptSource string `json:"promptSource"` // typed, queued, ...
	APIError     bool   `json:"isApiErrorMessage"`
	APIErrorName string `json:"apiError"` // a finer name than error for some: of a usage limit and a full service alike that is rate_limit
	Error        string `json:"error"`
	Message      struct {
		Content claudeContent `json:"content"`
	} `json:"message"`
}

// claudeContent is a message's text: a string, or blocks of which those with text count.
type claudeContent string

func (c *claudeContent) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*c = claudeContent(text)
		return nil
	}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &blocks); err != nil {
		return err
	}
	var texts []string
	for _, b := range blocks {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	*c = claudeContent(strings.Join(texts, "\n"))
	return nil
}

// claudeLogTypes are the lines worth parsing. The others, copies of whole requests among them, are the bulk
// of a transcript and may be megabytes long.
var claudeLogTypes = [][]byte{[]byte(`"type":"user"`), []byte(`"type":"assistant"`)}

// claudeInterrupt opens the line that an Esc leaves, alone or at a dialog; no hook tells of either.
const claudeInterrupt = "[Request interrupted by user"

// claudeEnded are the errors that a person's plan or purse ends; no trying again helps.
var claudeEnded = map[string]bool{"billing_error": true}

// Line tells what no hook tells: that the person stopped the turn or refused a dialog, and that a prompt
// which was queued while the last turn ran now has a turn of its own (its hook came when it was queued).
// It repeats an API error, in case its hook was lost. What an agent says proves that it lives.
//
// On a loaded machine the line of the interrupt comes after that of the queued prompt, and with its id: then
// an agent that just took up its queued prompt seems interrupted, and only its screen shows that it works.
// Nothing at all is written when a prompt is taken back before the first word.
func (claude) Line(line []byte) (orch.AgentEvent, bool) {
	l, ok := logLine[claudeLine](line, claudeLogTypes)
	if !ok || l.Sidechain || l.Meta {
		return orch.AgentEvent{}, false
	}
	e := orch.AgentEvent{At: l.At, Conversation: l.Session, Dir: l.Dir}
	text := string(l.Message.Content)
	switch {
	case l.Type == "user" && l.Origin.Kind == "" && strings.HasPrefix(text, claudeInterrupt):
		e.Type = orch.Interrupted
	case l.Type == "user" && l.PromptSource == "queued":
		e.Type, e.Marks = orch.PromptIn, marksIn(text)
		e.Machine = l.Origin.Kind != "human"
	case l.Type == "assistant" && l.APIError:
		e.Limit = claudeEnded[l.Error] || l.APIErrorName == "usage_limit_reached"
		e.Type, e.Reason, e.Answer = orch.TurnFailed, cut(l.Error, fieldMax), cut(text, answerMax)
	case l.Type == "assistant" && text != "":
		e.Type = orch.Noticed
	default:
		return orch.AgentEvent{}, false
	}
	return e, true
}

// LastAnswer reads the transcript. Claude writes the last answer up to 0.4 s after the hook that tells of the
// turn's end, which carries it too: at a turn's end the hook's counts.
func (claude) LastAnswer(path string) (answer string, err error) { return lastInLog(path, claudeSaid) }

// claudeSaid is what the agent itself said in one line of its transcript, "" for any other line.
func claudeSaid(line []byte) string {
	l, ok := logLine[claudeLine](line, claudeLogTypes)
	if !ok || l.Type != "assistant" || l.Sidechain {
		return ""
	}
	return cut(string(l.Message.Content), answerMax)
}
