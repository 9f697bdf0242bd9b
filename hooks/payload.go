package hooks

import "strings"

// mark finds the path of a task copy: one a dispatch, named by its id.
var mark = pattern(`[A-Za-z0-9._/-]*/d[0-9]+\.md\b`)

// marksMost is how many marks of one prompt are told. One line of ours has one.
const marksMost = 8

// marksIn are the paths of task copies that a prompt names: proof that a line of ours went in.
func marksIn(prompt string) []string { return mark().FindAllString(prompt, marksMost) }

var plainWord = pattern(`^[A-Za-z0-9/._+-]+$`)

// shellWord makes one word for sh; plain words stay as they are.
func shellWord(s string) string {
	if plainWord().MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
