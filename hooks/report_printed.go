package hooks

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// printed is what statements print, where that is known without running them: cat of a heredoc or of what it is fed,
// echo and printf of texts.
func (m *meaning) printed(stmts []*syntax.Stmt, input string) (text string, ok bool) {
	if len(stmts) != 1 || stmts[0].Negated || stmts[0].Background {
		return "", false
	}
	if pipe, ok := stmts[0].Cmd.(*syntax.BinaryCmd); ok && pipe.Op == syntax.Pipe {
		if input, ok = m.printed([]*syntax.Stmt{pipe.X}, input); !ok {
			return "", false
		}
		return m.printed([]*syntax.Stmt{pipe.Y}, input)
	}
	call, ok := stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || len(call.Assigns) > 0 {
		return "", false
	}
	if doc, ok := m.heredoc(stmts[0]); ok {
		input = doc
	} else if len(stmts[0].Redirs) > 0 {
		return "", false
	}
	words, ok := m.words(call.Args[1:], input)
	if !ok {
		return "", false
	}
	switch call.Args[0].Lit() {
	case "cat":
		return input, input != "" && (len(words) == 0 || len(words) == 1 && words[0] == "-")
	case "echo":
		return echoed(words)
	case "printf":
		return formatted(words)
	}
	return "", false
}

// words are the texts of words; ok is false where one is not known.
func (m *meaning) words(list []*syntax.Word, input string) (words []string, ok bool) {
	before := m.unknown
	m.unknown = false
	for _, w := range list {
		words = append(words, m.text(w, input))
	}
	ok, m.unknown = !m.unknown, before
	return words, ok
}

func echoed(words []string) (string, bool) {
	end := "\n"
	for len(words) > 0 && (words[0] == "-n" || words[0] == "-e" || words[0] == "-E") {
		switch words[0] {
		case "-n":
			end = ""
		case "-e":
			if strings.Contains(strings.Join(words, ""), `\`) {
				return "", false
			}
		}
		words = words[1:]
	}
	return strings.Join(words, " ") + end, true
}

// formatted is printf's text, for formats that take what follows as texts.
func formatted(words []string) (string, bool) {
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		return "", false
	}
	text, _, err := expand.Format(nil, words[0], words[1:])
	return text, err == nil
}

// heredoc is the text that a statement is fed by a heredoc or a here-string.
func (m *meaning) heredoc(s *syntax.Stmt) (text string, ok bool) {
	for _, r := range s.Redirs {
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			if r.Hdoc == nil {
				return "", true
			}
			text, ok = m.body(r), true
		case syntax.WordHdoc:
			text, ok = m.text(r.Word, "")+"\n", true
		}
	}
	return text, ok
}

// body is the text of a heredoc. One whose mark is quoted stands as it is; in another, variables are known as
// everywhere else.
func (m *meaning) body(r *syntax.Redirect) string {
	var b strings.Builder
	literal := r.Word.Lit() == ""
	for _, p := range r.Hdoc.Parts {
		lit, ok := p.(*syntax.Lit)
		switch {
		case ok && literal:
			b.WriteString(lit.Value)
		default:
			b.WriteString(m.part(p, true, ""))
		}
	}
	text := b.String()
	if r.Op == syntax.DashHdoc {
		lines := strings.Split(text, "\n")
		for i := range lines {
			lines[i] = strings.TrimLeft(lines[i], "\t")
		}
		text = strings.Join(lines, "\n")
	}
	return text
}
