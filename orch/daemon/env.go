package daemon

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"st/hooks"
)

// passed are the variables of a caller's shell that every agent gets; a name that ends in * is a prefix. A
// pane would else get those of whoever started the multiplexer's server. TERM is the pane's own.
var passed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "XDG_*", "TMPDIR", "EDITOR", "VISUAL",
	"SSH_AUTH_SOCK", "ST_HOME", "COLORTERM",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR",
}

// Environment picks from a caller's environment what an agent needs and what the configuration names, and adds
// what was given by --env.
func Environment(have, extra, more []string) []string {
	names := slices.Concat(passed, hooks.PassEnv(), more)
	var env []string
	for _, pair := range have {
		name, _, _ := strings.Cut(pair, "=")
		if NameIn(names, name) && !given(extra, name) {
			env = append(env, withSelf(pair))
		}
	}
	return append(env, extra...)
}

// NameIn tells whether a name is in a list of names and of prefixes that end in "*".
func NameIn(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		prefix, any := strings.CutSuffix(n, "*")
		return n == name || any && strings.HasPrefix(name, prefix)
	})
}

func given(pairs []string, name string) bool {
	return slices.ContainsFunc(pairs, func(p string) bool { return strings.HasPrefix(p, name+"=") })
}

// withSelf makes sure that st in the agent's shell is this st: the name also belongs to a terminal emulator.
func withSelf(pair string) string {
	path, ok := strings.CutPrefix(pair, "PATH=")
	if !ok {
		return pair
	}
	self, err := os.Executable()
	if err != nil || leadsTo(path, self) {
		return pair
	}
	return "PATH=" + filepath.Dir(self) + string(filepath.ListSeparator) + path
}

// leadsTo tells whether the st that a PATH finds first is that program.
func leadsTo(path, self string) bool {
	own, err := os.Stat(self)
	if err != nil {
		return false
	}
	for _, dir := range filepath.SplitList(path) {
		if found, err := exec.LookPath(filepath.Join(dir, "st")); err == nil {
			info, err := os.Stat(found)
			return err == nil && os.SameFile(own, info)
		}
	}
	return false
}
