package hooks

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"st/orch"
)

// ScopeEnv names the file with the scope of the worker whose agent it is. Only agents of workers with a scope have it.
const ScopeEnv = "ST_SCOPE"

// Scoped is what a worker may edit, as its launch has written it.
type Scoped struct {
	Worker string     `json:"worker"`
	Dir    string     `json:"dir"`  // the folder to which the scope is relative
	Home   string     `json:"home"` // ST_HOME, in which nothing may be edited
	Scope  orch.Scope `json:"scope"`
}

// ReadScoped reads the scope of the agent whose environment this is; nil where it has none. An error means that it has one which
// can't be read: then it may edit nothing.
func ReadScoped(env func(string) string) (*Scoped, error) {
	path := env(ScopeEnv)
	if path == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var s Scoped
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, err
	}
	if len(s.Scope) == 0 || !filepath.IsAbs(s.Dir) {
		return nil, fmt.Errorf("%s: no scope is in it", path)
	}
	return &s, nil
}

const (
	scopeUnread  = "st: what you may edit can't be read (%v), so nothing is edited. Say so: st escalate 'my scope can not be read', and end your turn"
	scopeAlone   = "st: you have a scope, and while the daemon can't be reached (%v) nothing is edited. Run: st status; then try again, or end your turn"
	scopeOutside = "st: %s is outside your scope (%s, in %s), and was not edited. Change only what is in it. If the task can't be done so, ask: " +
		"st ask --question 'may I edit …?', or say in your report what has to be changed there"
	scopeUntold = "st: you have a scope (%s), and this does not tell which file it would write: %s. Name each file itself, in a plain command, " +
		"or use your editing tool"
)

// edits judges what a tool call would edit.
type edits struct {
	at     Place
	s      Scoped
	r      *shellReader
	links  map[string]string // made by the command itself
	any    bool              // something is edited
	reason string            // why it is refused, "" as long as nothing is
}

// scopeRefusal is why a worker's tool call is not let through, "" where nothing speaks against it. look tells what it
// would edit.
func scopeRefusal(at Place, dir string, look func(*edits)) string {
	if at.Scope == nil {
		return ""
	}
	s, err := at.Scope()
	switch {
	case err != nil:
		s = &Scoped{Dir: "/", Scope: orch.Scope{"**"}}
	case s == nil:
		return ""
	}
	e := &edits{at: at, s: *s, r: at.reader(dir), links: map[string]string{}}
	look(e)
	switch {
	case !e.any:
		return ""
	case err != nil:
		return fmt.Sprintf(scopeUnread, err)
	case e.reason != "":
		return e.reason
	}
	if err := at.Reach(); err != nil {
		return fmt.Sprintf(scopeAlone, err)
	}
	return ""
}

func (e *edits) refuse(reason string) {
	e.any = true
	if e.reason == "" {
		e.reason = reason
	}
}

// untold refuses what does not say what it writes.
func (e *edits) untold(what string) {
	e.refuse(fmt.Sprintf(scopeUntold, e.s.Scope, strings.ReplaceAll(cut(firstLine(what), whatMax), hole, "…")))
}

// Ways in which a path is edited.
const (
	inside = iota // what the path names is written, behind links too
	itself        // the name is taken away, or put there anew
	whole         // with all that is below
)

// file judges one path that is edited.
func (e *edits) file(name string, how int) { e.word(textWord(name), e.r.dir, how) }

// words judges words of a call, each one or several paths.
func (e *edits) words(list []shellWord, dir string, how int) {
	for _, w := range list {
		e.word(w, dir, how)
	}
}

func (e *edits) word(w shellWord, dir string, how int) {
	if w.known && streams[w.text] || slices.ContainsFunc(streamsIn, func(dir string) bool { return strings.HasPrefix(w.text, dir) }) {
		return
	}
	e.any = true
	switch {
	case w.text == "":
	case !filepath.IsAbs(w.text) && (dir == "" || strings.HasPrefix(w.text, hole)):
		e.untold(w.text)
	case w.globs:
		e.glob(w, dir, how)
	case !w.known:
		e.within(w, dir)
	default:
		e.path(placed(w.text, dir), how)
	}
}

// streams are written without that anything is edited.
var streams = map[string]bool{"/dev/null": true, "/dev/stdout": true, "/dev/stderr": true, "/dev/tty": true, "/dev/zero": true, "-": true}

// streamsIn are folders of such.
var streamsIn = []string{"/dev/fd/", "/dev/tcp/", "/dev/udp/", "/dev/pts/", "/proc/self/fd/"}

func placed(name, dir string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// globMost is how many files of a pattern are looked at.
const globMost = 2000

// glob judges the files that are there and fit.
func (e *edits) glob(w shellWord, dir string, how int) {
	pattern := w.pattern
	if !filepath.IsAbs(w.text) {
		pattern = filepath.Join(escapePattern(dir), pattern)
	}
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) > globMost || !w.known {
		e.within(w, dir)
		return
	}
	if len(found) == 0 { // the shell hands it over as it stands
		e.path(placed(w.text, dir), how)
	}
	for _, path := range found {
		e.path(path, how)
	}
}

// within judges a path of which only the begin is known: everything below its last whole folder must be in the scope.
func (e *edits) within(w shellWord, dir string) {
	end := strings.IndexAny(w.text, hole+"*?[")
	if end < 0 {
		end = len(w.text)
	}
	if !strings.Contains(w.text[:end], "/") {
		end = 0
	}
	folder := placed(w.text[:strings.LastIndexByte(w.text[:end], '/')+1], dir)
	if strings.Contains(w.text[end:], "..") {
		e.untold(w.text)
		return
	}
	if why := e.outside(realPath(folder), whole); why != "" {
		e.untold(w.text)
	}
}

// path judges one whole path.
func (e *edits) path(path string, how int) {
	for link, to := range e.links {
		if path == link && how == inside || strings.HasPrefix(path, link+"/") {
			path = to + path[len(link):]
		}
	}
	real := realPath(path)
	if how != inside { // a link itself, not what it names
		real = filepath.Join(realPath(filepath.Dir(path)), spelled(filepath.Dir(path), filepath.Base(path)))
	}
	if how == whole && !isDir(real) {
		how = itself
	}
	if why := e.outside(real, how); why != "" {
		e.refuse(why)
	}
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// outside says why a path without links may not be edited, "" where it may.
func (e *edits) outside(real string, how int) string {
	dir := realPath(e.s.Dir)
	if rel, ok := below(dir, real); ok {
		rel = filepath.ToSlash(rel)
		if how == whole && e.s.Scope.Covers(rel) || how != whole && e.s.Scope.Allows(rel) {
			return ""
		}
		return fmt.Sprintf(scopeOutside, rel, e.s.Scope, dir)
	}
	if _, above := below(real, dir); !above && e.temporary(real) {
		return ""
	}
	return fmt.Sprintf(scopeOutside, real, e.s.Scope, dir)
}

// below tells that a path is a folder, or in it, and where.
func below(dir, path string) (rel string, ok bool) {
	rel, err := filepath.Rel(dir, path)
	return rel, err == nil && (rel == "." || filepath.IsLocal(rel))
}

// temporary tells that a path lies in a folder for temporary files, and not in our own home.
func (e *edits) temporary(real string) bool {
	if _, ours := below(realPath(e.s.Home), real); ours && e.s.Home != "" {
		return false
	}
	for _, dir := range e.at.Temporary {
		if rel, ok := below(realPath(dir), real); ok && rel != "." {
			return true
		}
	}
	return false
}

// spelled is a name as the folder has it: some systems take another case for the same.
func spelled(dir, name string) string {
	info, err := os.Lstat(filepath.Join(dir, name))
	if err != nil {
		return name
	}
	other, err := os.Lstat(filepath.Join(dir, swapCase(name)))
	if err != nil || !os.SameFile(info, other) || swapCase(name) == name {
		return name
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return name
	}
	for _, entry := range entries {
		if strings.EqualFold(entry.Name(), name) {
			return entry.Name()
		}
	}
	return name
}

func swapCase(s string) string {
	if lower := strings.ToLower(s); lower != s {
		return lower
	}
	return strings.ToUpper(s)
}
