package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"st/orch"
	"st/orch/journal"
	"st/tmux"
)

// get answers a view once.
func (d *daemon) get(ctx context.Context, by orch.Caller, name string, args json.RawMessage) (any, error) {
	switch name {
	case "read":
		return d.read(ctx, by, args)
	case "status":
		return d.status()
	case "history":
		return d.history(by, args)
	case "sessions":
		return d.sessions(ctx, by)
	case "pane-agent":
		return d.paneAgent(ctx, by, args)
	case "attempts":
		return d.attempts(ctx, by, args)
	case "trees":
		return d.trees(ctx, by)
	case "kept-refs":
		return d.keptRefs(ctx, args)
	case "request":
		return d.request(by, args)
	case "resume":
		return d.resuming(ctx, by, args)
	}
	v, ok := views[name]
	if !ok {
		return nil, noView(name)
	}
	var info any
	var err error
	d.loop.Read(func(s orch.View) { info, err = v(s, by, args) })
	if w, ok := info.(orch.WorkerInfo); ok {
		w.Outlives = d.doer.outlives(w.Agent).PID
		info = w
	}
	return info, err
}

func noView(name string) error {
	return &orch.Error{Code: "bad_request", Message: fmt.Sprintf("no view is called %q", name)}
}

// read is what is known of a worker's result: where no hook brought the agent's last words, its own log has
// them.
func (d *daemon) read(ctx context.Context, by orch.Caller, raw json.RawMessage) (any, error) {
	args, err := arguments[orch.ReadArgs](raw)
	if err != nil {
		return nil, err
	}
	var info orch.ReadInfo
	var agent orch.Agent
	var refusal *orch.Error
	d.loop.Read(func(v orch.View) {
		if refusal = orch.CheckAs(v, by); refusal != nil {
			return
		}
		if info, refusal = orch.Read(v, by, args); refusal == nil {
			agent, _ = v.Entity("agent/" + info.Worker.Agent).(orch.Agent)
		}
	})
	if refusal != nil {
		return nil, refusal
	}
	if info.Answer == "" {
		d.answerFromLog(&info, agent)
	}
	d.workFromGit(ctx, &info)
	if info.Answer, info.Cursor, err = page(info.Answer, args.Cursor, args.Limit); err != nil {
		return nil, err
	}
	if args.Screen {
		info.Screen, err = screen(ctx, agent, info.Worker)
	}
	return info, err
}

// resuming is how the taking up of a conversation goes, and what the window shows in which it does.
func (d *daemon) resuming(ctx context.Context, by orch.Caller, raw json.RawMessage) (any, error) {
	args, err := arguments[orch.ResumeArgs](raw)
	if err != nil {
		return nil, err
	}
	var info orch.ResumeInfo
	var agent orch.Agent
	var refusal *orch.Error
	d.loop.Read(func(v orch.View) {
		if info, refusal = orch.Resuming(v, by, args); refusal == nil {
			agent, _ = v.Entity("agent/" + args.Agent).(orch.Agent)
		}
	})
	if refusal != nil {
		return nil, refusal
	}
	if args.Shows && agent.Gone == "" && agent.Opens == nil && agent.Place.Pane != "" {
		if info.Shows, err = shows(ctx, agent.Place); err != nil && !gone(err) {
			d.log.Printf("agent %s: what its window shows can't be told: %v", agent.ID, err)
		}
	}
	return info, nil
}

func (d *daemon) answerFromLog(info *orch.ReadInfo, a orch.Agent) {
	said, err := lastAnswer(a.Kind, a.Transcript)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.log.Printf("agent %s: its log can't be read: %v", a.ID, err)
	}
	if said != "" {
		info.Answer, info.AnswerSource = said, "transcript"
	}
}

// screen is what a worker's window shows, as plain text without the empty rows at its end.
func screen(ctx context.Context, a orch.Agent, w orch.WorkerInfo) (string, error) {
	closed := &orch.Error{
		Code:    "agent_exited",
		Message: fmt.Sprintf("worker %q: its window is closed, there is no screen to show", w.Name),
		Next:    []string{"st worker read " + w.ID},
	}
	if a.Place.Pane == "" && a.Gone == "" {
		closed.Code, closed.Message, closed.Next = "not_ready", fmt.Sprintf("worker %q has no window yet", w.Name), []string{"st worker show " + w.ID}
	}
	if a.Place.Pane == "" {
		return "", closed
	}
	text, err := shows(ctx, a.Place)
	if gone(err) {
		return "", closed
	}
	return text, err
}

// shows is what a pane shows, as plain text without the empty rows at its end. ErrNoPane where it is closed.
func shows(ctx context.Context, p orch.Place) (string, error) {
	t, _, err := server(ctx, p)
	if err != nil {
		return "", err
	}
	seen, err := t.Look(ctx, p.Pane)
	if err != nil {
		return "", err
	}
	v, ok := seen[p.Pane]
	if !ok {
		return "", tmux.ErrNoPane
	}
	rows := make([]string, 0, len(v.Rows))
	for _, row := range v.Rows {
		rows = append(rows, strings.TrimRight(plainRow(row), " "))
	}
	for len(rows) > 0 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	return strings.Join(rows, "\n"), nil
}

// plainRow is a row without its SGR sequences, the only ones that a look leaves in, and without any other
// control character.
func plainRow(row string) string {
	var b strings.Builder
	inside := false
	for _, r := range row {
		switch {
		case r == '\x1b':
			inside = true
		case inside:
			inside = r != 'm'
		case r >= ' ' && (r < 0x7f || r > 0x9f):
			b.WriteRune(r)
		}
	}
	return b.String()
}

// status says how the daemon is.
func (d *daemon) status() (any, error) {
	waiting, err := d.spool.Len()
	if err != nil {
		return nil, err
	}
	s := orch.StatusInfo{
		PID: os.Getpid(), UptimeS: int64(time.Since(d.began).Seconds()), Version: d.version,
		Servers: agentSockets(d.loop.Read), Spool: waiting, Store: "ok", RSS: residentBytes(),
	}
	s.Lost = d.layouts.lost()
	if said := d.journal.Said(); len(said) > 0 {
		s.Store = strings.Join(said, "; ")
	}
	if err := d.journal.Trouble(); err != nil {
		s.Store = fmt.Sprintf("its last write failed: %v", cause(err))
	}
	d.loop.Read(func(v orch.View) { s.Agents, s.Gates = len(orch.Live(v)), orch.OpenGates(v) })
	info, err := os.Stat(filepath.Join(d.home, journal.File))
	if err != nil {
		return nil, err
	}
	s.StoreB = info.Size()
	return s, nil
}

// sessions lists the sessions of the server that the caller means, and of all in which agents live. A server
// that doesn't run has none.
func (d *daemon) sessions(ctx context.Context, by orch.Caller) (any, error) {
	sockets := agentSockets(d.loop.Read)
	if by.Socket != "" && !slices.Contains(sockets, by.Socket) {
		sockets = append([]string{by.Socket}, sockets...)
	}
	list := []orch.SessionInfo{}
	for _, socket := range sockets {
		t := tmux.At(socket)
		sessions, err := t.Sessions(ctx)
		if errors.Is(err, tmux.ErrNoServer) {
			continue
		}
		if errors.Is(err, tmux.ErrNotInstalled) {
			return nil, TmuxFault(err)
		}
		if err != nil {
			return nil, err
		}
		id, err := t.Identity(ctx)
		if err != nil {
			return nil, err
		}
		agents := d.agentsBySession(id.String())
		for _, s := range sessions {
			list = append(list, orch.SessionInfo{
				Server: socket, Name: s.Name, Windows: s.Windows, Agents: agents[s.ID], Attached: s.Attached,
			})
		}
	}
	return list, nil
}

func (d *daemon) agentsBySession(server string) map[string]int {
	count := map[string]int{}
	d.loop.Read(func(v orch.View) {
		for _, a := range orch.Live(v) {
			if a.Place.Server == server {
				count[a.Place.Session]++
			}
		}
	})
	return count
}

// agentSockets are the sockets of the servers in which live agents sit.
func agentSockets(state func(func(orch.View))) []string {
	list := []string{}
	state(func(v orch.View) {
		for _, a := range orch.Live(v) {
			if id, err := tmux.ParseIdentity(a.Place.Server); err == nil && !slices.Contains(list, id.Socket) {
				list = append(list, id.Socket)
			}
		}
	})
	return list
}
