package hooks

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// command judges what a shell command edits, as far as its text tells: by redirections, by the programs that write, move
// and remove files, by git. What a script, a compiler or any other program writes is found by git when the worker reports.
func (e *edits) command(command string) {
	e.r.onWrite = func(w shellWord, dir string) { e.word(w, dir, inside) }
	e.r.onCall = e.call
	e.r.onText = func(by, text string) {
		switch by {
		case "sh":
			e.untold(text)
		case "tmux", "ssh", "screen":
		default:
			e.spoken(text)
		}
	}
	e.r.read(command)
}

// writer judges a call of one program.
type writer func(*edits, *shellCall)

// writers are the programs that write, move or remove files. To each its way of naming them.
var writers map[string]writer

func init() {
	writers = map[string]writer{
		"tee": all("", inside), "touch": all("dtr", inside), "truncate": all("sr", inside), "sponge": all("", inside), "mkfifo": all("m", itself),
		"rm": all("", whole), "rmdir": all("", itself), "unlink": all("", itself), "shred": all("nsS", inside), "trash": all("", whole), "mkdir": makes,
		"chmod": changes, "chown": changes, "chgrp": changes,
		"gzip": all("S", itself), "gunzip": all("S", itself), "bzip2": all("", itself), "xz": all("", itself), "zstd": all("o", itself),
		"cp": copies, "install": installs, "mv": moves, "ln": links, "rsync": copies, "scp": copies,
		"sed": seds, "perl": inPlace(editor{"eEIMmxl", "eEI", ""}), "ruby": inPlace(editor{"eEICFrx", "eEICr", ""}), "yq": inPlace(editor{"", "", "--inplace"}),
		"gawk": awks, "awk": awks, "mawk": awks, "nawk": awks, "split": splits("abClnt"), "csplit": splits("bn"),
		"dd": dumps, "sort": output("o", "--output"), "unzip": unzips, "zip": firstOf,
		"patch": patches, "apply_patch": codexPatches, "applypatch": codexPatches, "git": gits, "find": finds,
		"ed": visuals("p"), "ex": visuals("c"), "vi": visuals("c"), "vim": visuals("cS"), "nvim": visuals("cS"), "nano": all("", inside),
		"gofmt": formats("w", ""), "goimports": formats("w", ""), "prettier": formats("w", "--write"), "eslint": formats("", "--fix"), "black": formats("", ""),
		"rustfmt": formats("", ""), "clang-format": formats("i", ""), "isort": formats("", ""),
		"go": toolchain("", "fmt", "fix"), "cargo": toolchain("", "fmt", "fix"), "deno": toolchain("", "fmt"), "terraform": toolchain("", "fmt"), "mix": toolchain("", "format"),
		"dotnet": toolchain("", "format"), "ruff": toolchain("--fix", "format"), "biome": toolchain("--write"), "openssl": output("out", "--out"), "gpg": output("o", "--output"),
	}
}

func (e *edits) call(c *shellCall) {
	if typedInto(c) {
		e.untold("what is typed into " + c.program())
		return
	}
	write, ok := writerOf(c.program())
	if !ok {
		return
	}
	if c.many && !e.listed(c) {
		e.many(c, write)
		return
	}
	write(e, c)
}

// writerOf finds a program by its name, also with a version behind it.
func writerOf(name string) (write writer, ok bool) {
	for _, n := range []string{name, strings.TrimRight(name, "0123456789.")} {
		if write, ok = writers[n]; ok {
			return write, true
		}
		if write, ok = moreWriters[n]; ok {
			return write, true
		}
	}
	return nil, false
}

// repls are programs that do what is typed into them, beside the shells.
var repls = []string{"python", "python2", "python3", "ipython", "perl", "ruby", "irb", "node", "nodejs", "deno", "php", "lua", "pwsh"}

// replFlags leave it at that.
var replFlags = []string{"-", "-i", "-l", "-s", "-il", "-li", "-q", "-u", "-B", "-a", "--login", "--norc", "--noprofile", "--interactive"}

// typedInto says that a call starts a program only to type into it later. Of that no hook tells: Codex has a tool for it
// (write_stdin, 0.171.0), of which neither PreToolUse nor another hook is asked.
func typedInto(c *shellCall) bool {
	name := c.program()
	if !slices.Contains(shells, name) && !slices.Contains(repls, strings.TrimRight(name, "0123456789.")) && !slices.Contains(repls, name) {
		return false
	}
	told := c.read != "" || len(c.from) > 0 || c.many
	return !told && !slices.ContainsFunc(c.args(), func(w shellWord) bool { return !slices.Contains(replFlags, w.text) })
}

// many judges a call that is given files which are not known: refused where it edits any.
func (e *edits) many(c *shellCall, write writer) {
	before := *e
	e.any, e.reason = false, ""
	with := *c
	unknown := shellWord{}
	unknown.unknown()
	with.words = append(slices.Clone(c.words), unknown)
	write(e, &with)
	edited := e.any
	e.any, e.reason = before.any, before.reason
	if edited {
		e.untold(wordsText(c.words) + " with files that another command lists")
	}
}

// operands are the words of a call that are no flags, nor the values of those in valued.
func operands(args []shellWord, valued string) (list []shellWord) {
	for i := 0; i < len(args); i++ {
		w := args[i].text
		switch {
		case w == "--":
			return append(list, args[i+1:]...)
		case len(w) < 2 || w[0] != '-':
			list = append(list, args[i])
		case w[1] != '-' && valued != "" && strings.IndexByte(valued, w[len(w)-1]) >= 0:
			i++
		}
	}
	return list
}

// all: each operand is edited.
func all(valued string, how int) writer {
	return func(e *edits, c *shellCall) { e.words(operands(c.args(), valued), c.dir, how) }
}

// makes: a folder above the scope may be made.
func makes(e *edits, c *shellCall) {
	for _, w := range operands(c.args(), "m") {
		if rel, ok := below(realPath(e.s.Dir), realPath(placed(w.text, c.dir))); ok && w.known && c.dir != "" && e.s.Scope.Leads(filepath.ToSlash(rel)) {
			e.any = true
			continue
		}
		e.word(w, c.dir, itself)
	}
}

// changes: the first operand says how.
func changes(e *edits, c *shellCall) {
	list := operands(c.args(), "")
	reference := slices.ContainsFunc(c.args(), func(w shellWord) bool { return strings.HasPrefix(w.text, "--reference") })
	if len(list) > 0 && !reference {
		list = list[1:]
	}
	how := inside
	if hasFlag(c.args(), 'R', "--recursive") {
		how = whole
	}
	e.words(list, c.dir, how)
}

// copies: each source gets to its place below or at the target.
func copies(e *edits, c *shellCall) {
	from, to := sources(c.args())
	e.arrive(c, from, to, inside)
}

// arrive judges where things are put.
func (e *edits) arrive(c *shellCall, from []shellWord, to shellWord, how int) {
	if len(from) == 0 || to.text == "" {
		return
	}
	folder := to.known && (strings.HasSuffix(to.text, "/") || isFolder(placed(to.text, c.dir))) || len(from) > 1
	for _, w := range from {
		target := to
		if folder && w.known && to.known && !to.globs && !w.globs {
			target = textWord(to.text + "/" + filepath.Base(w.text))
		} else if folder {
			target.add("/")
			target.unknown()
		}
		if w.known && isFolder(placed(w.text, c.dir)) {
			e.word(target, c.dir, whole)
			target.add("/")
			target.unknown()
		}
		e.word(target, c.dir, how)
	}
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func installs(e *edits, c *shellCall) {
	if hasFlag(c.args(), 'd', "--directory") {
		makes(e, c)
		return
	}
	from, to := sources(c.args())
	if plain := operands(c.args(), "mogStZ"); !hasFlag(c.args(), 't', "") && len(plain) > 1 {
		from, to = plain[:len(plain)-1], plain[len(plain)-1]
	}
	e.arrive(c, from, to, inside)
}

// moves: both ends are edited.
func moves(e *edits, c *shellCall) {
	from, to := sources(c.args())
	e.words(from, c.dir, whole)
	e.arrive(c, from, to, itself)
}

// links: the name is edited; what a hard link names may be written through it. What the same command writes behind a
// symbolic link is followed.
func links(e *edits, c *shellCall) {
	from, to := sources(c.args())
	if to.text == "" && len(from) == 1 {
		to = textWord(".")
	}
	symbolic := hasFlag(c.args(), 's', "--symbolic")
	if !symbolic {
		e.words(from, c.dir, inside)
	}
	e.arrive(c, from, to, itself)
	if !symbolic || len(from) != 1 || !from[0].known || !to.known || c.dir == "" {
		return
	}
	link := placed(to.text, c.dir)
	if isFolder(link) {
		link = filepath.Join(link, filepath.Base(from[0].text))
	}
	e.links[link] = placed(from[0].text, filepath.Dir(link))
}

// editor is a program that edits its operands in place where a flag says so.
type editor struct {
	valued string // letters of flags behind which a value begins
	apart  string // those whose value may stand apart
	long   string // the long flag that says so, "" for none; the short one is -i
}

// inPlace: the operands behind the program's own text are edited, where a flag says so.
func inPlace(p editor) writer {
	return func(e *edits, c *shellCall) {
		on, script := p.reads(c.args())
		if !on {
			return
		}
		list := operands(c.args(), p.apart)
		list = slices.DeleteFunc(list, func(w shellWord) bool { return w.text == "" && w.known }) // -i '', as on macOS
		if !script && len(list) > 0 {
			list = list[1:]
		}
		e.words(list, c.dir, inside)
	}
}

// reads tells whether the flags say that files are edited in place, and whether they hold the program's text, which else is
// the first operand.
func (p editor) reads(args []shellWord) (on, script bool) {
	for _, w := range args {
		t := w.text
		switch {
		case t == "--":
			return on, script
		case p.long != "" && strings.HasPrefix(t, p.long):
			on = true
		case t == "--expression" || t == "--file" || strings.HasPrefix(t, "--expression=") || strings.HasPrefix(t, "--file="):
			script = true
		case len(t) > 1 && t[0] == '-' && t[1] != '-':
			end := strings.IndexAny(t[1:], p.valued) + 1
			if end == 0 {
				end = len(t)
			}
			edits := strings.IndexByte(t[:end], 'i')
			on = on || edits > 0
			script = script || edits < 0 && end < len(t) && strings.IndexByte("efE", t[end]) >= 0 || edits > 0 && strings.HasSuffix(t, "e")
		}
	}
	return on, script
}

var (
	awkWrites = pattern(`>\s*"([^"]+)"`)
	awkRuns   = pattern(`(?:\|&?\s*|\bsystem\s*\(\s*)"((?:[^"\\]|\\.)*)"|"((?:[^"\\]|\\.)*)"\s*\|&?\s*getline`)
	awkBuilt  = pattern(`\bsystem\s*\(\s*[^"\s)]`)
)

// awks: the operands behind the program's text with -i inplace, and what that text itself writes by a name in quotes or runs.
func awks(e *edits, c *shellCall) {
	list := texts(c.args())
	files := operands(c.args(), "ifvF")
	if slices.Contains(list, "inplace") || slices.Contains(list, "-iinplace") {
		e.words(files[min(1, len(files)):], c.dir, inside)
	}
	for _, w := range files[:min(1, len(files))] {
		for _, m := range awkWrites().FindAllStringSubmatch(w.text, -1) {
			e.word(textWord(m[1]), c.dir, inside)
		}
		for _, m := range awkRuns().FindAllStringSubmatch(w.text, -1) {
			e.r.within(strings.ReplaceAll(m[1]+m[2], `\"`, `"`))
		}
		e.awkNamed(c, w.text)
		if found := awkBuilt().FindString(w.text); found != "" {
			e.untold(found + "…)")
		}
	}
}

// splits: pieces are written whose names begin with the second operand, or with -f.
func splits(valued string) writer {
	return func(e *edits, c *shellCall) {
		prefix := textWord("x")
		if list := operands(c.args(), valued+"f"); c.program() == "split" && len(list) > 1 {
			prefix = list[1]
		}
		for i, w := range c.args() {
			if w.text == "-f" && i+1 < len(c.args()) {
				prefix = c.args()[i+1]
			}
		}
		prefix.unknown()
		e.word(prefix, c.dir, inside)
	}
}

// toolchain: a program whose first operand is a verb. These verbs edit what stands behind them, or all that is in the folder;
// with the flag, "" for none, the others do too.
func toolchain(flag string, verbs ...string) writer {
	return func(e *edits, c *shellCall) {
		list := operands(c.args(), "")
		for len(list) > 0 && strings.HasPrefix(list[0].text, "+") { // cargo +nightly fmt
			list = list[1:]
		}
		if len(list) == 0 || hasFlag(c.args(), 0, "--check") || hasFlag(c.args(), 0, "--diff") {
			return
		}
		if !slices.Contains(verbs, list[0].text) && (flag == "" || !hasFlag(c.args(), 0, flag)) {
			return
		}
		if list = list[1:]; len(list) == 0 || c.program() == "cargo" {
			list = []shellWord{textWord(".")}
		}
		for _, w := range list {
			if folder, ok := strings.CutSuffix(w.text, "/..."); ok && w.known { // of Go: with all below
				w = textWord(folder)
			}
			e.word(w, c.dir, whole)
		}
	}
}

func dumps(e *edits, c *shellCall) {
	for _, w := range c.args() {
		if name, ok := strings.CutPrefix(w.text, "of="); ok {
			w.text, w.pattern = name, strings.TrimPrefix(w.pattern, "of=")
			e.word(w, c.dir, inside)
		}
	}
}

// output: the values of flags are written. Each letter is a short one, but for the word that openssl has.
func output(short string, long ...string) writer {
	return func(e *edits, c *shellCall) {
		args := c.args()
		shorts := strings.Split(short, "")
		if short == "out" {
			shorts = []string{short}
		}
		for i, w := range args {
			name, value, joined := strings.Cut(w.text, "=")
			switch {
			case joined && slices.Contains(long, name):
				e.word(textWord(value), c.dir, inside)
			case i+1 < len(args) && (slices.Contains(long, w.text) || slices.ContainsFunc(shorts, func(s string) bool { return isShort(w.text, s) })):
				e.word(args[i+1], c.dir, inside)
			case c.program() == "curl" && (isShort(w.text, "O") || strings.HasPrefix(w.text, "--remote-name")):
				into, told := valueOf(args, 0, "--output-dir")
				if !told {
					into = textWord(".")
				}
				e.below(into, c.dir)
			}
		}
	}
}

// isShort tells that a word is a flag, alone or the last of several.
func isShort(word, flag string) bool {
	return len(word) > 1 && word[0] == '-' && word[1] != '-' && strings.HasSuffix(word, flag)
}

// below judges what is written somewhere below a folder.
func (e *edits) below(folder shellWord, dir string) {
	folder.add("/")
	folder.unknown()
	e.word(folder, dir, inside)
}

func unzips(e *edits, c *shellCall) {
	into := textWord(".")
	for i, w := range c.args() {
		if w.text == "-d" && i+1 < len(c.args()) {
			into = c.args()[i+1]
		}
		if w.text == "-l" || w.text == "-p" || w.text == "-t" {
			return
		}
	}
	e.below(into, c.dir)
}

func firstOf(e *edits, c *shellCall) {
	if list := operands(c.args(), ""); len(list) > 0 {
		e.word(list[0], c.dir, inside)
	}
}

// formats: what a formatter is given is edited where a flag says so, all of it below a folder.
func formats(short, long string) writer {
	return func(e *edits, c *shellCall) {
		if (short != "" || long != "") && !hasFlag(c.args(), short0(short), long) {
			return
		}
		if hasFlag(c.args(), 0, "--check") {
			return
		}
		e.words(operands(c.args(), ""), c.dir, whole)
	}
}

func short0(s string) byte {
	if s == "" {
		return 0
	}
	return s[0]
}

// finds: what find removes or writes by itself.
func finds(e *edits, c *shellCall) {
	if slices.Contains(texts(c.args()), "-delete") {
		for _, w := range starts(c.args()) {
			e.below(w, c.dir)
		}
	}
	for i, w := range c.args() {
		if strings.HasPrefix(w.text, "-fprint") && i+1 < len(c.args()) {
			e.word(c.args()[i+1], c.dir, inside)
		}
	}
}

// starts are the folders in which find looks.
func starts(args []shellWord) (list []shellWord) {
	for _, w := range args {
		if w.text == "" || strings.ContainsAny(w.text[:1], "-(!") {
			break
		}
		list = append(list, w)
	}
	if len(list) == 0 {
		list = append(list, textWord("."))
	}
	return list
}

// listed tells that the files which a call is given come from a search in folders that are in the scope as a whole.
func (e *edits) listed(c *shellCall) bool {
	var folders []shellWord
	searches := 0
	for _, n := range c.from {
		r := *e.r
		r.onText, r.onWrite = nil, nil
		r.onCall = func(c *shellCall) {
			switch list := operands(c.args(), "eAgtTmBC"); c.program() {
			case "find":
				folders, searches = append(folders, starts(c.args())...), searches+1
			case "grep", "rg", "egrep":
				if list = list[min(1, len(list)):]; len(list) == 0 {
					list = []shellWord{textWord(".")}
				}
				folders, searches = append(folders, list...), searches+1
			case "sort", "uniq", "head", "tail":
			default:
				searches += 2
			}
		}
		restore := r.subshell()
		r.walk(n)
		restore()
	}
	if searches != 1 || c.dir == "" {
		return false
	}
	for _, w := range folders {
		if !w.known || w.globs || e.outside(realPath(placed(w.text, c.dir)), whole) != "" && !e.plainFile(w, c.dir) {
			return false
		}
	}
	return true
}

func (e *edits) plainFile(w shellWord, dir string) bool {
	real := realPath(placed(w.text, dir))
	return !isDir(real) && e.outside(real, inside) == ""
}
