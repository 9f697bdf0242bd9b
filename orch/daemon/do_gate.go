package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"st/orch"
	"st/tmux"
)

// How long a gate's line stands on a terminal unless a key is pressed, and how long the program of notify may run.
const (
	toastTime  = 5 * time.Second
	notifyTime = 30 * time.Second
)

// Stages of telling of a gate: each is noted before it is begun, and not begun twice.
const (
	stageToast  = "toast"
	stageNotify = "notify"
)

// gateShow tells the persons who are there of a new gate: a line and the bell on each terminal, then config.toml's notify.
func (d *doer) gateShow(ctx context.Context, r Running, o orch.GateShow) orch.What {
	shown := orch.GateShown{Gate: o.Gate}
	info, servers := d.gateOf(o.Gate)
	if info.Status != orch.GateOpen {
		shown.Error = "it was over before anybody was told"
		return shown
	}
	var faults []error
	if r.Stage == "" {
		if err := r.Tell(ctx, stageToast); err != nil {
			return shown
		}
		var err error
		shown.Clients, err = toastAll(ctx, servers, "st: gate "+info.ID+": "+opening(info.Question))
		faults = append(faults, err)
	}
	if r.Stage != stageNotify && len(d.config.Notify) > 0 {
		if err := r.Tell(ctx, stageNotify); err != nil {
			return shown
		}
		faults = append(faults, d.notify(ctx, info))
	}
	if err := errors.Join(faults...); err != nil {
		d.log.Printf("gate %s: %v", o.Gate, err)
		shown.Error = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return shown
}

// gateOf is a gate as it stands now, and the servers in which persons may look.
func (d *doer) gateOf(id string) (info orch.GateInfo, servers []string) {
	d.state(func(v orch.View) {
		info, _ = orch.GateOf(v, orch.Caller{}, orch.GateArgs{Gate: id}) // one that is not there is not open
		servers = orch.Servers(v)
	})
	return info, servers
}

// opening is the beginning of a question, on one line.
func opening(question string) string {
	const most = 60
	line := []rune(strings.Join(strings.Fields(question), " "))
	if len(line) > most {
		return string(line[:most-1]) + "…"
	}
	return string(line)
}

// toastAll shows a line on every person's terminal of all servers.
func toastAll(ctx context.Context, servers []string, line string) (clients int, err error) {
	for _, name := range servers {
		t, _, fault := serverOf(ctx, name)
		if fault == nil {
			var n int
			n, fault = t.Toast(ctx, line, toastTime)
			clients += n
		}
		if fault != nil && !gone(fault) && !errors.Is(fault, tmux.ErrNotInstalled) {
			err = errors.Join(err, fault)
		}
	}
	return clients, err
}

// notify runs the program that config.toml names, with the gate as JSON on its standard input. It has a session of its own
// and a bounded time. When the daemon ends meanwhile, it goes on.
func (d *doer) notify(ctx context.Context, info orch.GateInfo) error {
	raw, err := json.Marshal(map[string]orch.GateInfo{"gate": info})
	if err != nil {
		return err
	}
	cmd := exec.Command(d.config.Notify[0], d.config.Notify[1:]...)
	cmd.Dir, cmd.Stdin, cmd.SysProcAttr = d.home, bytes.NewReader(append(raw, '\n')), ownSession()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("notify: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	limit := time.NewTimer(notifyTime)
	defer limit.Stop()
	select {
	case err = <-ended:
	case <-ctx.Done():
		return nil
	case <-limit.C:
		err = errors.Join(fmt.Errorf("it ran for more than %v and was ended", notifyTime), endGroup(cmd.Process.Pid))
		<-ended
	}
	if err != nil {
		return fmt.Errorf("notify: %s: %w", cmd.Path, err)
	}
	return nil
}
