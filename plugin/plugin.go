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
)

//go:embed recipe.txt
var recipeText string

// plainWord is compiled at its first use: every verb and every hook starts with this package in it.
var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`) })

// Job is what a worker is told about itself.
type Job struct {
	Worker   string // w2
	Run      string // r1
	Task     string // t4
	Dispatch string // d7
	// Command is how the agent's shell calls us: a name in its PATH, or an absolute path, which is quoted here.
	Command  string
	Standing Standing
	// Scope are the patterns of the files that the worker may edit; none = all.
	Scope  []string
	Branch string // of the git worktree in which the worker works, "" where that is no worktree of its own
}

// Standing is what a worker is told of its place in the run.
type Standing struct {
	Alone   bool   // it may start no workers
	Adopted bool   // it does not only work for the run
	Team    string // the run that it coordinates itself, "" for none
}

// lines are what is to be said of it, each with a line break.
func (s Standing) lines(command string) (text string) {
	if s.Adopted {
		text += "- You ran before this run had you. What your person asks of you here goes first.\n"
	}
	if s.Team != "" {
		text += "- You coordinate run " + s.Team + " yourself, and it stays yours. Hand parts of this task to its workers as you see fit, and report\n" +
			"  once for all of you, after they have settled. If they may go on without you, add: --leave-workers\n"
	}
	if s.Alone {
		text += "- You may start no workers of your own, that would go too deep. What is too much for you, say so:\n\n   " +
			command + " escalate 'what should be started from above'\n"
	}
	if text == "" {
		return ""
	}
	return "Your place in the run\n\n" + text + "\n"
}

// separator is the line that stands between the recipe and the task's own text.
const separator = "\n---\n\n"

// recipe is the part of a task copy that comes before the task: who the worker is and how it reports.
func recipe(j Job) string {
	return fill(recipeText, "{{.Worker}}", j.Worker, "{{.Run}}", j.Run, "{{.Dispatch}}", j.Dispatch, "{{.Command}}", shellWord(j.Command),
		"{{.Standing}}", j.Standing.lines(shellWord(j.Command)))
}

// fill puts values in place of their names. text/template would keep every exported method of every package in the
// binary, which made the start of each hook a tenth slower.
func fill(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }

// Copy is a whole task copy: the recipe, a line, the task's text as it was given.
func Copy(j Job, spec string) string {
	return recipe(j) + inWorktree(j) + scope(j) + separator + spec
}

//go:embed scope.txt
var scopeText string

// scope tells a worker which files it may edit, "" where it may edit all.
func scope(j Job) string {
	if len(j.Scope) == 0 {
		return ""
	}
	return fill(scopeText, "{{.Scope}}", "   "+strings.Join(j.Scope, "\n   "), "{{.Dispatch}}", j.Dispatch)
}

//go:embed worktree.txt
var worktreeText string

// inWorktree is what a worker has to know of its worktree, "" for one without.
func inWorktree(j Job) string {
	if j.Branch == "" {
		return ""
	}
	return fill(worktreeText, "{{.Branch}}", j.Branch)
}

// shellWord quotes one word for a POSIX shell. Plain words stay as they are, so that an agent's rule for
// "st worker done" fits the line.
func shellWord(s string) string {
	if plainWord().MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
