package demo

import (
	"fmt"
	"slices"
	"strings"
)

// What a paste may have to be shown as it is; more becomes a word in brackets.
const (
	pasteRunes = 800
	pasteRows  = 3
)

// box is the input line.
type box struct {
	text   []rune
	at     int               // where the cursor stands in text
	folded map[string]string // words in brackets and the pastes behind them
	pastes int
	typed  bool // the last change was typed, not pasted: menus open only then
}

func (b *box) empty() bool { return len(b.text) == 0 }

func (b *box) set(s string) {
	b.text = []rune(s)
	b.at = len(b.text)
	b.typed = false
}

func (b *box) insert(s string) {
	r := []rune(clean(s))
	b.text = slices.Insert(b.text, b.at, r...)
	b.at += len(r)
}

func (b *box) paste(s string) {
	b.typed = false
	rows := strings.Count(s, "\n") + 1
	if len([]rune(s)) <= pasteRunes && rows <= pasteRows {
		b.insert(s)
		return
	}
	b.pastes++
	word := fmt.Sprintf("[Pasted text #%d +%d lines]", b.pastes, rows-1)
	if b.folded == nil {
		b.folded = map[string]string{}
	}
	b.folded[word] = s
	b.insert(word)
}

// take empties the box and returns what is submitted, folded pastes unfolded.
func (b *box) take() string {
	s := string(b.text)
	for word, paste := range b.folded {
		s = strings.ReplaceAll(s, word, "\n\n<pasted_content>\n"+paste+"\n</pasted_content>\n")
	}
	b.folded = nil
	b.set("")
	return s
}

// edit does what a key does to text; false for a key that isn't one of editing.
func (b *box) edit(k key) bool {
	switch k.Name {
	case "text":
		b.insert(k.Text)
		b.typed = true
	case "paste":
		b.paste(k.Text)
	case "break":
		b.insert("\n")
	case "backspace":
		b.cut(b.at-1, b.at)
		b.typed = true
	case "delete":
		b.cut(b.at, b.at+1)
	case "ctrl-u":
		b.cut(b.rowStart(), b.at)
	case "ctrl-w":
		b.cut(b.wordStart(), b.at)
	case "left":
		b.at = max(b.at-1, 0)
	case "right":
		b.at = min(b.at+1, len(b.text))
	case "home":
		b.at = b.rowStart()
	case "end":
		b.at = len(b.text)
	default:
		return false
	}
	return true
}

func (b *box) cut(from, to int) {
	from, to = max(from, 0), min(to, len(b.text))
	if from >= to {
		return
	}
	b.text = slices.Delete(b.text, from, to)
	b.at = from
}

// rowStart is the start of the cursor's row; at a start already, the break before it, so that one key
// repeated empties the box.
func (b *box) rowStart() int {
	at := b.at
	for at > 0 && b.text[at-1] != '\n' {
		at--
	}
	if at == b.at && at > 0 {
		at--
	}
	return at
}

func (b *box) wordStart() int {
	at := b.at
	for at > 0 && b.text[at-1] == ' ' {
		at--
	}
	for at > 0 && b.text[at-1] != ' ' && b.text[at-1] != '\n' {
		at--
	}
	return at
}

// rows draws the box for a terminal of that width and says where the cursor stands in it.
func (b *box) rows(width int) (rows []string, x, y int) {
	room := max(width-len(Indent)-1, 1) // the last column is the cursor's
	lead := Mark
	for _, row := range wrap(string(b.text), room) {
		rows = append(rows, lead+row)
		lead = Indent
	}
	before := wrap(string(b.text[:b.at]), room)
	y = len(before) - 1
	x = len(Indent) + cells.StringWidth(before[y])
	return rows, min(x, width-1), y
}

var commands = []string{"/clear", "/compact", "/exit", "/help"}

// menu is what stands over the input line while a command's name is being typed; Enter takes its first entry.
func (b *box) menu() []string {
	s := string(b.text)
	if !b.typed || !strings.HasPrefix(s, "/") || strings.ContainsAny(s, " \n") {
		return nil
	}
	var found []string
	for _, c := range commands {
		if strings.HasPrefix(c, s) {
			found = append(found, c)
		}
	}
	return found
}
