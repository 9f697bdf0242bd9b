package daemon

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"st/orch"
	"st/tmux"
)

// After each ring or new file panes are looked at so long after: a program begins some moments after its pane is opened,
// and a server answers some moments after its socket is there.
var returnLooks = []time.Duration{0, 50 * time.Millisecond, 150 * time.Millisecond, 400 * time.Millisecond, time.Second, 2 * time.Second}

// returnEvery is how often panes are looked at while somebody is awaited and nothing rings: a program that is begun in a
// shell that was there may ring no bell.
const returnEvery = 5 * time.Second

// returnRest is how long panes are left alone after a look, however often something rings: a title may turn like a wheel.
const returnRest = 50 * time.Millisecond

// returns looks for agents that come back, as long as somebody waits for one: on the servers that there are, and on those
// that come. While nobody is awaited it sleeps.
func (w *watch) returns(ctx context.Context) {
	changed, end := w.subscribe()
	defer end()
	for ctx.Err() == nil {
		if len(w.awaited()) > 0 || len(w.sessionless()) > 0 {
			if err := w.await(ctx, changed); err != nil && ctx.Err() == nil {
				w.log.Printf("agents that come back are not looked for: %v", err)
			}
		}
		select {
		case <-ctx.Done():
		case <-changed:
		}
	}
}

func (w *watch) awaited() (list []orch.Agent) {
	w.state(func(v orch.View) { list = orch.Awaited(v) })
	return list
}

// sessionless are the starts that wait for their session.
func (w *watch) sessionless() (list []orch.QueuedStart) {
	w.state(func(v orch.View) { list = orch.Sessionless(v) })
	return list
}

// a search is the looking for agents that come back.
type search struct {
	*watch
	files *fsnotify.Watcher
	rings chan struct{} // size 1
	hung  map[string]context.CancelFunc
	told  map[string][]orch.AgentFound // by server: what was found last
	lost  []orch.Agent
	held  []orch.QueuedStart // starts that wait for their session
}

// await looks until nobody is awaited any more.
func (w *watch) await(ctx context.Context, changed <-chan uint64) error {
	files, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &search{watch: w, files: files, rings: make(chan struct{}, 1), hung: map[string]context.CancelFunc{}, told: map[string][]orch.AgentFound{}}
	defer func() {
		cancel()
		files.Close()
	}()
	timer := time.NewTimer(0)
	defer timer.Stop()
	looked := time.Time{}
	for step := 0; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
			if s.still() {
				continue
			}
			step = 0
		case ev := <-files.Events:
			if !ev.Has(fsnotify.Create) || !s.matters(ev.Name) {
				continue
			}
			step = 0
		case err := <-files.Errors:
			w.log.Printf("sockets: %v", err) // an overflow: one may have come that nothing told of
			step = 0
		case <-s.rings:
			step = 0
		case <-timer.C:
			if s.lost, s.held = w.awaited(), w.sessionless(); len(s.lost)+len(s.held) == 0 {
				return nil
			}
			s.look(ctx)
			step, looked = step+1, time.Now()
		}
		timer.Reset(max(after(step), time.Until(looked.Add(returnRest))))
	}
}

// after is how long it takes from one look to the next.
func after(step int) time.Duration {
	switch {
	case step == 0:
		return 0
	case step < len(returnLooks):
		return returnLooks[step] - returnLooks[step-1]
	}
	return returnEvery
}

// still says that the same agents and sessions are awaited as before.
func (s *search) still() bool {
	ids := func(agents []orch.Agent, starts []orch.QueuedStart) (ids []string) {
		for _, a := range agents {
			ids = append(ids, a.ID)
		}
		for _, q := range starts {
			ids = append(ids, q.Key())
		}
		return ids
	}
	if slices.Equal(ids(s.awaited(), s.sessionless()), ids(s.lost, s.held)) {
		return true
	}
	s.told = map[string][]orch.AgentFound{} // what was found may be one of the others
	return false
}

// look looks at all servers once.
func (s *search) look(ctx context.Context) {
	for _, socket := range s.sockets() {
		t := tmux.At(socket)
		id, err := t.Identity(ctx)
		if err != nil {
			continue // none answers there, or not yet
		}
		s.hang(ctx, t, id.String())
		if err := s.inventoryOf(ctx, t, id.String()); err != nil && !gone(err) && ctx.Err() == nil {
			s.log.Printf("inventory: %v", err)
		}
		s.sessionsOf(ctx, t, id)
	}
}

// sessionsOf tells of the sessions of a server for which starts wait.
func (s *search) sessionsOf(ctx context.Context, t *tmux.Tmux, is tmux.Identity) {
	for _, q := range s.held {
		was, err := tmux.ParseIdentity(q.Open.Target.Server)
		if err != nil || was.Socket != is.Socket || was == is {
			continue
		}
		sessions, err := t.Sessions(ctx)
		if err != nil {
			return // it has just begun, or ends: the next look tells
		}
		for _, o := range sessions {
			if o.Name == q.Open.Target.SessionName {
				s.tell(ctx, orch.SessionBack{Dispatch: q.Open.Dispatch, Target: orch.Place{Server: is.String(), Session: o.ID, SessionName: o.Name}})
			}
		}
	}
}

// servers are those of whom or what is awaited.
func (s *search) servers() (list []tmux.Identity) {
	add := func(p orch.Place) {
		if id, err := tmux.ParseIdentity(p.Server); err == nil {
			list = append(list, id)
		}
	}
	for _, a := range s.lost {
		add(a.Place)
	}
	for _, q := range s.held {
		add(q.Open.Target)
	}
	return list
}

// inventoryOf tells which agents run on a server, where that has changed.
func (s *search) inventoryOf(ctx context.Context, t *tmux.Tmux, server string) error {
	panes, err := t.Panes(ctx)
	if errors.Is(err, tmux.ErrNoSession) {
		return nil // it has just begun
	}
	if err != nil {
		return err
	}
	found, err := foundAgents(server, panes)
	if err != nil || reflect.DeepEqual(found, s.told[server]) {
		return err
	}
	if _, ok := s.told[server]; !ok && len(found) == 0 {
		return nil
	}
	s.told[server] = found
	s.tell(ctx, orch.ServerSeen{Server: server, Agents: found})
	return nil
}

// hang hangs a bell on a server, once.
func (s *search) hang(ctx context.Context, t *tmux.Tmux, server string) {
	if s.hung[server] != nil {
		return
	}
	ctx, s.hung[server] = context.WithCancel(ctx)
	s.running.Go(func() { s.came(ctx, t.Socket()) })
	s.running.Go(func() {
		bell, err := t.Bell(ctx, s.mark+" begins", tmux.Begins)
		if err != nil {
			if !gone(err) && ctx.Err() == nil {
				s.log.Printf("bell: %v", err)
			}
			return
		}
		for open := true; open; {
			select {
			case <-ctx.Done():
				open = false
			case _, open = <-bell.C:
				select {
				case s.rings <- struct{}{}:
				default:
				}
			}
		}
		if err := bell.Close(); err != nil {
			s.log.Printf("bell: %v", err)
		}
	})
}

// sockets are those at which agents may come back: those of the awaited, of the living, and the others in the same folders
// where these hold nothing but such sockets. Their folders are watched.
func (s *search) sockets() (list []string) {
	add := func(socket string) {
		if socket != "" && !slices.Contains(list, socket) {
			list = append(list, socket)
		}
	}
	for _, id := range s.servers() {
		add(id.Socket)
		dir := filepath.Dir(id.Socket)
		s.watchDir(dir)
		if ofTmux(dir) {
			for _, name := range socketsIn(dir) {
				add(filepath.Join(dir, name))
			}
		}
	}
	for _, socket := range agentSockets(s.state) {
		add(socket)
	}
	return list
}

// ofTmux says that a folder is one that tmux makes for its sockets.
func ofTmux(dir string) bool { return strings.HasPrefix(filepath.Base(dir), "tmux-") }

func socketsIn(dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // it is not there yet
	}
	for _, e := range entries {
		if e.Type() == fs.ModeSocket {
			names = append(names, e.Name())
		}
	}
	return names
}

// watchDir watches a folder, or the nearest one above it that is there.
func (s *search) watchDir(dir string) {
	for {
		err := s.files.Add(dir)
		if err == nil {
			return
		}
		if up := filepath.Dir(dir); errors.Is(err, fs.ErrNotExist) && up != dir {
			dir = up
			continue
		}
		s.log.Printf("sockets: %s is not watched: %v", dir, err)
		return
	}
}

// matters says that a file that has come may be a socket of interest, or a folder on the way to one.
func (s *search) matters(path string) bool {
	return slices.ContainsFunc(s.servers(), func(id tmux.Identity) bool {
		dir := filepath.Dir(id.Socket)
		return path == id.Socket || ofTmux(dir) && filepath.Dir(path) == dir || strings.HasPrefix(dir+"/", path+"/")
	})
}
