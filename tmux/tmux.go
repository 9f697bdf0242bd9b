// Package tmux talks to one tmux server: it lists, opens, reads, types into and closes panes, and hears of
// panes that end. Calls are short tmux processes, as many commands as possible in each; there is never an
// attached control client, because a person sees one as "(attached)" and kicks it out with attach -d.
//
// It knows tmux's quirks, each noted where it is met, for tmux 3.2 and newer. It knows no agent program and
// decides nothing about one: whoever types says through Typing.Read how an input line is recognised.
package tmux

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// What a caller may decide on. They come wrapped: use errors.Is.
var (
	ErrNotInstalled  = errors.New("tmux is not installed")
	ErrNoServer      = errors.New("no tmux server there")
	ErrOtherServer   = errors.New("another tmux server than the one meant")
	ErrNoPane        = errors.New("no such pane")
	ErrNoSession     = errors.New("no such session")
	ErrSessionExists = errors.New("a session of that name exists")
	ErrOtherTag      = errors.New("the pane is not the one meant")
	ErrCopyMode      = errors.New("the pane is in copy mode")
	ErrTooLong       = errors.New("too long for one tmux request")
	ErrNoAnswer      = errors.New("the tmux server does not answer")
)

// answerLimit is how long a server may take to answer a question. One that a signal has stopped takes connections and never
// answers; on a machine at load 20 answers have taken seconds. Acts have no such limit: one that was cut off may be done yet.
var answerLimit = time.Minute

// pipeLimit is how long a client's output may stay open after the client has ended: see process.
var pipeLimit = 10 * time.Second

// requestBytes is how much of arguments goes into one request. tmux's limit is a message of 16,384 bytes with
// its header, counted with a NUL after each argument; what is beyond is refused as "command too long".
const requestBytes = 15_000

// Tmux is a handle on the server at one socket, whether it runs or not. It holds nothing open and may be used
// by many goroutines at once.
//
// What a method refuses it names. Beside that each that asks the server fails with an *Error: ErrNoServer where none answers,
// ErrNotInstalled without a tmux, ErrTooLong for what is beyond one request, where it only asks ErrNoAnswer; and with the context's
// error where that ends first.
type Tmux struct {
	socket string
	bare   bool
	env    []string // of a server that it starts; nil = this process's own
}

// At returns the handle for a socket's path.
func At(socket string) *Tmux { return &Tmux{socket: socket} }

// Bare returns a handle that reads no configuration when NewSession has to start the server.
func (t *Tmux) Bare() *Tmux { return &Tmux{socket: t.socket, bare: true, env: t.env} }

// With returns a handle that starts a server with this environment (NAME=value). What it opens there gets it too.
func (t *Tmux) With(env []string) *Tmux { return &Tmux{socket: t.socket, bare: t.bare, env: env} }

// Socket returns the path the handle was made with.
func (t *Tmux) Socket() string { return t.socket }

// DefaultSocket is the socket that a plain tmux uses in this environment.
func DefaultSocket(getenv func(string) string) string {
	base := getenv("TMUX_TMPDIR")
	if base == "" {
		base = "/tmp"
	}
	// tmux resolves links here, and $TMUX and #{socket_path} show the resolved path.
	if real, err := filepath.EvalSymlinks(base); err == nil {
		base = real
	}
	return filepath.Join(base, "tmux-"+strconv.Itoa(os.Getuid()), "default")
}

// FromEnv takes $TMUX apart: the socket and the server's process. A path may hold commas, so it is read from
// the right.
func FromEnv(env string) (socket string, pid int, ok bool) {
	last := strings.LastIndexByte(env, ',')
	if last < 0 {
		return "", 0, false
	}
	middle := strings.LastIndexByte(env[:last], ',')
	if middle <= 0 {
		return "", 0, false
	}
	pid, err := strconv.Atoi(env[middle+1 : last])
	if err != nil || pid <= 0 {
		return "", 0, false
	}
	return env[:middle], pid, true
}

// Cmd is one tmux command with its arguments, each literal: no shell and no tmux parser reads them. Arguments
// that tmux expands as formats (names, folders) go through quote first.
type Cmd []string

// Error is a call that tmux refused or that could not be made. It names the command only: arguments may hold
// an environment.
type Error struct {
	Command string // of the first command of the call
	Stderr  string // what tmux said, one line; may be empty
	Err     error  // one of the sentinels, or why the process failed
}

func (e *Error) Error() string {
	if e.Stderr == "" {
		return "tmux " + e.Command + ": " + e.Err.Error()
	}
	return "tmux " + e.Command + ": " + e.Stderr
}

func (e *Error) Unwrap() error { return e.Err }

// Run runs commands in one process and one server step, in order; the first that fails ends the call. What the
// commands printed before that is returned with the error.
func (t *Tmux) Run(ctx context.Context, cmds ...Cmd) (string, error) {
	return t.run(ctx, "", nil, cmds)
}

// ask runs commands that change nothing. ErrNoAnswer where the server gives none.
func (t *Tmux) ask(ctx context.Context, cmds ...Cmd) (string, error) {
	within, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	out, err := t.Run(within, cmds...)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		err = &Error{Command: cmds[0][0], Err: ErrNoAnswer}
	}
	return out, err
}

func (t *Tmux) run(ctx context.Context, stdin string, flags []string, cmds []Cmd) (string, error) {
	args := arguments(cmds)
	if size(args) > requestBytes {
		return "", &Error{Command: cmds[0][0], Err: ErrTooLong}
	}
	c := t.process(ctx, append(flags, args...)...)
	if stdin != "" {
		c.Stdin = strings.NewReader(stdin)
	}
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return stdout.String(), failure(cmds[0][0], stderr.String(), err)
	}
	return stdout.String(), nil
}

// process is a tmux client that has not been started. -u: without it tmux prints _ for every character beyond
// ASCII where the environment names no UTF-8 locale. TMUX_PANE goes, as tmux takes it for the target of a
// command that names none.
func (t *Tmux) process(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "tmux", append([]string{"-u", "-S", t.socket}, args...)...)
	c.Env = t.env
	if c.Env == nil {
		c.Env = os.Environ()
	}
	c.Env = without(c.Env, "TMUX", "TMUX_PANE")
	// A client hands its standard output to the server, which on a busy machine may keep it open for seconds
	// after the client has ended (seen on 3.3a, ten windows at once, load 20). Giving up on the pipe earlier
	// would call a window that was opened a failure.
	c.WaitDelay = pipeLimit
	return c
}

func without(env []string, names ...string) []string {
	var kept []string
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		drop := false
		for _, n := range names {
			drop = drop || n == name
		}
		if !drop {
			kept = append(kept, e)
		}
	}
	return kept
}

func arguments(cmds []Cmd) []string {
	var args []string
	for i, c := range cmds {
		if i > 0 {
			args = append(args, ";")
		}
		for _, a := range c {
			args = append(args, argument(a))
		}
	}
	return args
}

func size(args []string) int {
	n := 0
	for _, a := range args {
		n += len(a) + 1
	}
	return n
}

// causes are found in what tmux prints; the wording is the same from 3.2 on.
var causes = []struct {
	said string
	err  error
}{
	{"no server running", ErrNoServer},
	{"error connecting to", ErrNoServer},
	{"server exited", ErrNoServer},
	{"lost server", ErrNoServer},
	{"can't find pane", ErrNoPane},
	{"can't find session", ErrNoSession},
	{"no current target", ErrNoSession}, // list-panes -a of a server that has none yet
	{"duplicate session", ErrSessionExists},
	{"command too long", ErrTooLong},
}

func failure(command, stderr string, err error) error {
	stderr = strings.TrimSpace(stderr)
	if errors.Is(err, exec.ErrNotFound) {
		return &Error{Command: command, Err: ErrNotInstalled}
	}
	for _, c := range causes {
		if strings.Contains(stderr, c.said) {
			return &Error{Command: command, Stderr: stderr, Err: c.err}
		}
	}
	return &Error{Command: command, Stderr: stderr, Err: err}
}

// nonce is a word that no pane's content and no name can hold by chance or by intent.
func nonce() string {
	var b [6]byte
	rand.Read(b[:]) // never fails since Go 1.24
	return "st" + hex.EncodeToString(b[:])
}

// paneID refuses what is not the id of a pane: ids are put into command strings as they are.
func paneID(id string) error {
	if len(id) > 1 && id[0] == '%' {
		if _, err := strconv.ParseUint(id[1:], 10, 32); err == nil {
			return nil
		}
	}
	return fmt.Errorf("pane %q: %w", id, ErrNoPane)
}
