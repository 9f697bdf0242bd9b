//go:build unix

package demo

import (
	"fmt"
	"strings"
)

// dialog stands in place of the input line until a person decides.
type dialog struct {
	name    string // a screen's name
	title   string
	body    []string
	options []string
	letters string // the letter at i takes option i at once, as a digit does
	chosen  int    // what Enter takes
	column  int    // of the mark: permission prompts have it at 1, questions at 0
	decided chan int
}

// cancelled is the choice of Esc.
const cancelled = -1

// press does what a key does to the dialog; done says that it has been decided.
func (d *dialog) press(k key) (choice int, by string, done bool) {
	switch k.Name {
	case "enter", "lost-enter":
		return d.chosen, "enter", true
	case "esc", "ctrl-c":
		return cancelled, k.Name, true
	case "up":
		d.chosen = max(d.chosen-1, 0)
	case "down":
		d.chosen = min(d.chosen+1, len(d.options)-1)
	case "text":
		for _, r := range strings.ToLower(k.Text) {
			if i := int(r - '1'); i >= 0 && i < len(d.options) {
				return i, string(r), true
			}
			if i := strings.IndexRune(d.letters, r); i >= 0 {
				return i, string(r), true
			}
		}
	}
	return 0, "", false
}

// rows draws the dialog and says in which row the cursor stands.
func (d *dialog) rows(width int) (rows []string, y int) {
	rows = append(rows, " "+d.title)
	for _, text := range d.body {
		for _, row := range wrap(clean(text), max(width-2, 1)) {
			rows = append(rows, " "+row)
		}
	}
	rows = append(rows, "")
	for i, o := range d.options {
		mark := " "
		if i == d.chosen {
			mark, y = "❯", len(rows)
		}
		rows = append(rows, strings.Repeat(" ", d.column)+mark+fmt.Sprintf(" %d. %s", i+1, clean(o)))
	}
	return append(rows, "", " Enter to select · Esc to cancel"), y
}

// ask shows a dialog and waits for the decision; cancelled where the agent or the turn ends first.
func (a *agent) ask(stop <-chan struct{}, d dialog) int {
	d.title = Titles[d.name]
	d.decided = make(chan int, 1)
	a.do(func() { a.dialog = &d })
	select {
	case choice := <-d.decided:
		return choice
	case <-stop:
		a.do(func() {
			if a.dialog == &d {
				a.dialog = nil
			}
		})
	case <-a.over:
	}
	return cancelled
}

// decide is the loop's part of a dialog.
func (a *agent) decide(k key) {
	d := a.dialog
	choice, by, done := d.press(k)
	if !done {
		if k.Text != "" {
			a.jot(entry{What: "dropped", Text: k.Text, Dialog: d.name})
		}
		return
	}
	text := "cancelled"
	if choice != cancelled {
		text = d.options[choice]
	}
	a.jot(entry{What: "decided", Text: text, Dialog: d.name, By: by})
	a.dialog = nil
	d.decided <- choice
}

func trustDialog(dir string) dialog {
	return dialog{name: "trust", body: []string{dir}, options: []string{"Yes, proceed", "No, exit"}, letters: "yn", chosen: 1, column: 1}
}

func loginDialog() dialog {
	return dialog{name: "login", options: []string{"Account with subscription", "Account with API billing"}, letters: "sa", column: 1}
}

func keyDialog() dialog {
	return dialog{name: "api_key", body: []string{"Do you want to use this API key?"}, options: []string{"Yes", "No (recommended)"}, letters: "yn", chosen: 1, column: 1}
}

func autoDialog() dialog {
	return dialog{name: "auto_mode", options: []string{"Yes", "No"}, letters: "yn", column: 1}
}

func limitDialog() dialog {
	return dialog{name: "limit", body: []string{"Your limit resets at 3pm."}, options: []string{"Stop and wait for limit to reset", "Upgrade your plan"}, letters: "su", column: 1}
}

func permissionDialog(command string) dialog {
	return dialog{name: "permission", body: []string{command, "Do you want to proceed?"}, options: []string{"Yes", "No, and tell the agent what to do differently"}, letters: "yn", column: 1}
}

// questionDialog reads "which colour? | red | blue".
func questionDialog(text string) dialog {
	parts := strings.Split(text, "|")
	d := dialog{name: "question", body: []string{strings.TrimSpace(parts[0])}, options: []string{"Yes", "No"}}
	if len(parts) > 1 {
		d.options = nil
		for _, o := range parts[1:] {
			d.options = append(d.options, strings.TrimSpace(o))
		}
	}
	return d
}
