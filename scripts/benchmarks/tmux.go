//go:build linux

package main

import (
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/creack/pty"

	"st/orch/proc"
	"st/tmux"
)

// closePane ends what runs in a pane, which closes it.
func (r *rig) closePane(pid int) error {
	p, err := proc.Of(pid)
	if errors.Is(err, proc.ErrGone) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := proc.Signal(p, syscall.SIGKILL); err != nil && !errors.Is(err, proc.ErrGone) {
		return err
	}
	return until(10*time.Second, fmt.Sprintf("pane process %d ends", pid), func() (bool, error) { return !proc.Alive(p), nil })
}

// look measures one look at 100 panes.
func (b *bench) look() (err error) {
	r, err := b.newRig()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.leave()) }()
	for range 99 {
		if _, err := r.window("cat"); err != nil {
			return err
		}
	}
	t := tmux.At(r.socket)
	panes, err := t.Panes(b.ctx)
	if err != nil {
		return err
	}
	ids := make([]string, 0, len(panes))
	for _, p := range panes {
		ids = append(ids, p.ID)
	}
	got, err := interleave(b.samples(100, 10),
		timed("batched", func() error {
			views, err := t.Look(b.ctx, ids...)
			if err == nil && len(views) != 100 {
				err = fmt.Errorf("%d of 100 panes were seen", len(views))
			}
			return err
		}),
		timed("execs", func() error { return r.lookOneByOne(ids) }),
	)
	if err != nil {
		return err
	}
	b.table.ratio("tmux-look-100", "100 execs", got["batched"], got["execs"], 0.03)
	return nil
}

// lookOneByOne asks for each pane's state and screen by a tmux process of its own.
func (r *rig) lookOneByOne(ids []string) error {
	for _, id := range ids {
		out, err := exec.Command("tmux", "-S", r.socket, "display-message", "-p", "-t", id,
			"#{cursor_x} #{cursor_y} #{pane_dead} #{pane_in_mode}", ";", "capture-pane", "-p", "-e", "-t", id).Output()
		if err != nil {
			return fmt.Errorf("tmux display-message: %w: %s", err, out)
		}
	}
	return nil
}

// cliStart measures a verb that needs nobody, on a terminal.
func (b *bench) cliStart() (err error) {
	r, err := b.newRig()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.leave()) }()
	empty, err := r.emptyProgram()
	if err != nil {
		return err
	}
	asked := 0
	got, err := interleave(b.samples(200, 40),
		timed("st", func() error {
			out, err := r.onTerminal(b.st, "version")
			asked += strings.Count(out, "\x1b")
			if err == nil && !strings.HasPrefix(out, "st ") {
				err = fmt.Errorf("st version said %q", out)
			}
			return err
		}),
		timed("empty", func() error { _, err := r.onTerminal(empty); return err }),
	)
	if err != nil {
		return err
	}
	b.table.ratio("cli-start", "empty Go program", got["st"], got["empty"], 1.6)
	b.table.fact("cli-start", "", nil, fmt.Sprintf("%d escape sequences", asked), "no terminal query", asked == 0)
	return nil
}

// onTerminal runs a program on a terminal that answers nothing.
func (r *rig) onTerminal(argv ...string) (string, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = r.env
	tty, err := pty.Start(cmd)
	if err != nil {
		return "", err
	}
	defer tty.Close()
	buf := make([]byte, 4096)
	var out strings.Builder
	for {
		n, err := tty.Read(buf)
		out.Write(buf[:n])
		if err != nil {
			break // EIO once the program has let the terminal go
		}
	}
	return out.String(), cmd.Wait()
}

// ints reads numbers out of fields.
func ints(fields []string) ([]int64, error) {
	all := make([]int64, 0, len(fields))
	for _, f := range fields {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}
