package daemon

import (
	"fmt"
	"slices"
	"strings"

	"st/orch"
	"st/tmux"
)

// What becomes of a window or a pane.
const (
	restored = "restored" // a window that was built again
	left     = "left"     // one that is there, or whose agents are
	skipped  = "skipped"  // one that does not come back
	shell    = "shell"    // a pane that comes back as a shell
	resumed  = "resumed"  // one whose agent is in its conversation again
	back     = "back"     // one whose agent was that already
	lostFor  = "gone"     // one whose agent can't come back
	waits    = "waiting"  // one whose agent waits for a person before it can
	failing  = "failed"   // one whose agent could not be started
	starts   = "starting" // one whose agent is not so far yet
)

// beingStarted is said of a window in which an agent is not there yet.
const beingStarted = "its agent is being started"

// plannedWindow is what is to become of a window.
type plannedWindow struct {
	info  orch.RestoredWindow
	was   tmux.WindowLayout
	sess  tmux.SessionLayout
	panes []plannedPane // those that come back
	mark  string        // by which it is known once it is built
	// built is the window that an earlier try has made for these agents, before it was broken off.
	built *tmux.WindowLayout
	// group is the name of the session whose windows its session has too: then that is all there is to build.
	group string
}

// plannedPane is a pane that comes back.
type plannedPane struct {
	layout tmux.PaneLayout
	agent  *orch.Agent // to be resumed; nil for a shell
	held   string      // the pane that an earlier try has built for that, "" for none
	at     int         // of info.Panes
}

// planner works out what a restore has to do. It changes nothing.
type planner struct {
	now    *tmux.Layout        // what the server shows; nil where none runs
	env    []string            // what agents get, NAME=value
	tag    func(string) string // makes a tag of ours
	used   map[string]bool
	home   string
	isDir  func(string) bool
	fit    func(kind string) error    // why its agents can't be started now
	fates  map[string]orch.Fate       // of agents, by server and pane
	loose  []orch.Fate                // resumable agents that no window is known of
	seen   map[string]bool            // windows that are planned already, by session, index and name
	agents map[string]bool            // agents that have a pane in the plan
	rising map[string]orch.ResumeInfo // agents that take up a conversation and do not have it yet
}

func (p *planner) windows(lost []lostLayout) (list []plannedWindow) {
	for _, l := range lost {
		for _, s := range l.Sessions {
			for _, w := range s.Windows {
				key, mark := fmt.Sprintf("%s\x00%d\x00%s", s.Name, w.Index, w.Name), p.markOf(l, w)
				again := p.seen[key] || w.Mark != "" && p.seen[w.Mark] // it was built for one that is planned already
				if again && !p.holdsAgent(l.Server.String(), w) {
					continue
				}
				p.seen[key], p.seen[mark] = true, true
				list = append(list, p.window(l, s, w))
			}
		}
	}
	for _, f := range p.loose {
		if !p.agents[f.Agent.ID] {
			list = append(list, p.ofAgent(f))
		}
	}
	return list
}

// holdsAgent says that a window had an agent that is to be resumed: it comes back whatever was of its name before.
func (p *planner) holdsAgent(server string, w tmux.WindowLayout) bool {
	return slices.ContainsFunc(w.Panes, func(l tmux.PaneLayout) bool { return p.fates[server+l.ID].Resumable })
}

// markOf is what a window bears that was built for one that was lost.
func (p *planner) markOf(l lostLayout, w tmux.WindowLayout) string {
	return p.tag(fmt.Sprintf("%d:%d:%s", l.Server.PID, l.Server.Start, w.ID))
}

func (p *planner) window(l lostLayout, s tmux.SessionLayout, w tmux.WindowLayout) plannedWindow {
	out := plannedWindow{was: w, sess: s, mark: p.markOf(l, w), info: orch.RestoredWindow{Session: s.Name, Index: w.Index, Name: w.Name, What: restored}}
	if w.Linked {
		return p.linked(l, out)
	}
	there, is := p.find(s, w, out.mark)
	for _, pane := range w.Panes {
		out.pane(p.pane(pane, p.fates[l.Server.String()+pane.ID]), pane, p)
	}
	agents := slices.ContainsFunc(out.panes, func(x plannedPane) bool { return x.agent != nil })
	switch {
	case p.takeHeld(&out):
	case is && agents:
		out.panes = slices.DeleteFunc(out.panes, func(x plannedPane) bool { return x.agent == nil })
		out.withoutShells()
		out.info.Window, out.info.Why = there.ID, "a window of that name is there and stays as it is: its agents get one beside it"
	case is:
		out.panes, out.info.Window, out.info.What, out.info.Why = nil, there.ID, left, "it is there"
		out.withoutShells()
	case len(out.panes) == 0:
		out.info.What, out.info.Why = out.nothing()
	}
	return out
}

// takeHeld finds the panes that an earlier try has built for a window's agents, and that none has come to yet; false for
// none. The window's shells have come with them, and an agent without one gets a window of its own.
func (p *planner) takeHeld(w *plannedWindow) bool {
	var held []plannedPane
	for _, x := range w.panes {
		if x.agent == nil {
			continue
		}
		is, pane := p.heldFor(x.agent.ID)
		if is == nil {
			continue
		}
		w.built, x.held = is, pane
		held = append(held, x)
	}
	if w.built == nil {
		return false
	}
	for _, x := range w.panes {
		if x.agent != nil && !slices.ContainsFunc(held, func(h plannedPane) bool { return h.at == x.at }) {
			delete(p.agents, x.agent.ID)
			w.info.Panes[x.at].What, w.info.Panes[x.at].Why = shell, "its agent gets a window of its own"
		}
	}
	w.panes = held
	return true
}

// heldFor is the window with the pane that was built for an agent, and its pane; nil for none.
func (p *planner) heldFor(agent string) (*tmux.WindowLayout, string) {
	if p.now == nil {
		return nil, ""
	}
	for _, s := range p.now.Sessions {
		for _, w := range s.Windows {
			for _, pane := range w.Panes {
				if pane.Tag == p.tag("held:"+agent) {
					p.used[w.ID] = true
					return &w, pane.ID
				}
			}
		}
	}
	return nil, ""
}

// withoutShells says nothing of the shells of a window that is there.
func (w *plannedWindow) withoutShells() {
	var panes []orch.RestoredPane
	for i, info := range w.info.Panes {
		if info.What == shell {
			continue
		}
		for n := range w.panes {
			if w.panes[n].at == i {
				w.panes[n].at = len(panes)
			}
		}
		panes = append(panes, info)
	}
	w.info.Panes = panes
}

// linked is a window that another session has: it is there with that session's, where the two have all windows in common.
func (p *planner) linked(l lostLayout, out plannedWindow) plannedWindow {
	i := slices.IndexFunc(l.Sessions, func(o tmux.SessionLayout) bool {
		return o.Group != "" && o.Group == out.sess.Group && o.Name != out.sess.Name
	})
	if i >= 0 {
		out.group = l.Sessions[i].Name
		if p.session(out.sess.Name) != nil {
			out.group, out.info.What, out.info.Why = "", left, "it is there"
		}
		return out
	}
	out.info.What, out.info.Why = skipped, "it was a link to a window of another session, which comes back there"
	return out
}

// nothing says why nothing comes back of a window.
func (w plannedWindow) nothing() (what, why string) {
	for _, pane := range w.info.Panes {
		switch pane.What {
		case back:
			return left, "its agents are there"
		case waits, starts:
			return left, beingStarted
		}
	}
	return skipped, "its agents can't come back"
}

// pane notes what becomes of a pane.
func (w *plannedWindow) pane(info orch.RestoredPane, was tmux.PaneLayout, p *planner) {
	if info.What == shell || info.What == resumed {
		x := plannedPane{layout: was, at: len(w.info.Panes)}
		x.layout.Tag = ""
		x.layout.Dir = info.Dir
		if f, ok := p.byID(info.From); ok && info.What == resumed {
			x.agent = &f
			p.agents[f.ID] = true
		}
		w.panes = append(w.panes, x)
	}
	w.info.Panes = append(w.info.Panes, info)
}

func (p *planner) byID(id string) (orch.Agent, bool) {
	for _, f := range p.fates {
		if f.Agent.ID == id && id != "" {
			return f.Agent, true
		}
	}
	for _, f := range p.loose {
		if f.Agent.ID == id && id != "" {
			return f.Agent, true
		}
	}
	return orch.Agent{}, false
}

// pane says what becomes of one pane.
func (p *planner) pane(was tmux.PaneLayout, f orch.Fate) orch.RestoredPane {
	info := orch.RestoredPane{Dir: was.Dir, What: shell}
	if f.Agent.ID == "" {
		info.Dir, info.Why = p.folder(was.Dir)
		return info
	}
	info.From, info.Kind, info.Worker, info.Dir = f.Agent.ID, f.Agent.Kind, f.Worker, f.Agent.Place.Dir
	switch {
	case f.Resumable && !p.isDir(info.Dir):
		info.What, info.Why = failing, "its folder "+info.Dir+" is gone, and its conversation belongs there"
	case f.Resumable:
		info.What = resumed
		info.Env = p.missing(f.Env)
		if err := p.fit(info.Kind); err != nil {
			info.What, info.Why = failing, err.Error()
		}
	case f.Next != "":
		info.What, info.Agent, info.Why = back, f.Next, "agent "+f.Next+" has its conversation"
		if i, ok := p.rising[f.Next]; ok {
			info.What, info.Why = fateOf(i)
			info.Pane = i.Agent.Pane
		}
	case f.Agent.Ours:
		info.What, info.Why = lostFor, "its conversation is not known, or it had ended"
	default: // a person had started it in a shell
		info.What, info.Why = shell, "its agent can't come back: its conversation is not known"
		var why string
		if info.Dir, why = p.folder(was.Dir); why != "" {
			info.Why = why
		}
	}
	return info
}

// missing are those of some variables that agents do not get.
func (p *planner) missing(names []string) (list []string) {
	for _, name := range names {
		if !slices.ContainsFunc(p.env, func(pair string) bool { return strings.HasPrefix(pair, name+"=") }) {
			list = append(list, name)
		}
	}
	return list
}

// folder is where a shell comes back: HOME where its folder is gone.
func (p *planner) folder(dir string) (in, why string) {
	if dir == "" || p.isDir(dir) {
		return dir, ""
	}
	return p.home, "its folder " + dir + " is gone"
}

// ofAgent is a window for an agent of which no layout tells.
func (p *planner) ofAgent(f orch.Fate) plannedWindow {
	name, session := f.Agent.Place.WindowName, f.Agent.Place.SessionName
	if name == "" {
		name = f.Agent.Name
	}
	if session == "" {
		session = "restored"
	}
	w := tmux.WindowLayout{Name: name, Panes: []tmux.PaneLayout{{Dir: f.Agent.Place.Dir}}}
	out := plannedWindow{was: w, sess: tmux.SessionLayout{Name: session}, info: orch.RestoredWindow{Session: session, Name: name, What: restored}}
	out.pane(p.pane(w.Panes[0], f), w.Panes[0], p)
	if len(out.panes) == 0 {
		out.info.What, out.info.Why = out.nothing()
	}
	p.takeHeld(&out)
	return out
}

// session is the session of that name that is there.
func (p *planner) session(name string) *tmux.SessionLayout {
	if p.now == nil {
		return nil
	}
	for i := range p.now.Sessions {
		if p.now.Sessions[i].Name == name {
			return &p.now.Sessions[i]
		}
	}
	return nil
}

// find is the window that is there already: the one that an earlier try has built for it, wherever that is now; else by whoever
// has brought it back: of the same name, at the same index before any other; one that has its name from what runs in it is
// known by its index and its folder.
func (p *planner) find(s tmux.SessionLayout, w tmux.WindowLayout, mark string) (tmux.WindowLayout, bool) {
	if p.now != nil {
		for _, o := range p.now.Sessions {
			for _, b := range o.Windows {
				if b.Mark == mark && !b.Linked {
					p.used[b.ID] = true
					return b, true
				}
			}
		}
	}
	is := p.session(s.Name)
	if is == nil {
		return tmux.WindowLayout{}, false
	}
	for _, fits := range []func(tmux.WindowLayout) bool{
		func(o tmux.WindowLayout) bool { return !w.Auto && o.Name == w.Name && o.Index == w.Index },
		func(o tmux.WindowLayout) bool { return !w.Auto && o.Name == w.Name },
		func(o tmux.WindowLayout) bool { return w.Auto && o.Index == w.Index && sameFolder(o, w) },
	} {
		for _, o := range is.Windows {
			if !p.used[o.ID] && o.Mark == "" && fits(o) {
				p.used[o.ID] = true
				return o, true
			}
		}
	}
	return tmux.WindowLayout{}, false
}

func sameFolder(a, b tmux.WindowLayout) bool {
	return len(a.Panes) > 0 && len(b.Panes) > 0 && a.Panes[0].Dir == b.Panes[0].Dir
}
