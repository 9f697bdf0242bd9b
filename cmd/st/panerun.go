//go:build linux || darwin

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"st/orch"
	"st/orch/daemon"
	"st/orch/failpoint"
	"st/orch/proc"
)

// holdTime: an agent that ends with an error sooner than this has hardly been seen, so its last words are kept
// on the screen.
const holdTime = 10 * time.Second

// reportTime is how long the pane waits for the daemon before it leaves a file instead.
const reportTime = 2 * time.Second

// ofPane is what only the pane itself knows: which terminal it is and where it sits. The environment that was
// handed over comes from another pane, or from none.
var ofPane = []string{"TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TMUX", "TMUX_PANE"}

// withPane is env with the pane's own variables.
func withPane(env []string, lookup func(string) (string, bool)) []string {
	own := []string{}
	for _, pair := range env {
		if name, _, _ := strings.Cut(pair, "="); !slices.Contains(ofPane, name) {
			own = append(own, pair)
		}
	}
	for _, name := range ofPane {
		if value, ok := lookup(name); ok {
			own = append(own, name+"="+value)
		}
	}
	return own
}

// Exit codes of a program that did not start, as shells have them.
const (
	exitNotFound = 127
	exitNoStart  = 126
)

// runPane is `st pane-run FILE`, the process of a pane: it runs an agent in the foreground of the pane's
// terminal as a shell would, tells the daemon of its start and end, and keeps the pane open where it ended
// with an error at once.
func runPane(args []string) int {
	p := pane{
		tty: int(os.Stdin.Fd()), out: os.Stdout, in: os.Stdin,
		reports: make(chan func(), 2), told: make(chan struct{}),
	}
	if len(args) != 1 {
		return p.refuse(errors.New("pane-run wants one file"))
	}
	spec, err := daemon.TakePaneSpec(args[0])
	if err != nil {
		return p.refuse(err)
	}
	p.spec = spec
	return p.run()
}

// pane is the terminal and what runs in it.
type pane struct {
	spec daemon.PaneSpec
	in   *os.File
	out  io.Writer
	tty  int
	old  *term.State // how the terminal was; nil where there is none

	signals chan os.Signal
	child   chan os.Signal // SIGCHLD: one that waits stands for all
	hung    bool           // the terminal is gone or we were told to end
	reports chan func()
	told    chan struct{} // all reports are out
}

// refuse says why nothing is run. Here as below: where the terminal is gone there is nobody to tell.
func (p *pane) refuse(err error) int {
	fmt.Fprintf(p.out, "st: %v\n", err)
	return exitFailed
}

func (p *pane) run() int {
	p.listen()
	if state, err := term.GetState(p.tty); err == nil {
		p.old = state
	}
	go p.report()
	begun := time.Now()
	failpoint.At("pane.exec.before")
	pid, err := p.start()
	if err != nil {
		code := startCode(err)
		p.tellExit(code)
		p.hold(fmt.Sprintf("%s did not start: %v", p.name(), err))
		return code
	}
	failpoint.At("pane.exec.after")
	p.tellStart(pid)
	code := p.wait(pid)
	failpoint.At("pane.exit.before")
	p.tellExit(code)
	failpoint.At("pane.exit.after")
	if p.spec.Shell && !p.hung {
		return p.shell()
	}
	if code != 0 && time.Since(begun) < holdTime {
		p.hold(fmt.Sprintf("%s ended with exit code %d", p.name(), code))
	}
	return code
}

// shell makes the pane a person's shell again, in which the agent was started once.
func (p *pane) shell() int {
	if p.old != nil {
		p.foreground(unix.Getpgrp())
		if err := term.Restore(p.tty, p.old); err != nil {
			return exitFailed // the terminal is gone
		}
		fmt.Fprint(p.out, calm)
	}
	env := slices.DeleteFunc(withPane(p.spec.Env, os.LookupEnv), func(pair string) bool { return strings.HasPrefix(pair, "ST_AGENT=") })
	shell := "/bin/sh"
	for _, pair := range env {
		if path, ok := strings.CutPrefix(pair, "SHELL="); ok && filepath.IsAbs(path) {
			shell = path
		}
	}
	if err := os.Chdir(p.spec.Dir); err != nil {
		fmt.Fprintf(p.out, "st: %v\r\n", err)
	}
	signal.Reset()
	return p.refuse(&fs.PathError{Op: "exec", Path: shell, Err: syscall.Exec(shell, []string{shell}, env)})
}

func (p *pane) name() string { return filepath.Base(p.spec.Argv[0]) }

// listen takes all signals that a terminal or a person may send. They are caught and not ignored: an ignored
// signal would be ignored by the agent as well, for that is inherited.
func (p *pane) listen() {
	p.signals = make(chan os.Signal, 64)
	signal.Notify(p.signals, unix.SIGHUP, unix.SIGTERM, unix.SIGINT, unix.SIGQUIT, unix.SIGTSTP)
	p.child = make(chan os.Signal, 1)
	signal.Notify(p.child, unix.SIGCHLD)
}

// start starts the agent as the leader of the terminal's foreground group, with the environment of the spec
// and nothing else of ours but what tells the pane.
func (p *pane) start() (pid int, err error) {
	if info, err := os.Stat(p.spec.Dir); err != nil {
		return 0, err
	} else if !info.IsDir() {
		return 0, &fs.PathError{Op: "chdir", Path: p.spec.Dir, Err: syscall.ENOTDIR}
	}
	attr := &syscall.ProcAttr{
		Dir: p.spec.Dir, Env: withPane(p.spec.Env, os.LookupEnv),
		Files: []uintptr{0, 1, 2},
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	}
	if p.old != nil {
		attr.Sys.Foreground, attr.Sys.Ctty = true, p.tty
	}
	pid, err = syscall.ForkExec(p.spec.Argv[0], p.spec.Argv, attr)
	if err != nil {
		return 0, &fs.PathError{Op: "exec", Path: p.spec.Argv[0], Err: err}
	}
	return pid, nil
}

// startCode is the exit code of a program that did not start.
func startCode(err error) int {
	if errors.Is(err, fs.ErrNotExist) {
		return exitNotFound
	}
	return exitNoStart
}

// wait forwards signals to the agent's group until the agent has ended, and returns its exit code.
func (p *pane) wait(pid int) int {
	for {
		select {
		case <-p.child:
			if code, ended := p.reap(pid); ended {
				return code
			}
		case sig := <-p.signals:
			// The others were typed at the agent and sent to its group by the terminal: not meant for us.
			if sig == unix.SIGHUP || sig == unix.SIGTERM {
				p.hung = true
				p.kill(pid, sig.(syscall.Signal))
			}
		}
	}
}

// kill signals the agent's group. One that has ended meanwhile will be reaped next.
func (p *pane) kill(pid int, sig syscall.Signal) {
	if err := unix.Kill(-pid, sig); err != nil && !errors.Is(err, unix.ESRCH) {
		fmt.Fprintf(p.out, "st: %v\r\n", err)
	}
}

// reap asks how the agent is. One that was stopped goes on: there is no shell in the pane that could
// continue it.
func (p *pane) reap(pid int) (code int, ended bool) {
	for {
		var status unix.WaitStatus
		got, err := unix.Wait4(pid, &status, unix.WNOHANG|unix.WUNTRACED, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return -1, true // reaped by nobody else: it can't be ours any more
		case got == 0:
			return 0, false
		case status.Stopped():
			p.foreground(pid)
			p.kill(pid, unix.SIGCONT)
		case status.Signaled():
			return 128 + int(status.Signal()), true
		case status.Exited():
			return status.ExitStatus(), true
		}
	}
}

// foreground gives the terminal to a process group. It fails where the terminal is gone, which SIGHUP tells
// too.
func (p *pane) foreground(group int) {
	if p.old == nil {
		return
	}
	// Whoever is in the background and takes the terminal gets SIGTTOU, which would stop us.
	signal.Ignore(unix.SIGTTOU)
	if err := unix.IoctlSetPointerInt(p.tty, unix.TIOCSPGRP, group); err != nil {
		p.hung = p.hung || errors.Is(err, unix.EIO)
	}
}

// calm takes off what a program that died may have left on: mouse reports, bracketed paste, focus events,
// a hidden cursor, colours.
const calm = "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1006l\x1b[?2004l\x1b[<u\x1b[?25h\x1b[0m"

// hold keeps the pane open until Enter, the end of input or of the terminal.
func (p *pane) hold(why string) {
	if p.old == nil || p.hung {
		return
	}
	p.foreground(unix.Getpgrp())
	if err := term.Restore(p.tty, p.old); err != nil {
		return // the terminal is gone
	}
	// Keys that were meant for the agent must not close the window.
	if err := flushInput(p.tty); err != nil {
		return
	}
	fmt.Fprintf(p.out, "%s\r\nst: %s; press Enter to close this window\r\n", calm, why)
	entered := make(chan struct{})
	go func() {
		defer close(entered)
		bufio.NewReader(p.in).ReadString('\n') // Enter and the end of input mean the same
	}()
	for {
		select {
		case <-entered:
			return
		case sig := <-p.signals:
			if sig == unix.SIGHUP || sig == unix.SIGTERM {
				return
			}
		}
	}
}

// report sends the reports one after another, beside whatever the pane does.
func (p *pane) report() {
	for send := range p.reports {
		send()
	}
	close(p.told)
}

func (p *pane) tellStart(pid int) {
	who, err := proc.Of(pid)
	if err != nil {
		return // it has ended already: its end is told
	}
	p.tell("agent-started", orch.AgentStarted{Agent: p.spec.Agent, Proc: orch.Process(who)})
}

func (p *pane) tellExit(code int) {
	why := "exited"
	if p.hung {
		why = "pane_closed"
	}
	p.tell("agent-exited", orch.AgentExited{Agent: p.spec.Agent, Code: code, Why: why})
	close(p.reports)
	<-p.told
}

func (p *pane) tell(name string, body any) {
	p.reports <- func() {
		from := daemon.FromEnv(os.Getenv)
		from.Nonce = p.spec.Nonce
		err := daemon.Report(reportTime, p.spec.Home, name, from, body, true, nil)
		var refusal *orch.Error
		if err != nil && !errors.As(err, &refusal) && p.old != nil {
			fmt.Fprintf(p.out, "st: the daemon does not know of this: %v\r\n", err)
		}
	}
}
