//go:build linux

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/term"

	"st/tmux"
)

// A composer is this program again: an input line in raw mode with bracketed paste, as agents have one. What is
// submitted becomes a line of a file.
const composerVerb = "composer"

func composerMain(args []string) int {
	if len(args) != 1 {
		return 2
	}
	if err := compose(args[0]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func compose(path string) error {
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	old, err := term.MakeRaw(int(os.Stdin.Fd()))
	if err != nil {
		return err
	}
	defer term.Restore(int(os.Stdin.Fd()), old)
	in, draft := bufio.NewReader(os.Stdin), []byte{}
	fmt.Print("\x1b[?1049h\x1b[?2004h")
	for {
		if in.Buffered() == 0 {
			fmt.Printf("\x1b[2J\x1b[H%s%s", prompt, draft)
		}
		c, err := in.ReadByte()
		switch {
		case err != nil:
			return nil // the pane is closed
		case c == '\x1b': // around a paste
			if _, err := in.ReadBytes('~'); err != nil {
				return nil
			}
		case c == '\r' && len(draft) > 0:
			if _, err := log.Write(append(draft, '\n')); err != nil {
				return err
			}
			draft = nil
		case c >= ' ':
			draft = append(draft, c)
		}
	}
}

// prompt stands before the composer's input.
const prompt = ">"

// draftIn reads the composer's input line off its rows.
func draftIn(rows []string) (string, bool) {
	return strings.CutPrefix(strings.Join(rows, ""), prompt)
}

// typing measures a line of 100 bytes and one of 4 KB, until it is seen to have left the input line.
func (b *bench) typing() (err error) {
	r, err := b.newRig()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.leave()) }()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	log := filepath.Join(r.dir, "typed")
	if _, err := r.window(self, composerVerb, log); err != nil {
		return err
	}
	panes, err := tmux.At(r.socket).Panes(b.ctx)
	if err != nil {
		return err
	}
	w := &typist{rig: r, pane: panes[len(panes)-1].ID}
	err = until(5*time.Second, "the composer", func() (bool, error) { _, ready, err := w.look(); return ready, err })
	if err != nil {
		return err
	}
	for _, bytes := range []int{100, 4096} {
		if err := w.measure(bytes, log); err != nil {
			return err
		}
	}
	return nil
}

// typist types into one pane, in several ways.
type typist struct {
	*rig
	pane string
	sent []string
	n    int
}

func (w *typist) measure(length int, log string) error {
	w.sent = nil
	got, err := interleave(w.b.samples(100, 5),
		timed("st", func() error { return w.byType(w.text(length)) }),
		timed("keys", func() error { return w.byPeer(w.text(length), w.sendKeys) }),
		timed("paste", func() error { return w.byPeer(w.text(length), w.paste) }))
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(log)
	if err != nil {
		return err
	}
	lines := bytes.Split(bytes.TrimSuffix(raw, []byte("\n")), []byte("\n"))
	equal := 0
	for i, text := range w.sent {
		if at := len(lines) - len(w.sent) + i; at >= 0 && string(lines[at]) == text {
			equal++
		}
	}
	name := fmt.Sprintf("type (%d B)", length)
	w.b.table.ratio(name, "send-keys, looking each 0.5 s", got["st"], got["keys"], 0.1)
	w.b.table.ratio(name, "load and paste, looking each 0.5 s", got["st"], got["paste"], 0.25)
	w.b.table.fact(name, "", nil, fmt.Sprintf("%d of %d arrived byte for byte", equal, len(w.sent)), "all", equal == len(w.sent))
	return nil
}

// text is a line that was never typed before.
func (w *typist) text(length int) string {
	w.n++
	text := fmt.Sprintf("line %d ", w.n)
	text += strings.Repeat("and_on_it_goes.", length/15+1)
	w.sent = append(w.sent, text[:length])
	return text[:length]
}

func (w *typist) byType(text string) error {
	typed, err := tmux.At(w.socket).Type(w.b.ctx, w.pane, tmux.Typing{Text: text, Read: func(v tmux.View) (string, bool, string) {
		draft, ready := draftIn(v.Rows)
		return draft, ready, "starting"
	}})
	if err == nil && typed.Outcome != tmux.Submitted {
		err = fmt.Errorf("%s: %s", typed.Outcome, typed.Why)
	}
	return err
}

// look reads the input line by a process of its own.
func (w *typist) look() (draft string, ready bool, err error) {
	out, err := w.tmux("capture-pane", "-p", "-t", w.pane)
	if err != nil {
		return "", false, err
	}
	draft, ready = draftIn(strings.Split(string(out), "\n"))
	return draft, ready, nil
}

// byPeer types, looks twice a second until the text stands there, submits it, and looks until it has left.
func (w *typist) byPeer(text string, put func(string) error) error {
	if err := put(text); err != nil {
		return err
	}
	if err := w.await(func(draft string) bool { return draft == text }); err != nil {
		return err
	}
	if out, err := w.tmux("send-keys", "-t", w.pane, "Enter"); err != nil {
		return fmt.Errorf("tmux send-keys: %w: %s", err, out)
	}
	return w.await(func(draft string) bool { return draft == "" })
}

func (w *typist) await(is func(draft string) bool) error {
	const every = 500 * time.Millisecond
	for {
		time.Sleep(every) // that is the peer's way
		draft, _, err := w.look()
		if err != nil || is(draft) {
			return err
		}
	}
}

func (w *typist) sendKeys(text string) error {
	out, err := w.tmux("send-keys", "-l", "-t", w.pane, "--", text)
	if err != nil {
		err = fmt.Errorf("tmux send-keys: %w: %s", err, out)
	}
	return err
}

func (w *typist) paste(text string) error {
	cmd := exec.Command("tmux", "-S", w.socket, "load-buffer", "-b", "bench", "-")
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.CombinedOutput()
	if err == nil {
		out, err = w.tmux("paste-buffer", "-p", "-d", "-b", "bench", "-t", w.pane)
	}
	if err != nil {
		err = fmt.Errorf("tmux paste-buffer: %w: %s", err, out)
	}
	return err
}
