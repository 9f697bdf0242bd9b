package main

import (
	"fmt"
	"strings"
)

// uiPage is a text that fills the screen until it is closed.
type uiPage struct {
	title, text string
	top         int
	lines       []string // as they are wrapped at width
	width       int
}

// wrap breaks the text where the width is another one.
func (p *uiPage) wrap(width int) {
	if p.width != width {
		p.lines, p.width = wrapped(strings.TrimRight(p.text, "\n"), width), width
	}
}

// pressed scrolls, or closes the page.
func (p *uiPage) pressed(u *ui, k press) {
	height := u.height - 2
	switch k.name {
	case "q", "esc", "enter":
		u.page = nil
	case "j", "down":
		p.top++
	case "k", "up":
		p.top--
	case " ", "pgdown", "ctrl+f":
		p.top += height
	case "pgup", "ctrl+b":
		p.top -= height
	case "g", "home":
		p.top = 0
	case "G", "end":
		p.top = len(p.lines)
	}
}

// view draws the page in full.
func (p *uiPage) view(u *ui) []string {
	p.wrap(u.width - 1)
	height := max(1, u.height-2)
	p.top = max(0, min(p.top, len(p.lines)-height))
	end := min(p.top+height, len(p.lines))
	lines := []string{string(u.printer.style(u.printer.styles.head, cut(p.title, u.width-1)))}
	lines = append(lines, p.lines[p.top:end]...)
	for len(lines) < height+1 {
		lines = append(lines, "")
	}
	where := fmt.Sprintf("lines %d to %d of %d   j, k and Space scroll, q closes", min(p.top+1, end), end, len(p.lines))
	return append(lines, string(u.printer.style(u.printer.styles.dim, cut(where, u.width-1))))
}

// keyHelp tells all keys.
func keyHelp() string {
	var b strings.Builder
	for _, k := range uiKeys() {
		fmt.Fprintf(&b, "%-16s %s\n", keyNames(k.names), k.about)
	}
	b.WriteString("\nWhere something is asked: Enter answers, Tab goes through the options, Esc leaves.\n")
	b.WriteString("An act is the verb of st with that name; what it refuses there it refuses here.\n")
	return b.String()
}

func keyNames(names []string) string {
	shown := make([]string, len(names))
	for i, n := range names {
		if shown[i] = n; n == " " {
			shown[i] = "Space"
		}
	}
	return strings.Join(shown, ", ")
}
