package hooks

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// gits judges what git edits in the working tree. What it brings by its history (merge, pull, switch) is left to it.
func gits(e *edits, c *shellCall) {
	args, dir := c.args(), c.dir
	for _, name := range gitRuns {
		for _, set := range []map[string]shellWord{c.env, e.r.vars} {
			if w, ok := set[name]; ok {
				e.r.within(w.text)
			}
		}
	}
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		n := 1
		if slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace"}, args[0].text) {
			n = 2
		}
		if args[0].text == "-C" && len(args) > 1 {
			dir = gitDir(args[1], dir)
		}
		if args[0].text == "-c" && len(args) > 1 {
			e.gitSetting(args[1].text)
		}
		args = args[min(n, len(args)):]
	}
	if len(args) == 0 {
		return
	}
	g := gitCall{e: e, verb: args[0].text, args: args[1:], dir: dir, read: c.read}
	switch g.verb {
	case "mv":
		moves(e, &shellCall{words: args, dir: dir})
	case "rm":
		e.words(operands(g.args, ""), dir, whole)
	case "checkout":
		g.checkout()
	case "restore":
		g.restore()
	case "reset":
		if g.has("--hard") || g.has("--merge") || g.has("--keep") {
			g.everything()
		}
	case "clean":
		g.clean()
	case "stash":
		g.stash()
	case "apply":
		g.apply()
	case "am":
		g.am()
	case "switch":
		if g.has("-f") || g.has("--force") || g.has("--discard-changes") {
			g.everything()
		}
	case "read-tree":
		if g.has("-u") {
			g.everything()
		}
	case "diff", "log", "show", "archive", "format-patch":
		g.output()
	case "checkout-index":
		if g.has("-a") || g.has("--all") || g.has("-af") || g.has("-fa") || g.has("--stdin") {
			g.everything()
		}
		e.words(operands(g.args, ""), dir, inside)
	case "sparse-checkout":
		if list := operands(g.args, ""); len(list) > 0 && list[0].text != "list" && list[0].text != "check-rules" {
			g.everything()
		}
	case "filter-branch":
		g.everything()
	case "submodule", "bisect":
		for i, w := range g.args {
			if w.text == "foreach" || w.text == "run" {
				g.runs(wordsText(behindFlags(g.args[i+1:], "")), w.text == "foreach")
				break
			}
		}
	case "rebase":
		g.runsValue('x', "--exec")
	case "grep":
		g.runsValue('O', "--open-files-in-pager")
	case "difftool":
		g.runsValue('x', "--extcmd")
	case "bundle":
		if list := operands(g.args, ""); len(list) > 1 && list[0].text == "create" {
			e.word(list[1], dir, inside)
		}
	case "init":
		for _, w := range operands(g.args, "b") {
			e.below(w, dir)
		}
	case "config":
		for i, w := range g.args {
			if (w.text == "-f" || w.text == "--file") && i+1 < len(g.args) {
				e.word(g.args[i+1], dir, inside)
			}
		}
	case "worktree":
		if list := operands(g.args, "bB"); len(list) > 1 && list[0].text == "add" {
			e.word(list[1], dir, whole)
		}
	case "clone":
		if list := operands(g.args, "bcjou"); len(list) > 1 {
			e.word(list[1], dir, whole)
		} else {
			e.below(textWord("."), dir)
		}
	}
}

func gitDir(w shellWord, dir string) string {
	if !w.known || dir == "" && !filepath.IsAbs(w.text) {
		return ""
	}
	return placed(w.text, dir)
}

// gitRuns are the variables whose value git runs.
var gitRuns = []string{"GIT_PAGER", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND", "GIT_ASKPASS", "PAGER", "EDITOR", "VISUAL"}

// gitSettings are the settings whose value git runs.
var gitSettings = pattern(`(?i)^(?:core\.(?:pager|editor|sshCommand|fsmonitor|askPass)|pager\..*|sequence\.editor|diff\.external|.*\.(?:textconv|cmd|driver|clean|smudge|process))=`)

// gitSetting judges a setting that is given for one call: what git runs by it.
func (e *edits) gitSetting(text string) {
	if end := gitSettings().FindString(text); end != "" {
		e.r.within(text[len(end):])
		return
	}
	name, value, _ := strings.Cut(text, "=")
	if command, ok := strings.CutPrefix(value, "!"); ok && strings.HasPrefix(strings.ToLower(name), "alias.") {
		e.r.within(command)
	}
}

// runs judges a command that git runs, where elsewhere says so in a folder that is not known.
func (g gitCall) runs(command string, elsewhere bool) {
	restore := g.e.r.subshell()
	g.e.r.dir = g.dir
	if elsewhere {
		g.e.r.dir = ""
	}
	g.e.r.read(command)
	restore()
}

// runsValue judges the command that a flag names.
func (g gitCall) runsValue(short byte, long string) {
	for i, w := range g.args {
		attached, is := strings.CutPrefix(w.text, "-"+string(short))
		joined, named := strings.CutPrefix(w.text, long+"=")
		switch {
		case is && attached != "":
			g.runs(attached, false)
		case named:
			g.runs(joined, false)
		case (is || w.text == long) && short == 'x' && i+1 < len(g.args):
			g.runs(g.args[i+1].text, false)
		}
	}
}

// gitCall is one call of git, behind its own flags.
type gitCall struct {
	e         *edits
	verb      string
	args      []shellWord
	dir, read string
}

func (g gitCall) has(flag string) bool { return slices.Contains(texts(g.args), flag) }

// everything: all that is in the working tree may be edited.
func (g gitCall) everything() { g.e.word(textWord("."), g.dir, whole) }

// paths are the words behind two dashes.
func (g gitCall) paths() (list []shellWord, ok bool) {
	at := slices.Index(texts(g.args), "--")
	if at < 0 {
		return nil, false
	}
	return g.args[at+1:], true
}

func (g gitCall) checkout() {
	if list, ok := g.paths(); ok && len(list) > 0 {
		g.e.words(list, g.dir, whole)
		return
	}
	if g.has("-b") || g.has("-B") || g.has("--orphan") {
		return
	}
	list := operands(g.args, "")
	if len(list) < 2 && (g.has("-f") || g.has("--force")) {
		g.everything()
		return
	}
	for i, w := range list { // the first may be a branch
		if _, err := os.Lstat(placed(w.text, g.dir)); i > 0 || err == nil {
			g.e.word(w, g.dir, whole)
		}
	}
}

func (g gitCall) restore() {
	staged := g.has("--staged") || g.has("-S")
	if staged && !g.has("--worktree") && !g.has("-W") {
		return // only what is to be committed
	}
	g.e.words(operands(g.args, "s"), g.dir, whole)
}

func (g gitCall) clean() {
	if hasFlag(g.args, 'n', "--dry-run") {
		return
	}
	list := operands(g.args, "e")
	if len(list) == 0 {
		g.everything()
	}
	g.e.words(list, g.dir, whole)
}

func (g gitCall) stash() {
	list := operands(g.args, "m")
	if len(list) > 0 && slices.Contains([]string{"list", "show", "drop", "clear", "create", "store", "branch"}, list[0].text) {
		return
	}
	if paths, ok := g.paths(); ok && len(paths) > 0 {
		g.e.words(paths, g.dir, whole)
		return
	}
	g.everything()
}

func (g gitCall) apply() {
	if g.has("--check") || g.has("--stat") || g.has("--numstat") || g.has("--summary") || g.has("--cached") {
		return
	}
	g.e.diffs(operands(g.args, "pC"), g.dir, g.read, strip(g.args))
}

// am: the files that mailed patches name.
func (g gitCall) am() {
	for _, flag := range []string{"--continue", "-r", "--resolved", "--skip", "--abort", "--quit", "--show-current-patch"} {
		if g.has(flag) {
			return
		}
	}
	g.e.diffs(operands(g.args, "pC"), g.dir, g.read, strip(g.args))
}

// output: what is compared or packed may be written into a file, and mailed patches are.
func (g gitCall) output() {
	into, said := shellWord{}, false
	for i, w := range g.args {
		name, joined := "", false
		for _, flag := range []string{"--output=", "--output-directory="} {
			if name, joined = strings.CutPrefix(w.text, flag); joined {
				into, said = textWord(name), true
			}
		}
		apart := w.text == "--output" || w.text == "--output-directory" || w.text == "-o" && (g.verb == "archive" || g.verb == "format-patch")
		if apart && i+1 < len(g.args) {
			into, said = g.args[i+1], true
		}
	}
	switch {
	case g.verb == "format-patch" && g.has("--stdout"):
	case g.verb == "format-patch" && said:
		g.e.below(into, g.dir)
	case g.verb == "format-patch":
		g.e.below(textWord("."), g.dir)
	case said:
		g.e.word(into, g.dir, inside)
	}
}

// patches: the files that a patch names.
func patches(e *edits, c *shellCall) {
	if hasFlag(c.args(), 0, "--dry-run") {
		return
	}
	list, from := operands(c.args(), "pioDdBzFrYV"), []shellWord(nil)
	for i, w := range c.args() {
		if w.text == "-i" && i+1 < len(c.args()) {
			from = append(from, c.args()[i+1])
		}
	}
	if len(list) > 0 {
		e.word(list[0], c.dir, inside)
		return
	}
	e.diffs(from, c.dir, c.read, strip(c.args()))
}

// strip is how many folders a patch's names lose: -p1.
func strip(args []shellWord) int {
	for i, w := range args {
		value, ok := strings.CutPrefix(w.text, "-p")
		if ok && value == "" && i+1 < len(args) {
			value = args[i+1].text
		}
		if n, err := strconv.Atoi(value); ok && err == nil {
			return n
		}
	}
	return 1
}

// diffMost is how much of a patch is read.
const diffMost = 1 << 20

// diffs judges the files that patches name: those in files, else the text that is read.
func (e *edits) diffs(files []shellWord, dir, read string, strip int) {
	text := []string{read}
	if len(files) > 0 {
		text = nil
	}
	for _, w := range files {
		info, err := os.Stat(placed(w.text, dir))
		if err != nil || !w.known || dir == "" || info.Size() > diffMost || !info.Mode().IsRegular() {
			e.untold("a patch that can't be read: " + w.text)
			return
		}
		raw, err := os.ReadFile(placed(w.text, dir))
		if err != nil {
			e.untold("a patch that can't be read: " + w.text)
			return
		}
		text = append(text, string(raw))
	}
	named := 0
	for _, t := range text {
		named += e.diff(t, dir, strip)
	}
	if named == 0 {
		e.untold("a patch")
	}
}

// diff judges the files that one patch names, and counts them.
func (e *edits) diff(text, dir string, strip int) (named int) {
	for line := range strings.Lines(text) {
		for _, head := range []string{"--- ", "+++ ", "rename from ", "rename to ", "copy to "} {
			name, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), head)
			if !ok {
				continue
			}
			name, _, _ = strings.Cut(name, "\t")
			named++
			if name == "/dev/null" {
				continue
			}
			if strings.HasSuffix(head, "- ") || strings.HasSuffix(head, "+ ") {
				if parts := strings.SplitN(name, "/", strip+1); len(parts) > strip {
					name = parts[strip]
				}
			}
			e.word(textWord(name), dir, inside)
		}
	}
	return named
}

// codexPatches: a patch in Codex's own form, as a word or as what is read.
func codexPatches(e *edits, c *shellCall) {
	text := c.read
	if list := operands(c.args(), ""); len(list) > 0 {
		text = list[0].text
	}
	e.codexPatch(text, c.dir)
}

// codexPatch judges each file that such a patch names, and where it moves one.
func (e *edits) codexPatch(text, dir string) {
	named := 0
	for line := range strings.Lines(text) {
		for _, head := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "} {
			if name, ok := strings.CutPrefix(strings.TrimSpace(line), head); ok {
				named++
				e.word(textWord(strings.TrimSpace(name)), dir, inside)
			}
		}
	}
	if named == 0 {
		e.untold("a patch that names no file")
	}
}

var (
	openedFor  = pattern(`\bf?open\(\s*([^,()]+?)\s*,\s*(?:mode\s*=\s*)?[rbuf]*['"][^'"]*[wax+][^'"]*['"]`)
	writtenTo  = pattern(`(?:writeFile(?:Sync)?|appendFile(?:Sync)?|unlink(?:Sync)?|rmSync|os\.remove|os\.unlink|shutil\.rmtree|File\.write|file_put_contents)\(\s*([^,()]+)`)
	pathWrites = pattern(`(?:\bPath\(\s*([^()]+?)\s*\)|\b([A-Za-z_]\w*))\.(?:write_text|write_bytes|unlink|touch)\(`)
	anyWrites  = pattern(`\.(?:write_text|write_bytes)\(`)
	setTo      = pattern(`\b([A-Za-z_]\w*)\s*=\s*(?:pathlib\.)?(?:Path\()?\s*[rbuf]*(['"][^'"\n]*['"])`)
)

// spoken judges a program's text in another language: files that it opens for writing by a name in quotes.
func (e *edits) spoken(text string) {
	names := map[string]string{}
	for _, m := range setTo().FindAllStringSubmatch(text, -1) {
		names[m[1]] = m[2]
	}
	told := 0
	for _, m := range pathWrites().FindAllString(text, -1) {
		told += len(anyWrites().FindAllString(m, -1))
	}
	if all := anyWrites().FindAllString(text, -1); len(all) > told { // a path that is put together first
		e.untold(all[len(all)-1] + "…)")
	}
	for _, find := range []func() [][]string{
		func() [][]string { return openedFor().FindAllStringSubmatch(text, -1) },
		func() [][]string { return writtenTo().FindAllStringSubmatch(text, -1) },
		func() [][]string { return pathWrites().FindAllStringSubmatch(text, -1) },
	} {
		for _, m := range find() {
			e.named(strings.TrimSpace(strings.Join(m[1:], "")), names)
		}
	}
}

// named judges a name in another language: in quotes, or of a variable that holds one.
func (e *edits) named(word string, names map[string]string) {
	if value, ok := names[word]; ok {
		word = value
	}
	if len(word) > 1 && strings.ContainsAny(word[:1], `'"`) && word[0] == word[len(word)-1] {
		e.word(textWord(word[1:len(word)-1]), e.r.dir, inside)
		return
	}
	e.untold(word)
}
