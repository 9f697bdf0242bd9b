package hooks

import (
	"encoding/json"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Answer lets an agent that st started report without asking anybody: its own two verbs, written so plainly
// that the shell changes nothing in them. A rule in the settings is not enough, Claude asks all the same
// about double quotes with a dollar or backticks in them, heredocs and absolute paths. Where one of the two
// verbs is called in any other form, the answer is a refusal with the line to write instead. About anything
// else it says nothing, and Claude's own permissions stand. A subagent is not the worker and gets no answer.
func (c claude) Answer(payload []byte, agent bool) []byte {
	if !agent {
		return nil
	}
	call, err := parseClaude(payload)
	if err != nil || call.Event != "PreToolUse" || call.Tool != "Bash" || call.Subagent != "" || call.Input.NoSandbox {
		return nil
	}
	command := call.Input.Command
	if !strings.Contains(command, "worker") {
		return nil // spare the parsing
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return nil
	}
	selves := append([]string{"st"}, c.selves()...)
	ours := claudeReports(file, selves)
	switch {
	case len(ours) == 0:
		return nil
	case len(file.Stmts) == 1 && claudePlainly(file.Stmts[0], selves):
		return claudeDecision("allow", "a worker's own report")
	}
	return claudeDecision("deny", "st: a report must be a command of its own, with its text in single quotes, "+
		"so that nobody has to be asked. Write: "+claudeCorrected(ours, command)+
		" (for a long text, write it into a file and add --report FILE)")
}

func claudeDecision(decision, reason string) []byte {
	type output struct {
		Event    string `json:"hookEventName"`
		Decision string `json:"permissionDecision"`
		Reason   string `json:"permissionDecisionReason"`
	}
	answer, err := json.Marshal(map[string]output{"hookSpecificOutput": {"PreToolUse", decision, reason}})
	if err != nil {
		return nil // can't be: three strings
	}
	return answer
}

// claudeReports finds every call of the two verbs, at any depth, and returns their words.
func claudeReports(file *syntax.File, selves []string) [][]*syntax.Word {
	var ours [][]*syntax.Word
	syntax.Walk(file, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok {
			if args := claudeReportArgs(call, selves); args != nil {
				ours = append(ours, args)
			}
		}
		return true
	})
	return ours
}

// claudeFront are programs that run what stands behind them.
var claudeFront = []string{"env", "command", "exec", "nohup", "timeout", "time", "nice", "sudo"}

// claudeReportArgs returns the words of a call from our own name on, if it is one of the two verbs.
func claudeReportArgs(call *syntax.CallExpr, selves []string) []*syntax.Word {
	args := call.Args
	if len(args) > 0 && slices.Contains(claudeFront, args[0].Lit()) {
		for len(args) > 0 && !slices.Contains(selves, claudeWord(args[0])) {
			args = args[1:]
		}
	}
	if len(args) < 3 || !slices.Contains(selves, claudeWord(args[0])) || claudeWord(args[1]) != "worker" {
		return nil
	}
	if verb := claudeWord(args[2]); verb != "done" && verb != "progress" {
		return nil
	}
	return args
}

// claudePlainly: one simple command, or several joined by &&, all of them ours, each word of a form that the
// shell hands over as it stands.
func claudePlainly(s *syntax.Stmt, selves []string) bool {
	if s.Negated || s.Background || s.Coprocess || s.Disown || len(s.Redirs) > 0 {
		return false
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		return cmd.Op == syntax.AndStmt && claudePlainly(cmd.X, selves) && claudePlainly(cmd.Y, selves)
	case *syntax.CallExpr:
		if len(cmd.Assigns) > 0 || len(claudeReportArgs(cmd, selves)) != len(cmd.Args) {
			return false
		}
		for i, w := range cmd.Args {
			// The program and the verb without any quotes: that is how a person would read it, too.
			if !claudeStands(w) || i < 3 && w.Lit() == "" {
				return false
			}
		}
		return true
	}
	return false
}

// claudeStands: literal text that no expansion touches, single quotes, or double quotes around plain text.
func claudeStands(w *syntax.Word) bool {
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

// claudeWord is a word's text where no expansion is in it, "" otherwise.
func claudeWord(w *syntax.Word) string {
	var b strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(claudeUnescape(p.Value, false))
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
			b.WriteString(claudeUnescape(lit.Value, true))
		default:
			return ""
		}
	}
	return b.String()
}

// claudeUnescape takes the backslashes away that the shell would take away.
func claudeUnescape(s string, quoted bool) string {
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

// claudeCorrected writes calls anew, every word as text in single quotes where it needs any. A word with an
// expansion in it is taken as the text that was meant: "costs $5" is a sum, not a variable.
func claudeCorrected(calls [][]*syntax.Word, command string) string {
	var lines []string
	for _, args := range calls {
		words := []string{"st", "worker", claudeWord(args[2])}
		for _, w := range args[3:] {
			words = append(words, shellWord(claudeMeant(w, command)))
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return strings.Join(lines, " && ")
}

// claudeMeant is the text of a word with its expansions as they were written.
func claudeMeant(w *syntax.Word, command string) string {
	if claudeStands(w) {
		return claudeWord(w)
	}
	var b strings.Builder
	for _, p := range w.Parts {
		raw := claudeSource(p, command)
		switch p := p.(type) {
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				b.WriteString(claudeInside(q, command))
			}
		default:
			b.WriteString(raw)
		}
	}
	return b.String()
}

// claudeInside is a part of a double-quoted text. A heredoc's body is what was meant by it.
func claudeInside(p syntax.WordPart, command string) string {
	if sub, ok := p.(*syntax.CmdSubst); ok {
		if body := claudeHeredoc(sub); body != "" {
			return body
		}
	}
	if lit, ok := p.(*syntax.Lit); ok {
		return claudeUnescape(lit.Value, true)
	}
	return claudeSource(p, command)
}

func claudeHeredoc(sub *syntax.CmdSubst) string {
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

func claudeSource(n syntax.Node, command string) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from < 0 || to > len(command) || from > to {
		return ""
	}
	return command[from:to]
}
