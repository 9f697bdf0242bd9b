package hooks

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// report is a shell command in which a worker's own verbs are called: its reports and its questions.
type report struct {
	calls [][]*syntax.Word // each from our own name on
	// plain says that the command is nothing but such calls, each word of a form that the shell hands over as it
	// stands.
	plain bool
	means *meaning
}

// ownVerbs are a worker's own verbs, in the words behind the program's name.
var ownVerbs = [][]string{{"worker", "done"}, {"worker", "progress"}, {"ask"}, {"escalate"}}

// ownVerb is the one of them that a call's words name, without the program's name; nil for any other.
func ownVerb(args []*syntax.Word) []string {
	for _, v := range ownVerbs {
		fits := len(args) > len(v)
		for i := 0; fits && i < len(v); i++ {
			fits = wordText(args[1+i]) == v[i]
		}
		if fits {
			return v
		}
	}
	return nil
}

// readReport reads a shell command; ok is false where none of the verbs is called in it. selves are further names by
// which this very program may be called.
func readReport(command string, selves []string) (r report, ok bool) {
	if !slices.ContainsFunc(ownVerbs, func(v []string) bool { return strings.Contains(command, v[0]) }) {
		return report{}, false // spare the parsing
	}
	selves = append([]string{"st"}, selves...)
	file, err := parseShell(command)
	if err != nil || mangled(file, selves) {
		if mended := mendQuotes(command, selves); mended != "" {
			r, ok = readReport(mended, selves[1:])
			r.plain = false
			return r, ok
		}
	}
	if err != nil {
		return report{}, reportSpoken(selves).MatchString(command)
	}
	if inner := shellInner(file); inner != "" {
		r, ok = readReport(inner, selves[1:])
		r.plain = false
		return r, ok
	}
	r = report{calls: reportCalls(file, selves), means: meaningOf(file, command)}
	r.plain = len(file.Stmts) == 1 && !misreading().MatchString(command) && plainly(file.Stmts[0], selves)
	return r, len(r.calls) > 0
}

// misreading is what the parser (mvdan.cc/sh 3.14) may read otherwise than bash does: it drops NUL and some carriage
// returns and takes others for blanks, it takes a dollar at the end of a joined line for text, and it joins comments.
var misreading = pattern(`[\r\x00]|\$\\\n|#[^\n]*\\\n`)

// commandMax is more than a shell can be given as one argument (128 KiB on Linux). Nesting that is deep without end
// would end this program by an overflow of its stack, which nothing can catch.
const commandMax = 256 << 10

func parseShell(command string) (*syntax.File, error) {
	if len(command) > commandMax {
		return nil, errors.New("the command is too long")
	}
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
}

// shellInner is the command that a file of one statement gives to another shell, as text: bash -c 'COMMAND'; "" for
// anything else.
func shellInner(file *syntax.File) string {
	if len(file.Stmts) != 1 {
		return ""
	}
	call, ok := file.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) < 3 {
		return ""
	}
	shell, flag := filepath.Base(call.Args[0].Lit()), call.Args[1].Lit()
	if !slices.Contains([]string{"sh", "bash", "zsh", "dash"}, shell) || flag != "-c" && flag != "-lc" {
		return ""
	}
	return wordText(call.Args[2])
}

// words are the calls' words behind the program's name, as the shell hands them over; for a plain report only.
func (r report) words() [][]string {
	var calls [][]string
	for _, call := range r.calls {
		var words []string
		for _, w := range call[1:] {
			words = append(words, wordText(w))
		}
		calls = append(calls, words)
	}
	return calls
}

// subagentReports refuses a report or a question of a subagent.
const subagentReports = "st: a subagent does not report or ask for its worker. Give what you found, or want to know, to the agent that started you: it reports, it asks"

// refusal teaches the form in which a report passes. What only the shell could know is left to the agent.
func (r report) refusal() string {
	const form = "st: a report or question must be a command of its own, with its text in single quotes, so that nobody has to be asked. "
	line, known := corrected(r.calls, r.means)
	asks := len(r.calls) > 0 && len(ownVerb(r.calls[0])) == 1
	switch {
	case !known && asks:
		return form + "Write the text itself: st ask --question 'what has to be decided' (an apostrophe in it as ’)"
	case asks:
		return form + "Write: " + line + " (for an answer that takes longer than the command may, end your turn after it)"
	case !known:
		return form + "Write the text itself: st worker done --summary 'what was done and how it was checked' " +
			"(an apostrophe in it as ’; a long text stays in a file: add --report FILE)"
	}
	return form + "Write: " + line + " (for a long text, write it into a file and add --report FILE)"
}

// reportCalls finds every call of the verbs, at any depth, and returns their words.
func reportCalls(file *syntax.File, selves []string) [][]*syntax.Word {
	var ours [][]*syntax.Word
	syntax.Walk(file, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok {
			if args := reportArgs(call, selves); args != nil {
				ours = append(ours, args)
			}
		}
		return true
	})
	return ours
}

// reportFront are programs that run what stands behind them.
var reportFront = []string{"env", "command", "exec", "nohup", "timeout", "time", "nice", "sudo", "xargs"}

// reportArgs returns the words of a call from our own name on, if it is one of the verbs.
func reportArgs(call *syntax.CallExpr, selves []string) []*syntax.Word {
	args := call.Args
	if len(args) > 0 && slices.Contains(reportFront, args[0].Lit()) {
		for len(args) > 0 && !slices.Contains(selves, wordText(args[0])) {
			args = args[1:]
		}
	}
	if len(args) == 0 || !slices.Contains(selves, wordText(args[0])) || ownVerb(args) == nil {
		return nil
	}
	return args
}

// plainly: one simple command, or several joined by &&, all of them ours, each word of a form that the
// shell hands over as it stands.
func plainly(s *syntax.Stmt, selves []string) bool {
	if s.Negated || s.Background || s.Coprocess || s.Disown || len(s.Redirs) > 0 {
		return false
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		return cmd.Op == syntax.AndStmt && plainly(cmd.X, selves) && plainly(cmd.Y, selves)
	case *syntax.CallExpr:
		if len(cmd.Assigns) > 0 || len(reportArgs(cmd, selves)) != len(cmd.Args) {
			return false
		}
		verb := len(ownVerb(cmd.Args))
		for i, w := range cmd.Args {
			// The program and the verb without any quotes: that is how a person would read it, too.
			if !stands(w) || i <= verb && w.Lit() == "" {
				return false
			}
		}
		return true
	}
	return false
}
