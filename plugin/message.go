package plugin

import (
	_ "embed"
	"strings"
	"sync"
	"text/template"
)

//go:embed message.txt
var messageText string

var messageHead = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("message").Option("missingkey=error").Parse(messageText))
})

// Letter is a message to a worker and what the worker is told of it.
type Letter struct {
	Message string // m3
	Worker  string // w2
	Run     string // r1
	From    string // "a person", "agent a4"
	Text    string
}

// Message is the whole file of a message: what it is, a line, its text as it was given.
func Message(l Letter) string {
	var b strings.Builder
	if err := messageHead().Execute(&b, l); err != nil {
		panic("plugin: the head of a message does not fit its own data: " + err.Error())
	}
	return b.String() + Separator + l.Text
}
