package orch

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"
)

// Scope says which files below a worker's folder it may edit: patterns, of which the last that matches a path counts. One
// that begins with ! takes out of the scope what it matches; where the first does, everything is in the scope before.
// A pattern that matches a folder matches what is in it. None at all is no scope: the worker may edit everything.
type Scope []string

// scopeMost is how many patterns a scope may have, and how many bytes one of them.
const (
	scopeMost     = 64
	scopeWordMost = 512
	scopeAnyMost  = 8 // ** in one of them: each may be any number of folders
)

// ReadScope takes patterns as they were given: "./api/" is "api". The error says which is bad, and why.
func ReadScope(given []string) (Scope, *Error) {
	if len(given) > scopeMost {
		return nil, badScope("there are %d patterns, and %d are the most", len(given), scopeMost)
	}
	var s Scope
	for _, g := range given {
		text, out := strings.CutPrefix(g, "!")
		text = strings.TrimRight(strings.TrimPrefix(text, "./"), "/")
		if why := scopeFault(text); why != "" {
			return nil, badScope("pattern %q: %s", g, why)
		}
		if out {
			text = "!" + text
		}
		s = append(s, text)
	}
	return s, nil
}

func badScope(format string, args ...any) *Error {
	e := refuse("usage", "st worker start --help", "--scope: "+format, args...)
	e.Hint = "a pattern is relative to the worker's folder: 'api/**', '*.md', '!api/gen/**'"
	return e
}

// scopeFault says why a pattern is none, "" where it is one.
func scopeFault(text string) string {
	switch {
	case text == "":
		return "it is empty"
	case len(text) > scopeWordMost:
		return "it is too long"
	case strings.Count(text, "**") > scopeAnyMost:
		return "it has too many **"
	case strings.ContainsFunc(text, unicode.IsControl):
		return "there is a control character in it"
	case strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~"):
		return "it is relative to the worker's folder, and can't begin with / or ~"
	case slices.Contains(strings.Split(text, "/"), ".."):
		return "it can't lead out of the worker's folder"
	case !doublestar.ValidatePattern(text):
		return "it is no glob: a bracket or a brace is not closed"
	}
	return ""
}

// Allows tells that a path, relative to the worker's folder and with slashes, is in the scope.
func (s Scope) Allows(name string) bool {
	if len(s) == 0 {
		return true
	}
	in := strings.HasPrefix(s[0], "!")
	for _, p := range s {
		text, out := strings.CutPrefix(p, "!")
		if scopeMatches(text, name) {
			in = !out
		}
	}
	return in
}

// scopeMatches tells that a pattern matches a path, or a folder above it.
func scopeMatches(pattern, name string) bool {
	for ; name != "." && name != "/" && name != ""; name = path.Dir(name) {
		if doublestar.MatchUnvalidated(pattern, name) {
			return true
		}
	}
	return pattern == "**"
}

// Covers tells that everything that is or may come below a folder is in the scope.
func (s Scope) Covers(dir string) bool {
	if len(s) == 0 {
		return true
	}
	inside := path.Join(dir, "x")
	if !s.Allows(inside) || dir != "." && !s.Allows(dir) {
		return false
	}
	covered := false
	for i, p := range s {
		text, out := strings.CutPrefix(p, "!")
		whole := wholeFolder(text, dir)
		switch {
		case i == 0 && out:
			covered = true
		case !out && whole:
			covered = true
		}
		if out && (whole || meet(rooted(text, ""), path.Join(dir, "**"))) {
			covered = false
		}
	}
	return covered
}

// wholeFolder tells that a pattern matches all that is below a folder.
func wholeFolder(pattern, dir string) bool {
	if pattern == "**" || scopeMatches(pattern, dir) {
		return true
	}
	base, wild := strings.CutSuffix(pattern, "/**")
	return wild && scopeMatches(base, dir)
}

// Leads tells that a folder is above something that is in the scope: it may be made.
func (s Scope) Leads(dir string) bool {
	for _, p := range s {
		base, _ := doublestar.SplitPattern(strings.TrimPrefix(p, "!"))
		if !strings.HasPrefix(p, "!") && (base == dir || strings.HasPrefix(base, dir+"/")) {
			return true
		}
	}
	return s.Allows(dir)
}

func (s Scope) String() string { return strings.Join(s, " ") }

// rooted is a pattern below a folder.
func rooted(pattern, dir string) string { return path.Join(dir, pattern) }

// overlaps tells that a file may be in both scopes, each of a folder. It errs on the side of yes.
func (s Scope) overlaps(dir string, o Scope, other string) bool {
	for _, p := range s.parts(dir) {
		for _, q := range o.parts(other) {
			if meet(p, q) && !o.takesOut(other, p) && !s.takesOut(dir, q) {
				return true
			}
		}
	}
	return false
}

// parts are what a scope lets in: patterns of whole paths.
func (s Scope) parts(dir string) (list []string) {
	if len(s) == 0 || strings.HasPrefix(s[0], "!") {
		list = append(list, rooted("**", quoteGlob(dir)))
	}
	for _, p := range s {
		if !strings.HasPrefix(p, "!") {
			list = append(list, rooted(p, quoteGlob(dir)))
		}
	}
	return list
}

// takesOut tells that all that a pattern of whole paths matches was taken out of a scope for good.
func (s Scope) takesOut(dir, pattern string) bool {
	for i, p := range s {
		text, out := strings.CutPrefix(p, "!")
		if !out || slices.ContainsFunc(s[i+1:], func(later string) bool { return !strings.HasPrefix(later, "!") }) {
			continue
		}
		taken := rooted(strings.TrimSuffix(text, "/**"), quoteGlob(dir))
		if base, _ := doublestar.SplitPattern(pattern); !strings.ContainsAny(text[:len(text)-len(suffixStars(text))], "*?[{") && (base == unquoteGlob(taken) || strings.HasPrefix(base, unquoteGlob(taken)+"/")) {
			return true
		}
	}
	return false
}

func suffixStars(text string) string {
	if strings.HasSuffix(text, "/**") {
		return "/**"
	}
	return ""
}

func quoteGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`).Replace(dir)
}

func unquoteGlob(dir string) string {
	base, _ := doublestar.SplitPattern(dir + "/*")
	return base
}

// meet tells that two patterns may match the same path, or one a folder above what the other matches.
func meet(a, b string) bool { return segmentsMeet(strings.Split(a, "/"), strings.Split(b, "/")) }

func segmentsMeet(a, b []string) bool {
	switch {
	case len(a) == 0 || len(b) == 0: // one names a folder above the other
		return true
	case a[0] == "**":
		return segmentsMeet(a[1:], b) || segmentsMeet(a, b[1:])
	case b[0] == "**":
		return segmentsMeet(a, b[1:]) || segmentsMeet(a[1:], b)
	}
	return wordsMeet(a[0], b[0]) && segmentsMeet(a[1:], b[1:])
}

// wildSigns are those by which a pattern is more than its own text.
const wildSigns = `*?[{\`

// wordsMeet tells that two parts of a path may be the same name.
func wordsMeet(a, b string) bool {
	switch aw, bw := strings.ContainsAny(a, wildSigns), strings.ContainsAny(b, wildSigns); {
	case !aw && !bw:
		return a == b
	case !bw:
		return doublestar.MatchUnvalidated(a, b)
	case !aw:
		return doublestar.MatchUnvalidated(b, a)
	}
	return endsMeet(a, b)
}

// endsMeet compares what two patterns begin and end with.
func endsMeet(a, b string) bool {
	ha, hb := a[:strings.IndexAny(a, wildSigns)], b[:strings.IndexAny(b, wildSigns)]
	if !strings.HasPrefix(ha, hb) && !strings.HasPrefix(hb, ha) {
		return false
	}
	ta, tb := tailOf(a), tailOf(b)
	return strings.HasSuffix(ta, tb) || strings.HasSuffix(tb, ta)
}

// tailOf is what stands behind the last sign of a pattern that is more than itself.
func tailOf(p string) string { return p[strings.LastIndexAny(p, `*?]}\`)+1:] }
