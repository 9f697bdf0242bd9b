package daemon

import (
	"context"
	"errors"
	"os"
	"strings"

	"st/orch"
	"st/tmux"
)

// What config.toml says of what is to be done after a server has ended.
const (
	restoreAuto = "auto" // it is restored as soon as a server runs there again, and at the daemon's start
	restoreAsk  = "ask"  // a person is told to
	restoreOff  = "off"  // nothing
)

// came restores what was lost at a socket at which a server runs again, where that is wanted.
func (r *restorer) came(ctx context.Context, socket string) {
	if r.d.doer.config.Restore != restoreAuto || r.asks(socket) {
		return
	}
	info, err := r.run(ctx, orch.Caller{}, r.environ(ctx, socket), false, socket)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		r.d.log.Printf("restore: %v", err)
	case !info.Already:
		r.d.log.Printf("restore: %d windows of %s were looked at", len(info.Windows), socket)
	}
}

// asks says that nothing was lost at a socket, or that a person decides on it.
func (r *restorer) asks(socket string) bool {
	for _, f := range r.notes.all() {
		if f.Socket == socket {
			return f.Ask || len(f.Lost) == 0
		}
	}
	return true
}

// atStart restores what was lost while no daemon ran, and starts the servers for it.
func (r *restorer) atStart() {
	for _, socket := range r.sockets() {
		r.came(r.life, socket)
	}
}

// environ is the environment for what is restored without anybody who asks: what a pane of that server would have; where
// none runs, the daemon's own. Of either what an agent gets of its caller's.
func (r *restorer) environ(ctx context.Context, socket string) []string {
	have := os.Environ()
	if env, err := tmux.At(socket).Environ(ctx); err == nil {
		have = append(have, env...)
	} else if !errors.Is(err, tmux.ErrNoServer) && ctx.Err() == nil {
		r.d.log.Printf("restore: %v", err)
	}
	last := map[string]string{}
	var names []string
	for _, pair := range Environment(have, nil, r.d.doer.config.PassEnv) {
		name, value, _ := strings.Cut(pair, "=")
		if _, has := last[name]; !has {
			names = append(names, name)
		}
		last[name] = value
	}
	env := make([]string, len(names))
	for i, name := range names {
		env[i] = name + "=" + last[name]
	}
	return env
}

// look tells which agents run at a socket by now: one that has come back by itself is not resumed once more.
func (r *restorer) look(ctx context.Context, socket string) {
	id, err := tmux.At(socket).Identity(ctx)
	if err != nil {
		return // none runs there
	}
	panes, err := tmux.At(socket).Panes(ctx)
	if err != nil {
		return
	}
	found, err := foundAgents(id.String(), panes)
	if err == nil {
		_, err = r.d.loop.Do(ctx, orch.Input{At: r.d.loop.Now(), What: orch.ServerSeen{Server: id.String(), Agents: found}})
	}
	if err != nil && ctx.Err() == nil {
		r.d.log.Printf("restore: %v", err)
	}
}
