package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

var completeVerb = &verb{
	name: "complete", args: "[WORD…]", max: -1, about: "what may stand in place of the last word; for shells",
	hidden: true, raw: complete,
}

func init() { register(completeVerb) }

// candidate is one thing that may be typed. Two names are orders to the shell: it shall complete files or folders.
type candidate struct{ name, about string }

var (
	anyFile   = candidate{name: ":files"}
	anyFolder = candidate{name: ":dirs"}
)

// complete prints the candidates for the last of the words that stand behind st. It fails silently: a message would
// stand in the middle of what somebody types.
func complete(words []string) int {
	if len(words) == 0 {
		words = []string{""}
	}
	out := bufio.NewWriter(os.Stdout)
	for _, c := range candidates(words[:len(words)-1], words[len(words)-1]) {
		name := clean(c.name)
		if name != c.name {
			continue // it could not be typed
		}
		if c.about != "" {
			name += "\t" + clean(c.about)
		}
		fmt.Fprintln(out, name) // what goes wrong stays with the buffer, and Flush tells it
	}
	if out.Flush() != nil {
		return exitFailed
	}
	return exitDone
}

func candidates(before []string, word string) []candidate {
	l := line{}
	args, wants, ended := 0, cli.Flag(nil), false
	for _, w := range before {
		switch {
		case wants != nil:
			if wants.Names()[0] == "run" {
				l.flags = []string{w}
			}
			wants = nil
		case !ended && w == "--":
			ended = true
		case !ended && strings.HasPrefix(w, "-") && len(w) > 1:
			name, value, has := strings.Cut(strings.TrimPrefix(w, "--"), "=")
			f := l.lookup(name)
			if f != nil && placeholder(f) != "" && !has {
				wants = f
			} else if name == "run" {
				l.flags = []string{value}
			}
		case l.verb == nil && l.word(w):
		default:
			args++
		}
	}
	ask := asker{run: strings.Join(l.flags, "")}
	switch name, value, joined := strings.Cut(word, "="); {
	case wants != nil:
		return fitting(ask.values(l.verb, wants), word)
	case !ended && joined && strings.HasPrefix(name, "--"):
		return prefixed(name+"=", fitting(ask.values(l.verb, l.lookup(strings.TrimPrefix(name, "--"))), value))
	case !ended && strings.HasPrefix(word, "-"):
		return fitting(l.flagNames(), word)
	case l.verb == nil && args > 0:
		return nil
	case l.verb == nil:
		return fitting(l.verbNames(), word)
	}
	return fitting(ask.arguments(l.verb, args, word), word)
}

// fitting keeps those that begin with what is typed.
func fitting(list []candidate, word string) []candidate {
	return slices.DeleteFunc(list, func(c candidate) bool {
		return c != anyFile && c != anyFolder && !strings.HasPrefix(c.name, word)
	})
}

func prefixed(prefix string, list []candidate) []candidate {
	for i, c := range list {
		if c != anyFile && c != anyFolder {
			list[i].name = prefix + c.name
		}
	}
	return list
}

func (l *line) verbNames() (list []candidate) {
	noun := strings.Join(l.words, " ")
	for _, v := range sorted() {
		name, about := v.name, v.about
		if noun == "" && v.noun != "" {
			name, about = v.noun, ""
		}
		known := slices.ContainsFunc(list, func(c candidate) bool { return c.name == name })
		if !v.hidden && !known && (noun == "" || v.noun == noun) {
			list = append(list, candidate{name, about})
		}
	}
	return list
}

func (l *line) flagNames() []candidate {
	list := []candidate{{"--help", "usage, flags and exit codes"}}
	flags := everywhere()
	if l.verb != nil {
		flags = l.verb.allFlags()
	}
	for _, f := range flags {
		about := ""
		if d, ok := f.(cli.DocGenerationFlag); ok {
			about = strings.ReplaceAll(d.GetUsage(), "`", "")
		}
		list = append(list, candidate{"--" + f.Names()[0], about})
	}
	return list
}
