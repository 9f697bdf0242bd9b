package hooks

import (
	"path/filepath"
	"slices"
	"strings"
)

// What only a person may do is refused by the daemon; the hooks refuse it before that, also where an agent would have it
// typed into a person's pane. They refuse as well what would stop the server of the terminals in which everybody works. This is a guard
// against agents that err: a program that builds the command from parts is not seen here.

// personsOwn refuses an agent's command that would answer a gate.
const personsOwn = "st: a gate is answered by a person only. Ask with st gate ask, wait with st gate wait, and leave the answer to " +
	"the person: they were told of it. Do not have it typed into their window either"

// refusal is why an agent may not run a shell command, "" where nothing speaks against it. selves are further names by
// which this very program may be called.
func refusal(command string, selves []string, at Place, dir string) string {
	if answersGate(command, selves) {
		return personsOwn
	}
	return harm(command, at, dir)
}

// harm is why a shell command may not run since it would stop the server of the terminals, or edit what is outside of its
// agent's scope; "" where it does neither.
func harm(command string, at Place, dir string) string {
	if why := stopsServer(command, at, dir); why != "" {
		return why
	}
	return scopeRefusal(at, dir, func(e *edits) { e.command(command) })
}

// answersGate tells that a shell command answers a gate: as a command of its own, or as a text that it hands to another
// shell, to tmux or to whatever else runs it.
func answersGate(command string, selves []string) (found bool) {
	if !strings.Contains(command, "gate") || !strings.Contains(command, "answer") {
		return false // spare the parsing
	}
	r := Place{}.reader("")
	r.onCall = func(c *shellCall) {
		found = found || isSelf(c.words[0].text, selves) && verbIs(texts(c.args()), "gate", "answer")
	}
	r.onText = func(by, text string) {
		found = found || mayRun(by, text) && saysAnswer(strings.NewReplacer(" Space ", " ", " space ", " ").Replace(text), selves)
	}
	r.read(command)
	return found
}

func isSelf(word string, selves []string) bool {
	return filepath.Base(word) == "st" || slices.Contains(selves, word)
}

// verbIs says that the words, without flags, begin with a noun and a verb. A flag before them may have a value.
func verbIs(words []string, noun, verb string) bool {
	for i, w := range words {
		if w != noun || i > 0 && !strings.HasPrefix(words[i-1], "-") && (i < 2 || !strings.HasPrefix(words[i-2], "-")) {
			continue
		}
		for _, w := range words[i+1:] {
			if !strings.HasPrefix(w, "-") {
				return w == verb
			}
		}
	}
	return false
}

var answerSpoken = pattern(`(^|[\s;&|("'` + "`" + `/])st['"]?\s+(-\S+\s+)*['"]?gate['"]?\s+(-\S+\s+)*['"]?answer\b`)

// saysAnswer says that a text has the command in it.
func saysAnswer(text string, selves []string) bool {
	for _, self := range selves {
		text = strings.ReplaceAll(text, self, "st")
	}
	return answerSpoken().MatchString(text)
}
