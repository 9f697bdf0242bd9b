package hooks

import (
	"path/filepath"
	"slices"
	"strings"
)

// removers are programs that take files away.
var removers = []string{"rm", "unlink", "rmdir", "mv", "shred", "trash", "trash-put", "gio", "srm"}

// removes tells that a call takes the server's socket away, or a folder that it lies in: nobody reaches the server then.
func (g *serverGuard) removes(c *shellCall) bool {
	deep := c.program() != "rm" || hasFlag(c.args(), 'r', "--recursive") || hasFlag(c.args(), 'R', "")
	args := c.args()
	if c.program() == "mv" {
		args, _ = sources(args)
	}
	for _, w := range args {
		if !strings.HasPrefix(w.text, "-") && (g.holdsSocket(w, c.dir, deep) || !w.known && g.comes(w.from, g.names)) {
			return true
		}
	}
	return c.many && g.comes(c.from, g.names)
}

// sources are the words of cp, mv and the like that stand for what is taken, and where it goes.
func sources(args []shellWord) (from []shellWord, to shellWord) {
	named := false
	for i := 0; i < len(args); i++ {
		value, long := strings.CutPrefix(args[i].text, "--target-directory=")
		switch w := args[i].text; {
		case w == "-t" && i+1 < len(args), w == "--target-directory" && i+1 < len(args):
			i++
			to, named = args[i], true
		case long:
			to, named = textWord(value), true
		case !strings.HasPrefix(w, "-") || w == "-":
			from = append(from, args[i])
		}
	}
	if !named && len(from) > 1 {
		from, to = from[:len(from)-1], from[len(from)-1]
	}
	return from, to
}

// holdsSocket tells that a word is the path of the server's socket, or, where deep, of a folder that it lies in. What is not
// known of the word may be the name of one file or folder.
func (g *serverGuard) holdsSocket(w shellWord, dir string, deep bool) bool {
	pattern := w.pattern
	if strings.HasPrefix(w.text, hole) || w.text == "" {
		return false
	}
	if !filepath.IsAbs(w.text) {
		if dir == "" {
			return false
		}
		pattern = filepath.Join(escapePattern(dir), pattern)
	}
	pattern = filepath.Clean(pattern)
	return slices.ContainsFunc(g.paths(), func(socket string) bool { return above(pattern, socket, deep) })
}

// paths are those of the sockets that count, as they are named and as they really are.
func (g *serverGuard) paths() []string {
	if g.sockets == nil {
		for _, socket := range []string{g.at.Server.Socket, g.at.Server.Usual} {
			if socket != "" {
				g.sockets = append(g.sockets, socket, realPath(socket))
			}
		}
	}
	return g.sockets
}

// above tells that a pattern is that of a path, or, where deep, of a folder above it.
func above(pattern, path string, deep bool) bool {
	for {
		if matched, err := filepath.Match(pattern, path); err == nil && matched {
			return true
		}
		if pattern == path {
			return true
		}
		up := filepath.Dir(path)
		if !deep || up == path {
			return false
		}
		path = up
	}
}

// unit tells that a service manager would end the server: a unit that is named after it, or all that a user runs.
func (g *serverGuard) unit(c *shellCall) bool {
	words := behindFlags(c.args(), "HMtpns")
	if len(words) == 0 {
		return false
	}
	switch words[0].text {
	case "terminate-user", "kill-user", "terminate-session", "kill-session", "terminate-seat":
		return c.program() == "loginctl"
	case "stop", "kill", "restart", "try-restart", "isolate", "disable", "mask":
	default:
		return false
	}
	for _, w := range words[1:] {
		if strings.Contains(w.text, "tmux") || strings.HasPrefix(w.text, "user@") || strings.HasPrefix(w.text, "user-") || strings.HasPrefix(w.text, "session-") {
			return true
		}
	}
	return false
}

var (
	stopSpoken   = pattern(`\b(tmux|byobu)\b([^\n;|&]{0,120}?)\bkill-ser(v|ve|ver)?\b`)
	pkillSpoken  = pattern(`\b(pkill|killall)\b[^\n;|&]{0,80}?\bt[m.]ux\b`)
	serverSpoken = pattern(`-[LS]['",\s]*([^'",\s]+)`)
)

// text looks at a text that something else than a shell runs, or that can't be parsed.
func (g *serverGuard) text(by, text string) {
	if by == "ssh" || by == "tmux" || !mayRun(by, text) {
		return // of another machine; what tmux runs is read as what it is
	}
	if pkillSpoken().MatchString(text) {
		g.stops = true
	}
	for _, m := range stopSpoken().FindAllStringSubmatch(text, -1) {
		named := serverSpoken().FindStringSubmatch(m[2])
		if named == nil || g.ours(g.spoken(named[1])) {
			g.stops = true
		}
	}
}

// spoken is the server that a text names.
func (g *serverGuard) spoken(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	return filepath.Join(filepath.Dir(g.at.Server.Usual), name)
}
