package hooks

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

var shells = []string{"sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash"}

// interpreters run a text in a language of their own, which they are given or read.
var interpreters = []string{"python", "python2", "python3", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "awk", "gawk", "mawk",
	"expect", "osascript", "ssh", "screen", "pwsh", "ipython"}

// inner reads what a call runs by itself.
func (r *shellReader) inner(c *shellCall) {
	switch name := c.program(); {
	case slices.Contains(shells, name):
		r.shell(c)
	case name == "eval":
		r.read(wordsText(c.args()))
	case name == "trap" && len(c.words) > 2, name == "." || name == "source":
		r.sourced(c)
	case name == "at" || name == "batch":
		r.stdin(c)
	case name == "watch":
		r.within(wordsText(behindFlags(c.args(), "n")))
	case name == "env" || name == "su" || name == "script" || name == "flock" || name == "runuser" || name == "sudo":
		r.handed(c)
	case name == "find" || name == "fd" || name == "fdfind":
		r.found(c)
	case name == "rg":
		if program, ok := valueOf(c.args(), 0, "--pre"); ok && program.text != "" {
			r.run(&shellCall{words: []shellWord{program, r.foundIn(&shellCall{})}, env: c.env, dir: r.dir})
		}
	case name == "gdb" || name == "lldb":
		r.debugged(c)
	case name == "tmux" || name == "byobu":
		r.multiplexer(c)
	case slices.Contains(interpreters, strings.TrimRight(name, "0123456789.")) || slices.Contains(interpreters, name):
		r.interpreted(c, name)
	}
}

// behindFlags are the words behind flags, of which those in valued have a value.
func behindFlags(words []shellWord, valued string) []shellWord {
	return front{valued: valued}.flags(words, nil)
}

func wordsText(words []shellWord) string { return strings.Join(texts(words), " ") }

// shell reads what a shell is given: a text, or what it reads.
func (r *shellReader) shell(c *shellCall) {
	args := c.args()
	text := false
	for len(args) > 0 && len(args[0].text) > 1 && (args[0].text[0] == '-' || args[0].text[0] == '+') {
		flag := args[0].text
		args = args[1:]
		if flag == "--" {
			break
		}
		long := strings.HasPrefix(flag, "--")
		text = text || !long && flag[0] == '-' && strings.Contains(flag, "c") || flag == "--command"
		if !long && (strings.HasSuffix(flag, "o") || strings.HasSuffix(flag, "O")) || flag == "--rcfile" || flag == "--init-file" {
			args = args[min(1, len(args)):]
		}
	}
	switch {
	case text && len(args) > 0:
		r.withArgs(args[0].text, args[1:])
	case len(args) == 0 || args[0].text == "-" || args[0].text == "/dev/stdin" || c.many:
		r.stdin(c)
	}
}

// withArgs reads a text with what it is given beside it: $0, $1 and so on.
func (r *shellReader) withArgs(text string, args []shellWord) {
	restore := r.subshell()
	for i, a := range args {
		if i < 10 {
			r.vars[string(rune('0'+i))] = a
		}
	}
	before := r.given
	r.given = args[min(1, len(args)):]
	r.read(text)
	r.given = before
	restore()
}

// stdin reads what a shell reads. What prints it may be no more than known in part.
func (r *shellReader) stdin(c *shellCall) {
	if c.read != "" {
		r.within(c.read)
		return
	}
	for _, n := range c.from {
		if _, ok := n.(*syntax.Stmt); ok {
			r.text("pipe", r.source(n))
		}
	}
}

func (r *shellReader) sourced(c *shellCall) {
	if c.program() == "trap" {
		r.within(c.words[1].text)
	} else if len(c.words) > 1 && c.words[1].text == "/dev/stdin" {
		r.stdin(c)
	}
}

// handed reads the text behind -c of programs that hand it to a shell, and what env splits.
func (r *shellReader) handed(c *shellCall) {
	for i, w := range c.words {
		split, ok := strings.CutPrefix(w.text, "-S")
		if long, is := strings.CutPrefix(w.text, "--split-string"); is {
			split, ok = strings.TrimPrefix(long, "="), true
		}
		if c.program() == "env" && ok {
			r.within(split + " " + wordsText(c.words[i+1:]))
			return
		}
		short := len(w.text) > 1 && w.text[0] == '-' && w.text[1] != '-' && strings.HasSuffix(w.text, "c")
		if (short || w.text == "--command") && i+1 < len(c.words) {
			r.within(c.words[i+1].text)
			return
		}
	}
	if c.program() == "su" || c.program() == "sudo" {
		r.stdin(c)
	}
}

// found reads what find runs for each file.
func (r *shellReader) found(c *shellCall) {
	for i, w := range c.words {
		if !slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir", "-x", "-X"}, w.text) {
			continue
		}
		words := c.words[i+1:]
		if end := slices.IndexFunc(words, func(w shellWord) bool { return w.text == ";" || w.text == "+" }); end >= 0 {
			words = words[:end]
		}
		words = slices.Clone(words)
		if c.program() != "find" && !slices.ContainsFunc(words, func(w shellWord) bool { return strings.Contains(w.text, "{") }) {
			words = append(words, textWord("{}")) // fd puts it there itself
		}
		for j := range words {
			if strings.Contains(words[j].text, "{}") {
				words[j] = r.foundIn(c)
			}
		}
		env := map[string]shellWord{}
		if words, _ = peel(words, env); len(words) > 0 {
			r.run(&shellCall{words: words, env: env, dir: r.dir})
		}
	}
}

// debugged reads what a debugger hands to a shell.
func (r *shellReader) debugged(c *shellCall) {
	for _, w := range c.args() {
		text := strings.TrimPrefix(strings.TrimPrefix(w.text, "-ex="), "--eval-command=")
		for _, sign := range []string{"shell ", "!", "platform shell "} {
			if run, ok := strings.CutPrefix(text, sign); ok {
				r.within(run)
			}
		}
	}
}

// foundIn stands for a file that find has found: something below where it looks.
func (r *shellReader) foundIn(c *shellCall) (w shellWord) {
	w.known = true
	if len(c.words) > 0 && c.program() != "find" { // what it looks for comes first, then where
		own := c.args()
		if end := slices.IndexFunc(own, func(w shellWord) bool { return w.text == "-x" || w.text == "-X" }); end >= 0 {
			own = own[:end]
		}
		if list := operands(own, "deEtSjc"); len(list) > 1 {
			w = list[1]
			w.add("/")
		}
		w.unknown()
		return w
	}
	if len(c.words) > 1 && !strings.HasPrefix(c.words[1].text, "-") {
		w = c.words[1]
		w.add("/")
	}
	w.unknown()
	return w
}

// interpreted hands on what an interpreter is given, each word and all in one, and what it reads.
func (r *shellReader) interpreted(c *shellCall, name string) {
	list := append(texts(c.args()), wordsText(c.args()), c.read)
	if c.read == "" {
		for _, n := range c.from {
			list = append(list, r.source(n))
		}
	}
	for _, text := range list {
		r.text(name, text)
	}
}

// mayRun tells that a text in the language of an interpreter may run programs.
func mayRun(by, text string) bool {
	return !slices.Contains(interpreters, strings.TrimRight(by, "0123456789.")) || by == "ssh" || by == "screen" || runsPrograms().MatchString(text)
}

// runsPrograms are the words by which languages run other programs.
var runsPrograms = pattern("system|subprocess|popen|Popen|exec|spawn|Process|qx|%x|`|\\||Deno.Command|do shell script")
