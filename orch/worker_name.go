package orch

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// likeID tells whether a name has the shape of an id: a letter that ids begin with, then digits.
func likeID(name string) bool {
	if len(name) < 2 || !strings.ContainsRune("artwdmvgo", rune(name[0])) {
		return false
	}
	return strings.Trim(name[1:], "0123456789") == ""
}

// hidden tells whether a name looks like another one: what turns the reading direction, and what has no width,
// can't be seen in a list or a window's name. What joins two signs into one picture may stand between them.
func hidden(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r) && string(r) != joiner
	}) || strings.HasPrefix(name, joiner) || strings.HasSuffix(name, joiner)
}

// joiner is the zero width joiner of emoji such as families.
const joiner = "\u200d"

// checkName refuses a name that could be taken for something else.
func checkName(name string) *Error {
	why := ""
	switch n := utf8.RuneCountInString(name); {
	case strings.TrimSpace(name) == "":
		why = "it is empty"
	case !utf8.ValidString(name), strings.ContainsRune(name, utf8.RuneError): // JSON puts that sign for what is not UTF-8
		why = "it is not valid UTF-8"
	case n > 64:
		why = "it has " + strconv.Itoa(n) + " characters, and 64 is the most"
	case strings.TrimSpace(name) != name:
		why = "it begins or ends with a space"
	case strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }):
		why = "it has a control character or a line break in it"
	case strings.ContainsRune("-=%@$:+~!#", rune(name[0])):
		why = "it begins with " + name[:1]
	case hidden(name):
		why = "it has a character in it that can't be seen"
	case strings.Trim(name, "0123456789") == "":
		why = "it is a number"
	case likeID(name):
		why = "it looks like an id"
	default:
		return nil
	}
	shown := strconv.Quote(name)
	if len(shown) > 60 {
		shown = shown[:57] + `…"`
	}
	e := refuse("bad_name", "st help workers", "the name %s can't be used: %s", shown, why)
	e.Hint = "a name has 1 to 64 printable characters, begins with a letter and is nothing like an id (w1, d1, g2); all rules:"
	return e
}

// newName is the worker's name: unique in its run among live workers.
func (s *step) newName(run Run, o WorkerStart) (string, *Error) {
	c, _ := get[Counters](s, "counters/")
	name := o.Name
	if name == "" {
		name = o.Kind + "-" + strconv.Itoa(c.Worker+1)
		for taken(s, run.ID, name) != "" {
			name += "x"
		}
		return name, nil
	}
	if err := checkName(name); err != nil {
		return "", err
	}
	if w := taken(s, run.ID, name); w != "" {
		e := refuse("name_taken", "st worker show "+w, "worker %s of %s is called %q already", w, run.ID, name)
		e.Hint = "choose another --name, or stop that one: st worker stop " + w + " --yes"
		return "", e
	}
	return name, nil
}

// taken returns the live worker of that name in a run.
func taken(v View, run, name string) (id string) {
	each(v, Of("worker", run), func(w Worker) bool {
		a, _ := get[Agent](v, "agent/"+w.Agent)
		if w.Name == name && a.there() && w.Released == nil {
			id = w.ID
		}
		return true
	})
	return id
}
