package main

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// press is a key, or a text that was pasted.
type press struct {
	name string // a letter as it is, else "enter", "up", "ctrl+c" and the like; "" for a paste
	text string // what it writes into a text, "" for nothing
}

// presses reads keys out of what a terminal sends. What is cut off at the end of a read is kept for the next.
type presses struct {
	rest    []byte
	pasting bool
	pasted  []byte
}

var (
	pasteBegin = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

// pasteMost is how much of a paste is taken, in bytes: as much as a text may have.
const pasteMost = textMax

// take reads the keys of one read.
func (p *presses) take(read []byte) (keys []press) {
	b := append(p.rest, read...)
	p.rest = nil
	for len(b) > 0 {
		k, n := p.next(b)
		if n == 0 {
			p.rest = bytes.Clone(b)
			break
		}
		if k.name != "" || k.text != "" {
			keys = append(keys, k)
		}
		b = b[n:]
	}
	return keys
}

// next is the first key of b and its length, 0 where the rest of it is still to come.
func (p *presses) next(b []byte) (press, int) {
	switch {
	case p.pasting:
		return p.paste(b)
	case bytes.HasPrefix(b, pasteBegin):
		p.pasting, p.pasted = true, nil
		return press{}, len(pasteBegin)
	case b[0] == 0x1b:
		return escaped(b)
	case b[0] < 0x20 || b[0] == 0x7f:
		return press{name: control(b[0])}, 1
	case !utf8.FullRune(b):
		return press{}, 0
	}
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError {
		return press{}, n
	}
	return press{name: string(r), text: string(r)}, n
}

// paste takes what is pasted until its end. Whatever it says, it is a text and no key.
func (p *presses) paste(b []byte) (press, int) {
	end := bytes.Index(b, pasteEnd)
	if end < 0 {
		n := len(b) - len(pasteEnd) + 1 // its end may be cut off
		if n <= 0 {
			return press{}, 0
		}
		p.keep(b[:n])
		return press{}, n
	}
	p.keep(b[:end])
	p.pasting = false
	lines := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(p.pasted))
	return press{text: cleanBlock(strings.ToValidUTF8(lines, ""))}, end + len(pasteEnd)
}

func (p *presses) keep(b []byte) {
	p.pasted = append(p.pasted, b[:min(len(b), pasteMost-len(p.pasted))]...)
}

// control is the name of a control character.
func control(b byte) string {
	switch b {
	case '\r', '\n':
		return "enter"
	case '\t':
		return "tab"
	case 0x7f, 0x08:
		return "backspace"
	case 0:
		return ""
	}
	if b <= 26 {
		return "ctrl+" + string(rune('a'+b-1))
	}
	return ""
}

// finals are the keys that end in a letter, numbers those that end in a tilde.
var (
	finals  = map[byte]string{'A': "up", 'B': "down", 'H': "home", 'F': "end", 'Z': "shift+tab"}
	numbers = map[int]string{1: "home", 7: "home", 4: "end", 8: "end", 5: "pgup", 6: "pgdown"}
)

// escaped reads a sequence; one that is none of our keys is taken out whole. An escape that comes alone is the key.
func escaped(b []byte) (press, int) {
	if len(b) == 1 {
		return press{name: "esc"}, 1
	}
	if b[1] == 'O' {
		if len(b) == 2 {
			return press{}, 0
		}
		return press{name: finals[b[2]]}, 3
	}
	if b[1] != '[' { // a key with Alt, which is none of ours
		_, n := utf8.DecodeRune(b[1:])
		return press{}, 1 + n
	}
	for i := 2; i < len(b); i++ {
		if b[i] < 0x20 || b[i] > 0x7e { // no sequence after all
			return press{}, i
		}
		if b[i] >= 0x40 {
			return press{name: keyName(b[2:i], b[i])}, i + 1
		}
	}
	return press{}, 0
}

func keyName(parameters []byte, final byte) string {
	if final != '~' {
		return finals[final]
	}
	first, _, _ := strings.Cut(string(parameters), ";")
	n, err := strconv.Atoi(first)
	if err != nil {
		return ""
	}
	return numbers[n]
}
