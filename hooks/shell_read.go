package hooks

import (
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shellReader reads a shell command for those who guard something: which programs it runs with which words, in which
// folder, which files it writes by redirection. It looks behind programs that run others, into shells that are given a
// text, and follows variables and folders as far as the text tells. What a program builds from parts, what lies in files and
// what only a run can tell it does not see.
type shellReader struct {
	env     func(string) string
	onCall  func(*shellCall)
	onText  func(by, text string)            // a text that is no shell's, or that can't be parsed ("sh"), or what prints what a shell runs ("pipe")
	onWrite func(file shellWord, dir string) // what a redirection opens for writing

	dir   string // where a command runs; "" is not known
	vars  map[string]shellWord
	fed   map[*syntax.CallExpr][]syntax.Node // what writes what a call reads
	given []shellWord                        // what the shell that is read was given: "$@"
	means *meaning
	depth int
	left  *budget
}

// shellCall is one program that is run.
type shellCall struct {
	words []shellWord // the program first, then what it is given
	env   map[string]shellWord
	dir   string        // "" is not known
	read  string        // what it reads, where that is known
	from  []syntax.Node // what prints what it reads
	many  bool          // it is given further words, which are not known
}

func (c *shellCall) program() string { return filepath.Base(c.words[0].text) }

func (c *shellCall) args() []shellWord { return c.words[1:] }

// guardDepth is how many shells in one another are looked into.
const guardDepth = 5

// read reads a command. What can't be parsed is handed on as text.
func (r *shellReader) read(command string) {
	if r.depth > guardDepth {
		r.text("sh", command)
		return
	}
	file, err := parseShell(command)
	if err != nil {
		r.text("sh", command)
		return
	}
	means := r.means
	r.means = meaningOf(file, command)
	r.depth++
	r.walk(file)
	r.depth--
	r.means = means
}

func (r *shellReader) text(by, text string) {
	if r.onText != nil && text != "" {
		r.onText(by, text)
	}
}

// within reads a command in a shell of its own: what it sets and where it goes ends with it.
func (r *shellReader) within(command string) {
	restore := r.subshell()
	r.read(command)
	restore()
}

// subshell returns what puts folder and variables back.
func (r *shellReader) subshell() (restore func()) {
	dir, vars := r.dir, r.vars
	r.vars = map[string]shellWord{}
	for k, v := range vars {
		r.vars[k] = v
	}
	return func() { r.dir, r.vars = dir, vars }
}

func (r *shellReader) walk(root syntax.Node) {
	var after []func()
	syntax.Walk(root, func(n syntax.Node) bool {
		if n == nil {
			after[len(after)-1]()
			after = after[:len(after)-1]
			return true
		}
		then, into := r.enter(n)
		if into {
			after = append(after, then)
		}
		return into
	})
}

// enter reads one node. then is to be done when it has been walked; into says that its children are to be walked.
func (r *shellReader) enter(n syntax.Node) (then func(), into bool) {
	then = func() {}
	switch n := n.(type) {
	case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
		then = r.subshell()
	case *syntax.BinaryCmd:
		if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
			then = r.subshell()
			r.feed(n.Y, n.X)
		}
	case *syntax.Stmt:
		r.redirected(n)
	case *syntax.ForClause:
		return then, !r.each(n)
	case *syntax.Assign:
		r.assign(n, r.vars)
	case *syntax.CallExpr:
		if len(n.Args) > 0 {
			r.call(n)
			return nil, false
		}
	}
	return then, true
}

// feed notes what writes what the calls in a statement read.
func (r *shellReader) feed(s *syntax.Stmt, from syntax.Node) {
	syntax.Walk(s, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok {
			r.fed[call] = append(r.fed[call], from)
		}
		return true
	})
}

func (r *shellReader) redirected(s *syntax.Stmt) {
	for _, d := range s.Redirs {
		switch d.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			if d.Hdoc != nil {
				r.feed(s, d.Hdoc)
			}
		case syntax.WordHdoc, syntax.RdrIn:
			r.feed(s, d.Word)
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll, syntax.RdrInOut:
			r.writes(d)
		case syntax.DplOut: // >&2, and >&file
			if w := r.word(d.Word); strings.Trim(w.text, "0123456789-") != "" {
				r.writes(d)
			}
		}
	}
}

func (r *shellReader) writes(d *syntax.Redirect) {
	if r.onWrite == nil {
		return
	}
	for _, w := range r.words([]*syntax.Word{d.Word}) {
		r.onWrite(w, r.dir)
	}
}

// eachMost is how many words a loop is gone through for.
const eachMost = 64

// budget is what may be done for one command yet: an agent waits for its hook, and goes on without it after a while.
type budget struct {
	steps int // through bodies of loops: loops in one another would take for ever
	calls int // that are read; what has more is handed on as text
	looks int // at what the words of calls come from
	words int // that braces make
}

func newBudget() *budget { return &budget{steps: 500, calls: 5000, looks: 2000, words: 20000} }

// each goes through a loop once for each of its words. ok is false where it has none that are known.
func (r *shellReader) each(n *syntax.ForClause) (ok bool) {
	loop, ok := n.Loop.(*syntax.WordIter)
	if !ok || len(loop.Items) == 0 {
		return false
	}
	for _, w := range loop.Items { // commands in them
		for _, p := range w.Parts {
			r.walk(p)
		}
	}
	items := r.words(loop.Items)
	if len(items) > eachMost {
		items = append(items[:eachMost:eachMost], shellWord{text: hole, pattern: "*"})
	}
	for _, item := range items {
		if r.depth > guardDepth || r.left.steps == 0 {
			break
		}
		r.left.steps--
		r.vars[loop.Name.Value] = item
		r.depth++
		for _, s := range n.Do {
			r.walk(s)
		}
		r.depth--
	}
	return true
}

func (r *shellReader) assign(a *syntax.Assign, into map[string]shellWord) {
	if a.Name == nil {
		return
	}
	w := shellWord{known: true}
	switch {
	case a.Array != nil || a.Index != nil || a.Append || a.Naked && a.Value == nil:
		if a.Naked {
			return // export NAME
		}
		w.unknown(a)
	case a.Value != nil:
		w = r.word(a.Value)
	}
	into[a.Name.Value] = w
}

// call reads one call: its words, then what it runs itself.
func (r *shellReader) call(n *syntax.CallExpr) {
	if r.left.calls--; r.left.calls <= 0 {
		if r.left.calls == 0 {
			r.text("sh", r.means.command)
		}
		return
	}
	env := map[string]shellWord{}
	for _, a := range n.Assigns {
		r.assign(a, env)
		r.walk(a)
	}
	for _, w := range n.Args { // commands in them
		for _, p := range w.Parts {
			r.walk(p)
		}
	}
	whole := r.words(n.Args)
	for _, file := range written(whole) {
		if r.onWrite != nil {
			r.onWrite(file, r.dir)
		}
	}
	words, many := peel(whole, env)
	if len(words) == 0 {
		return
	}
	c := &shellCall{words: words, env: env, dir: r.dir, read: r.means.input[n.Args[0]], from: r.fed[n], many: many}
	if many && c.read != "" {
		for _, text := range strings.Fields(c.read) {
			c.words = append(c.words, textWord(text))
		}
	}
	r.run(c)
}

// run hands a call on, and reads what it runs in turn.
func (r *shellReader) run(c *shellCall) {
	if w := c.words[0]; !w.known && len(w.from) > 0 {
		c.words[0] = r.guess(w)
	}
	if r.onCall != nil {
		r.onCall(c)
	}
	r.builtin(c)
	r.inner(c)
}

// guess is the program that a word means which is not known: one that the commands in it name.
func (r *shellReader) guess(w shellWord) shellWord {
	for _, name := range []string{"tmux"} {
		for _, n := range w.from {
			if p, ok := n.(*syntax.CmdSubst); ok && strings.Contains(r.source(p), name) {
				return textWord(name)
			}
		}
	}
	return w
}

func (r *shellReader) source(n syntax.Node) string { return source(n, r.means.command) }

// builtin follows what changes folder and variables.
func (r *shellReader) builtin(c *shellCall) {
	args := slices.DeleteFunc(slices.Clone(c.args()), func(w shellWord) bool { return strings.HasPrefix(w.text, "-") && len(w.text) > 1 })
	switch c.program() {
	case "cd", "pushd":
		r.goes(args)
	case "popd":
		r.dir = ""
	case "read", "mapfile", "readarray":
		for _, w := range args {
			v := shellWord{}
			v.unknown(c.from...)
			r.vars[w.text] = v
		}
	}
}

func (r *shellReader) goes(args []shellWord) {
	to := textWord(r.env("HOME"))
	if len(args) > 0 {
		to = args[0]
	}
	switch {
	case !to.known || to.globs || to.text == "" || to.text == "-":
		r.dir = ""
	case filepath.IsAbs(to.text):
		r.dir = filepath.Clean(to.text)
	case r.dir != "":
		r.dir = filepath.Join(r.dir, to.text)
	}
}
