package hooks

import (
	"slices"
	"strings"
)

// moreWriters are programs of which only some calls write a file, or which write one beside what they are used for.
var moreWriters map[string]writer

func init() {
	moreWriters = map[string]writer{
		"wget": wgets, "tar": unpacks, "bsdtar": unpacks, "cpio": cpios, "pax": paxes, "ar": archives, "dpkg": packages, "dpkg-deb": packages,
		"curl":  output("oDc", "--output", "--dump-header", "--cookie-jar", "--trace", "--trace-ascii", "--stderr", "--etag-save"),
		"iconv": output("o", "--output"), "tree": output("o"), "strip": strips, "objcopy": last("FIOBjRKNGLW"),
		"uniq": second("fsw"), "xxd": second("clsogn"), "rename": renames, "prename": renames, "mktemp": temporaries, "fallocate": all("lo", inside),
		"setfacl": permits, "script": typescripts, "history": histories, "python": pythons, "virtualenv": environments, "tmux": buffers,
		"sqlite": databases, "crontab": later, "docker": containers, "podman": containers,
	}
}

// second: the second operand is written, where there is one.
func second(valued string) writer {
	return func(e *edits, c *shellCall) {
		if list := operands(c.args(), valued); len(list) > 1 {
			e.word(list[1], c.dir, inside)
		}
	}
}

// last: the last operand is written.
func last(valued string) writer {
	return func(e *edits, c *shellCall) {
		if list := operands(c.args(), valued); len(list) > 0 {
			e.word(list[len(list)-1], c.dir, inside)
		}
	}
}

// valueOf is the value of a flag: in the same word or the next one. The last counts.
func valueOf(args []shellWord, short byte, long string) (value shellWord, ok bool) {
	for i, w := range args {
		t := w.text
		joined, is := strings.CutPrefix(t, long+"=")
		at := -1
		if short != 0 && len(t) > 1 && t[0] == '-' && t[1] != '-' {
			at = strings.IndexByte(t, short)
		}
		switch {
		case long != "" && is:
			value, ok = textWord(joined), true
		case at > 0 && at < len(t)-1:
			value, ok = textWord(t[at+1:]), true
		case (at > 0 || long != "" && t == long) && i+1 < len(args):
			value, ok = args[i+1], true
		}
	}
	return value, ok
}

// wgets: what is fetched gets into the folder, unless a flag names a file or another folder.
func wgets(e *edits, c *shellCall) {
	for _, log := range []struct {
		short byte
		long  string
	}{{'o', "--output-file"}, {'a', "--append-output"}} {
		if file, ok := valueOf(c.args(), log.short, log.long); ok {
			e.word(file, c.dir, inside)
		}
	}
	if file, ok := valueOf(c.args(), 'O', "--output-document"); ok {
		e.word(file, c.dir, inside)
		return
	}
	into, ok := valueOf(c.args(), 'P', "--directory-prefix")
	if !ok {
		into = textWord(".")
	}
	if len(operands(c.args(), "")) > 0 && !hasFlag(c.args(), 0, "--spider") {
		e.below(into, c.dir)
	}
}

// tarValued are the letters of tar that have a value.
const tarValued = "fCbTXIgHKNVLF"

// tarCall is one call of tar.
type tarCall struct {
	mode          byte // the letter of what it does
	into, archive shellWord
	printed       bool // to its standard output
}

var tarLong = map[string]byte{"--extract": 'x', "--get": 'x', "--create": 'c', "--append": 'r', "--update": 'u', "--concatenate": 'r', "--list": 't', "--delete": 'r'}

// readTar reads the words of a call: letters come with a dash anywhere, and without one at first.
func readTar(args []shellWord) (t tarCall) {
	t.into = textWord(".")
	for i := 0; i < len(args); i++ {
		text := args[i].text
		if mode, ok := tarLong[text]; ok {
			t.mode = mode
		}
		if strings.HasPrefix(text, "--") || len(text) < 2 || text[0] != '-' && i > 0 {
			continue
		}
		letters, apart := strings.TrimPrefix(text, "-"), text[0] != '-'
		for j := 0; j < len(letters); j++ {
			l := letters[j]
			switch {
			case strings.IndexByte("xcrut", l) >= 0:
				t.mode = l
			case l == 'O':
				t.printed = true
			case strings.IndexByte(tarValued, l) < 0:
			case !apart && j < len(letters)-1:
				t.takes(l, textWord(letters[j+1:]))
				j = len(letters)
			case i+1 < len(args):
				i++
				t.takes(l, args[i])
			}
		}
	}
	if into, ok := valueOf(args, 0, "--directory"); ok {
		t.into = into
	}
	if archive, ok := valueOf(args, 0, "--file"); ok {
		t.archive = archive
	}
	t.printed = t.printed || hasFlag(args, 0, "--to-stdout")
	return t
}

func (t *tarCall) takes(letter byte, value shellWord) {
	switch letter {
	case 'C':
		t.into = value
	case 'f':
		t.archive = value
	}
}

// unpacks: tar writes below a folder, or into its archive.
func unpacks(e *edits, c *shellCall) {
	switch t := readTar(c.args()); {
	case t.mode == 'x' && !t.printed:
		e.below(t.into, c.dir)
	case strings.IndexByte("cru", t.mode) >= 0 && t.archive.text != "":
		e.word(t.archive, c.dir, inside)
	}
}

func cpios(e *edits, c *shellCall) {
	list, args := operands(c.args(), "HFODECRMI"), c.args()
	into, ok := valueOf(args, 'D', "--directory")
	switch {
	case hasFlag(args, 'p', "--pass-through"):
		if len(list) > 0 {
			into, ok = list[len(list)-1], true
		}
	case !hasFlag(args, 'i', "--extract") || hasFlag(args, 't', "--list") || hasFlag(args, 0, "--to-stdout"):
		for _, flag := range []byte{'O', 'F'} {
			if file, ok := valueOf(args, flag, ""); ok && hasFlag(args, 'o', "--create") {
				e.word(file, c.dir, inside)
			}
		}
		return
	}
	if !ok {
		into = textWord(".")
	}
	e.below(into, c.dir)
}

func paxes(e *edits, c *shellCall) {
	list, args := operands(c.args(), "fbosxBDEGTU"), c.args()
	reads, writes := hasFlag(args, 'r', ""), hasFlag(args, 'w', "")
	file, named := valueOf(args, 'f', "")
	switch {
	case reads && writes && len(list) > 0:
		e.below(list[len(list)-1], c.dir)
	case reads && !writes:
		e.below(textWord("."), c.dir)
	case writes && named:
		e.word(file, c.dir, inside)
	}
}

// archives: ar changes its archive, or takes files out of it.
func archives(e *edits, c *shellCall) {
	args := c.args()
	if len(args) < 2 || strings.HasPrefix(args[0].text, "--") {
		return
	}
	switch mode := strings.TrimPrefix(args[0].text, "-"); {
	case strings.Contains(mode, "x"):
		e.below(textWord("."), c.dir)
	case strings.ContainsAny(mode[:min(1, len(mode))], "rqdms"):
		list := args[1:]
		if strings.ContainsAny(mode, "abi") && len(list) > 1 { // the member beside which it is put comes first
			list = list[1:]
		}
		e.word(list[0], c.dir, inside)
	}
}

// packages: what a package holds gets below a folder.
func packages(e *edits, c *shellCall) {
	list := operands(c.args(), "")
	for _, flag := range []string{"-x", "-X", "-R", "-e", "--extract", "--vextract", "--raw-extract", "--control"} {
		if slices.Contains(texts(c.args()), flag) && len(list) > 1 {
			e.below(list[len(list)-1], c.dir)
		}
	}
}

// strips: the operands, or the file that a flag names.
func strips(e *edits, c *shellCall) {
	if file, ok := valueOf(c.args(), 'o', "--output-file"); ok {
		e.word(file, c.dir, inside)
		return
	}
	e.words(operands(c.args(), "FIOKNR"), c.dir, inside)
}

// renames: of the two programs of that name one is given an expression, the other two words.
func renames(e *edits, c *shellCall) {
	list := operands(c.args(), "")
	if len(list) == 0 || hasFlag(c.args(), 'n', "--no-act") {
		return
	}
	own := 2
	if strings.Contains(list[0].text, "/") {
		own = 1
	}
	e.words(list[min(own, len(list)):], c.dir, itself)
}

// temporaries: mktemp makes its file where it is told to.
func temporaries(e *edits, c *shellCall) {
	into, told := valueOf(c.args(), 'p', "--tmpdir")
	list := operands(c.args(), "p")
	switch {
	case hasFlag(c.args(), 'u', "--dry-run"):
	case told:
		into.add("/tmp.XXXXXXXXXX")
		e.word(into, c.dir, inside)
	case len(list) > 0 && !hasFlag(c.args(), 't', "--tmpdir"):
		list[0].unknown()
		e.word(list[0], c.dir, inside)
	}
}

func permits(e *edits, c *shellCall) {
	how := inside
	if hasFlag(c.args(), 'R', "--recursive") {
		how = whole
	}
	e.words(operands(c.args(), "mxMX"), c.dir, how)
}

// typescripts: script keeps what is shown.
func typescripts(e *edits, c *shellCall) {
	list := operands(c.args(), "cIOBmoETt")
	for _, flag := range []byte{'I', 'O', 'B', 'T'} {
		if file, ok := valueOf(c.args(), flag, ""); ok {
			list = append(list, file)
		}
	}
	if len(list) == 0 && !hasFlag(c.args(), 'V', "--version") {
		list = append(list, textWord("typescript"))
	}
	e.words(list, c.dir, inside)
}

func histories(e *edits, c *shellCall) {
	if hasFlag(c.args(), 'w', "") || hasFlag(c.args(), 'a', "") {
		e.words(operands(c.args(), ""), c.dir, inside)
	}
}

// pythons: the module that makes a folder with an interpreter.
func pythons(e *edits, c *shellCall) {
	args := c.args()
	for i, w := range args {
		if w.text == "-m" && i+1 < len(args) && (args[i+1].text == "venv" || args[i+1].text == "virtualenv") {
			environments(e, &shellCall{words: args[i+1:], dir: c.dir})
		}
	}
}

func environments(e *edits, c *shellCall) {
	for _, w := range operands(c.args(), "p") {
		e.below(w, c.dir)
	}
}

// buffers: tmux writes a buffer into a file.
func buffers(e *edits, c *shellCall) {
	for i, w := range c.args() {
		if tmuxMeans(w.text, "save-buffer", len("sav")) || w.text == "saveb" {
			e.words(operands(c.args()[i+1:], "b"), c.dir, inside)
		}
	}
}
