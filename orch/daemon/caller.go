package daemon

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"st/hooks"
	"st/orch"
	"st/orch/proc"
)

// PaneFact is what a multiplexer server says of one pane.
type PaneFact struct {
	ID          string
	PID         int // the process that the pane runs
	Window      string
	Session     string
	SessionName string
	WindowName  string
	Dir         string
}

// Callers finds out who asks.
type Callers struct {
	// Panes lists the panes of the server at a socket, with the server's identity. nil: no place is told.
	Panes func(ctx context.Context, socket string) (panes []PaneFact, server string, err error)
	// Known says which link of a chain is the process of an agent that the state knows, or of its pane; -1 for
	// none. Such a caller's place stands in the state, so that no server is asked for a hook. nil: none is known.
	Known func(chain []orch.Link) int
	// Bound tells whether a conversation of a kind is known to be some agent's.
	Bound func(kind, thread string) bool
	// Boot is that of the processes which the state knows. nil: not known.
	Boot func() string
	// Seat is the place of a caller below a shared process, zero where it can't be told.
	Seat func(orch.Caller) orch.Place

	mu   sync.Mutex
	seen map[proc.Process]seenPlace // by the pane's own process
}

// seenPlace is a pane as it was when it was last listed; its Pane is "" for a process that sits in none.
type seenPlace struct {
	orch.Place
	at time.Time
}

// placeAge is how old a place may be that a hook's answer waits for. Hooks come several a second and asking
// for the panes costs 2.5 ms and a fork; which pane a process sits in does not change while it lives, its
// window and session rarely do, and the inventory of panes follows those.
const placeAge = 10 * time.Second

// OnSocket says who a process is that has connected. hasty takes a place that was seen a moment ago.
func (c *Callers) OnSocket(ctx context.Context, pid int, from From, hasty bool) (orch.Caller, error) {
	chain, err := linksOf(pid)
	if err != nil {
		return orch.Caller{}, err
	}
	return c.caller(ctx, chain, from, "socket", hasty), nil
}

// InSpool says who wrote a spool file: what it says itself, for its writer may be gone. Of processes of another boot than
// that of those which the state knows, only the secret says whose they were.
func (c *Callers) InSpool(ctx context.Context, from From) orch.Caller {
	if c.Boot != nil && from.Boot != "" && from.Boot != c.Boot() {
		from.Chain = nil
	}
	return c.caller(ctx, from.Chain, from, "spool", true)
}

// linksOf reads the ancestry of a process and which agent programs are in it.
func linksOf(pid int) ([]orch.Link, error) {
	infos, err := proc.Chain(pid)
	if err != nil {
		return nil, err
	}
	links := make([]orch.Link, 0, len(infos))
	for _, info := range infos {
		links = append(links, linkOf(info))
	}
	return links, nil
}

func linkOf(info proc.Info) orch.Link {
	link := orch.Link{Process: orch.Process(info.Process), Kind: hooks.KindOf(info.Exe, info.Argv)}
	if link.Kind == "" || len(info.Argv) == 0 {
		return link
	}
	link.Shared = hooks.IsShared(link.Kind, info.Argv)
	if kind, err := hooks.Lookup(link.Kind); err == nil { // KindOf names registered kinds only
		link.Lifts = kind.Lifts(info.Argv[1:])
		var flags []string
		link.Model, flags = kind.Kept(info.Argv[1:])
		link.Flags = strings.Join(flags, "\n")
	}
	return link
}

func (c *Callers) caller(ctx context.Context, chain []orch.Link, from From, path string, hasty bool) orch.Caller {
	chain, shared := below(chain)
	caller := orch.Caller{
		Shared: shared.Kind, Chain: chain, Nonce: from.Nonce, Dir: from.Dir, As: from.As, Run: from.Run, Path: path, Inside: from.Inside,
		Socket: meantSocket(from),
	}
	if shared.Shared {
		return c.seated(ctx, caller, proc.Process(shared.Process), from)
	}
	socket, claimed := claim(from)
	if socket == "" || c.Panes == nil {
		return caller
	}
	if hasty && c.Known != nil {
		if n := c.Known(chain); n >= 0 {
			return placed(caller, orch.Place{}, n)
		}
	}
	if hasty {
		if p, n, ok := c.remembered(socket, chain); ok {
			return placed(caller, p, n)
		}
	}
	panes, server, err := c.Panes(ctx, socket)
	if err != nil {
		return caller // the server is gone or can't be asked: no pane of it can be proved
	}
	p, n := find(panes, chain, claimed)
	p.Server = server
	if p.Pane == "" {
		p = orch.Place{}
	}
	c.remember(chain, n, p)
	return placed(caller, p, n)
}

// placed gives the caller its place and ends its chain at the pane's own process, link n (-1: not in it).
func placed(caller orch.Caller, p orch.Place, n int) orch.Caller {
	caller.Place = p
	if n >= 0 {
		caller.Chain = caller.Chain[:n+1]
	}
	return caller
}

// claim reads the socket and the pane that an environment names. TMUX is "socket,pid,session".
func claim(from From) (socket, pane string) {
	fields := strings.Split(from.TMUX, ",")
	if len(fields) < 3 {
		return "", ""
	}
	return strings.Join(fields[:len(fields)-2], ","), from.Pane
}

// find returns the pane whose process is nearest in the chain, and which link that is. Where none is, it is the
// claimed pane, if there is one of that id, with link -1.
func find(panes []PaneFact, chain []orch.Link, claimed string) (orch.Place, int) {
	byPID := make(map[int]PaneFact, len(panes))
	for _, p := range panes {
		byPID[p.PID] = p
	}
	for n, link := range chain {
		if p, ok := byPID[link.PID]; ok {
			return p.place(), n
		}
	}
	for _, p := range panes {
		if p.ID == claimed {
			return p.place(), -1
		}
	}
	return orch.Place{}, -1
}

func (p PaneFact) place() orch.Place {
	return orch.Place{Pane: p.ID, Window: p.Window, Session: p.Session, SessionName: p.SessionName, WindowName: p.WindowName, Dir: p.Dir}
}

// remember keeps a proved place under the pane's process, and a missing one under the top of the chain below
// the first process of the system, so that the next hook from there needs no list.
func (c *Callers) remember(chain []orch.Link, n int, p orch.Place) {
	if n < 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = map[proc.Process]seenPlace{}
	}
	now := time.Now()
	for key, old := range c.seen {
		if now.Sub(old.at) > placeAge {
			delete(c.seen, key)
		}
	}
	c.seen[proc.Process(chain[n].Process)] = seenPlace{Place: p, at: now}
}

func (c *Callers) remembered(socket string, chain []orch.Link) (orch.Place, int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for n, link := range chain {
		p, ok := c.seen[proc.Process(link.Process)]
		if ok && time.Since(p.at) <= placeAge && strings.HasPrefix(p.Server, socket) {
			return p.Place, n, true
		}
	}
	return orch.Place{}, -1, false
}

// witness fills in what a spool file says of its writer, this process.
func (f From) witness() (From, error) {
	chain, err := linksOf(os.Getpid())
	if err != nil {
		return f, fmt.Errorf("who we are can't be told: %w", err)
	}
	f.PID, f.Chain, f.Boot = os.Getpid(), chain, bootID()
	return f, nil
}
