package hooks

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// shellWord is a word of a command as the shell would hand it over, as far as that can be told without running anything.
type shellWord struct {
	text    string // a hole stands for each part that is not known
	pattern string // the same as a pattern of path.Match: what is text is escaped, a hole is a star
	known   bool   // no hole
	globs   bool   // the shell would look for files
	// from are the commands and variables that the parts which are not known come from.
	from []syntax.Node
}

// hole stands for a part of a word that is not known. No word of a shell holds it.
const hole = "\x00"

// temporary is what stands for the name that mktemp makes up.
const temporary = "st-temporary"

func textWord(text string) shellWord {
	w := shellWord{known: true}
	w.add(text)
	return w
}

func (w *shellWord) add(text string) {
	w.text += text
	w.pattern += escapePattern(text)
}

// unknown adds a hole.
func (w *shellWord) unknown(from ...syntax.Node) {
	w.text += hole
	w.pattern += "*"
	w.known = false
	w.comesFrom(from)
}

// fromMost is how many sources of a word are followed: a variable that is made of itself again and again has no end of them.
const fromMost = 32

func (w *shellWord) comesFrom(from []syntax.Node) {
	w.from = append(w.from[:len(w.from):len(w.from)], from[:min(len(from), fromMost-min(len(w.from), fromMost))]...)
}

// join adds a word that is part of this one.
func (w *shellWord) join(v shellWord, quoted bool) {
	w.text += v.text
	w.known = w.known && v.known
	w.comesFrom(v.from)
	if quoted && v.known {
		w.pattern += escapePattern(v.text)
		return
	}
	w.pattern += v.pattern
	w.globs = w.globs || v.globs
}

// lit adds text without quotes, in which backslashes and patterns mean something.
func (w *shellWord) lit(s string) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			if s[i] != '\n' {
				w.add(s[i : i+1])
			}
		case strings.IndexByte("*?[]", c) >= 0:
			w.text += s[i : i+1]
			w.pattern += s[i : i+1]
			w.globs = w.globs || c != ']'
		default:
			w.add(s[i : i+1])
		}
	}
}

func escapePattern(text string) string {
	if !strings.ContainsAny(text, `\*?[`+hole) {
		return text
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, hole, "*").Replace(text)
}

// wordsMost is how many words one with braces may become.
const wordsMost = 256

// words are what the words of a command become.
func (r *shellReader) words(list []*syntax.Word) (words []shellWord) {
	for _, w := range list {
		split := &syntax.Word{Parts: slices.Clone(w.Parts)} // no walk may meet what it makes
		if !syntax.SplitBraces(split) {
			words = append(words, r.fields(w)...)
			continue
		}
		for part, err := range expand.BracesSeq(nil, split) {
			if r.left.words--; err != nil || len(words) > wordsMost || r.left.words < 0 {
				many := shellWord{}
				many.unknown()
				words = append(words, many)
				break
			}
			words = append(words, r.fields(part)...)
		}
	}
	return words
}

// fields are the words that one becomes: a variable without quotes may hold several.
func (r *shellReader) fields(w *syntax.Word) (words []shellWord) {
	if isArgs(w) {
		return r.given
	}
	whole := r.word(w)
	if len(w.Parts) != 1 || !whole.known {
		return []shellWord{whole}
	}
	switch w.Parts[0].(type) {
	case *syntax.ParamExp, *syntax.CmdSubst:
	default:
		return []shellWord{whole}
	}
	for _, text := range strings.Fields(whole.text) {
		field := shellWord{known: true}
		field.lit(text)
		words = append(words, field)
	}
	return words
}

// isArgs: "$@", or $@ and $*.
func isArgs(w *syntax.Word) bool {
	if len(w.Parts) != 1 {
		return false
	}
	p := w.Parts[0]
	if q, ok := p.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		p = q.Parts[0]
	}
	param, ok := p.(*syntax.ParamExp)
	return ok && (param.Short || simple(param)) && (param.Param.Value == "@" || param.Param.Value == "*")
}

// word is what one word becomes.
func (r *shellReader) word(w *syntax.Word) shellWord {
	word := shellWord{known: true}
	if w == nil {
		return word
	}
	for i, p := range w.Parts {
		if lit, ok := p.(*syntax.Lit); ok && i == 0 && strings.HasPrefix(lit.Value, "~") {
			r.tilde(&word, lit)
			continue
		}
		r.part(&word, p, false)
	}
	return word
}

func (r *shellReader) tilde(word *shellWord, lit *syntax.Lit) {
	user, rest, _ := strings.Cut(lit.Value[1:], "/")
	home := r.env("HOME")
	if user != "" || home == "" {
		word.unknown()
	} else {
		word.add(home)
	}
	if len(rest) > 0 || strings.HasSuffix(lit.Value, "/") {
		word.lit("/" + rest)
	}
}

func (r *shellReader) part(word *shellWord, p syntax.WordPart, quoted bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		if quoted {
			word.add(unescape(p.Value, true))
		} else {
			word.lit(p.Value)
		}
	case *syntax.SglQuoted:
		text := p.Value
		if p.Dollar {
			if said, err := expand.Literal(nil, &syntax.Word{Parts: []syntax.WordPart{p}}); err == nil {
				text = said
			}
		}
		word.add(text)
	case *syntax.DblQuoted:
		for _, q := range p.Parts {
			r.part(word, q, true)
		}
	case *syntax.ParamExp:
		word.join(r.param(p), quoted)
	case *syntax.CmdSubst:
		word.join(r.printed(p), quoted)
	case *syntax.ProcSubst:
		word.add("/dev/fd/63") // as bash names it
	default:
		word.unknown(p)
	}
}

// param is the value of a variable, where it is known: set by the command itself, or in the agent's environment.
func (r *shellReader) param(p *syntax.ParamExp) (w shellWord) {
	name := p.Param.Value
	value, ok := r.value(name)
	switch {
	case !ok && p.Exp != nil && (p.Exp.Op == syntax.DefaultUnset || p.Exp.Op == syntax.DefaultUnsetOrNull):
		w = r.word(p.Exp.Word)
	case !ok:
		w.unknown(p)
	case p.Short || simple(p):
		w = value
	case !value.known:
		w.unknown(append(value.from, p)...)
	default:
		// What is done to it: ${name%/*} and the like. Another variable in that may be unknown.
		env := expand.FuncEnviron(func(n string) string { v, _ := r.value(n); return v.text })
		text, err := expand.Literal(&expand.Config{Env: env}, &syntax.Word{Parts: []syntax.WordPart{p}})
		if err != nil || strings.Contains(text, hole) {
			w.unknown(p)
			return w
		}
		w = textWord(text)
	}
	return w
}

func (r *shellReader) value(name string) (w shellWord, ok bool) {
	if w, ok = r.vars[name]; ok {
		return w, true
	}
	switch name {
	case "PWD":
		return textWord(r.dir), r.dir != ""
	case "UID", "EUID":
		return textWord(strconv.Itoa(os.Getuid())), true
	}
	text := r.env(name)
	return textWord(text), text != ""
}

// printed is what a command in a word prints, where that is known without running it.
func (r *shellReader) printed(p *syntax.CmdSubst) (w shellWord) {
	if text, ok := r.means.printed(p.Stmts, ""); ok && !p.Backquotes {
		return textWord(strings.TrimRight(text, "\n"))
	}
	call := onlyCall(p.Stmts)
	if call == nil {
		w.unknown(p)
		return w
	}
	words := r.words(call.Args)
	switch args := texts(words[1:]); {
	case words[0].text == "pwd" && r.dir != "":
		return textWord(r.dir)
	case words[0].text == "git" && len(args) == 2 && args[0] == "rev-parse" && args[1] == "--show-toplevel":
		if top := workTree(r.dir); top != "" {
			return textWord(top)
		}
	case words[0].text == "id" && len(args) == 1 && args[0] == "-u":
		return textWord(strconv.Itoa(os.Getuid()))
	case len(args) > 0 && (words[0].text == "which" || words[0].text == "command" && args[0] == "-v"):
		return words[len(words)-1]
	case words[0].text == "mktemp" && flagsOnly(args):
		return textWord(filepath.Join(cmp.Or(r.env("TMPDIR"), "/tmp"), temporary))
	}
	w.unknown(p)
	return w
}

// workTree is the folder at or above another that git has as its working tree, "" for none.
func workTree(dir string) string {
	for ; dir != ""; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return ""
}

// onlyCall is the call in a list of statements that is nothing else.
func onlyCall(list []*syntax.Stmt) *syntax.CallExpr {
	if len(list) != 1 || list[0].Negated || list[0].Background {
		return nil
	}
	call, ok := list[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return nil
	}
	return call
}

func flagsOnly(args []string) bool {
	for _, a := range args {
		if a != "-d" && a != "-q" && a != "--directory" && a != "--quiet" {
			return false
		}
	}
	return true
}

func texts(words []shellWord) []string {
	list := make([]string, 0, len(words))
	for _, w := range words {
		list = append(list, w.text)
	}
	return list
}
