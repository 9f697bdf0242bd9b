package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"time"
)

// uiFrame is the least time between two frames. Nothing is drawn where nothing has changed.
const uiFrame = time.Second / 30

// loop is what the ui lives in: it brings keys and news one after the other, and draws. It asks no library to, since those
// that could ask the terminal for its colours as soon as a program that holds them starts.
type loop struct {
	ctx    context.Context
	screen *screen
	ui     *ui
	news   chan any
	keys   chan []byte
	again  chan struct{} // lets the reader read on: while a command has the terminal nobody else reads it
	fault  error         // of the terminal
}

func newLoop(ctx context.Context, u *ui) *loop {
	l := &loop{
		ctx: ctx, screen: &screen{in: os.Stdin, out: os.Stdout}, ui: u,
		news: make(chan any), keys: make(chan []byte), again: make(chan struct{}),
	}
	u.begin = func(work func() any) { go func() { l.send(work()) }() }
	return l
}

// send brings news to the ui.
func (l *loop) send(news any) {
	select {
	case l.news <- news:
	case <-l.ctx.Done():
	}
}

// read brings what is typed. It ends with the process: nothing else ends a read of a terminal.
func (l *loop) read() {
	for {
		buffer := make([]byte, 4096)
		n, err := l.screen.in.Read(buffer)
		if err != nil {
			l.send(faultMsg{err})
			return
		}
		select {
		case l.keys <- buffer[:n]:
		case <-l.ctx.Done():
			return
		}
		<-l.again
	}
}

// run shows the ui until it is quit or ctx ends.
func (l *loop) run() error {
	if err := l.screen.take(); err != nil {
		return err
	}
	go l.read()
	resized, stop := resizes()
	defer stop()
	second := time.NewTicker(time.Second)
	defer second.Stop()
	l.measure()
	l.draw()
	l.turn(resized, second.C)
	if err := l.screen.give(); l.fault == nil {
		l.fault = err
	}
	return l.fault
}

// turn takes what comes. Frames are bounded in their rate: what comes in between is drawn with the next.
func (l *loop) turn(resized <-chan os.Signal, second <-chan time.Time) {
	var keys presses
	due := time.NewTimer(0)
	drawn, waits := time.Now(), false
	for !l.ui.ended && l.fault == nil {
		select {
		case <-l.ctx.Done():
			return
		case <-due.C:
			waits = false
			l.draw()
			drawn = time.Now()
			continue
		case <-resized:
			l.measure()
		case <-second:
			l.measure() // where no signal tells of another size
		case news := <-l.news:
			l.ui.take(news)
		case read := <-l.keys:
			l.ui.typed(keys.take(read))
			l.lend()
			if !l.ui.ended {
				l.again <- struct{}{}
			}
		}
		if !waits {
			waits = true
			due.Reset(max(0, uiFrame-time.Since(drawn)))
		}
	}
}

// measure asks the system for the terminal's size.
func (l *loop) measure() {
	width, height, err := l.screen.size()
	if err != nil {
		l.fault = err
		return
	}
	if width != l.ui.width || height != l.ui.height {
		l.ui.resize(width, height)
		l.screen.clear()
	}
}

func (l *loop) draw() {
	if err := l.screen.draw(l.ui.view()); err != nil && l.fault == nil {
		l.fault = err
	}
}

// lend gives the terminal to a command that the ui wants to run there, until that ends.
func (l *loop) lend() {
	cmd := l.ui.lend
	if cmd == nil {
		return
	}
	l.ui.lend = nil
	if l.fault = l.screen.give(); l.fault != nil {
		return
	}
	said := lent(cmd)
	if l.fault = l.screen.take(); l.fault == nil {
		l.ui.take(said)
	}
}

// lent runs a command in this terminal and answers what it has said besides.
func lent(cmd *exec.Cmd) saidMsg {
	var said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, &said
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return saidMsg{args: cmd.Args[1:], code: exitFailed, text: "st: " + err.Error()}
	}
	return saidMsg{args: cmd.Args[1:], code: cmd.ProcessState.ExitCode(), text: said.String()}
}
