package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"st/hooks"
	"st/plugin"
)

// guided are the lines of a guide that an agent could type: those that stand by themselves, and those in backticks.
var guided = regexp.MustCompile("(?m)^ {4}(st .*)$|`(st [^`]*)`")

// TestGuidesNameWhatIsThere parses each command of the guides as the program itself does, and holds that it is one plain
// command, such as an agent's permissions let pass.
func TestGuidesNameWhatIsThere(t *testing.T) {
	for _, s := range plugin.Skills() {
		if s.Text(false) == "" || len(s.Text(true)) < len(s.Text(false))+500 {
			t.Errorf("%s: a guide without its text", s.Name)
		}
		lines := guided.FindAllStringSubmatch(s.Text(true), -1)
		if len(lines) < 15 {
			t.Errorf("%s: only %d commands", s.Name, len(lines))
		}
		for _, m := range lines {
			for _, miss := range missing(t, m[1]+m[2], m[1] != "") {
				t.Errorf("%s: %q: there is no %s", s.Name, m[0], miss)
			}
		}
	}
}

// TestGuidesNeedNoPermission: what a guide tells an agent to type, and what a person may let through for agents, is the same
// but for what only looks after st, is a person's, or says what a person should type.
func TestGuidesNeedNoPermission(t *testing.T) {
	people := []string{"worker key", "worker attach", "restore", "hooks install"}
	for _, s := range plugin.Skills() {
		for _, m := range guided.FindAllStringSubmatch(s.Text(true), -1) {
			words, _ := plainWords(m[1] + m[2])
			if len(words) < 2 {
				continue
			}
			verb, long := words[1], strings.Join(words[1:min(3, len(words))], " ")
			if !slices.Contains(hooks.Allowed(), verb) && !slices.Contains(hooks.Allowed(), long) && !slices.Contains(people, long) && !slices.Contains(people, verb) {
				t.Errorf("%s: %q is not among what agents may be allowed", s.Name, m[0])
			}
		}
	}
	for _, path := range hooks.Allowed() {
		noun, name, ok := strings.Cut(path, " ")
		if !ok {
			noun, name = "", path
		}
		if find(noun, name) == nil {
			t.Errorf("agents may be allowed %q, which is not there", path)
		}
		if !slices.ContainsFunc(plugin.Skills(), func(s plugin.Skill) bool { return strings.Contains(s.Text(true), "st "+path) }) {
			t.Errorf("agents may be allowed %q, of which no guide tells", path)
		}
	}
}

// missing parses one command and returns what it names that is not there; whole says that it stands by itself and has to
// be complete.
func missing(t *testing.T, command string, whole bool) (list []string) {
	words, ok := plainWords(command)
	if !ok || words[0] != "st" {
		t.Errorf("%q is not one plain command", command)
		return nil
	}
	words = words[1:]
	v, rest := find("", words[0]), words[1:]
	path := words[0]
	if v == nil && len(words) > 1 {
		if v, path = find(words[0], words[1]), words[0]+" "+words[1]; v != nil {
			rest = words[2:]
		} else {
			path = words[0]
		}
	}
	if v == nil {
		return []string{path}
	}
	for _, w := range rest {
		if name, ok := strings.CutPrefix(w, "--"); ok && (&line{verb: v}).lookup(name) == nil {
			list = append(list, path+" --"+name)
		}
	}
	if len(list) > 0 {
		return list
	}
	l, err := order(words)
	if err != nil {
		t.Errorf("%q: %v", command, err)
	}
	if !whole {
		return nil
	}
	if err := v.count(len(l.args)); err != nil {
		t.Errorf("%q: %v", command, err)
	}
	for _, need := range v.needs {
		if !slices.ContainsFunc(l.flags, func(f string) bool { return strings.HasPrefix(f, "--"+need+"=") }) {
			t.Errorf("%q: --%s is missing", command, need)
		}
	}
	return nil
}

// plainWords takes a command apart as a shell would; false where a shell would do anything else with it than take words
// and single quotes.
func plainWords(command string) (words []string, ok bool) {
	var b strings.Builder
	quoted, word := false, false
	for _, r := range command {
		switch {
		case r == '\'':
			quoted, word = !quoted, true
		case quoted:
			b.WriteRune(r)
		case r == ' ':
			if word || b.Len() > 0 {
				words = append(words, b.String())
			}
			b.Reset()
			word = false
		case strings.ContainsRune("|&;<>()$\\\"`*?[]#~{}!\n\t", r):
			return nil, false
		default:
			b.WriteRune(r)
		}
	}
	if word || b.Len() > 0 {
		words = append(words, b.String())
	}
	return words, !quoted && len(words) > 1
}

// TestPlainWords: what a shell would change is none.
func TestPlainWords(t *testing.T) {
	if w, ok := plainWords("st send @all --body 'it ’s $HOME; | x' ''"); !ok || len(w) != 6 || w[4] != "it ’s $HOME; | x" || w[5] != "" {
		t.Errorf("%q, %v", w, ok)
	}
	for _, c := range []string{"st a | cat", "st a && st b", "st a $X", "st a > f", "st a 'b", `st a "b"`, "st a `b`", "st"} {
		if w, ok := plainWords(c); ok {
			t.Errorf("%q is taken as %q", c, w)
		}
	}
}
