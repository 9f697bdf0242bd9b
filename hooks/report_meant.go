package hooks

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// meaning tells which texts the words of a command were meant to be. "costs $5" is a sum and no variable, but a
// variable that the command itself has set, a heredoc and what echo prints are known without a shell.
type meaning struct {
	command string
	vars    map[string]string
	input   map[*syntax.Word]string // what a call reads, by its first word
	unknown bool                    // a word was met of which only a shell knows the text
}

func meaningOf(file *syntax.File, command string) *meaning {
	m := &meaning{command: command, vars: map[string]string{}, input: map[*syntax.Word]string{}}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil && n.Value != nil {
				m.set(n.Name.Value, n.Value)
			}
		case *syntax.BinaryCmd:
			if text, ok := m.printed([]*syntax.Stmt{n.X}, ""); ok && n.Op == syntax.Pipe {
				m.feed(n.Y, text)
			}
		case *syntax.Stmt:
			if text, ok := m.heredoc(n); ok {
				m.feed(n, text)
			}
		}
		return true
	})
	m.unknown = false // what no report uses is no matter
	return m
}

// set takes an assignment, where its text is known.
func (m *meaning) set(name string, value *syntax.Word) {
	before := m.unknown
	m.unknown = false
	if text := m.text(value, ""); !m.unknown {
		m.vars[name] = text
	}
	m.unknown = before
}

// feed notes what the calls in a statement read.
func (m *meaning) feed(s *syntax.Stmt, text string) {
	syntax.Walk(s, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok {
			for _, w := range call.Args {
				if _, set := m.input[w]; !set {
					m.input[w] = text
				}
			}
		}
		return true
	})
}

// corrected writes calls anew, every word as text in single quotes where it needs any; known is false where only a
// shell could tell what a word will be.
func corrected(calls [][]*syntax.Word, m *meaning) (line string, known bool) {
	var lines []string
	for _, args := range calls {
		verb := ownVerb(args)
		words := append([]string{"st"}, verb...)
		for _, w := range args[1+len(verb):] {
			words = append(words, ShellWord(m.text(w, m.input[args[0]])))
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return strings.Join(lines, " && "), len(calls) > 0 && !m.unknown
}

// text is what a word was meant to be; input is what a command in it would read.
func (m *meaning) text(w *syntax.Word, input string) string {
	if stands(w) {
		return wordText(w)
	}
	var b strings.Builder
	for _, p := range w.Parts {
		if q, ok := p.(*syntax.DblQuoted); ok {
			for _, p := range q.Parts {
				b.WriteString(m.part(p, true, input))
			}
			continue
		}
		b.WriteString(m.part(p, false, input))
	}
	return b.String()
}

func (m *meaning) part(p syntax.WordPart, quoted bool, input string) string {
	switch p := p.(type) {
	case *syntax.Lit:
		return unescape(p.Value, quoted)
	case *syntax.SglQuoted:
		if !p.Dollar {
			return p.Value
		}
		if text, err := expand.Literal(nil, &syntax.Word{Parts: []syntax.WordPart{p}}); err == nil {
			return text
		}
	case *syntax.ParamExp:
		if text, ok := m.vars[p.Param.Value]; ok && p.Short || ok && simple(p) {
			return text
		}
		return source(p, m.command)
	case *syntax.CmdSubst:
		if p.Backquotes { // code, as in Markdown
			return source(p, m.command)
		}
		if text, ok := m.printed(p.Stmts, input); ok {
			return strings.TrimRight(text, "\n")
		}
	case *syntax.ArithmExp:
		return source(p, m.command)
	}
	m.unknown = true
	return source(p, m.command)
}

// simple: ${name} and nothing done to it.
func simple(p *syntax.ParamExp) bool {
	return !p.Excl && !p.Length && !p.Width && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Exp == nil && p.Names == 0
}

func source(n syntax.Node, command string) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from < 0 || to > len(command) || from > to {
		return ""
	}
	return command[from:to]
}
