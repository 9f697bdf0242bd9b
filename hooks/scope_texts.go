package hooks

import (
	"slices"
	"strings"
)

// What programs that are given a text of their own write by it.

// seds: what sed's text itself writes or runs, and its files where it edits those in place.
func seds(e *edits, c *shellCall) {
	inPlace(editor{"efl", "efl", "--in-place"})(e, c)
	for _, text := range sedTexts(c.args()) {
		if text.known {
			e.sed(text.text)
		}
	}
}

// sedTexts are the texts that sed is given: those of flags, else the first operand.
func sedTexts(args []shellWord) (list []shellWord) {
	for i, w := range args {
		joined, long := strings.CutPrefix(w.text, "--expression=")
		switch {
		case long:
			list = append(list, textWord(joined))
		case (isShort(w.text, "e") || w.text == "--expression") && i+1 < len(args):
			list = append(list, args[i+1])
		}
	}
	if _, file := valueOf(args, 'f', "--file"); len(list) > 0 || file {
		return list
	}
	plain := operands(args, "l")
	return plain[:min(1, len(plain))]
}

// sed goes through the commands of a text of sed.
func (e *edits) sed(text string) {
	line := func(i int) (string, int) {
		end := strings.IndexByte(text[i:], '\n')
		if end < 0 {
			return strings.TrimSpace(text[i:]), len(text)
		}
		return strings.TrimSpace(text[i : i+end]), i + end
	}
	between := func(i int, sign byte) int { // behind the next such sign
		for ; i < len(text); i++ {
			switch text[i] {
			case '\\':
				i++
			case sign:
				return i + 1
			}
		}
		return len(text)
	}
	for i := 0; i < len(text); {
		var rest string
		switch at := text[i]; at {
		case '/':
			i = between(i+1, '/')
		case '\\':
			i = between(min(i+2, len(text)), text[min(i+1, len(text)-1)])
		case 'w', 'W':
			rest, i = line(i + 1)
			e.word(textWord(rest), e.r.dir, inside)
		case 'e':
			if rest, i = line(i + 1); rest == "" {
				e.untold("sed " + text)
			}
			e.r.within(rest)
		case 'r', 'R', 'a', 'i', 'c', ':', '#':
			_, i = line(i + 1)
		case 's', 'y':
			if i+1 >= len(text) {
				return
			}
			i = between(between(i+2, text[i+1]), text[i+1])
			for ; at == 's' && i < len(text) && strings.IndexByte("gpiIMme0123456789w", text[i]) >= 0; i++ {
				if text[i] == 'e' {
					e.untold("sed " + text)
				}
				if text[i] == 'w' {
					rest, i = line(i + 1)
					e.word(textWord(rest), e.r.dir, inside)
					break
				}
			}
		default:
			i++
		}
	}
}

var editorWrites = pattern(`^[\d,.$%']*\s*(?:w|wri?t?e?|wq|up|update|sav|saveas)!?\s+(?:>>\s*)?([^\s!]\S*)`)

// visuals: what an editor is told to write elsewhere or to run, and the files that it edits.
func visuals(valued string) writer {
	return func(e *edits, c *shellCall) {
		files := slices.DeleteFunc(operands(c.args(), valued), func(w shellWord) bool { return strings.HasPrefix(w.text, "+") })
		e.words(files, c.dir, inside)
		told := strings.Split(c.read, "\n")
		for i, w := range c.args() {
			if text, ok := strings.CutPrefix(w.text, "+"); ok {
				told = append(told, text)
			}
			if (isShort(w.text, "c") || w.text == "--cmd") && i+1 < len(c.args()) {
				told = append(told, c.args()[i+1].text)
			}
		}
		for _, text := range told {
			if run, ok := strings.CutPrefix(text, "!"); ok {
				e.r.within(run)
				continue
			}
			for _, one := range strings.Split(text, "|") {
				if m := editorWrites().FindStringSubmatch(strings.TrimSpace(one)); m != nil {
					e.word(textWord(m[1]), c.dir, inside)
				}
			}
		}
	}
}

var sqlWrites = pattern(`(?m)(?:^|;)\s*\.(?:o|ou|out|outp|outpu|output|once|log|trace|backup|save|clone|excel)\s+(?:[a-z]+\s+)?['"]?([^\s'"]+)`)

// databases: what sqlite's own commands write.
func databases(e *edits, c *shellCall) {
	for _, text := range append(texts(c.args()), c.read) {
		for _, m := range sqlWrites().FindAllStringSubmatch(text, -1) {
			if !slices.Contains([]string{"stdout", "stderr", "off"}, m[1]) {
				e.word(textWord(m[1]), c.dir, inside)
			}
		}
	}
}

// later: what runs at another time, when nobody asks.
func later(e *edits, c *shellCall) {
	if !hasFlag(c.args(), 'l', "") {
		e.untold(wordsText(c.words))
	}
}

// containers: what a container has of this machine it may write.
func containers(e *edits, c *shellCall) {
	args := c.args()
	for i, w := range args {
		name, value, joined := strings.Cut(w.text, "=")
		if !slices.Contains([]string{"-v", "--volume", "--mount"}, name) {
			continue
		}
		if !joined && i+1 < len(args) {
			value = args[i+1].text
		}
		from, rest, _ := strings.Cut(value, ":")
		if name == "--mount" {
			from, rest = "", ""
			for _, field := range strings.Split(value, ",") {
				key, is, _ := strings.Cut(field, "=")
				switch key {
				case "source", "src":
					from = is
				case "readonly", "ro":
					rest = ":ro"
				}
			}
		}
		if (strings.ContainsAny(from, "/.~"+hole)) && !strings.HasSuffix(rest, ":ro") {
			e.word(textWord(from), c.dir, whole)
		}
	}
}

var awkNames = pattern(`\bprintf?\b(?:[^;}\n">(]|"(?:[^"\\]|\\.)*"|\([^()]*\))*>>?\s*([A-Za-z_$(][^;}\n]*)`)

// awkNamed judges what awk writes by a name that is not in quotes: one of a variable that it is given, else nobody knows.
func (e *edits) awkNamed(c *shellCall, text string) {
	given := map[string]shellWord{}
	for i, w := range c.args() {
		set := w.text
		if set == "-v" && i+1 < len(c.args()) {
			set = c.args()[i+1].text
		}
		setting(textWord(strings.TrimPrefix(set, "-v")), given)
	}
	for _, m := range awkNames().FindAllStringSubmatch(text, -1) {
		if to, ok := given[strings.TrimSpace(m[1])]; ok && to.known {
			e.word(to, c.dir, inside)
			continue
		}
		e.untold(strings.TrimSpace(m[0]))
	}
}
