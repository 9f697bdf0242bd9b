package hooks

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// stands: literal text that no expansion touches, single quotes, or double quotes around plain text.
func stands(w *syntax.Word) bool {
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "*?[]{}~") {
				return false
			}
		case *syntax.SglQuoted:
			if p.Dollar {
				return false
			}
		case *syntax.DblQuoted:
			if p.Dollar {
				return false
			}
			for _, q := range p.Parts {
				if _, ok := q.(*syntax.Lit); !ok {
					return false
				}
			}
		default:
			return false
		}
	}
	return true
}

// wordText is a word's text where no expansion is in it, "" otherwise.
func wordText(w *syntax.Word) string {
	var b strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(unescape(p.Value, false))
		case *syntax.SglQuoted:
			if p.Dollar {
				return ""
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if len(p.Parts) == 0 {
				continue
			}
			lit, ok := p.Parts[0].(*syntax.Lit)
			if !ok || len(p.Parts) > 1 {
				return ""
			}
			b.WriteString(unescape(lit.Value, true))
		default:
			return ""
		}
	}
	return b.String()
}

// unescape takes the backslashes away that the shell would take away.
func unescape(s string, quoted bool) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("\\\"$`\n", s[i+1]) >= 0) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// corrected writes calls anew, every word as text in single quotes where it needs any. A word with an
// expansion in it is taken as the text that was meant: "costs $5" is a sum, not a variable.
func corrected(calls [][]*syntax.Word, command string) string {
	var lines []string
	for _, args := range calls {
		words := []string{"st", "worker", wordText(args[2])}
		for _, w := range args[3:] {
			words = append(words, shellWord(meant(w, command)))
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return strings.Join(lines, " && ")
}

// meant is the text of a word with its expansions as they were written.
func meant(w *syntax.Word, command string) string {
	if stands(w) {
		return wordText(w)
	}
	var b strings.Builder
	for _, p := range w.Parts {
		raw := source(p, command)
		switch p := p.(type) {
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				b.WriteString(inside(q, command))
			}
		default:
			b.WriteString(raw)
		}
	}
	return b.String()
}

// inside is a part of a double-quoted text. A heredoc's body is what was meant by it.
func inside(p syntax.WordPart, command string) string {
	if sub, ok := p.(*syntax.CmdSubst); ok {
		if body := heredoc(sub); body != "" {
			return body
		}
	}
	if lit, ok := p.(*syntax.Lit); ok {
		return unescape(lit.Value, true)
	}
	return source(p, command)
}

func heredoc(sub *syntax.CmdSubst) string {
	for _, s := range sub.Stmts {
		for _, r := range s.Redirs {
			if r.Hdoc != nil && len(r.Hdoc.Parts) == 1 {
				if lit, ok := r.Hdoc.Parts[0].(*syntax.Lit); ok {
					return strings.TrimRight(lit.Value, "\n")
				}
			}
		}
	}
	return ""
}

func source(n syntax.Node, command string) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from < 0 || to > len(command) || from > to {
		return ""
	}
	return command[from:to]
}
