package hooks

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonFile is a settings file while it is edited: JSON, perhaps with comments and commas at the end, of which
// every byte stays that isn't ours.
type jsonFile struct {
	path string
	bom  []byte
	root hujson.Value
	box  *jsonBox // the root
	text []byte   // as it was read, without the mark
	gone bool     // nothing is left of a file that we made
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// readJSON parses a settings file; nil text is a file that isn't there yet.
func readJSON(path string, text []byte) (*jsonFile, error) {
	f := &jsonFile{path: path}
	rest := text
	if bytes.HasPrefix(text, byteOrderMark) {
		f.bom, rest = byteOrderMark, text[len(byteOrderMark):]
	}
	if len(bytes.TrimSpace(rest)) == 0 {
		return f.begin(text == nil, rest), nil
	}
	root, err := hujson.Parse(bytes.Clone(rest))
	if err != nil {
		return nil, fmt.Errorf("%s: %s", path, strings.TrimPrefix(err.Error(), "hujson: "))
	}
	object, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("%s: line 1: the settings are no object ({…})", path)
	}
	f.root, f.text = root, rest
	f.box = &jsonBox{object: object, style: styleOf(object)}
	f.box.indent = f.box.style.unit
	return f, nil
}

// begin starts a file that holds nothing yet. Only one that was missing gets a line break at its end: that is how
// uninstalling knows an empty file from none.
func (f *jsonFile) begin(missing bool, blank []byte) *jsonFile {
	object := &hujson.Object{}
	f.root = hujson.Value{BeforeExtra: bytes.Clone(blank), Value: object}
	if missing {
		f.root.AfterExtra = hujson.Extra("\n")
	}
	f.box = &jsonBox{object: object, style: &jsonStyle{newline: "\n", unit: "  "}, indent: "  ", fresh: true}
	return f
}

// styleOf reads from an object's members how the file is written.
func styleOf(o *hujson.Object) *jsonStyle {
	s := &jsonStyle{newline: "\n", unit: "  "}
	if len(o.Members) == 0 {
		return s
	}
	first := o.Members[0].Name.BeforeExtra
	i := lastLine(first)
	if i < 0 {
		s.compact = true
		return s
	}
	if first[i] == '\r' {
		s.newline = "\r\n"
	}
	if blanks := strings.TrimLeft(string(first[i:]), "\r\n"); blanks != "" {
		s.unit = blanks
	}
	return s
}

// write is the file as it has to be; nil for none.
func (f *jsonFile) write() ([]byte, error) {
	if f.gone {
		if string(f.root.AfterExtra) == "\n" && len(f.root.BeforeExtra) == 0 && f.bom == nil {
			return nil, nil
		}
		return append(append(append([]byte{}, f.bom...), f.root.BeforeExtra...), f.root.AfterExtra...), nil
	}
	if f.box.fresh {
		return nil, nil
	}
	packed := f.root.Pack()
	if _, err := hujson.Parse(packed); err != nil {
		return nil, fmt.Errorf("%s: can't be edited without breaking it: %w", f.path, err)
	}
	return append(append([]byte{}, f.bom...), packed...), nil
}

// open finds the object or array of that name in a box, or makes it where create says so; nil where it isn't
// there. A value of another shape is an error.
func (f *jsonFile) open(in *jsonBox, name string, array, create bool) (*jsonBox, error) {
	if i := in.member(name); i >= 0 {
		c, ok := in.child(in.object.Members[i].Value.Value)
		if !ok || (c.array != nil) != array {
			return nil, fmt.Errorf("%s: line %d: %q is not what st expects there", f.path, f.line(in.object.Members[i].Name.StartOffset), name)
		}
		return c, nil
	}
	switch {
	case !create:
		return nil, nil
	case array:
		return in.put(name, &hujson.Array{}), nil
	}
	return in.put(name, &hujson.Object{}), nil
}

func (f *jsonFile) line(offset int) int {
	return 1 + bytes.Count(f.text[:min(offset, len(f.text))], []byte("\n"))
}

// dropMember takes a member out of the root, and notes where the root was ours and has nothing left.
func (f *jsonFile) dropMember(name string) {
	if i := f.box.member(name); i >= 0 && f.box.remove(i) {
		f.gone = true
	}
}
