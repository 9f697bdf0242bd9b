package tmux

import (
	"strings"
	"unicode"
)

// quote makes a string safe where tmux expands a format: new-window -n and -c, new-session -s and -c,
// rename-window. Unquoted, "#(cmd)" in a name runs cmd and "#{…}" in a folder leads to another one, with exit
// status 0. Every # is doubled, except a run of them before "[": since 2.9 tmux takes that for a style and
// keeps it as it is, however many there are.
func quote(s string) string {
	if !strings.Contains(s, "#") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '#' {
			b.WriteByte(s[i])
			i++
			continue
		}
		end := i
		for end < len(s) && s[end] == '#' {
			end++
		}
		run := s[i:end]
		b.WriteString(run)
		if end == len(s) || s[end] != '[' {
			b.WriteString(run)
		}
		i = end
	}
	return b.String()
}

// argument keeps a trailing semicolon literal. tmux ends a command at any argument that ends in one, even
// after "--".
func argument(s string) string {
	if s != ";" && !strings.HasSuffix(s, ";") {
		return s
	}
	return s[:len(s)-1] + `\;`
}

// operand is quote for a side of a comparison inside a format, where a comma and a brace end it.
func operand(s string) string {
	return strings.NewReplacer(",", "#,", "}", "#}").Replace(quote(s))
}

// word is one argument of a command that tmux itself parses: the branches of if-shell and hooks.
func word(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// printable drops control characters; line breaks and tabs become spaces. Before tmux 3.7 an end-of-paste
// sequence inside pasted text passes raw, and names with control characters come back escaped.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == '\r':
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
