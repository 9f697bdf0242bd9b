package hooks

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A model that writes 'it's done' has meant a text with an apostrophe in it. The shell reads something else there, or
// nothing at all.

// mangled tells that in a report's call a quoted text is followed by bare letters: an apostrophe or a quote in it has
// ended it. What is meant to be one word is often several then, or the quotes are lost.
func mangled(file *syntax.File, selves []string) bool {
	for _, call := range reportCalls(file, selves) {
		for _, w := range call[1+len(ownVerb(call)):] {
			for i, p := range w.Parts {
				if i == 0 {
					continue
				}
				lit, bare := p.(*syntax.Lit)
				if bare && quotedPart(w.Parts[i-1]) && lit.Value != `\'` && lit.Value != `\"` {
					return true
				}
			}
		}
	}
	return false
}

func quotedPart(p syntax.WordPart) bool {
	switch p.(type) {
	case *syntax.SglQuoted, *syntax.DblQuoted:
		return true
	}
	return false
}

// reportSpoken finds the call of a report in a command that no shell can read.
func reportSpoken(selves []string) *regexp.Regexp {
	var names []string
	for _, s := range selves {
		names = append(names, regexp.QuoteMeta(s), regexp.QuoteMeta(ShellWord(s)))
	}
	return regexp.MustCompile(`(?:^|[\s;&|(])(?:` + strings.Join(names, "|") + `)\s+(?:worker\s+(?:done|progress)|ask|escalate)\s`)
}

// quoteOpens is where the text of a report begins, seen from behind its verb: there, or behind the flag that has it.
var quoteOpens = pattern(`^\s*(['"])|--(?:summary|question)[=\s]\s*(['"])`)

// quoteCloses is where it can end: before another flag, another command, or the end.
var quoteCloses = pattern(`^(?:\s*$|\s+--(?:summary|outcome|files|report|dispatch|question|options|timeout|request)\b|\s*(?:&&|\|\||[;|>])|\s+\d?>)`)

// mendQuotes writes the text of a report's call anew, from its first quote to the next that can end it; "" where
// that makes no command.
func mendQuotes(command string, selves []string) string {
	at := reportSpoken(selves).FindStringIndex(command)
	if at == nil {
		return ""
	}
	open := quoteOpens().FindStringIndex(command[at[1]:])
	if open == nil {
		return ""
	}
	from := at[1] + open[1]
	quote := command[from-1]
	for end := from; end < len(command); end++ {
		if command[end] != quote || !quoteCloses().MatchString(command[end+1:]) {
			continue
		}
		mended := command[:from-1] + quotedWord(between(command[from:end], quote)) + command[end+1:]
		if file, err := parseShell(mended); err == nil && mended != command && len(reportCalls(file, selves)) > 0 && !mangled(file, selves) {
			return mended
		}
	}
	return ""
}

// between is a text that was meant to stand between two such quotes.
func between(text string, quote byte) string {
	if quote == '"' {
		return unescape(text, true)
	}
	return strings.ReplaceAll(text, `'\''`, "'")
}
