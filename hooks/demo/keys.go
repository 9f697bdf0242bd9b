package demo

import (
	"bytes"
	"unicode/utf8"
)

// key is one thing that came from the terminal.
type key struct {
	Name string // "text", "paste", "enter", "esc", "ctrl-c", "up", ...
	Text string // for text and paste
}

var (
	pasteBegin = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

// burst is the size from which the real agents take one read for a paste: 60 bytes were typed keys, 64 were not.
const burst = 64

// decoder turns what one read gave into keys.
type decoder struct {
	held    []byte // the beginning of a sequence whose rest has not come yet
	pasting bool
	pasted  []byte
}

func (d *decoder) read(chunk []byte) []key {
	chunk = append(d.held, chunk...)
	d.held = nil
	var keys []key
	for len(chunk) > 0 {
		if d.pasting {
			var k []key
			k, chunk = d.paste(chunk)
			keys = append(keys, k...)
			continue
		}
		plain := chunk
		at := bytes.Index(chunk, pasteBegin)
		if at >= 0 {
			plain = chunk[:at]
			chunk = chunk[at+len(pasteBegin):]
			d.pasting = true
		} else {
			plain, d.held = splitHeld(chunk, pasteBegin, 2)
			chunk = nil
		}
		keys = append(keys, plainKeys(plain)...)
	}
	return keys
}

// paste takes what belongs to a bracketed paste and returns the rest.
func (d *decoder) paste(chunk []byte) ([]key, []byte) {
	at := bytes.Index(chunk, pasteEnd)
	if at < 0 {
		var part []byte
		part, d.held = splitHeld(chunk, pasteEnd, 1)
		d.pasted = append(d.pasted, part...)
		return nil, nil
	}
	text := string(append(d.pasted, chunk[:at]...))
	d.pasted, d.pasting = nil, false
	return []key{{"paste", lineBreaks(text)}}, chunk[at+len(pasteEnd):]
}

// splitHeld holds back a beginning of mark, at least so many bytes of it, or of a rune, that stands at the end.
// Outside of a paste a lone escape is the key itself.
func splitHeld(chunk, mark []byte, least int) (now, held []byte) {
	for n := min(len(mark)-1, len(chunk)); n >= least; n-- {
		if bytes.HasSuffix(chunk, mark[:n]) {
			return chunk[:len(chunk)-n], bytes.Clone(chunk[len(chunk)-n:])
		}
	}
	for n := 1; n <= min(utf8.UTFMax, len(chunk)); n++ {
		tail := chunk[len(chunk)-n:]
		if utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return chunk[:len(chunk)-n], bytes.Clone(tail)
			}
			break
		}
	}
	return chunk, nil
}

func lineBreaks(s string) string {
	s = string(bytes.ReplaceAll([]byte(s), []byte("\r\n"), []byte("\n")))
	return string(bytes.ReplaceAll([]byte(s), []byte("\r"), []byte("\n")))
}

// plainKeys reads typed keys. A long read is a paste, so an Enter in it is a line break; an Enter that came in
// one read with text is lost. Both happen in the real agents when keys are sent without a pause.
func plainKeys(chunk []byte) []key {
	if len(chunk) >= burst && chunk[0] != 0x1b {
		return []key{{"paste", lineBreaks(string(chunk))}}
	}
	var keys []key
	text := false
	for len(chunk) > 0 {
		k, n := oneKey(chunk)
		chunk = chunk[n:]
		text = text || k.Name == "text"
		if last := len(keys) - 1; k.Name == "text" && last >= 0 && keys[last].Name == "text" {
			keys[last].Text += k.Text
			continue
		}
		if k.Name != "" {
			keys = append(keys, k)
		}
	}
	if !text {
		return keys
	}
	for i, k := range keys {
		if k.Name == "enter" {
			keys[i].Name = "lost-enter"
		}
	}
	return keys
}

var controls = map[byte]string{
	'\r': "enter", '\n': "break", '\t': "tab", 0x7f: "backspace", 0x08: "backspace", 0x01: "home", 0x05: "end",
	0x03: "ctrl-c", 0x04: "ctrl-d", 0x15: "ctrl-u", 0x17: "ctrl-w",
}

var sequences = map[string]string{
	"\x1b[A": "up", "\x1b[B": "down", "\x1b[C": "right", "\x1b[D": "left", "\x1b[H": "home", "\x1b[F": "end",
	"\x1bOA": "up", "\x1bOB": "down", "\x1bOC": "right", "\x1bOD": "left", "\x1b[3~": "delete", "\x1b\r": "break",
	"\x1b[1~": "home", "\x1b[4~": "end",
}

// oneKey reads the first key of chunk and says how many bytes it took. Name is "" for what means nothing here.
func oneKey(chunk []byte) (key, int) {
	if chunk[0] == 0x1b {
		return escape(chunk)
	}
	if chunk[0] < 0x20 || chunk[0] == 0x7f {
		return key{Name: controls[chunk[0]]}, 1
	}
	r, n := utf8.DecodeRune(chunk)
	if r == utf8.RuneError && n == 1 {
		return key{}, 1
	}
	return key{"text", string(chunk[:n])}, n
}

func escape(chunk []byte) (key, int) {
	if len(chunk) == 1 || chunk[1] == 0x1b {
		return key{Name: "esc"}, 1
	}
	n := 2
	switch chunk[1] {
	case '[':
		for n < len(chunk) && (chunk[n] < 0x40 || chunk[n] > 0x7e) {
			n++
		}
		n = min(n+1, len(chunk))
	case 'O':
		n = min(3, len(chunk))
	}
	return key{Name: sequences[string(chunk[:n])]}, n
}
