package hooks

import (
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

// mark finds the path of a task copy, one a dispatch and named by its id, or of a message that lies beside it.
var mark = pattern(`[A-Za-z0-9._/-]*/d[0-9]+(-m[0-9]+)?\.md\b`)

// marksMost is how many marks of one prompt are told. One line of ours has one.
const marksMost = 8

// marksIn are the paths of task copies and messages that a prompt names: proof that a line of ours went in.
func marksIn(prompt string) []string { return mark().FindAllString(prompt, marksMost) }

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
func (q asked) String() string {
	var labels []string
	for _, o := range q.Options {
		labels = append(labels, o.Label)
	}
	return detail(q.Question, options(labels))
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
