//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// startToTurn measures a start until its turn is proved, beside the same agent started by hand.
func (b *bench) startToTurn() (err error) {
	r, err := b.newRig()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.leave()) }()
	settings, fifo, err := r.handSettings()
	if err != nil {
		return err
	}
	task := filepath.Join(r.dir, "task.md")
	if err := os.WriteFile(task, []byte("done nothing to do\n"), 0o600); err != nil {
		return err
	}
	n := 0
	got, err := interleave(b.samples(100, 12),
		way{"st", func() (time.Duration, error) {
			n++
			return r.startWorker(fmt.Sprintf("bench-%d", n), task)
		}},
		way{"hand", func() (time.Duration, error) { return r.startByHand(settings, fifo) }},
	)
	if err != nil {
		return err
	}
	own, hand := got["st"], got["hand"]
	most := time.Duration(1.15*float64(hand.p50())) + 250*time.Millisecond
	b.table.rows = append(b.table.rows, row{
		name: "start-to-turn", beside: "agent by hand, prompt as argument", own: own, peer: hand,
		said: brief(own.p50()-hand.p50()) + " more", mark: "≤ 1.15× + 250 ms (" + brief(most) + ")", ok: own.p50() <= most,
	})
	return nil
}

// startWorker is the whole verb: it returns when the turn is proved. The worker is stopped afterwards, not
// counted, so that the hundredth start meets as many windows as the first.
func (r *rig) startWorker(name, task string) (time.Duration, error) {
	begun := time.Now()
	out, err := r.run("worker", "start", "--agent", "demo", "--name", name, "--task", task)
	took := time.Since(begun)
	if err == nil && !strings.Contains(out, "turn proved") {
		err = fmt.Errorf("the turn was not proved: %s", out)
	}
	if err != nil {
		return 0, err
	}
	if _, err := r.run("worker", "wait", name, "--timeout", "30s"); err != nil {
		return 0, err
	}
	_, err = r.run("worker", "stop", name, "--yes")
	return took, err
}

// handSettings are hooks as a person would write them: the prompt hook writes a byte into a pipe.
func (r *rig) handSettings() (settings, fifo string, err error) {
	settings, fifo = filepath.Join(r.dir, "settings.json"), filepath.Join(r.dir, "prompted")
	raw, err := json.Marshal(map[string]any{"hooks": map[string]any{"UserPromptSubmit": []any{
		map[string]any{"hooks": []any{map[string]any{"type": "command", "command": "echo >" + fifo}}},
	}}})
	if err != nil {
		return "", "", err
	}
	return settings, fifo, errors.Join(os.WriteFile(settings, raw, 0o600), syscall.Mkfifo(fifo, 0o600))
}

func (r *rig) startByHand(settings, fifo string) (time.Duration, error) {
	prompted, err := os.OpenFile(fifo, os.O_RDWR, 0) // both ends, so that neither waits for the other
	if err != nil {
		return 0, err
	}
	defer prompted.Close()
	if err := prompted.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return 0, err
	}
	begun := time.Now()
	pid, err := r.window(r.byHand(settings, "say nothing to do")...)
	if err != nil {
		return 0, err
	}
	_, err = prompted.Read(make([]byte, 1))
	took := time.Since(begun)
	if err != nil {
		return 0, err
	}
	return took, r.closePane(pid)
}
