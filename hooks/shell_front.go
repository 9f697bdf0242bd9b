package hooks

import (
	"path/filepath"
	"slices"
	"strings"
)

// front is a program that runs the one whose words stand behind its own.
type front struct {
	valued string   // letters of the flags whose value is the next word, or what follows in the same
	long   []string // long flags whose value is the next word
	skip   int      // words of its own before the program: a duration, a file
	sets   bool     // NAME=value may stand before the program
	writes byte     // letter of the flag whose value is a file that it writes; the long one is --output
}

var fronts = map[string]front{
	"sudo":        {valued: "ughpCDRTUrt", long: []string{"--user", "--group", "--host", "--chdir", "--prompt"}, sets: true},
	"doas":        {valued: "uC"},
	"env":         {valued: "uC", long: []string{"--unset", "--chdir"}, sets: true},
	"nohup":       {},
	"npx":         {valued: "p", long: []string{"--package"}},
	"bunx":        {},
	"setsid":      {},
	"timeout":     {valued: "sk", long: []string{"--signal", "--kill-after"}, skip: 1},
	"nice":        {valued: "n", long: []string{"--adjustment"}},
	"ionice":      {valued: "cnpPu", long: []string{"--class", "--classdata"}},
	"chrt":        {valued: "TPD", skip: 1},
	"taskset":     {skip: 1},
	"stdbuf":      {valued: "ioe", long: []string{"--input", "--output", "--error"}},
	"command":     {},
	"builtin":     {},
	"exec":        {valued: "a"},
	"noglob":      {},
	"time":        {valued: "fo", long: []string{"--format", "--output"}, writes: 'o'},
	"unbuffer":    {},
	"xargs":       {valued: "InPLdsaE", long: []string{"--max-args", "--max-procs", "--max-lines", "--delimiter", "--replace", "--arg-file", "--max-chars"}},
	"strace":      {valued: "eopsuEPSaIbOX", long: []string{"--output"}, writes: 'o'},
	"ltrace":      {valued: "eopsulnSFDAaw", long: []string{"--output"}, writes: 'o'},
	"chroot":      {skip: 1},
	"systemd-run": {valued: "pEMHut", long: []string{"--unit", "--property", "--setenv", "--description", "--slice", "--uid", "--gid", "--working-directory"}},
	"runuser":     {valued: "ugG", long: []string{"--user", "--group"}},
	"flock":       {valued: "wE", long: []string{"--timeout", "--wait", "--conflict-exit-code"}, skip: 1},
	"unshare":     {valued: "RwSG"},
	"nsenter":     {valued: "tSG"},
	"busybox":     {},
	"parallel":    {valued: "jnNIaSX", long: []string{"--jobs", "--max-args", "--colsep", "--arg-file"}},
	"caffeinate":  {valued: "tw"},
}

// peel takes the programs in front off. env gets what they set. many says that further words come from what is read.
// The rest is empty where nothing is run.
func peel(words []shellWord, env map[string]shellWord) (rest []shellWord, many bool) {
	for len(words) > 0 {
		name := filepath.Base(words[0].text)
		f, ok := fronts[name]
		if !ok {
			return words, many
		}
		if name == "command" && len(words) > 1 && (words[1].text == "-v" || words[1].text == "-V") {
			return nil, false // only looks it up
		}
		if shellLike(name, words) {
			return words, many
		}
		many = many || name == "xargs" || name == "parallel"
		words = f.behind(words[1:], env)
	}
	return words, many
}

// written are the files that the programs in front write themselves.
func written(words []shellWord) (list []shellWord) {
	for len(words) > 0 {
		f, ok := fronts[filepath.Base(words[0].text)]
		if !ok {
			break
		}
		rest := f.behind(words[1:], map[string]shellWord{})
		if own := words[1 : len(words)-len(rest)]; f.writes != 0 {
			if file, ok := valueOf(own, f.writes, "--output"); ok {
				list = append(list, file)
			}
		}
		words = rest
	}
	return list
}

// shellLike says that a program in front is given a text, or is to be a shell: who reads the calls looks into that.
func shellLike(name string, words []shellWord) bool {
	for _, w := range words[1:] {
		switch {
		case name == "env" && (strings.HasPrefix(w.text, "-S") || strings.HasPrefix(w.text, "--split-string")):
			return true
		case name == "flock" && (w.text == "-c" || w.text == "--command"), name == "runuser" && w.text == "-c":
			return true
		case name == "sudo" && (w.text == "-s" || w.text == "-i") && len(words) == 2:
			return true
		}
		if !strings.HasPrefix(w.text, "-") && name != "flock" {
			return false
		}
	}
	return false
}

// behind are the words behind the flags and words of a program in front.
func (f front) behind(words []shellWord, env map[string]shellWord) []shellWord {
	words = f.flags(words, env)
	for f.sets && len(words) > 0 {
		name, ok := setting(words[0], env)
		if !ok || name == "" {
			break
		}
		words = words[1:]
	}
	if f.sets { // env A=b -i is none, but sudo A=b -u root is one
		words = f.flags(words, env)
	}
	return words[min(f.skip, len(words)):]
}

func (f front) flags(words []shellWord, env map[string]shellWord) []shellWord {
	for len(words) > 0 {
		w := words[0].text
		if w == "--" {
			return words[1:]
		}
		if len(w) < 2 || w[0] != '-' {
			break
		}
		n := f.takes(w)
		if f.sets && n == 2 && len(words) > 1 && (w == "-u" || w == "--unset") {
			env[words[1].text] = textWord("")
		}
		words = words[min(n, len(words)):]
	}
	return words
}

// takes is how many words a flag is: with its value two, where that stands apart.
func (f front) takes(flag string) int {
	if strings.HasPrefix(flag, "--") {
		if slices.Contains(f.long, flag) {
			return 2
		}
		return 1
	}
	at := strings.IndexAny(flag[1:], f.valued)
	if f.valued != "" && at >= 0 && at == len(flag)-2 {
		return 2
	}
	return 1
}

// setting reads NAME=value.
func setting(w shellWord, env map[string]shellWord) (name string, ok bool) {
	name, value, ok := strings.Cut(w.text, "=")
	if !ok || !variableName().MatchString(name) {
		return "", false
	}
	v := textWord(value)
	v.known, v.from = !strings.Contains(value, hole), w.from
	env[name] = v
	return name, true
}

var variableName = pattern(`^[A-Za-z_][A-Za-z0-9_]*$`)
