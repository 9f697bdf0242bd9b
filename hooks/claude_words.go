package hooks

import "strings"

// claudeWords finds our lines in a transcript. Each line of it names the one that it follows. What a person takes back,
// by Esc before the first word, stays in the file and nothing marks it: the next prompt follows what stood before. So a
// prompt, and what a hook has said beside it, is part of the conversation when something follows it. It also is when the
// process ends: the conversation is taken up again behind its last line, be that taken back or not. What a hook keeps a
// turn from ending with can't be taken back (2.1.332).
type claudeWords struct {
	open []string // marks of what nothing has followed yet
	last string   // the id of the line that is to be followed
}

// claudeRow is a line of a transcript, as far as our lines are looked for in it.
type claudeRow struct {
	Type       string `json:"type"`
	ID         string `json:"uuid"`
	Follows    string `json:"parentUuid"`
	Sidechain  bool   `json:"isSidechain"`
	Meta       bool   `json:"isMeta"`
	Attachment struct {
		Type    string        `json:"type"`
		Context []string      `json:"content"` // of hook_additional_context
		Prompt  claudeContent `json:"prompt"`  // of queued_command: one that joins the running turn
	} `json:"attachment"`
	Message struct {
		Content claudeContent `json:"content"`
	} `json:"message"`
}

// claudeRows are the lines that hold words, and all that follow one another, of whatever type: one that is left out would
// break the chain.
var claudeRows = [][]byte{
	[]byte(`"type":"user"`), []byte(`"type":"assistant"`), []byte(`"type":"attachment"`), []byte(`"type":"system"`), []byte(`"parentUuid"`),
}

// claudeFeedback opens the line with which a hook has kept a turn from ending.
const claudeFeedback = "Stop hook feedback:"

func (claude) Log() Log { return &claudeWords{} }

func (c *claudeWords) Words(line []byte) []string {
	if len(c.open) == 0 && !mayMark(line) {
		return nil
	}
	row, ok := logLine[claudeRow](line, claudeRows)
	if !ok || row.Sidechain {
		return nil
	}
	marks, settled := row.words()
	follows := row.Follows == c.last
	beside := row.Type != "user" && row.Type != "assistant"
	if beside && !follows && len(marks) == 0 {
		return nil
	}
	before := c.End()
	if !follows { // the conversation goes on elsewhere
		before = nil
	}
	switch {
	case settled:
		return append(before, marks...)
	case beside: // it may be taken back with what it follows
		c.last, c.open = row.ID, append(before, marks...)
		return nil
	}
	c.last, c.open = row.ID, marks
	return before
}

// words are the marks in what the row adds to the conversation; settled that it can't be taken back.
func (r claudeRow) words() (marks []string, settled bool) {
	switch {
	case r.Type == "user":
		text := string(r.Message.Content)
		return marksIn(text), r.Meta && strings.HasPrefix(text, claudeFeedback)
	case r.Type == "attachment" && r.Attachment.Type == "hook_additional_context":
		return marksIn(strings.Join(r.Attachment.Context, "\n")), false
	case r.Type == "attachment" && r.Attachment.Type == "queued_command":
		return marksIn(string(r.Attachment.Prompt)), false
	}
	return nil, false
}

func (c *claudeWords) End() []string {
	marks := c.open
	c.open, c.last = nil, ""
	return marks
}
