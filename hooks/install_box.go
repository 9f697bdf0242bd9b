package hooks

import (
	"bytes"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonBox is an object or an array of a file that keeps every byte that is not ours. What add puts in, remove
// takes out so that the bytes of before are there again. Blanks alone tell afterwards whether a box was made by
// add: one that was made has blanks on both sides of its first item, one that stood there empty has none on one
// side.
type jsonBox struct {
	object *hujson.Object // or
	array  *hujson.Array
	style  *jsonStyle
	indent string // of its items
	outer  string // of its end
	fresh  bool   // just made, and empty
}

// jsonStyle is how a file is written.
type jsonStyle struct {
	newline string // "\n" or "\r\n"
	unit    string // one step of indentation
	compact bool   // no line breaks
}

func (b *jsonBox) len() int {
	if b.object != nil {
		return len(b.object.Members)
	}
	return len(b.array.Elements)
}

// extras are the blanks and comments on both sides of an item.
func (b *jsonBox) extras(i int) (before, after *hujson.Extra) {
	if b.object != nil {
		m := &b.object.Members[i]
		return &m.Name.BeforeExtra, &m.Value.AfterExtra
	}
	e := &b.array.Elements[i]
	return &e.BeforeExtra, &e.AfterExtra
}

// end is what stands between the last item, or its comma, and the closing bracket.
func (b *jsonBox) end() *hujson.Extra {
	if b.object != nil {
		return &b.object.AfterExtra
	}
	return &b.array.AfterExtra
}

// add puts an item behind all others; an array's has no name.
func (b *jsonBox) add(name string, v hujson.ValueTrimmed) {
	before, rest := b.gap(*b.end())
	var after hujson.Extra
	if n := b.len(); n > 0 {
		if _, last := b.extras(n - 1); *last != nil {
			after = hujson.Extra{} // the last item has a comma: this one gets one too
		}
	}
	*b.end() = rest
	b.fresh = false
	if b.array != nil {
		b.array.Elements = append(b.array.Elements, hujson.Value{BeforeExtra: before, Value: v, AfterExtra: after})
		return
	}
	value := hujson.Value{BeforeExtra: hujson.Extra(" "), Value: v, AfterExtra: after}
	if b.style.compact {
		value.BeforeExtra = nil
	}
	b.object.Members = append(b.object.Members, hujson.ObjectMember{
		Name: hujson.Value{BeforeExtra: before, Value: hujson.String(name)}, Value: value,
	})
}

// gap divides what stands before the closing bracket into what comes before a new item and what after it.
func (b *jsonBox) gap(end hujson.Extra) (before, rest hujson.Extra) {
	line := hujson.Extra(b.style.newline + b.indent)
	cut := lastLine(end)
	switch {
	case b.fresh && b.style.compact:
		return hujson.Extra(" "), nil
	case b.fresh:
		return line, hujson.Extra(b.style.newline + b.outer)
	case b.len() == 0 && (cut >= 0 || b.style.compact):
		return nil, end
	case b.len() == 0:
		return line, end
	case cut >= 0:
		return append(bytes.Clone(end[:cut]), line...), bytes.Clone(end[cut:])
	}
	if first, _ := b.extras(b.len() - 1); lastLine(*first) >= 0 {
		return line, end
	}
	if b.style.compact {
		return nil, end
	}
	return hujson.Extra(" "), end
}

// remove takes an item out. made tells that the box is empty now and was made by add.
func (b *jsonBox) remove(i int) (made bool) {
	n := b.len()
	pb, pa := b.extras(i)
	before, after, end := *pb, *pa, b.end()
	kept := append(commentsOf(before), after...)
	switch {
	case n == 1:
		made = lastLine(before) >= 0 && lastLine(*end) >= 0 || string(before) == " " && len(*end) == 0
		*end = joined(kept, *end, b.style)
		made = made && len(bytes.TrimSpace(*end)) == 0
	case i == n-1:
		_, prev := b.extras(i - 1)
		if after != nil && *prev == nil {
			*prev = hujson.Extra{} // its comma stays
		} else if after == nil && *prev != nil {
			kept, *prev = append(bytes.Clone(*prev), kept...), nil
		}
		*end = joined(kept, *end, b.style)
	default:
		next, _ := b.extras(i + 1)
		if lastLine(*next) < 0 && i == 0 {
			*next = before
		} else {
			*next = joined(kept, *next, b.style)
		}
	}
	b.drop(i)
	return made
}

func (b *jsonBox) drop(i int) {
	if b.object != nil {
		b.object.Members = append(b.object.Members[:i:i], b.object.Members[i+1:]...)
		return
	}
	b.array.Elements = append(b.array.Elements[:i:i], b.array.Elements[i+1:]...)
}

// child is the box that an item's value is; ok is false for any other value.
func (b *jsonBox) child(v hujson.ValueTrimmed) (c *jsonBox, ok bool) {
	c = &jsonBox{style: b.style, indent: b.indent + b.style.unit, outer: b.indent}
	switch v := v.(type) {
	case *hujson.Object:
		c.object = v
	case *hujson.Array:
		c.array = v
	default:
		return nil, false
	}
	if c.len() > 0 {
		if before, _ := c.extras(0); lastLine(*before) >= 0 {
			c.indent = strings.TrimLeft(string((*before)[lastLine(*before):]), "\r\n")
		}
	}
	return c, true
}

// put adds an empty object or array and returns it.
func (b *jsonBox) put(name string, v hujson.ValueTrimmed) *jsonBox {
	b.add(name, v)
	c, _ := b.child(v)
	c.fresh = true
	return c
}

// member finds an object's member; of several with one name the last counts, as for every reader of JSON.
func (b *jsonBox) member(name string) int {
	for i := b.len() - 1; i >= 0; i-- {
		if memberName(b.object, i) == name {
			return i
		}
	}
	return -1
}

func memberName(o *hujson.Object, i int) string {
	l, ok := o.Members[i].Name.Value.(hujson.Literal)
	if !ok {
		return ""
	}
	return l.String()
}

// lastLine is where the last line break of trailing blanks begins, -1 for none. A break inside of a comment is
// none.
func lastLine(e hujson.Extra) int {
	blanks := len(bytes.TrimRight(e, " \t\r\n"))
	i := bytes.LastIndexByte(e[blanks:], '\n')
	if i < 0 {
		return -1
	}
	i += blanks
	if i > 0 && e[i-1] == '\r' {
		i--
	}
	return i
}

// commentsOf is what stands before an item without the line break and the indentation that belong to it.
func commentsOf(before hujson.Extra) hujson.Extra {
	if i := lastLine(before); i >= 0 {
		return bytes.Clone(before[:i])
	}
	if len(bytes.TrimSpace(before)) == 0 {
		return nil
	}
	return bytes.Clone(before)
}

// joined puts comments before something else; a line comment must not swallow what follows it.
func joined(comments, next hujson.Extra, style *jsonStyle) hujson.Extra {
	if len(bytes.TrimSpace(comments)) > 0 && !bytes.HasPrefix(bytes.TrimLeft(next, " \t\r"), []byte("\n")) {
		comments = append(comments, style.newline...)
	}
	return append(comments, next...)
}
