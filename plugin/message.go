package plugin

import (
	_ "embed"
	"strings"
)

//go:embed message.txt
var messageText string

//go:embed answer.txt
var answerText string

// Letter is a message to a worker and what the worker is told of it.
type Letter struct {
	Message string // m3
	Worker  string // w2; "" where it is for whoever has the seat of the run
	Run     string // r1
	From    string // "a person", "agent a4"
	Text    string
	// Of an answer: the id of the question, and what that asks.
	Asked    string
	Question string
}

// Message is the whole file of a message: what it is, a line, its text as it was given.
func Message(l Letter) string {
	if l.Asked != "" {
		return fill(answerText, "{{.Asked}}", l.Asked, "{{.Worker}}", l.Worker, "{{.Run}}", l.Run, "{{.From}}", l.From) + indented(l.Question) + separator + l.Text
	}
	if l.Worker == "" {
		return "This is message " + l.Message + " to run " + l.Run + ", from " + l.From + ".\n" + separator + l.Text
	}
	head := fill(messageText, "{{.Message}}", l.Message, "{{.Worker}}", l.Worker, "{{.Run}}", l.Run, "{{.From}}", l.From)
	return head + separator + l.Text
}

// indented sets a text off from what stands around it: none of its lines can be taken for the separator.
func indented(text string) string {
	return "   " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n   ") + "\n"
}
