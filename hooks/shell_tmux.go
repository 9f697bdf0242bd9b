package hooks

import (
	"slices"
	"strings"
)

// tmuxCall is what one call of tmux wants: of which server, and its commands.
type tmuxCall struct {
	name, path shellWord // -L and -S; empty text where they are not given
	shell      string    // -c: what it runs in place of a shell
	control    bool      // -C: it reads commands
	commands   [][]shellWord
}

// tmuxFlags are the letters of tmux's own flags that take a value.
const tmuxFlags = "cfLST"

// readTmux takes the words of a call apart. A semicolon of its own, or at a word's end, ends a command.
func readTmux(args []shellWord) (t tmuxCall) {
	for len(args) > 0 && len(args[0].text) > 1 && args[0].text[0] == '-' {
		flag := args[0]
		args = args[1:]
		t.control = t.control || strings.HasPrefix(flag.text, "-C")
		at := strings.IndexAny(flag.text[1:], tmuxFlags) + 1
		if at == 0 {
			continue
		}
		value := textWord(flag.text[at+1:])
		value.known, value.from = flag.known, flag.from
		if value.text == "" && len(args) > 0 {
			value, args = args[0], args[1:]
		}
		t.set(flag.text[at], value)
	}
	t.commands = tmuxCommands(args)
	return t
}

func (t *tmuxCall) set(flag byte, value shellWord) {
	switch flag {
	case 'L':
		t.name = value
	case 'S':
		t.path = value
	case 'c':
		t.shell = value.text
	}
}

func tmuxCommands(words []shellWord) (commands [][]shellWord) {
	var command []shellWord
	for _, w := range words {
		text, ends := strings.CutSuffix(w.text, ";")
		if !ends || strings.HasSuffix(text, `\`) {
			command = append(command, w)
			continue
		}
		if text != "" {
			w.text = text
			command = append(command, w)
		}
		commands = append(commands, command)
		command = nil
	}
	return slices.DeleteFunc(append(commands, command), func(c []shellWord) bool { return len(c) == 0 })
}

// tmuxMeans tells that a word is a command of tmux, whole or so much of it that no other is meant.
func tmuxMeans(word, command string, least int) bool {
	return len(word) >= least && strings.HasPrefix(command, word)
}

// tmuxRuns are the commands whose words a shell runs, with the letters of their flags that have a value.
var tmuxRuns = map[string]string{
	"new-session": "cefnstxyF", "new": "cefnstxyF", "new-window": "ceFnt", "neww": "ceFnt", "split-window": "ceFlpt", "splitw": "ceFlpt",
	"respawn-pane": "cet", "respawnp": "cet", "respawn-window": "cet", "respawnw": "cet", "run-shell": "cdt", "run": "cdt",
	"if-shell": "t", "if": "t", "pipe-pane": "t", "pipep": "t", "display-popup": "bcdehsStTwxy", "popup": "bcdehsStTwxy",
}

// multiplexer reads what a call of tmux has run: in windows, in the background, typed into a pane. It runs on the call's own
// server, which its environment tells.
func (r *shellReader) multiplexer(c *shellCall) {
	t := readTmux(c.args())
	restore := r.subshell()
	defer restore()
	switch {
	case t.path.text != "":
		w := t.path
		w.add(",0,0")
		r.vars["TMUX"] = w
	case t.name.text != "":
		r.vars["TMUX"] = shellWord{text: tmuxNamed + t.name.text + ",0,0", known: t.name.known, from: t.name.from}
	}
	r.within(t.shell)
	for _, command := range t.commands {
		r.multiplexed(command)
	}
	if t.control || slices.ContainsFunc(t.commands, func(c []shellWord) bool { return len(c) > 1 && c[len(c)-1].text == "-" }) {
		r.within(c.read) // commands of tmux, which look like a shell's
	}
	r.text("tmux", wordsText(c.args()))
	r.text("tmux", c.read)
	for _, n := range c.from {
		r.text("tmux", r.source(n))
	}
}

// tmuxNamed stands before the name of a server where its path would stand.
const tmuxNamed = "name:"

func (r *shellReader) multiplexed(command []shellWord) {
	name, args := command[0].text, command[1:]
	if valued, ok := tmuxRuns[name]; ok {
		words := behindFlags(args, valued)
		if len(words) > 1 && (name == "if" || name == "if-shell") { // each of its words is a command
			for _, w := range words {
				r.within(w.text)
			}
			return
		}
		r.within(wordsText(words))
		return
	}
	if tmuxMeans(name, "send-keys", len("send-k")) || name == "send" || tmuxMeans(name, "set-buffer", len("set-b")) || name == "setb" {
		r.within(typed(args))
	}
	if len(args) > 0 && (name == "set-hook" || name == "confirm" || name == "confirm-before") { // a command of tmux
		r.within(args[len(args)-1].text)
	}
}

// typed is what keys type: the words as they are, but for keys that have a name.
func typed(words []shellWord) string {
	words = behindFlags(words, "tNbn")
	var b strings.Builder
	for _, w := range words {
		switch strings.ToLower(w.text) {
		case "enter", "c-m", "kpenter", "c-j":
			b.WriteString("\n")
		case "space":
			b.WriteString(" ")
		default:
			b.WriteString(w.text)
		}
	}
	return b.String()
}
