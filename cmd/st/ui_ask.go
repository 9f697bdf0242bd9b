package main

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// uiAsk is something that the person is asked below the rows, which stay in sight.
type uiAsk struct {
	title   string
	options []string // Tab goes through them
	yes     bool     // wants just a y
	empty   bool     // an empty text is an answer too
	text    string
	typed   func(text string) // each change; nil for nobody
	done    func(text string)
	left    func() // Esc; nil for nothing
}

// pressed takes a key. Enter is the answer, and nothing else is.
func (a *uiAsk) pressed(u *ui, k press) {
	u.notice = nil
	switch {
	case a.yes:
		u.ask = nil
		if k.name == "y" || k.name == "Y" {
			u.act(a)
		} else {
			u.say("left as it is")
		}
	case k.name == "esc":
		u.ask = nil
		if a.left != nil {
			a.left()
		}
	case k.name == "enter" && strings.TrimSpace(a.text) == "" && !a.empty:
		u.say("an empty text is no answer; Esc leaves")
	case k.name == "enter":
		u.ask = nil
		u.act(a)
	default:
		a.edit(k)
	}
}

// act does what was answered, and says so until the verb has spoken.
func (u *ui) act(a *uiAsk) {
	if a.typed == nil {
		u.say("…")
	}
	a.done(a.text)
}

// edit changes the text.
func (a *uiAsk) edit(k press) {
	a.text += k.text
	switch k.name {
	case "backspace":
		if r := []rune(a.text); len(r) > 0 {
			a.text = string(r[:len(r)-1])
		}
	case "ctrl+u":
		a.text = ""
	case "ctrl+w":
		a.text = strings.TrimRight(a.text, " ")
		a.text = a.text[:strings.LastIndexByte(a.text, ' ')+1]
	case "tab", "down":
		a.option(1)
	case "shift+tab", "up":
		a.option(-1)
	}
	if a.typed != nil {
		a.typed(a.text)
	}
}

// option puts the next option into the text, or one before.
func (a *uiAsk) option(step int) {
	if len(a.options) == 0 {
		return
	}
	at := slices.Index(a.options, a.text)
	if at < 0 && step < 0 {
		at = 0
	}
	a.text = a.options[(at+step+len(a.options))%len(a.options)]
}

// lines is how it looks at a width.
func (a *uiAsk) lines(width int) []string {
	lines := wrapped(oneLine(a.title), width)
	if len(lines) > 4 {
		lines = append(lines[:3:3], cut(lines[3], width-1)+"…")
	}
	if a.yes {
		return append(lines, "y does it, any other key leaves")
	}
	keys := "Enter answers, Esc leaves"
	if len(a.options) > 0 {
		lines = append(lines, cut("options, by Tab: "+oneLine(optionList(a.options)), width))
	}
	return append(lines, "> "+tail(oneLine(strings.ReplaceAll(a.text, "\n", "⏎"))+"▏", width-2), keys)
}

// tail is the end of a text, as far as it fits.
func tail(s string, width int) string {
	for s != "" && across(s) > width {
		_, size := utf8.DecodeRuneInString(s)
		s = s[size:]
	}
	return s
}
