package main

import (
	"slices"
	"strings"
	"unicode/utf8"

	"st/orch"
)

// How much of a text that the caller gave a message repeats, and how long a line may be that is proposed for typing, in
// bytes. A path may have 4096.
const (
	echoMost = 300
	nextMost = 5000
)

// briefly is an error that repeats no more of what the caller gave than helps to know it again.
func briefly(e *orch.Error) *orch.Error {
	b := *e
	b.Message = briefQuotes(e.Message)
	if e.Code != "confirm" { // what somebody is asked to consent to is shown whole
		b.Message = briefWords(b.Message)
	}
	b.Next = slices.DeleteFunc(slices.Clone(e.Next), func(line string) bool { return len(line) > nextMost })
	return &b
}

// headOf is a text, or its begin with a sign that there was more.
func headOf(text string) string {
	if len(text) <= echoMost {
		return text
	}
	n := echoMost
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// briefQuotes cuts what stands in double quotes, as %q writes it: on one line, with \ before what would end it.
func briefQuotes(message string) string {
	if len(message) <= echoMost {
		return message
	}
	var out strings.Builder
	for rest := message; rest != ""; {
		open := strings.IndexByte(rest, '"')
		end := quoteEnd(rest, open+1)
		if open < 0 || end < 0 {
			out.WriteString(rest)
			break
		}
		head := headOf(rest[open+1 : end])
		if cut, ok := strings.CutSuffix(head, "…"); ok {
			head = strings.TrimRight(cut, `\`) + "…"
		}
		out.WriteString(rest[:open+1] + head + `"`)
		rest = rest[end+1:]
	}
	return out.String()
}

// quoteEnd is where a quoted text ends that begins at from; -1 where it does not end on its line.
func quoteEnd(text string, from int) int {
	for i := from; i < len(text) && text[i] != '\n'; i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// briefWords cuts single words: some are told as they were given, where no quotes are needed.
func briefWords(message string) string {
	words := strings.Split(message, " ")
	for i, w := range words {
		if len(w) > 2*echoMost { // what briefQuotes leaves is shorter
			words[i] = headOf(w)
		}
	}
	return strings.Join(words, " ")
}
