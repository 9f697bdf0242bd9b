package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// How much of a payload's fields leaves the hook process, in bytes.
const (
	whatMax   = 200
	answerMax = 64 << 10
	fieldMax  = 4 << 10 // of ids, paths and names: longer ones are nobody's
)

// cut cuts a text to at most n bytes, never inside a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// mark finds the path of a task copy, one a dispatch and named by its id, or of a message or a further task that lies
// beside it or is named by its worker, or the word's own id, where a line names no file.
var mark = pattern(`[A-Za-z0-9._/-]*/[dw][0-9]+(-[dm][0-9]+)?\.md\b|\bst-o[0-9]+\b`)

// markPieces stand in marks, one of them in every mark: most lines of a log, and most prompts, hold none.
var markPieces = [...]string{"st-o", ".md"}

// mayMark tells whether it is worth looking for marks in a line of a log.
func mayMark(line []byte) bool {
	return bytes.Contains(line, []byte(markPieces[0])) || bytes.Contains(line, []byte(markPieces[1]))
}

// marksMost is how many marks of one prompt are told. One line of ours has one.
const marksMost = 8

// marksIn are the marks of our own lines that a text holds: proof that they went in. An agent waits for the hook of its
// prompt, and to make the pattern ready takes longer than all else that the hook does with it.
func marksIn(prompt string) []string {
	if !strings.Contains(prompt, markPieces[0]) && !strings.Contains(prompt, markPieces[1]) {
		return nil
	}
	return mark().FindAllString(prompt, marksMost)
}

var plainWord = pattern(`^[A-Za-z0-9/._+%@-]+$`)

// ShellWord makes one word of a text for a POSIX shell, for a line that somebody types or a settings file holds. Plain
// words stay as they are; "" becomes a pair of quotes.
func ShellWord(s string) string {
	if plainWord().MatchString(s) {
		return s
	}
	return quotedWord(s)
}

// quotedWord makes one word in single quotes for sh.
func quotedWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// asked is a question that an agent asks by a tool of its own.
type asked struct {
	Question string `json:"question"`
	Options  []struct {
		Label string `json:"label"`
	} `json:"options"`
}

// String is the question with what may be chosen, in one line of at most 200 bytes.
func (q asked) String() string { return detail(q.Question, options(q.labels())) }

// optionsMost is how many of a question's options leave the hook process.
const optionsMost = 20

// labels are what may be chosen, a line of at most 200 bytes each.
func (q asked) labels() (labels []string) {
	for _, o := range q.Options {
		if l := detail(o.Label); l != "" && len(labels) < optionsMost {
			labels = append(labels, l)
		}
	}
	return labels
}

// choices are the labels of the first question, nil where there is none.
func choices(list []asked) []string {
	if len(list) == 0 {
		return nil
	}
	return list[0].labels()
}

var errNoEvent = errors.New("payload without hook_event_name")

// loosely reads JSON into v. A field of another shape than it used to be is left empty: what is half understood is
// better than nothing.
func loosely(text []byte, v any) error {
	err := json.Unmarshal(text, v)
	if shape := (*json.UnmarshalTypeError)(nil); errors.As(err, &shape) {
		return nil
	}
	return err
}
