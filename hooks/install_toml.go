package hooks

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

// tomlFile is a TOML file of which whole tables are added, renamed and removed, each of plain lines, so that no
// other byte changes. After each change it is read anew and compared with what was meant.
type tomlFile struct {
	path string
	text []byte
}

// tomlTable is where a table stands: its header, and its lines up to the first that is not a plain one.
type tomlTable struct {
	start, header, end int // offsets; header is the end of the header's line
}

// read parses the file.
func (f *tomlFile) read() (map[string]any, error) {
	var all map[string]any
	err := toml.Unmarshal(f.text, &all)
	var at toml.ParseError
	if errors.As(err, &at) {
		return nil, fmt.Errorf("%s: line %d, column %d: %s", f.path, at.Position.Line, at.Position.Col, at.Message)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.path, err)
	}
	return all, nil
}

// newline is how the file ends its lines.
func (f *tomlFile) newline() string {
	if i := bytes.IndexByte(f.text, '\n'); i > 0 && f.text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// find looks for a table by its header, exactly as header writes it. Text that looks the same in a string of
// several lines is found out by the comparison afterwards.
func (f *tomlFile) find(head string) (t tomlTable, ok bool) {
	for at := 0; at < len(f.text); {
		end := lineEnd(f.text, at)
		if strings.TrimSpace(string(f.text[at:end])) == head {
			t = tomlTable{start: at, header: end, end: end}
			for t.end < len(f.text) {
				next := lineEnd(f.text, t.end)
				line := bytes.TrimSpace(f.text[t.end:next])
				if len(line) == 0 || line[0] == '[' || line[0] == '#' {
					break
				}
				t.end = next
			}
			return t, true
		}
		at = end
	}
	return t, false
}

// lineEnd is the offset behind the line that begins at an offset, its line break included.
func lineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// append puts a table of one line behind everything else. A file without a line break at its end stays one; an
// empty one gets none unless it is a new file.
func (f *tomlFile) append(head, line string, fresh bool) {
	nl := f.newline()
	block := head + nl + line
	switch {
	case len(f.text) == 0 && fresh:
		block += nl
	case len(f.text) == 0:
	case f.text[len(f.text)-1] == '\n':
		block = nl + block + nl
	default:
		block = nl + block
	}
	f.text = append(bytes.Clone(f.text), block...)
}

// remove takes a table out, with the empty line that append put before it.
func (f *tomlFile) remove(t tomlTable) {
	start := t.start
	open := t.end == len(f.text) && f.text[t.end-1] != '\n'
	if before := f.text[:start]; open || len(before) == 0 || emptyLine(before) {
		start = len(bytes.TrimSuffix(bytes.TrimSuffix(before, []byte("\n")), []byte("\r")))
	}
	f.text = append(bytes.Clone(f.text[:start]), f.text[t.end:]...)
}

// emptyLine tells whether a text ends with an empty line.
func emptyLine(text []byte) bool {
	text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
	return bytes.HasSuffix(text, []byte("\n"))
}

// replace changes the bytes between two offsets.
func (f *tomlFile) replace(start, end int, text string) {
	f.text = append(append(bytes.Clone(f.text[:start]), text...), f.text[end:]...)
}

// tomlQuoted is a key or a string in TOML.
func tomlQuoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// same compares two parsed files. Printed they compare as one, also where a number is none.
func same(a, b map[string]any) bool { return fmt.Sprintf("%#v", a) == fmt.Sprintf("%#v", b) }
