package demo

import (
	"os"
	"path/filepath"
	"strings"
)

// line is one line of a task: a word and what follows it.
type line struct{ Word, Text string }

// words are the first words of lines, and whether the line makes the agent run a command or write a file.
var words = map[string]bool{
	"say": false, "sleep": false, "ask": false, "choose": false, "done": false, "fail": false, "error": false, "background": false,
	"run": true, "write": true, "permission": true, "subagent": true,
}

// readLines reads the task language out of a text: one order a line, or several in a line with " ;; " between.
// What is no order is left out.
func readLines(text string) []line {
	var lines []line
	for _, row := range strings.Split(text, "\n") {
		for _, part := range strings.Split(row, " ;; ") {
			if l, ok := parseLine(part); ok {
				lines = append(lines, l)
			}
		}
	}
	return lines
}

func parseLine(s string) (line, bool) {
	word, text, _ := strings.Cut(strings.TrimSpace(s), " ")
	if _, ok := words[word]; !ok {
		return line{}, false
	}
	text = strings.TrimSpace(text)
	// A word alone says nothing; only a report may be empty.
	return line{word, text}, text != "" || word == "done" || word == "fail"
}

// Runs reports whether a task's text holds a line by which the agent runs a command or writes a file.
func Runs(text string) bool {
	for _, l := range readLines(text) {
		if words[l.Word] {
			return true
		}
	}
	return false
}

// recipe is how a task is reported: the program, and the dispatch.
type recipe struct{ Program, Dispatch string }

// job is what a prompt asks for.
type job struct {
	File   string // the task copy or message that it names, "" where the prompt itself is the task
	Lines  []line
	Recipe *recipe // nil where nothing said how to report
	Answer string  // where the file is one to an earlier question
	Err    error   // the file could not be read
}

// readJob understands a prompt. One that begins with an order is a task itself, even where it names a file.
func readJob(prompt, dir string) job {
	if _, ok := parseLine(firstPart(prompt)); ok {
		return job{Lines: readLines(prompt)}
	}
	path := namedFile(prompt)
	if path == "" {
		return job{Lines: readLines(prompt)}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return job{File: path, Err: err}
	}
	recipe, task := readCopy(string(text))
	j := job{File: path, Lines: readLines(task), Recipe: recipe}
	if strings.HasPrefix(string(text), answerMark) {
		j.Answer = strings.TrimSpace(task)
	}
	return j
}

// answerMark is how the file of an answer begins.
const answerMark = "This is the answer to your question "

func firstPart(prompt string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	first, _, _ = strings.Cut(first, " ;; ")
	return first
}

var mdPath = pattern("[^\\s\"'`<>()]+\\.md\\b")

func namedFile(prompt string) string { return mdPath().FindString(prompt) }

// parts are the files that a prompt names, where there are several and it is no task itself; else it is one part.
func parts(prompt string) []string {
	files := mdPath().FindAllString(prompt, -1)
	if _, order := parseLine(firstPart(prompt)); order || len(files) < 2 {
		return []string{prompt}
	}
	return files
}

// readCopy reads a task copy: the recipe, a line that is exactly "---", the task's own text.
func readCopy(text string) (*recipe, string) {
	var recipe *recipe
	rest := text
	for rest != "" {
		var row string
		row, rest, _ = strings.Cut(rest, "\n")
		row = strings.TrimSuffix(row, "\r")
		if row == "---" {
			return recipe, rest
		}
		if r, ok := parseRecipe(row); ok && recipe == nil {
			recipe = &r
		}
	}
	return recipe, ""
}

var dispatchFlag = pattern(`--dispatch[ =]([A-Za-z0-9_-]+)`)

// parseRecipe reads a line that begins with "st worker done", or with an absolute path in st's place. Nothing
// else may be run by it.
func parseRecipe(row string) (recipe, bool) {
	row = strings.TrimLeft(strings.TrimSpace(row), "`$ ")
	program, rest, ok := strings.Cut(row, " worker done")
	program = strings.Trim(program, `'"`)
	if !ok || rest != "" && rest[0] != ' ' || program != "st" && !filepath.IsAbs(program) {
		return recipe{}, false
	}
	r := recipe{Program: program}
	if m := dispatchFlag().FindStringSubmatch(rest); m != nil {
		r.Dispatch = m[1]
	}
	return r, true
}

// asks is the command of a question, "which port? | 80 | 8080", each word one argument.
func (r recipe) asks(text string) []string {
	parts := strings.Split(text, "|")
	argv := []string{r.Program, "ask", "--question", strings.TrimSpace(parts[0])}
	for _, o := range parts[1:] {
		argv = append(argv, "--options", `"`+strings.ReplaceAll(strings.TrimSpace(o), `"`, `""`)+`"`) // CSV
	}
	return argv
}

// argv is the command of a report; its summary is one argument, whatever it holds.
func (r recipe) argv(outcome, summary string) []string {
	argv := []string{r.Program, "worker", "done"}
	if r.Dispatch != "" {
		argv = append(argv, "--dispatch", r.Dispatch)
	}
	if outcome == "failed" {
		argv = append(argv, "--outcome", outcome)
	}
	return append(argv, "--summary", summary)
}
