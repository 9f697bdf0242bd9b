package hooks

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

// wordsOf reads recorded lines and says at which of them which of our own lines went in, and at the end.
func wordsOf(t *testing.T, k Kind, lines []byte) (got string) {
	t.Helper()
	l := k.Log()
	for n, line := range bytes.Split(lines, []byte("\n")) {
		if marks := l.Words(line); len(marks) > 0 {
			got += fmt.Sprintf(" %d:%s", n+1, strings.Join(marks, ","))
		}
	}
	if marks := l.End(); len(marks) > 0 {
		got += " end:" + strings.Join(marks, ",")
	}
	return strings.TrimSpace(got)
}

// TestWordsInRecordedLogs. Claude: a turn's end that went on, another that was stopped at once; context beside a prompt,
// beside one taken back before the first word (st-o202), and beside one stopped in a tool; a prompt that joined a turn
// and one that waited for its end, both with context; context beside a prompt at which the process was killed, then
// resumed. Codex: two turn's ends, context beside a prompt, beside one stopped before the first word, and beside one
// stopped in a tool; a prompt that joined, with context. Gemini: a turn's end that went on, and context beside a prompt. Neither agent's own words count, nor Claude's copies of requests.
func TestWordsInRecordedLogs(t *testing.T) {
	for name, want := range map[string]string{
		"claude": "2:st-o101 10:st-o102 19:st-o201 27:st-o203 34:st-o222,st-o221 38:st-o224,st-o223 41:st-o281",
		"gemini": "8:st-o17 10:st-o18",
		"codex":  "1:st-o101 5:st-o102 7:st-o301 8:st-o302 9:st-o303 10:st-o322 12:st-o321",
	} {
		k, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := os.ReadFile("testdata/" + name + "/words.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		if got := wordsOf(t, k, lines); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestWordsOfClaude(t *testing.T) {
	const (
		prompt  = `{"type":"user","uuid":"p","parentUuid":"0","message":{"content":"see /a/d3.md"}}` + "\n"
		context = `{"type":"attachment","uuid":"c","parentUuid":"p","attachment":{"type":"hook_additional_context","content":["st-o1"]}}` + "\n"
		other   = `{"type":"user","uuid":"q","parentUuid":"0","message":{"content":"st-o2"}}` + "\n"
	)
	for what, c := range map[string]struct{ lines, want string }{
		"a killed agent has what it was given last": {prompt + context, "end:/a/d3.md,st-o1"},
		"not what was taken back before that":       {prompt + context + other, "end:st-o2"},
		"a system line may be taken back too":       {prompt + context + `{"type":"system","uuid":"s","parentUuid":"c"}` + "\n" + other, "end:st-o2"},
		"an attachment elsewhere means nothing":     {prompt + context + `{"type":"attachment","uuid":"x","parentUuid":"y"}`, "end:/a/d3.md,st-o1"},
		"a refusal by the service":                  {prompt + `{"type":"assistant","uuid":"e","parentUuid":"p","isApiErrorMessage":true,"message":{"content":"x"}}`, "2:/a/d3.md"},
		"a stop that goes on behind what is open":   {prompt + `{"type":"user","uuid":"f","parentUuid":"p","isMeta":true,"message":{"content":"Stop hook feedback:\nst-o9"}}`, "2:/a/d3.md,st-o9"},
		"somebody types what the stop hook says":    {`{"type":"user","uuid":"f","parentUuid":null,"message":{"content":"Stop hook feedback:\nst-o9"}}`, "end:st-o9"},
		"a line of another type stands between":     {prompt + context + `{"type":"tool","uuid":"t","parentUuid":"c"}` + "\n" + `{"type":"assistant","uuid":"a","parentUuid":"t"}`, "4:/a/d3.md,st-o1"},
		"a subagent's":                              {`{"type":"user","uuid":"f","parentUuid":null,"isSidechain":true,"message":{"content":"st-o9"}}`, ""},
		"what a tool printed":                       {`{"type":"user","uuid":"f","parentUuid":null,"message":{"content":[{"type":"tool_result","content":"st-o9"}]}}`, ""},
		"another attachment":                        {`{"type":"attachment","uuid":"f","parentUuid":null,"attachment":{"type":"hook_success","content":"st-o9"}}`, ""},
		"no line at all":                            {`{"type":"user","st-o9`, ""},
	} {
		if got := wordsOf(t, claude{}, []byte(c.lines)); got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}
