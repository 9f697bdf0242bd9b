package hooks

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// serverNames are what the processes of a tmux server and of its clients are called.
var serverNames = []string{"tmux", "tmux: server", "tmux: client"}

// gentle are signals that a tmux server survives.
var gentle = []string{"0", "CONT", "18", "CHLD", "17", "WINCH", "28", "USR1", "10", "URG", "23"}

func isGentle(signal string) bool {
	return slices.Contains(gentle, strings.TrimPrefix(strings.ToUpper(signal), "SIG"))
}

// kill tells that kill ends the server's process, by its number or by one that comes from a search for it.
func (g *serverGuard) kill(c *shellCall) bool {
	pids, signal := killed(c.args())
	if isGentle(signal) {
		return false
	}
	for _, w := range pids {
		switch n, err := strconv.Atoi(strings.TrimSpace(w.text)); {
		case err == nil && w.known && (n == -1 || n != 0 && max(n, -n) == g.at.Server.PID):
			return true
		case !w.known && g.fromServer(w.from):
			return true
		}
	}
	return c.many && g.fromServer(c.from)
}

// killed takes the words of kill apart. A listing ends nothing.
func killed(args []shellWord) (pids []shellWord, signal string) {
	for i := 0; i < len(args); i++ {
		w := args[i].text
		switch {
		case w == "-l" || w == "-L" || w == "--list" || w == "--table":
			return nil, ""
		case w == "--":
			return append(pids, args[i+1:]...), signal
		case (w == "-s" || w == "-n" || w == "--signal" || w == "-q") && i+1 < len(args):
			signal = args[i+1].text
			i++
		case strings.HasPrefix(w, "-") && i == 0:
			signal = strings.TrimPrefix(w, "-")
		default:
			pids = append(pids, args[i])
		}
	}
	return pids, signal
}

// processPattern is what pkill and pgrep look for.
type processPattern struct {
	signal                     string
	full, exact, fold, but     bool
	patterns                   []string
	unknown                    bool
	parents, groups, terminals []string
}

// readPattern takes the words of pkill apart.
func readPattern(args []shellWord) (p processPattern) {
	for i := 0; i < len(args); i++ {
		switch w := args[i].text; {
		case w == "--" || w == "-":
		case strings.HasPrefix(w, "--"):
			i += p.long(w, args[i+1:])
		case signalFlag(w) && w[1] != 'P':
			p.signal = w[1:]
		case len(w) > 1 && w[0] == '-':
			i += p.short(w, args[i+1:])
		default:
			p.patterns = append(p.patterns, w)
			p.unknown = p.unknown || !args[i].known
		}
	}
	return p
}

// signalFlag: -9, -KILL, -SIGTERM.
func signalFlag(word string) bool {
	if len(word) < 2 || word[0] != '-' {
		return false
	}
	first := word[1:2]
	return first >= "0" && first <= "9" || len(word) > 2 && first >= "A" && first <= "Z"
}

// short reads short flags, of which the last may have a value, and returns how many further words that takes.
func (p *processPattern) short(flags string, rest []shellWord) (takes int) {
	at := strings.IndexAny(flags, "PgstuUGFrOdC")
	end := at
	if at < 0 {
		end = len(flags)
	}
	for _, letter := range flags[1:end] {
		p.flag(letter)
	}
	switch {
	case at < 0:
	case at < len(flags)-1:
		p.value(flags[at], flags[at+1:])
	case len(rest) > 0:
		p.value(flags[at], rest[0].text)
		return 1
	}
	return 0
}

func (p *processPattern) flag(letter rune) {
	switch letter {
	case 'f':
		p.full = true
	case 'x':
		p.exact = true
	case 'i':
		p.fold = true
	case 'v':
		p.but = true
	}
}

// long reads a long flag and returns how many words its value takes.
func (p *processPattern) long(flag string, rest []shellWord) (takes int) {
	name, value, joined := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
	letters := map[string]byte{"parent": 'P', "pgroup": 'g', "session": 's', "terminal": 't', "signal": 'S', "euid": 'u', "uid": 'U', "pidfile": 'F'}
	switch name {
	case "full", "exact", "ignore-case":
		p.flag(map[string]rune{"full": 'f', "exact": 'x', "ignore-case": 'i'}[name])
	case "inverse":
		p.but = true
	}
	letter, ok := letters[name]
	if !ok {
		return 0
	}
	if !joined && len(rest) > 0 {
		value, takes = rest[0].text, 1
	}
	p.value(letter, value)
	return takes
}

func (p *processPattern) value(flag byte, value string) {
	switch flag {
	case 'P':
		p.parents = append(p.parents, strings.Split(value, ",")...)
	case 'g', 's':
		p.groups = append(p.groups, strings.Split(value, ",")...)
	case 't':
		p.terminals = append(p.terminals, value)
	case 'S':
		p.signal = value
	}
}

// matches tells that a search finds the server's process, or all that runs in its panes.
func (g *serverGuard) matches(p processPattern) bool {
	pid := strconv.Itoa(g.at.Server.PID)
	switch {
	case isGentle(p.signal) || len(p.terminals) > 0: // the server has no terminal
		return false
	case slices.Contains(p.parents, pid) || slices.Contains(p.groups, pid):
		return true
	case len(p.groups) > 0 || len(p.parents) > 0 && !slices.Contains(p.parents, "1"):
		return false
	case p.unknown:
		return slices.ContainsFunc(p.patterns, func(w string) bool { return strings.Contains(strings.ToLower(w), "tmux") })
	}
	return p.finds(g.candidates(p.full)) != p.but
}

// candidates are the texts that a search compares.
func (g *serverGuard) candidates(full bool) []string {
	list := serverNames
	if full {
		list = append(slices.Clone(list), "tmux new-session -d", "/usr/bin/tmux new-session -s main")
		if at := g.at.Server.Command; at != nil {
			list = append(list, at())
		}
	}
	return list
}

// finds tells that one of the names is found. No pattern at all finds every process.
func (p processPattern) finds(names []string) bool {
	if len(p.patterns) == 0 {
		return true
	}
	for _, text := range p.patterns {
		if p.exact {
			text = "^(?:" + text + ")$"
		}
		if p.fold {
			text = "(?i)" + text
		}
		expression, err := regexp.Compile(text)
		for _, name := range names {
			if err == nil && expression.MatchString(name) || err != nil && strings.Contains(text, "tmux") {
				return true
			}
		}
	}
	return false
}

// named tells that killall ends the server: by its name, by a pattern, or with all of a user's processes.
func (g *serverGuard) named(args []shellWord) bool {
	p, users := readNames(args)
	if isGentle(p.signal) || len(p.patterns) == 0 && !users {
		return false
	}
	if p.exact {
		for i, text := range p.patterns {
			p.patterns[i] = regexp.QuoteMeta(text[strings.LastIndexByte(text, '/')+1:])
		}
	}
	return p.finds(serverNames)
}

// readNames takes the words of killall apart. users says that it is given whose processes are meant. A listing means none.
func readNames(args []shellWord) (p processPattern, users bool) {
	p.exact = true
	for i := 0; i < len(args); i++ {
		switch w := args[i].text; {
		case w == "-l" || w == "--list" || w == "-V" || w == "--version":
			return processPattern{}, false
		case w == "-r" || w == "--regexp" || w == "-m":
			p.exact = false
		case w == "-I" || w == "--ignore-case":
			p.fold = true
		case slices.Contains([]string{"-s", "--signal", "-u", "--user", "-y", "-o", "-n", "-Z"}, w) && i+1 < len(args):
			i++
			users = users || w == "-u" || w == "--user"
			if w == "-s" || w == "--signal" {
				p.signal = args[i].text
			}
		case signalFlag(w):
			p.signal = w[1:]
		case !strings.HasPrefix(w, "-"):
			p.patterns = append(p.patterns, w)
		}
	}
	return p, users
}

// fromServer tells that what commands print, or a variable holds, is about the agent's server: its process.
func (g *serverGuard) fromServer(nodes []syntax.Node) bool { return g.comes(nodes, g.tells) }

// comes follows what commands print, or a variable holds, to a call that tells, or to the variable that names the server.
func (g *serverGuard) comes(nodes []syntax.Node, tells func(*shellCall) bool) (yes bool) {
	for _, n := range nodes {
		if g.r.left.looks--; g.r.left.looks < 0 {
			return false
		}
		r := *g.r
		r.onText, r.onWrite = nil, nil
		r.onCall = func(c *shellCall) { yes = yes || tells(c) }
		restore := r.subshell()
		r.walk(n)
		restore()
		syntax.Walk(n, func(n syntax.Node) bool {
			if p, ok := n.(*syntax.ParamExp); ok {
				yes = yes || p.Param.Value == "TMUX" || g.variable(p.Param.Value, n, tells)
			}
			return !yes
		})
	}
	return yes
}

// variable follows what a variable holds to where it comes from.
func (g *serverGuard) variable(name string, self syntax.Node, tells func(*shellCall) bool) bool {
	w, ok := g.r.vars[name]
	if !ok || w.known || slices.Contains(w.from, self) || g.following > guardDepth {
		return false
	}
	g.following++
	defer func() { g.following-- }()
	return g.comes(w.from, tells)
}

// names says that a call prints where the server's socket is, or of a folder that it lies in.
func (g *serverGuard) names(c *shellCall) bool {
	switch c.program() {
	case "tmux", "byobu":
		return g.tells(c)
	case "find", "ls", "dirname", "realpath", "readlink", "echo", "printf":
		return slices.ContainsFunc(c.args(), func(w shellWord) bool {
			return strings.HasPrefix(w.text, "tmux-") || g.holdsSocket(w, c.dir, c.program() != "find" && c.program() != "ls")
		})
	}
	return false
}

// tells says that a call prints the number of the server's process, or where its socket is.
func (g *serverGuard) tells(c *shellCall) bool {
	mention := func(w shellWord) bool { return strings.Contains(strings.ToLower(w.text), "tmux") }
	switch c.program() {
	case "pgrep":
		return g.matches(readPattern(c.args()))
	case "pidof":
		return g.named(c.args())
	case "tmux", "byobu":
		return g.ours(g.server(c, readTmux(c.args()))) && slices.ContainsFunc(c.args(), func(w shellWord) bool {
			return strings.Contains(w.text, "#{pid}") || strings.Contains(w.text, "socket_path") || hasFlag(c.args(), 'a', "") && strings.Contains(w.text, "pane_pid")
		})
	case "grep", "egrep", "fgrep", "rg", "ag":
		p := processPattern{fold: hasFlag(c.args(), 'i', "--ignore-case")}
		for _, w := range c.args() {
			if !strings.HasPrefix(w.text, "-") {
				p.patterns = append(p.patterns, w.text)
				break
			}
		}
		return !hasFlag(c.args(), 'v', "--invert-match") && len(p.patterns) > 0 && p.finds(serverNames) && !p.finds([]string{"node", "xargs", "make", "python"})
	case "kill", "xargs", "cut", "tr", "sort", "head", "tail":
		return false
	}
	return slices.ContainsFunc(c.args(), func(w shellWord) bool {
		return mention(w) || strings.Contains(w.text, "[t]mux") || g.holdsSocket(w, c.dir, true)
	})
}
