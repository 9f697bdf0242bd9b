package hooks

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// serverStops refuses a command that would stop the server.
const serverStops = "st: this would stop the tmux server in which you, the other agents and a person work. To end a worker: st worker stop W --yes; " +
	"to close a window or a pane: tmux kill-window -t WINDOW, tmux kill-pane -t PANE, by its id; " +
	"a server of your own, for a test, needs its name in each call: tmux -L NAME new-session -d, tmux -L NAME kill-server"

// serverGuard finds what would stop the server, or end its last session or the agent's own.
type serverGuard struct {
	at      Place
	r       *shellReader
	stops   bool
	killed  map[string]bool // ids of sessions
	sockets []string        // see paths
	// following is how many variables are followed in one another.
	following int
}

// serverHints stand in each command that is looked at.
var serverHints = []string{"tmux", "TMUX", "kill", "rm", "mv", "unlink", "find", "fuser", "ctl", "shred", "trash", "byobu"}

// stopsServer is why a shell command that runs in dir may not run, "" where it does no harm to the server.
func stopsServer(command string, at Place, dir string) string {
	if !slices.ContainsFunc(serverHints, func(h string) bool { return strings.Contains(command, h) }) {
		// A word may have quotes in it: t'mu'x.
		if !strings.ContainsAny(command, `'"\`) {
			return ""
		}
	}
	g := &serverGuard{at: at, r: at.reader(dir), killed: map[string]bool{}}
	g.r.onCall, g.r.onText = g.call, g.text
	g.r.read(command)
	if g.stops {
		return serverStops
	}
	return ""
}

func (g *serverGuard) call(c *shellCall) {
	stops := false
	switch name := c.program(); {
	case name == "tmux" || name == "byobu":
		stops = g.multiplexer(c)
	case tmuxMeans(name, "kill-server", len("kill-ser")): // inside a text for tmux
		stops = g.ours(g.server(c, tmuxCall{}))
	case tmuxMeans(name, "kill-session", len("kill-ses")):
		stops = g.ours(g.server(c, tmuxCall{})) && g.session(c.args())
	case name == "kill":
		stops = g.kill(c)
	case name == "pkill" || name == "skill":
		stops = g.matches(readPattern(c.args()))
	case name == "killall" || name == "killall5":
		stops = name == "killall5" || g.named(c.args())
	case slices.Contains(removers, name):
		stops = g.removes(c)
	case name == "find":
		stops = slices.Contains(texts(c.words), "-delete") && g.removes(c)
	case name == "fuser":
		stops = hasFlag(c.args(), 'k', "--kill") && g.removes(c)
	case name == "systemctl" || name == "loginctl":
		stops = g.unit(c)
	}
	g.stops = g.stops || stops
}

// multiplexer looks at the commands of one call of tmux.
func (g *serverGuard) multiplexer(c *shellCall) bool {
	t := readTmux(c.args())
	if !g.ours(g.server(c, t)) {
		return false
	}
	if c.many {
		t.commands = append(t.commands, tmuxCommands(c.args())...)
	}
	for _, command := range t.commands {
		name := command[0].text
		if tmuxMeans(name, "kill-server", len("kill-ser")) || tmuxMeans(name, "kill-session", len("kill-ses")) && g.session(command[1:]) {
			return true
		}
	}
	return false
}

// server is the socket of the server that a call of tmux means: named by it, by its environment, or by that of the agent.
// "" stands for one that is not known, which is another than the agent's as long as nothing says that it is that.
func (g *serverGuard) server(c *shellCall, t tmuxCall) (socket string) {
	switch {
	case t.path.text != "":
		return g.socket(t.path)
	case t.name.text != "":
		return g.byName(c, t.name)
	}
	tmux, ok := c.env["TMUX"]
	if !ok {
		if tmux, ok = g.r.vars["TMUX"]; !ok {
			return g.usual(c)
		}
	}
	if name, ok := strings.CutPrefix(tmux.text, tmuxNamed); ok {
		name, _, _ = strings.Cut(name, ",")
		return g.byName(c, shellWord{text: name, known: tmux.known, from: tmux.from})
	}
	if path, _, ok := strings.Cut(tmux.text, ","); ok {
		return g.socket(shellWord{text: path, known: tmux.known, from: tmux.from})
	}
	return filepath.Join(g.folder(c), "default")
}

// usual is the server of a call that says nothing: the agent's own, else the user's.
func (g *serverGuard) usual(c *shellCall) string {
	if g.at.Server.Socket != "" {
		return g.at.Server.Socket
	}
	return filepath.Join(g.folder(c), "default")
}

// folder is where the sockets of servers with a name lie.
func (g *serverGuard) folder(c *shellCall) string {
	tmp, ok := c.env["TMUX_TMPDIR"]
	if !ok {
		tmp, ok = g.r.vars["TMUX_TMPDIR"]
	}
	if ok && tmp.text != "" {
		return filepath.Join(tmp.text, "tmux-"+strconv.Itoa(os.Getuid()))
	}
	return filepath.Dir(g.at.Server.Usual)
}

func (g *serverGuard) byName(c *shellCall, name shellWord) string {
	if !name.known {
		return g.unknown(name)
	}
	return filepath.Join(g.folder(c), name.text)
}

func (g *serverGuard) socket(path shellWord) string {
	switch {
	case !path.known:
		return g.unknown(path)
	case filepath.IsAbs(path.text) || g.r.dir == "":
		return path.text
	}
	return filepath.Join(g.r.dir, path.text)
}

// unknown is the server of which only a run could tell the name: the agent's own where the name comes from there.
func (g *serverGuard) unknown(w shellWord) string {
	if g.fromServer(w.from) {
		return g.at.Server.Socket
	}
	return ""
}

// ours tells that a socket is that of the agent's server, or of the one that a call means which names none: a person's.
func (g *serverGuard) ours(socket string) bool {
	return socket != "" && (samePlace(socket, g.at.Server.Socket) || samePlace(socket, g.at.Server.Usual))
}

func samePlace(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	return filepath.Clean(a) == filepath.Clean(b) || realPath(a) == realPath(b)
}

// session tells that kill-session with these words would end the agent's own session or the last one. All that a command
// ends counts together.
func (g *serverGuard) session(args []shellWord) bool {
	others := hasFlag(args, 'a', "")
	if hasFlag(args, 'C', "") {
		return false // it only clears alerts
	}
	target, named := tmuxTarget(args)
	if others || !named || g.at.Server.Sessions == nil {
		return true
	}
	all, err := g.at.Server.Sessions()
	if err != nil {
		return true // and nothing tells that it is another
	}
	left := false
	for _, s := range all {
		g.killed[s.ID] = g.killed[s.ID] || !target.known || means(target.text, s, all)
		if g.killed[s.ID] && s.Own {
			return true
		}
		left = left || !g.killed[s.ID]
	}
	return !left
}

func tmuxTarget(args []shellWord) (target shellWord, ok bool) {
	for i, w := range args {
		if value, joined := strings.CutPrefix(w.text, "-t"); joined && value != "" {
			w.text = value
			return w, true
		}
		if strings.HasPrefix(w.text, "-") && strings.HasSuffix(w.text, "t") && i+1 < len(args) {
			return args[i+1], true
		}
	}
	return shellWord{}, false
}

// means tells that a target may mean a session: by id, by name, else by the begin of its name or by a pattern. A pane or a
// window may be one of the agent's own session: more can't be told here.
func means(target string, s Session, all []Session) bool {
	target, exact := strings.CutPrefix(target, "=")
	if at := strings.LastIndexByte(target, ':'); at >= 0 {
		target = target[:at]
	}
	switch {
	case target == "" || strings.ContainsAny(target[:1], "%@{~+-!"):
		return s.Own
	case strings.HasPrefix(target, "$"):
		return target == s.ID
	case exact || slices.ContainsFunc(all, func(s Session) bool { return s.Name == target }):
		return target == s.Name
	}
	matched, err := filepath.Match(target, s.Name)
	return strings.HasPrefix(s.Name, target) || matched && err == nil
}

// hasFlag tells that a short flag, alone or among others, or a long one is given.
func hasFlag(args []shellWord, short byte, long string) bool {
	for _, w := range args {
		if w.text == "--" {
			return false
		}
		if long != "" && w.text == long {
			return true
		}
		if len(w.text) > 1 && w.text[0] == '-' && w.text[1] != '-' && strings.IndexByte(w.text[1:], short) >= 0 {
			return true
		}
	}
	return false
}
