//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"st/hooks/demo"
	"st/orch/proc"
	"st/tmux"
)

// rig is a place to measure in: folders, a tmux server with one session, a home with its daemon.
type rig struct {
	b       *bench
	dir     string
	home    string
	project string
	socket  string
	env     []string // of a person in the session's pane
	server  proc.Process
	workers int // that settled has started
}

// newRig makes the folders and the server. The daemon comes with the first verb.
func (b *bench) newRig() (*rig, error) {
	dir, err := os.MkdirTemp("/tmp", "st-bench-") // short: it holds sockets
	if err != nil {
		return nil, err
	}
	r := &rig{b: b, dir: dir, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "p"), socket: filepath.Join(dir, "tmux")}
	return r, r.set()
}

func (r *rig) set() error {
	for _, d := range []string{r.home, r.project} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return err
		}
	}
	// The rig's own tasks may run commands also where an agent has called the bench, and no reminder is told in the midst of
	// what is measured.
	if err := os.WriteFile(filepath.Join(r.home, "config.toml"), []byte("[agents_may]\ndemo_run = true\n[limits]\nreminder = \"0s\"\n"), 0o600); err != nil {
		return err
	}
	base := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.dir, "ST_HOME=" + r.home, "TERM=xterm-256color", "LANG=C.UTF-8", "SHELL=/bin/sh"}
	cmd := exec.CommandContext(r.b.ctx, "tmux", "-u", "-S", r.socket, "-f", "/dev/null", "new-session", "-d", "-s", "bench",
		"-x", "120", "-y", "40", "-c", r.project, "-P", "-F", "#{socket_path},#{pid},0 #{pane_id} #{pid}", "cat")
	cmd.Env = base
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("tmux new-session: %w: %s", err, out)
	}
	var where, pane string
	var pid int
	if _, err := fmt.Sscan(string(out), &where, &pane, &pid); err != nil {
		return fmt.Errorf("tmux new-session: %w: %s", err, out)
	}
	r.env = append(base, "TMUX="+where, "TMUX_PANE="+pane)
	r.server, err = proc.Of(pid)
	return err
}

// leave ends the server, what ran in its panes, then the daemon, each by its process id, and removes the folders.
// The panes' processes tell the daemon of their end, so it goes last.
func (r *rig) leave() error {
	panes, listed := tmux.At(r.socket).Panes(context.WithoutCancel(r.b.ctx))
	var running []proc.Process
	for _, p := range panes {
		if one, err := proc.Of(p.PID); err == nil { // else it has ended by itself
			running = append(running, one)
		}
	}
	err := errors.Join(listed, end(r.server))
	err = errors.Join(err, until(20*time.Second, "the panes end", func() (bool, error) {
		return !slices.ContainsFunc(running, proc.Alive), nil
	}))
	if d, absent := r.daemon(); absent == nil {
		err = errors.Join(err, end(d))
	}
	return errors.Join(err, os.RemoveAll(r.dir))
}

// end asks a process to end and waits until it has.
func end(p proc.Process) error {
	if p.PID == 0 || !proc.Alive(p) {
		return nil
	}
	if err := proc.Signal(p, syscall.SIGTERM); err != nil && !errors.Is(err, proc.ErrGone) {
		return err
	}
	return until(10*time.Second, fmt.Sprintf("process %d ends", p.PID), func() (bool, error) { return !proc.Alive(p), nil })
}

// until waits for something that nothing tells of.
func until(limit time.Duration, what string, is func() (bool, error)) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for over := time.After(limit); ; {
		if yes, err := is(); err != nil || yes {
			return err
		}
		select {
		case <-tick.C:
		case <-over:
			return fmt.Errorf("%s: not within %s", what, limit)
		}
	}
}

// run runs a verb as the person in the pane.
func (r *rig) run(args ...string) (string, error) {
	cmd := exec.Command(r.b.st, args...)
	cmd.Dir, cmd.Env = r.project, r.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("st %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return string(out), nil
}

// daemon is the process that serves the home.
func (r *rig) daemon() (proc.Process, error) { return lockHolder(r.home) }

// window opens a window by hand and returns its pane's process.
func (r *rig) window(argv ...string) (int, error) {
	cmd := exec.Command("tmux", append([]string{"-u", "-S", r.socket, "new-window", "-d", "-t", "bench:", "-c", r.project, "-P", "-F", "#{pane_pid}"}, argv...)...)
	cmd.Env = r.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("tmux new-window: %w: %s", err, out)
	}
	return strconv.Atoi(strings.TrimSpace(string(out)))
}

// byHand is the command line of the built-in agent with those settings and that prompt.
func (r *rig) byHand(settings, prompt string) []string {
	return []string{r.b.st, demo.Verb, "--settings", settings, prompt}
}

// emptyProgram builds a Go program that does nothing, as st itself is built.
func (r *rig) emptyProgram() (string, error) {
	src, bin := filepath.Join(r.dir, "empty.go"), filepath.Join(r.dir, "empty")
	if err := os.WriteFile(src, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(r.b.ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin, src)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return bin, nil
}

// program is the file that really runs for a name in PATH: python3 may be a script that looks for a python.
func program(name string, ask ...string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	if len(ask) == 0 {
		return path
	}
	out, err := exec.Command(path, ask...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// child runs a program with a payload on its standard input, as an agent runs a hook, until it has ended.
func child(argv, env []string, payload []byte) (out []byte, code int, err error) {
	in, feed, err := os.Pipe()
	if err != nil {
		return nil, 0, err
	}
	defer in.Close()
	if _, err := feed.Write(payload); err != nil { // a pipe holds 64 KB
		return nil, 0, err
	}
	feed.Close()
	said, say, err := os.Pipe()
	if err != nil {
		return nil, 0, err
	}
	defer said.Close()
	p, err := os.StartProcess(argv[0], argv, &os.ProcAttr{Env: env, Files: []*os.File{in, say, say}})
	say.Close()
	if err != nil {
		return nil, 0, err
	}
	state, err := p.Wait()
	if err != nil {
		return nil, 0, err
	}
	buf := make([]byte, 64<<10)
	n, _ := said.Read(buf) //nolint:errcheck // io.EOF where nothing was said
	return buf[:n], state.ExitCode(), nil
}

// with is env with a variable in place of the one of that name: of two, some programs take the first.
func with(env []string, name, value string) []string {
	rest := slices.DeleteFunc(slices.Clone(env), func(pair string) bool { return strings.HasPrefix(pair, name+"=") })
	return append(rest, name+"="+value)
}
