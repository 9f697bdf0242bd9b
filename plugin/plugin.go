// Package plugin holds the files that are shipped into agents, embedded in the binary. They are plain
// English for a language model: short, with commands that can be run as they stand.
//
// It leaves to others where the text is written and how an agent is made to read it.
package plugin

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
	"text/template"
)

//go:embed recipe.txt
var recipeText string

// Parsed and compiled at the first use: every verb and every hook starts with this package in it.
var (
	recipe = sync.OnceValue(func() *template.Template {
		return template.Must(template.New("recipe").Option("missingkey=error").Parse(recipeText))
	})
	plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`) })
)

// Job is what a worker is told about itself.
type Job struct {
	Worker   string // w2
	Run      string // r1
	Task     string // t4
	Dispatch string // d7
	// Command is how the agent's shell calls us: a name in its PATH, or an absolute path, which is quoted here.
	Command string
}

// Separator is the line that stands between the recipe and the task's own text.
const Separator = "\n---\n\n"

// Recipe is the part of a task copy that comes before the task: who the worker is and how it reports.
func Recipe(j Job) string {
	j.Command = shellWord(j.Command)
	var b strings.Builder
	if err := recipe().Execute(&b, j); err != nil {
		panic("plugin: the recipe does not fit its own data: " + err.Error())
	}
	return b.String()
}

// Copy is a whole task copy: the recipe, a line, the task's text as it was given.
func Copy(j Job, spec string) string {
	return Recipe(j) + Separator + spec
}

// shellWord quotes one word for a POSIX shell. Plain words stay as they are, so that an agent's rule for
// "st worker done" fits the line.
func shellWord(s string) string {
	if plainWord().MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
